"""Blocks as records, and back.

The path names the block by its id alone, never by titles: a path must not reveal the titles of
parents. The record's access is the effective one; the block's own access list, its properties and
its references are attributes, so that what is read back is what was put in.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from quire.core import chunking, hashing, stored_json
from quire.core.languages import with_language
from quire.core.types import BLOCK_PREFIX, Chunk, Document, Link, Record
from quire.core.types.blocks import NO_PROPERTIES, NO_RELATIONS, PAGES, TYPES, Block, Property
from quire.core.types.records import FILE, LINE, SHOWN_PARTS
from quire.store.access import OWN_ACCESS
from quire.workspace import text
from quire.workspace.inheritance import InheritedAccess

FOLDER = ".quire/block"
KINDS = tuple(f"{BLOCK_PREFIX}{name}" for name in TYPES)
LINK = "link"
MENTION = "mention"
RELATION = "relation:"
SUPERSEDES = "supersedes"
"""A relation that is a kind of link of its own, as between memories."""


SOURCE = "source"
"""The attribute that says which import a block comes from."""


def imported_id(source: str, page: str, part: str = "") -> str:
    """Return the id of an imported page, or of a part of it, from the page's path or key."""
    return f"b-{hashing.identifier('block', source, page, part)}"


def path_of(name: str) -> str:
    """Return the path of a block by its id."""
    return f"{FOLDER}/{name}"


def is_block(record: Record) -> bool:
    """Return whether a record is a block."""
    return record.kind.startswith(BLOCK_PREFIX)


def to_document(block: Block, inherited: InheritedAccess, split: chunking.Cut) -> Document:
    """Return the record, chunks and links that a block is stored as in its place."""
    before, after = text.affixes(block)
    record = Record(
        id=block.id,
        kind=f"{BLOCK_PREFIX}{block.type}",
        path=path_of(block.id),
        title=text.title_of(block),
        parent=block.parent,
        position=block.position,
        modified=block.edited,
        author=block.author,
        acl=inherited.access_of(block),
        attrs=_attributes(block, before, after) | _place(block, inherited),
        paths=_paths(block, inherited),
    )
    content = f"{before}{block.text}{after}"
    title = _page_title(block, inherited)
    parts = [(record.kind, content)] if content else []
    chunks = chunking.make_chunks(record, parts, split, title)
    return Document(with_language(record, chunks), chunks, make_links(block))


def inheriting(record: Record, before: InheritedAccess, now: InheritedAccess) -> Record | None:
    """Return the record of a block that inherits otherwise now; None: its chunks change as well."""
    block = from_record(record, ())
    if _page_title(block, before) != _page_title(block, now):
        return None
    attrs = {
        name: value for name, value in record.attrs.items() if name not in {FILE, LINE, SHOWN_PARTS}
    }
    return replace(
        record,
        acl=now.access_of(block),
        attrs=attrs | _place(block, now),
        paths=_paths(block, now),
    )


def _page_title(block: Block, inherited: InheritedAccess) -> str:
    """Return the title of its page that is embedded with a block."""
    return inherited.title if inherited.shows_title(block) else ""


def _paths(block: Block, inherited: InheritedAccess) -> tuple[str, ...]:
    """Return the paths whose rules decide together who may read a block; empty: its own alone.

    Where the rules decide, they may come to hide the page alone: then its title goes as well.
    """
    if inherited.access_of(block) is not None:
        return ()
    if block.file and inherited.shows_folders(block):
        return (path_of(block.id), *map(path_of, inherited.pages))
    if inherited.shows_title(block):
        return (path_of(block.id), path_of(inherited.page or ""))
    return ()


def _place(block: Block, inherited: InheritedAccess) -> dict[str, str | int]:
    """Return the attributes that say where a block comes from, and how much of that is shown."""
    if not block.file:
        return {}
    place: dict[str, str | int] = {FILE: block.file}
    if block.line:
        place[LINE] = block.line
    if not inherited.shows_folders(block):
        place[SHOWN_PARTS] = 1 if inherited.shows_title(block) or block.type in PAGES else 0
    return place


def make_links(block: Block) -> tuple[Link, ...]:
    """Return all links of a block, each once."""
    targets = {(target, LINK) for target in block.links}
    targets |= {(name, MENTION) for name in block.mentions}
    for name, ids in block.relations.items():
        kind = name if name == SUPERSEDES else f"{RELATION}{name}"
        targets |= {(target, kind) for target in ids}
    return tuple(Link(block.id, target, kind) for target, kind in sorted(targets))


@stored_json.of_record
def from_record(record: Record, chunks: Iterable[Chunk]) -> Block:
    """Return the block that a record and its chunks store."""
    attrs = record.attrs
    content = "".join(chunk.text for chunk in chunks)
    end = len(content) - int(attrs.get("after", 0))
    return Block(
        id=record.id,
        type=record.kind.removeprefix(BLOCK_PREFIX),
        text=content[int(attrs.get("before", 0)) : end],
        parent=record.parent,
        position=record.position,
        properties=read_properties(record),
        relations=_read_relations(record),
        links=_read_list(record, "links"),
        mentions=_read_list(record, "mentions"),
        created=None if attrs.get("created") is None else int(attrs["created"]),
        edited=record.modified,
        author=record.author,
        access=own_access(record),
        source=str(attrs.get(SOURCE, "")),
        file=str(attrs.get(FILE, "")),
        line=int(attrs.get(LINE, 0)),
    )


@stored_json.of_record
def own_access(record: Record) -> tuple[str, ...] | None:
    """Return the access list that a block has of its own; None: it has none."""
    stored = record.attrs.get(OWN_ACCESS)
    return None if stored is None else tuple(json.loads(str(stored)))


@stored_json.of_record
def read_properties(record: Record) -> Mapping[str, Property]:
    """Return the properties of a block, from its record alone."""
    stored = record.attrs.get("properties")
    if stored is None:
        return NO_PROPERTIES
    table = json.loads(str(stored))
    return {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}


def _attributes(block: Block, before: str, after: str) -> dict[str, str | int]:
    tables: dict[str, Any] = {
        "properties": dict(block.properties),
        "relations": dict(block.relations),
        "links": block.links,
        "mentions": block.mentions,
    }
    attrs: dict[str, str | int] = {
        key: json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        for key, value in tables.items()
        if value
    }
    if block.access is not None:
        attrs[OWN_ACCESS] = json.dumps(block.access)
    if block.created is not None:
        attrs["created"] = block.created
    if block.source:
        attrs[SOURCE] = block.source
    if before:
        attrs["before"] = len(before)
    if after:
        attrs["after"] = len(after)
    return attrs


def _read_list(record: Record, key: str) -> tuple[str, ...]:
    stored = record.attrs.get(key)
    return () if stored is None else tuple(json.loads(str(stored)))


def _read_relations(record: Record) -> Mapping[str, tuple[str, ...]]:
    stored = record.attrs.get("relations")
    if stored is None:
        return NO_RELATIONS
    return {name: tuple(ids) for name, ids in json.loads(str(stored)).items()}
