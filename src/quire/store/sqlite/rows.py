"""How do values become rows, and rows values again?"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterable, Sequence
from typing import Any

from quire.core.types import Chunk, Entity, Outline, Record, Reference
from quire.errors import InputError, StoreDamagedError
from quire.store import access
from quire.store.sqlite.database import REPAIR

ID = re.compile(r"[0-9a-f]{32}")
"""What names a chunk or a vector."""
LARGEST = (1 << 63) - 1
"""No number that is kept may be larger."""

ROW_BITS = 40
"""A chunk's key is its space's number, then its row's in this many bits."""

RECORD = (
    "r.id, r.kind, r.path, r.title, r.parent, r.position, r.modified, r.author, r.own_acl, "
    "r.attrs, r.paths"
)
CHUNK = (
    "c.id, r.id, k.name, r.path, c.title, c.sequence, c.start, c.stop, c.first_line, "
    "c.last_line, c.text"
)
CHUNK_TABLES = "chunk c JOIN record r ON r.number = c.record JOIN kind k ON k.id = c.kind"


def key_of(space: int, row: int) -> int:
    """Give the key of a row's chunk."""
    return space << ROW_BITS | row


def row_of(key: int) -> int:
    """Give the row of a chunk's key."""
    return key & ((1 << ROW_BITS) - 1)


def check_values(where: str, values: Iterable[str | int | None]) -> None:
    """Refuse what the database could not keep, before anything of it is written."""
    for value in values:
        if isinstance(value, str):
            try:
                value.encode()
            except UnicodeEncodeError as error:
                raise InputError(
                    f"{where}: a text holds half of a surrogate pair, which is no character; "
                    "replace it first"
                ) from error
        elif isinstance(value, int) and not -LARGEST <= value <= LARGEST:
            raise InputError(f"{where}: {value} is too large a number")


def record_row(record: Record) -> tuple[Any, ...]:
    """Write a record as the columns of `RECORD`."""
    return (
        record.id,
        record.kind,
        record.path,
        record.title,
        record.parent,
        record.position,
        record.modified,
        record.author,
        None if record.acl is None else access.canonical(record.acl),
        json.dumps(dict(record.attrs), sort_keys=True),
        json.dumps(record.paths),
    )


def record_of(row: Sequence[Any]) -> Record:
    """Read a record from the columns of `RECORD`."""
    name, kind, path, title, parent, position, modified, author, acl, attrs, paths = row
    try:
        own, properties = None if acl is None else access.parse(acl), json.loads(attrs)
        named = () if paths == "[]" else tuple(json.loads(paths))
    except ValueError as error:
        raise StoreDamagedError(f"record {name} is damaged: {REPAIR}") from error
    return Record(
        id=name,
        kind=kind,
        path=path,
        title=title,
        parent=parent,
        position=position,
        modified=modified,
        author=author,
        acl=own,
        attrs=properties,
        paths=named,
    )


def outline_body(outline: Outline) -> bytes:
    """Write an outline as one compressed text."""
    told = [
        [[*entity.fixed, dict(entity.attrs)] for entity in outline.entities],
        [[use.name, use.kind, use.within, use.count] for use in outline.references],
    ]
    return zlib.compress(json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode(), 1)


def outline_of(body: bytes) -> Outline:
    """Read what `outline_body` wrote."""
    try:
        entities, references = json.loads(zlib.decompress(body))
        return Outline(
            tuple(map(_entity_of, entities)), tuple(Reference(*row) for row in references)
        )
    except (ValueError, TypeError, zlib.error) as error:
        raise StoreDamagedError(f"an outline is damaged: {REPAIR}") from error


def _entity_of(row: Sequence[Any]) -> Entity:
    kind, name, qualified, start, end, (first, last), parent, *said, decorators, attrs = row
    signature, summary = said
    return Entity(
        kind,
        name,
        qualified,
        start,
        end,
        (first, last),
        parent,
        signature,
        summary,
        tuple(decorators),
        attrs,
    )


def chunk_of(row: Sequence[Any]) -> Chunk:
    """Read a chunk from the columns of `CHUNK`."""
    name, record_id, kind, path, title, sequence, start, end, first, last, text = row
    return Chunk(
        id=name.hex(),
        record_id=record_id,
        kind=kind,
        path=path,
        title=title,
        sequence=sequence,
        start=start,
        end=end,
        lines=(first, last),
        text=text,
    )
