"""The resources of the server.

Contexts and receipts that it assembled, and the text of any source that the viewer may read. A text
that is too long for one answer comes in parts; each but the last names the next.
"""

from __future__ import annotations

from dataclasses import dataclass

from quire.errors import InputError, unknown
from quire.indexing.audit import compact_receipt
from quire.mcp.limits import compact_json, split
from quire.mcp.session import Session

SCHEME = "quire://"
JSON = "application/json"
PLAIN = "text/plain"
MAX_QUERY_LENGTH = 80
HASH_LENGTH = 10


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource, or a template for many of them."""

    uri: str
    name: str
    description: str
    mime_type: str


@dataclass(frozen=True, slots=True)
class ResourceText:
    """The text of a resource, or a part of it."""

    uri: str
    mime_type: str
    text: str


def source_uri(name: str) -> str:
    """Return the URI of the text of a piece or a record."""
    return f"{SCHEME}source/{name}"


def receipt_uri(name: str) -> str:
    """Return the URI of a receipt."""
    return f"{SCHEME}receipt/{name}"


def context_uri(name: str) -> str:
    """Return the URI of a context."""
    return f"{SCHEME}context/{name}"


TEMPLATES = (
    Resource(
        context_uri("{hash}"),
        "context",
        "A context that this server assembled, by the hash of its receipt.",
        PLAIN,
    ),
    Resource(
        receipt_uri("{hash}"),
        "receipt",
        "The receipt of a context that this server assembled.",
        JSON,
    ),
    Resource(
        source_uri("{id}"),
        "source",
        "The text of a piece or a whole record, by the id that sources and results name.",
        PLAIN,
    ),
)


def list_resources(session: Session) -> list[Resource]:
    """List the contexts and receipts of a session, the newest first."""
    resources = []
    for name, context in session.contexts():
        query = str(context.receipt["request"]["query"])  # type: ignore[index]  # as receipts have it
        description = f"{context.tokens} tokens for: {' '.join(query.split())[:MAX_QUERY_LENGTH]}"
        short = name[:HASH_LENGTH]
        resources += [
            Resource(context_uri(name), f"context {short}", description, PLAIN),
            Resource(receipt_uri(name), f"receipt {short}", description, JSON),
        ]
    return resources


def read_resource(session: Session, uri: str) -> list[ResourceText]:
    """Read a resource, or the part of it whose number the URI ends in."""
    family, _, rest = uri.removeprefix(SCHEME).partition("/")
    name, _, part = rest.partition("/")
    if not uri.startswith(SCHEME) or not name or (part and not part.isascii()):
        raise _unknown_resource(uri)
    if family == "context":
        context = session.find(name)
        mime_type, text = PLAIN, context.text
        session.quire().audit.record_again(context)
    elif family == "receipt":
        context = session.find(name)
        mime_type, text = JSON, compact_json(compact_receipt(context.receipt))
        session.quire().audit.record_again(context, receipt=True)
    elif family == "source":
        mime_type, text = (
            PLAIN,
            session.quire().documents.text(name, shared_only=session.shared_only),
        )
    else:
        raise _unknown_resource(uri)
    whole = f"{SCHEME}{family}/{name}"
    parts = split(text)
    number = int(part) if part.isdigit() and len(part) < 10 else 1
    if (part and not part.isdigit()) or not 1 <= number <= len(parts):
        raise InputError(
            f"{whole} has no part {part}", field="uri", value=uri, hint=f"read 1 to {len(parts)}"
        )
    texts = [ResourceText(uri, mime_type, parts[number - 1])]
    if number < len(parts):
        after = f"{whole}/{number + 1}"
        note = f"part {number} of {len(parts)}; {after} is the next"
        texts.append(ResourceText(after, PLAIN, note))
    return texts


def _unknown_resource(uri: str) -> InputError:
    return unknown("resource", uri, [template.uri for template in TEMPLATES])
