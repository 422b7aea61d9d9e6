"""How is a block kept as a record, and read back?

The path names the block by its id alone, never by titles: where something stands must not tell what
stands above it. The record's access is the effective one; the list of its own, its properties and
all that it refers to are kept beside it, so that what comes back is what was put in.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from quire.core import chunking
from quire.core.types import BLOCK_PREFIX, Chunk, Document, Link, Record
from quire.core.types.blocks import NO_PROPERTIES, NO_RELATIONS, TYPES, Block, Property
from quire.workspace import text
from quire.workspace.inheritance import InheritedAccess

FOLDER = ".quire/block"
KINDS = tuple(f"{BLOCK_PREFIX}{name}" for name in TYPES)
LINK = "link"
MENTION = "mention"
RELATION = "relation:"
SUPERSEDES = "supersedes"
"""A relation that is a kind of link by itself, as between memories."""


def path(name: str) -> str:
    """Give the path of a block by its id."""
    return f"{FOLDER}/{name}"


def is_block(record: Record) -> bool:
    """Tell whether a record is a block."""
    return record.kind.startswith(BLOCK_PREFIX)


def document(block: Block, standing: InheritedAccess, cut: chunking.Cut) -> Document:
    """Give the record, chunks and links that a block is kept as where it stands."""
    before, after = text.around(block)
    access, headed = standing.access_of(block), standing.heads(block)
    own = path(block.id)
    # Where the rules decide, they may come to hide the page alone: then its title goes as well.
    told = (own, path(standing.page or "")) if headed and access is None else ()
    record = Record(
        id=block.id,
        kind=f"{BLOCK_PREFIX}{block.type}",
        path=own,
        title=text.title(block),
        parent=block.parent,
        position=block.position,
        modified=block.edited,
        author=block.author,
        acl=access,
        attrs=_attrs(block, before, after),
        paths=told,
    )
    whole = f"{before}{block.text}{after}"
    title = standing.title if headed else ""
    parts = [(record.kind, whole)] if whole else []
    return Document(record, chunking.make_chunks(record, parts, cut, title), links(block))


def links(block: Block) -> tuple[Link, ...]:
    """Give all ties of a block, each once."""
    found = {(target, LINK) for target in block.links}
    found |= {(name, MENTION) for name in block.mentions}
    for name, ids in block.relations.items():
        kind = name if name == SUPERSEDES else f"{RELATION}{name}"
        found |= {(target, kind) for target in ids}
    return tuple(Link(block.id, target, kind) for target, kind in sorted(found))


def block_of(record: Record, chunks: Iterable[Chunk]) -> Block:
    """Read a block back from what it is kept as."""
    attrs = record.attrs
    whole = "".join(chunk.text for chunk in chunks)
    end = len(whole) - int(attrs.get("after", 0))
    return Block(
        id=record.id,
        type=record.kind.removeprefix(BLOCK_PREFIX),
        text=whole[int(attrs.get("before", 0)) : end],
        parent=record.parent,
        position=record.position,
        properties=properties_of(record),
        relations=_relations(record),
        links=_listed(record, "links"),
        mentions=_listed(record, "mentions"),
        created=None if attrs.get("created") is None else int(attrs["created"]),
        edited=record.modified,
        author=record.author,
        access=own_access(record),
        source=str(attrs.get("source", "")),
    )


def own_access(record: Record) -> tuple[str, ...] | None:
    """Read the access list that a block has of its own; None: it has none."""
    held = record.attrs.get("own")
    return None if held is None else tuple(json.loads(str(held)))


def properties_of(record: Record) -> Mapping[str, Property]:
    """Read the properties of a block from its record alone."""
    held = record.attrs.get("properties")
    if held is None:
        return NO_PROPERTIES
    told = json.loads(str(held))
    return {key: tuple(value) if isinstance(value, list) else value for key, value in told.items()}


def _attrs(block: Block, before: str, after: str) -> dict[str, str | int]:
    told: dict[str, Any] = {
        "properties": dict(block.properties),
        "relations": dict(block.relations),
        "links": block.links,
        "mentions": block.mentions,
    }
    attrs: dict[str, str | int] = {
        key: json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        for key, value in told.items()
        if value
    }
    if block.access is not None:
        attrs["own"] = json.dumps(block.access)
    if block.created is not None:
        attrs["created"] = block.created
    if block.source:
        attrs["source"] = block.source
    if before:
        attrs["before"] = len(before)
    if after:
        attrs["after"] = len(after)
    return attrs


def _listed(record: Record, key: str) -> tuple[str, ...]:
    held = record.attrs.get(key)
    return () if held is None else tuple(json.loads(str(held)))


def _relations(record: Record) -> Mapping[str, tuple[str, ...]]:
    held = record.attrs.get("relations")
    if held is None:
        return NO_RELATIONS
    return {name: tuple(ids) for name, ids in json.loads(str(held)).items()}
