"""What is a memory, and which one is current?

A memory may supersede one other: then the older one stays as history, under a kind of its own, so
that a search for memories never offers it as current. So memories form chains, each with one end
that is current; everyone who may read one memory of a chain may read them all.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from quire.core import chunking, hashing
from quire.core.types import Chunk, Document, Link, Memory, Record
from quire.errors import InputError

KIND = "memory"
OLD = "memory.old"
OLD_TITLE = "superseded"
"""Stands above a memory that is not current, wherever it is shown."""
SUPERSEDES = "supersedes"
FOLDER = ".quire/memory"
MOST = 1000


def new(
    content: str,
    *,
    category: str,
    importance: int,
    created: int,
    author: str | None,
    acl: tuple[str, ...] | None,
    supersedes: str | None = None,
) -> Memory:
    """Make a memory, named by all that it says and by whom and when it was said."""
    content = chunking.require_text("memory", content)
    name = hashing.identifier(
        "memory", content, category, importance, created, author, acl, supersedes
    )
    return Memory(
        name,
        content,
        category,
        importance,
        created,
        author=author,
        acl=acl,
        supersedes=supersedes,
    )


def thousandths(importance: float) -> int:
    """Read an importance between 0 and 1."""
    if not math.isfinite(importance) or not 0 <= importance <= 1:
        raise InputError(f"an importance of {importance} cannot be: give a number from 0 to 1")
    return int(importance * MOST + 0.5)


def document(memory: Memory, cut: chunking.Cut) -> Document:
    """Give the record, chunks and links that a memory is kept as."""
    attrs: dict[str, str | int] = {"category": memory.category, "importance": memory.importance}
    for key in ("edited", "supersedes", "superseded_by"):
        value = getattr(memory, key)
        if value is not None:
            attrs[key] = value
    record = Record(
        id=memory.id,
        kind=KIND,
        path=f"{FOLDER}/{memory.id}",
        title=chunking.first_words(memory.content),
        modified=memory.created,
        author=memory.author,
        acl=memory.acl,
        attrs=attrs,
    )
    old = memory.superseded_by is not None
    return Document(
        record,
        chunking.make_chunks(
            record, [(OLD if old else KIND, memory.content)], cut, OLD_TITLE if old else ""
        ),
        () if memory.supersedes is None else (Link(memory.id, memory.supersedes, SUPERSEDES),),
    )


def memory_of(record: Record, chunks: Iterable[Chunk]) -> Memory:
    """Read a memory back from what it is kept as."""
    attrs = record.attrs
    return Memory(
        id=record.id,
        content="".join(chunk.text for chunk in chunks),
        category=str(attrs["category"]),
        importance=int(attrs["importance"]),
        created=record.modified or 0,
        edited=_number(attrs.get("edited")),
        author=record.author,
        acl=record.acl,
        supersedes=_text(attrs.get("supersedes")),
        superseded_by=_text(attrs.get("superseded_by")),
    )


def chained(memories: Mapping[str, Memory]) -> dict[str, Memory]:
    """Say of each memory by which one of the others it is superseded, if by any.

    Refused are two that supersede the same one, a memory that comes to supersede itself, and one
    that others may read than the one that it supersedes.
    """
    older = {name: memory.supersedes for name, memory in memories.items() if memory.supersedes}
    for target, count in sorted(Counter(older.values()).items()):
        if count > 1:
            raise InputError(
                f"memory {target} would be superseded by {count} memories: by one only"
            )
    for name in sorted(older):
        _refuse_circle(name, older)
    newer = {target: name for name, target in older.items()}
    for target, name in newer.items():
        if target in memories and memories[target].acl != memories[name].acl:
            raise InputError(
                f"memory {name} would supersede {target} for others than those who may read it: "
                "share both with the same people"
            )
    return {
        name: replace(memory, superseded_by=newer.get(name)) for name, memory in memories.items()
    }


def without(memories: Mapping[str, Memory], forgotten: str) -> dict[str, Memory]:
    """Take one out of a chain: its two neighbours close up, or the older one is current again."""
    gone = memories[forgotten]
    return chained(
        {
            name: replace(memory, supersedes=gone.supersedes)
            if memory.supersedes == forgotten
            else memory
            for name, memory in memories.items()
            if name != forgotten
        }
    )


def ordered(memories: Iterable[Memory]) -> list[Memory]:
    """Sort memories by the time of their making, the oldest first."""
    return sorted(memories, key=lambda memory: (memory.created, memory.id))


def differing(before: Mapping[str, Memory], after: Mapping[str, Memory]) -> Sequence[Memory]:
    """Give the memories that are not as they were."""
    return ordered(memory for name, memory in after.items() if before.get(name) != memory)


def _refuse_circle(start: str, older: Mapping[str, str]) -> None:
    met, name = {start}, older.get(start)
    while name is not None and name not in met:
        met.add(name)
        name = older.get(name)
    if name is not None:
        raise InputError(f"memory {name} would supersede itself: break the circle")


def _number(value: str | int | None) -> int | None:
    return None if value is None else int(value)


def _text(value: str | int | None) -> str | None:
    return None if value is None else str(value)
