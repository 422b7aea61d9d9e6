"""What a client sends for documents.

Each function has the signature of the method of an open store, and returns a `Call`, or the steps
of several.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from datetime import date
from typing import Any

from quire.client.call import (
    Call,
    Steps,
    ViewerLike,
    encode_body,
    escape_id,
    filter_members,
    given,
    list_of,
    post,
    read_as,
    viewer_parameter,
    with_members,
)
from quire.core import conditions
from quire.core.deserialize import from_plain
from quire.core.metadata import check_scalar
from quire.core.types import (
    NO_FILTER,
    NO_METADATA,
    Chunk,
    Facet,
    Filter,
    NewDocument,
    Progress,
    PutResult,
    PutSummary,
    Record,
    Skipped,
    StoredDocument,
)
from quire.errors import InputError, QuireError
from quire.indexing.document_content import of_mapping
from quire.indexing.documents import KEEP, MAX_FACETS, Where
from quire.indexing.progress import Report, ignore_progress

BATCH_DOCUMENTS = 500
BATCH_BYTES = 1_000_000
"""Documents and bytes of one request, unless one document alone has more."""

Content = str | bytes | Sequence[Mapping[str, Any]] | Mapping[str, Any]
Moment = int | str | date | None


def put(
    content: Content,
    *,
    path: str,
    type: str = "",  # noqa: A002 - the field's own word
    title: str = "",
    author: str = "",
    modified: Moment = None,
    metadata: Mapping[str, Any] = NO_METADATA,
    expires: Moment = None,
    share: Sequence[str] = (),
    template: str = "",
    viewer: ViewerLike = None,
) -> Call[PutResult]:
    """Put a document that is not a file into the store, or replace the one at its path."""
    new = NewDocument(
        content=content,
        path=path,
        type=type,
        title=title,
        author=author,
        modified=modified,
        metadata=metadata,
        expires=expires,
        share=share,
        template=template,
    )
    return post("/v1/documents", read_as(PutResult), viewer, writes=True, **_members(new))


def put_many(
    documents: Iterable[NewDocument | Mapping[str, Any] | QuireError],
    *,
    embed: bool = True,
    skip_errors: bool = False,
    report: Report = ignore_progress,
    viewer: ViewerLike = None,
) -> Steps[PutSummary]:
    """Put documents from any iterable, which is read as they are sent, in several requests."""
    options = {"embed": embed, "skip_errors": skip_errors, **viewer_parameter(viewer)}
    total, done = PutSummary(), 0
    for number, batch, failed in _batches(documents, skip_errors):
        if batch:
            try:
                answer = yield Call(
                    "POST",
                    "/v1/documents/batch",
                    read_as(PutSummary),
                    lines=tuple(batch),
                    parameters=options,
                    writes=True,
                )
            except QuireError as error:
                raise _renumber(error, number) from None
            total = _add(total, answer, number)
            done += len(batch)
            report(Progress("put", done))
        if isinstance(failed, Skipped):
            total = replace(total, skipped=(*total.skipped, failed))
            done += 1
        elif failed is not None:
            raise failed
    return total


def get(path: str, *, viewer: ViewerLike = None) -> Call[StoredDocument]:
    """Return a document, a file or a commit of the store by its path, with its whole text."""
    parameters = {"path": path, **viewer_parameter(viewer)}
    return Call("GET", "/v1/document", read_as(StoredDocument), parameters=parameters)


def update(
    path: str,
    *,
    metadata: Mapping[str, Any] | object = KEEP,
    title: str | object = KEEP,
    modified: Moment | object = KEEP,
    expires: Moment | object = KEEP,
    share: Sequence[str] | object = KEEP,
    viewer: ViewerLike = None,
) -> Call[Record]:
    """Change what is known of a document that was put; its text and its vectors stay."""
    changes = {
        "metadata": metadata,
        "title": title,
        "modified": modified,
        "expires": expires,
        "share": share,
    }
    sent = {name: _plain(value) for name, value in changes.items() if value is not KEEP}
    call = post("/v1/document", read_as(Record), viewer, verb="PATCH", writes=True)
    return replace(with_members(call, **sent), parameters={"path": path})


def delete(
    path: str, *more: str, missing_ok: bool = False, viewer: ViewerLike = None
) -> Call[bool]:
    """Delete a document that was put; return whether it was there.

    The service deletes one in a call: for several, call it once for each.
    """
    if more:
        raise InputError(
            "the service deletes one document in a call",
            field="more",
            value=more[0],
            hint="call `delete` once for each",
        )

    def read(data: Any) -> bool:
        return bool(data["deleted"])

    parameters = {"path": path, "missing_ok": missing_ok, **viewer_parameter(viewer)}
    return Call("DELETE", "/v1/document", read, parameters=parameters, writes=True)


def facets(limit: int = MAX_FACETS, *, viewer: ViewerLike = None) -> Call[tuple[Facet, ...]]:
    """Count the values of metadata by key, as far as the viewer may read the records."""

    def read(data: Any) -> tuple[Facet, ...]:
        return tuple(from_plain(Facet, each) for each in data["facets"])

    parameters = {"limit": limit, **viewer_parameter(viewer)}
    return Call("GET", "/v1/facets", read, parameters=parameters)


def list_documents(
    where: Where = NO_FILTER,
    *,
    put_only: bool = False,
    expired: bool = False,
    viewer: ViewerLike = None,
) -> Call[list[Record]]:
    """List the records that pass a filter and that the viewer may read."""
    wanted = where if isinstance(where, Filter) else Filter(where=conditions.read(where))
    options = {"put_only": put_only, "expired": expired, "all": True}
    parameters = {**filter_members(wanted), **options, **viewer_parameter(viewer)}
    return list_of("/v1/documents", Record, parameters)


def text(document_id: str, *, shared_only: bool = False, viewer: ViewerLike = None) -> Call[str]:
    """Return the text of a chunk, or of a whole record, by its id."""

    def read(data: Any) -> str:
        return str(data["text"])

    path = f"/v1/documents/{escape_id(document_id)}"
    parameters = {"shared_only": shared_only, **viewer_parameter(viewer)}
    return Call("GET", path, read, parameters=parameters)


def chunks(path: str | None = None, *, viewer: ViewerLike = None) -> Call[list[Chunk]]:
    """Return the chunks of one path, or of everything, in reading order."""
    return list_of("/v1/chunks", Chunk, {"path": path, **viewer_parameter(viewer)})


# --- documents as they are sent ------------------------------------------------------------------


def _members(new: NewDocument) -> dict[str, Any]:
    """Return the members of a document that differ from those of none."""
    sent = {each.name: getattr(new, each.name) for each in fields(new)}
    content = sent.pop("content")
    members = {name: _plain(value) for name, value in given(sent).items() if value not in ("", ())}
    if isinstance(content, bytes | bytearray | memoryview):
        return {**members, "content_base64": base64.b64encode(bytes(content)).decode()}
    return {**members, "content": _plain(content)}


def _plain(value: Any) -> Any:
    """Return a value as JSON carries it: dates as texts, sets in order."""
    if isinstance(value, date):
        return check_scalar(value)
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def _batches(
    documents: Iterable[object], skip_errors: bool
) -> Iterator[tuple[int, list[bytes], Skipped | QuireError | None]]:
    """Yield documents as lines, with the number of the first, and what cannot be sent after them.

    After an error that is not skipped, nothing more is yielded.
    """
    batch: list[bytes] = []
    size, first = 0, 1
    for number, item in enumerate(documents, 1):
        line, problem = _line(item, f"document {number}")
        if problem is not None:
            skipped = Skipped(_path_of(item) or f"document {number}", str(problem))
            yield first, batch, skipped if skip_errors else problem
            batch, size, first = [], 0, number + 1
            continue
        if batch and (len(batch) >= BATCH_DOCUMENTS or size + len(line) > BATCH_BYTES):
            yield first, batch, None
            batch, size, first = [], 0, number
        batch.append(line)
        size += len(line)
    if batch:
        yield first, batch, None


def _line(item: object, place: str) -> tuple[bytes, QuireError | None]:
    if isinstance(item, QuireError):
        return b"", item
    try:
        return encode_body(_members(of_mapping(item, place))), None
    except InputError as error:
        return b"", error if place in error.place else error.within(place)


def _path_of(item: object) -> str:
    path = item.get("path") if isinstance(item, Mapping) else getattr(item, "path", "")
    return path if isinstance(path, str) else ""


# --- answers to several requests -----------------------------------------------------------------


def _add(total: PutSummary, part: PutSummary, first: int) -> PutSummary:
    """Add the answer to a request, whose documents are counted from the first of its own."""
    skipped = (replace(each, path=_shift(each.path, first)) for each in part.skipped)
    return PutSummary(
        added=total.added + part.added,
        changed=total.changed + part.changed,
        unchanged=total.unchanged + part.unchanged,
        skipped=(*total.skipped, *skipped),
        redacted=(*total.redacted, *part.redacted),
        vectors=total.vectors + part.vectors,
        notes=(*total.notes, *(note for note in part.notes if note not in total.notes)),
    )


def _renumber(error: QuireError, first: int) -> QuireError:
    place = _shift(error.place, first)
    if place == error.place:
        return error
    facts = {"field": error.field, "value": error.value, "allowed": error.allowed}
    return type(error)(error.message, **facts, hint=error.hint, place=place)


def _shift(place: str, first: int) -> str:
    """Return a place that begins with the number of a document, counted from the first."""
    head, comma, rest = place.partition(",")
    name, space, number = head.partition(" ")
    if name != "document" or not number.isdigit():
        return place
    return f"{name}{space}{int(number) + first - 1}{comma}{rest}"
