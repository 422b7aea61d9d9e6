"""What can a client read?

Contexts and receipts that were made here, and the text of any source that the viewer may read. What
is too long for one answer is given in parts; each but the last says how the next is read.
"""

from __future__ import annotations

from dataclasses import dataclass

from quire.errors import InputError
from quire.mcp.context_tools import context_uri, receipt_uri, source_uri
from quire.mcp.limits import parts, written
from quire.mcp.session import Session

SCHEME = "quire://"
JSON = "application/json"
PLAIN = "text/plain"


@dataclass(frozen=True, slots=True)
class Readable:
    """Something that can be read, or a whole family of it."""

    uri: str
    name: str
    about: str
    kind: str


@dataclass(frozen=True, slots=True)
class Text:
    """A text, and what it is."""

    uri: str
    kind: str
    text: str


FAMILIES = (
    Readable(
        context_uri("{hash}"),
        "context",
        "A context that was made here, by the hash of its receipt.",
        PLAIN,
    ),
    Readable(
        receipt_uri("{hash}"), "receipt", "The receipt of a context that was made here.", JSON
    ),
    Readable(
        source_uri("{id}"),
        "source",
        "The text of a piece or a whole record, by the id that sources and results name.",
        PLAIN,
    ),
)


def listed(asker: Session) -> list[Readable]:
    """List what was made here, the newest first."""
    found = []
    for name, context in asker.given():
        query = str(context.receipt["request"]["query"])  # type: ignore[index]  # as receipts have it
        about = f"{context.tokens} tokens for: {' '.join(query.split())[:80]}"
        found += [
            Readable(context_uri(name), f"context {name[:10]}", about, PLAIN),
            Readable(receipt_uri(name), f"receipt {name[:10]}", about, JSON),
        ]
    return found


def read(asker: Session, uri: str) -> list[Text]:
    """Read a resource, or the part of it that its name ends in."""
    family, _, rest = uri.removeprefix(SCHEME).partition("/")
    name, _, part = rest.partition("/")
    if not uri.startswith(SCHEME) or not name or (part and not part.isascii()):
        raise _unknown(uri)
    if family == "context":
        kind, text = PLAIN, asker.find(name).text
    elif family == "receipt":
        kind, text = JSON, written(asker.find(name).receipt)
    elif family == "source":
        kind, text = PLAIN, asker.quire().documents.text(name)
    else:
        raise _unknown(uri)
    whole = f"{SCHEME}{family}/{name}"
    found = parts(text)
    number = int(part) if part.isdigit() and len(part) < 10 else 1
    if (part and not part.isdigit()) or not 1 <= number <= len(found):
        raise InputError(f"{uri}: there are the parts 1 to {len(found)} of {whole}")
    told = [Text(uri, kind, found[number - 1])]
    if number < len(found):
        after = f"{whole}/{number + 1}"
        told.append(Text(after, PLAIN, f"part {number} of {len(found)}; {after} is the next"))
    return told


def _unknown(uri: str) -> InputError:
    there = ", ".join(one.uri for one in FAMILIES)
    return InputError(f"there is no resource {uri}: there are {there}")
