"""Conversion between values and table rows."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from quire.core import metadata
from quire.core.types import NO_METADATA, Chunk, Entity, Outline, Record, Reference
from quire.errors import InputError
from quire.store import access
from quire.store.damage import damaged
from quire.store.sql.connection import invalid_text

ID = re.compile(r"[0-9a-f]{32}")
"""The form of a chunk's id or a vector's key."""
MAX_INTEGER = (1 << 63) - 1
"""The largest integer that a column holds."""

ROW_BITS = 40
"""A chunk's key is the number of its space, then that of its row in this many bits."""

MIN_OUTLINE_BYTES = 32 << 20
MAX_RATIO = 64
"""A compressed outline may become so many bytes, or so many times as many as it has."""
MAX_SHARED = 200
"""The attributes of records are parsed once for all that have the same, if they are so short."""

RECORD = (
    "r.id, r.kind, r.path, r.title, r.parent, r.position, r.modified, r.author, r.own_acl, "
    "r.attrs, r.paths, r.metadata, r.expires, r.origin"
)
CHUNK = (
    "c.id, r.id, k.name, r.path, c.title, c.sequence, c.start, c.stop, c.first_line, "
    "c.last_line, c.text"
)
CHUNK_COLUMNS = CHUNK.count(",") + 1
CHUNK_RECORD = "record r ON /*! r.space = c.space AND */ r.number = c.record"
CHUNK_KIND = "kind k ON /*! k.space = c.space AND */ k.id = c.kind"
VALUE_RECORD = "record r ON /*! r.space = v.space AND */ r.number = v.record"
"""Tables joined by the number of a row; what `/*! */` holds is for servers (`database.py`)."""
CHUNK_TABLES = f"chunk c JOIN {CHUNK_RECORD} JOIN {CHUNK_KIND}"
LEAF = "LEFT JOIN leaf l ON l.space = c.space AND l.class = r.class AND l.key = c.id"
"""Joins the leaf (`l.content`) that a chunk must match."""


# `json.dumps` would make an encoder for each value.
_encode_sorted = json.JSONEncoder(sort_keys=True).encode
_encode_compact = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def key_of(space: int, row: int) -> int:
    """Return the key of the chunk in a row."""
    return space << ROW_BITS | row


def row_of(key: int) -> int:
    """Return the row of a chunk, given its key."""
    return key & ((1 << ROW_BITS) - 1)


def check_values(place: str, values: Iterable[str | int | None]) -> None:
    """Refuse values that the database cannot store, before anything is written."""
    for value in values:
        if isinstance(value, str):
            try:
                value.encode()
            except UnicodeEncodeError as error:
                raise invalid_text(place) from error
        elif isinstance(value, int) and not -MAX_INTEGER <= value <= MAX_INTEGER:
            raise InputError(f"the number {value} is too large", value=value, place=place)


def record_row(record: Record) -> tuple[Any, ...]:
    """Convert a record to the columns of `RECORD`."""
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
        _encode_sorted(dict(record.attrs)),
        json.dumps(record.paths),
        metadata.encode(record.metadata),
        record.expires,
        record.origin,
    )


def attributes_of(attrs: str) -> dict[str, str | int]:
    """Return the attributes of a record from their column."""
    try:
        attributes: dict[str, str | int] = json.loads(attrs)
    except ValueError as error:
        raise damaged("the attributes of a record are damaged") from error
    return attributes


def _attributes(attrs: str) -> Mapping[str, str | int]:
    """Return the attributes of a record; many records have the same few."""
    return _shared_attributes(attrs) if len(attrs) <= MAX_SHARED else _parse_attributes(attrs)


def _parse_attributes(attrs: str) -> Mapping[str, str | int]:
    parsed: dict[str, str | int] = json.loads(attrs)
    return MappingProxyType(parsed)


_shared_attributes = lru_cache(maxsize=1024)(_parse_attributes)


def record_of(row: Sequence[Any]) -> Record:
    """Return the record in the columns of `RECORD`."""
    record_id, kind, path, title, parent, position, modified, author, acl, attrs, paths = row[:11]
    stated, expires, origin = row[11:]
    try:
        own_acl = None if acl is None else access.parse_acl(acl)
        attributes = _attributes(attrs)
        named_paths = () if paths == "[]" else tuple(json.loads(paths))
        stated = NO_METADATA if stated == "{}" else metadata.decode(stated)
    except (ValueError, TypeError, RecursionError) as error:
        raise damaged(f"record {record_id} is damaged") from error
    return Record(
        id=record_id,
        kind=kind,
        path=path,
        title=title,
        parent=parent,
        position=position,
        modified=modified,
        author=author,
        acl=own_acl,
        attrs=attributes,
        paths=named_paths,
        metadata=stated,
        expires=expires,
        origin=origin,
    )


def outline_body(outline: Outline) -> bytes:
    """Encode an outline as compressed JSON."""
    data = [
        [[*entity.hashed_fields, dict(entity.attrs)] for entity in outline.entities],
        [[use.name, use.kind, use.within, use.count] for use in outline.references],
    ]
    return zlib.compress(_encode_compact(data).encode(), 1)


def outline_of(body: bytes) -> Outline:
    """Decode an outline that `outline_body` encoded."""
    try:
        entities, references = json.loads(_decompress(body))
        return Outline(
            tuple(map(_entity_of, entities)), tuple(Reference(*row) for row in references)
        )
    except (ValueError, TypeError, RecursionError, zlib.error) as error:
        raise damaged("an outline is damaged") from error


def _decompress(body: bytes) -> bytes:
    """Return what an outline was compressed from; a store may come from anybody, with a bomb."""
    stream = zlib.decompressobj()
    data = stream.decompress(body, max(MIN_OUTLINE_BYTES, MAX_RATIO * len(body)))
    if stream.unconsumed_tail or not stream.eof:
        raise ValueError("it is cut off, or grows too much")
    return data


def _entity_of(row: Sequence[Any]) -> Entity:
    kind, name, qualified, start, end, (first, last), parent, *texts, decorators, attrs = row
    signature, summary = texts
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
    """Return the chunk in the columns of `CHUNK`."""
    chunk_id, record_id, kind, path, title, sequence, start, end, first, last, text = row
    return Chunk(
        id=chunk_id.hex(),
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
