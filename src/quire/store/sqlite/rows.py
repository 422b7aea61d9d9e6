"""How do values become rows, and rows values again?"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from quire.errors import StoreDamagedError
from quire.store import access
from quire.store.sqlite.database import REPAIR
from quire.values import Chunk, Record

ID = re.compile(r"[0-9a-f]{32}")
"""What names a chunk or a vector."""
LARGEST = (1 << 63) - 1
"""No number that is kept may be larger."""

ROW_BITS = 40
"""A chunk's key is its space's number, then its row's in this many bits."""

RECORD = (
    "r.id, r.kind, r.path, r.title, r.parent, r.position, r.modified, r.author, r.own_acl, r.attrs"
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
    )


def record_of(row: Sequence[Any]) -> Record:
    """Read a record from the columns of `RECORD`."""
    name, kind, path, title, parent, position, modified, author, acl, attrs = row
    try:
        own, properties = None if acl is None else access.parse(acl), json.loads(attrs)
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
