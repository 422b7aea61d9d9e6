"""Endpoints of documents: files of the project, and what callers put beside them."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from typing import Any

from quire.core.json_schema import Schema, number, record, text, texts
from quire.core.serialize import to_plain
from quire.core.types import Facet, PutResult, PutSummary, Record, StoredDocument
from quire.core.types.options import FILTERS
from quire.core.types.records import BLOCK_PREFIX
from quire.core.types.stored import ADDED, CHANGED, UNCHANGED
from quire.errors import InputError, QuireError
from quire.indexing.documents import MAX_FACETS
from quire.memory import experiences, feedback, memories, principles
from quire.pipeline.request import resolve_search
from quire.pipeline.sections import filter_of
from quire.server import schemas
from quire.server.arguments import read_value
from quire.server.endpoint import WRITE, Call, Endpoint
from quire.server.schemas import body, long_text, page_of, result

OTHER_KINDS = frozenset({memories.KIND, experiences.KIND, principles.KIND, feedback.KIND})
"""Records that belong to other domains, beside blocks."""
MAX_CONTENT = 64 * 1024 * 1024
"""Characters of one document; `quire serve --max-body` is what limits it first."""


def list_documents(call: Call) -> Any:
    """List documents, or records of all kinds."""
    filters = resolve_search("any", 1, call.take(*FILTERS)).request
    listed = call.quire.documents.list(
        filter_of(filters), **call.take("put_only", "expired"), viewer=call.viewer
    )
    if call.arguments.get("all") or filters.kinds:
        return listed
    return [each for each in listed if _is_document(each)]


def _is_document(listed: Record) -> bool:
    return listed.kind not in OTHER_KINDS and not listed.kind.startswith(BLOCK_PREFIX)


def get_text(call: Call) -> Any:
    """Fetch the text of a record or a chunk, by its id."""
    name = call.arguments["id"]
    shown = call.quire.documents.text(name, **call.take("shared_only"), viewer=call.viewer)
    return {"id": name, "text": shown}


def list_chunks(call: Call) -> Any:
    """List the chunks of a path, or of everything."""
    return call.quire.documents.chunks(call.arguments.get("path"), viewer=call.viewer)


def put_document(call: Call) -> Any:
    """Put a document, or replace the one at its path."""
    options = _with_bytes(call.take(*_FIELDS))
    if "content" not in options:
        raise InputError("is missing", field="content", hint="send content or content_base64")
    return call.quire.documents.put(options.pop("content"), **options, viewer=call.viewer)


def put_documents(call: Call) -> Any:
    """Put many documents."""
    options = call.take("embed", "skip_errors")
    return call.quire.documents.put_many(
        _read_lines(call.arguments["lines"]), **options, viewer=call.viewer
    )


def _read_lines(lines: str) -> Iterator[Any]:
    """Yield the document of each line, or the error in its place."""
    for place, line in enumerate(lines.split("\n"), 1):
        if not line.strip():
            continue
        try:
            item = read_value(line.encode(), "the line")
            yield _with_bytes(item) if isinstance(item, dict) else item
        except QuireError as error:
            yield error.within(f"document {place}")


def _with_bytes(item: dict[str, Any]) -> dict[str, Any]:
    """Return a document whose content may have come as bytes in base64."""
    if "content_base64" not in item:
        return item
    rest = {name: value for name, value in item.items() if name != "content_base64"}
    if rest.get("content") is not None:
        raise InputError("is given twice", field="content", hint="send one of the two")
    try:
        return {**rest, "content": base64.b64decode(item["content_base64"], validate=True)}
    except (binascii.Error, ValueError, TypeError) as error:
        raise InputError(f"is not base64: {error}", field="content_base64") from None


def get_document(call: Call) -> Any:
    """Fetch a document or a file by its path."""
    return call.quire.documents.get(call.arguments["path"], viewer=call.viewer)


def update_document(call: Call) -> Any:
    """Change what is known of a document."""
    changes = call.take(*_CHANGES)
    return call.quire.documents.update(call.arguments["path"], **changes, viewer=call.viewer)


def delete_document(call: Call) -> Any:
    """Delete a document."""
    path, options = call.arguments["path"], call.take("missing_ok")
    return {"deleted": call.quire.documents.delete(path, **options, viewer=call.viewer)}


def list_facets(call: Call) -> Any:
    """Count the values of metadata."""
    counted = call.quire.documents.facets(**call.take("limit"), viewer=call.viewer)
    return {"facets": to_plain(counted)}


_PATH = text("Its path: `crm/42`, or that of a file from the project's root.", maxLength=4096)
_TIME: Schema = {"type": ["string", "integer", "null"], "maximum": schemas.MAX_INTEGER}
_METADATA: Schema = {
    "type": "object",
    "description": "Values by key to filter by: texts, numbers, true or false, dates, lists of "
    "texts.",
}
_SHARED = texts("Who may read it: NAME, @GROUP, public or owner; none: you, or by the rules.")
_DOCUMENT: dict[str, Schema] = {
    "content": {
        "description": "A text, a list of messages (`role`, `content`, `at`), or an object.",
        "anyOf": [
            {"type": "string", "maxLength": MAX_CONTENT},
            {"type": "array", "items": {"type": "object"}},
            {"type": "object"},
        ],
    },
    "content_base64": long_text("Instead of `content`: the bytes of a file in base64."),
    "path": text("Its name, like that of a file: `crm/42`.", minLength=1, maxLength=1000),
    "type": text(
        "Its format: text, markdown, html, pdf, chat, json or another (default: by its path, else "
        "markdown)."
    ),
    "title": text("Its title (default: as its text says)."),
    "author": text("Who wrote it; for a viewer other than the owner it is always they."),
    "modified": {**_TIME, "description": "When it was written: a date, or seconds since 1970."},
    "metadata": _METADATA,
    "expires": {**_TIME, "description": "When it is no longer shown: a moment or a last day."},
    "share": _SHARED,
    "template": text("Text of an object with its members in braces: `{title} ({owner.name})`."),
}
_DOCUMENT["content_base64"]["maxLength"] = MAX_CONTENT
_FIELDS = tuple(_DOCUMENT)
_CHANGES = ("metadata", "title", "modified", "expires", "share")
_EXAMPLE = {
    "path": "crm/42",
    "content": "# Acme\n\nAsked for an offer on 3 May.",
    "metadata": {"team": "north", "priority": 3},
}
_CHUNK = result(
    id={"type": "string"},
    record_id={"type": "string"},
    path={"type": "string"},
    title={"type": "string"},
    text={"type": "string"},
)
_BOOLEAN: Schema = {"type": "boolean"}
_TEXT_OR_NULL: Schema = {"type": ["string", "null"]}
_STATES = {"type": "string", "enum": [ADDED, CHANGED, UNCHANGED]}

ENDPOINTS = (
    Endpoint(
        "GET",
        "/v1/documents",
        "list_documents",
        "List the documents that pass a filter and that the viewer may read.",
        list_documents,
        page_of(schemas.RECORD),
        parameters={
            **schemas.filter_body(),
            "put_only": {**_BOOLEAN, "description": "Leave out files of the project."},
            "expired": {**_BOOLEAN, "description": "Also what has expired."},
            "all": {**_BOOLEAN, "description": "Also memories, blocks and other records."},
        },
        tag="documents",
        tagged=True,
        listed=True,
    ),
    Endpoint(
        "POST",
        "/v1/documents",
        "put_document",
        "Put a document that is not a file into the store, or replace the one at its path.",
        put_document,
        schemas.of_type(PutResult, state=_STATES),
        scope=WRITE,
        tag="documents",
        status=201,
        body=body(_DOCUMENT, "path"),
        example=_EXAMPLE,
    ),
    Endpoint(
        "POST",
        "/v1/documents/batch",
        "put_documents",
        "Put many documents, as a list or one a line; 500 are stored at once, or none of them.",
        put_documents,
        schemas.of_type(PutSummary),
        scope=WRITE,
        tag="documents",
        body={"type": "array", "items": record(_DOCUMENT, "path")},
        lines=True,
        parameters={
            "embed": {**_BOOLEAN, "description": "false: index words alone."},
            "skip_errors": {
                **_BOOLEAN,
                "description": "Leave out and name what cannot be put, and go on.",
            },
        },
        example=[_EXAMPLE],
    ),
    Endpoint(
        "GET",
        "/v1/document",
        "get_document",
        "Fetch a document, a file or a commit by its path, with its whole text and metadata.",
        get_document,
        schemas.of_type(
            StoredDocument,
            modified=_TEXT_OR_NULL,
            expires=_TEXT_OR_NULL,
            metadata={"type": "object"},
        ),
        parameters={"path": _PATH},
        required=("path",),
        tag="documents",
        tagged=True,
    ),
    Endpoint(
        "PATCH",
        "/v1/document",
        "update_document",
        "Change what is known of a document that was put; its text stays.",
        update_document,
        schemas.RECORD,
        scope=WRITE,
        parameters={"path": _PATH},
        required=("path",),
        tag="documents",
        body=body(
            {
                "metadata": {**_METADATA, "description": "Values to set by key; null removes one."},
                "title": text("Another title."),
                "modified": {**_TIME, "description": "When it was written; null: not known."},
                "expires": {**_TIME, "description": "When it is no longer shown; null: never."},
                "share": _SHARED,
            }
        ),
        example={"metadata": {"team": "south", "priority": None}},
    ),
    Endpoint(
        "DELETE",
        "/v1/document",
        "delete_document",
        "Delete a document that was put; its bytes stay in the store's file until a purge.",
        delete_document,
        result(deleted=_BOOLEAN),
        scope=WRITE,
        parameters={
            "path": _PATH,
            "missing_ok": {**_BOOLEAN, "description": "It is no error if there is none."},
        },
        required=("path",),
        tag="documents",
    ),
    Endpoint(
        "GET",
        "/v1/documents/{id}",
        "get_text",
        "Fetch the text of a record or a chunk by its id.",
        get_text,
        result(id={"type": "string"}, text={"type": "string"}),
        parameters={"shared_only": schemas.SHARED_ONLY},
        tag="documents",
        tagged=True,
    ),
    Endpoint(
        "GET",
        "/v1/chunks",
        "list_chunks",
        "List the chunks of one path, or of everything, in reading order.",
        list_chunks,
        page_of(_CHUNK),
        parameters={"path": _PATH},
        tag="documents",
        tagged=True,
        listed=True,
    ),
    Endpoint(
        "GET",
        "/v1/facets",
        "facets",
        "Count the values of metadata by key, among what the viewer may read.",
        list_facets,
        result(facets={"type": "array", "items": schemas.of_type(Facet)}),
        parameters={
            "limit": number(
                f"Values of each key, the most frequent (default: {MAX_FACETS}).", 1, 1000
            )
        },
        tag="documents",
        tagged=True,
    ),
)
