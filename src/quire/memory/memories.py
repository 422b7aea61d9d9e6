"""Memories, and the chains that they form by superseding each other.

A memory may supersede one other: then the older one stays as history, under a kind of its own, so
that a search for memories never offers it as current. So memories form chains, each with one end
that is current; everyone who may read one memory of a chain may read them all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from quire.core import chunking, hashing, stored_json
from quire.core.languages import with_language
from quire.core.types import Chunk, Document, Link, Memory, Record
from quire.errors import InputError

KIND = "memory"
OLD = "memory.old"
OLD_TITLE = "superseded"
"""The title of a memory that is not current, wherever it is shown."""
SUPERSEDES = "supersedes"
FOLDER = ".quire/memory"
FULL_IMPORTANCE = 1000
STEPS = 10
"""A repetition adds one of so many parts of what is left to the full importance."""


def make_memory(
    content: str,
    *,
    category: str,
    importance: int,
    created: int,
    author: str | None,
    acl: tuple[str, ...] | None,
    supersedes: str | None = None,
) -> Memory:
    """Return a new memory; its id is the hash of its content, author and time."""
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


def repeat(memory: Memory, importance: int, at: int) -> Memory:
    """Return a memory that its author said once more.

    Its importance is the greater of both, and a tenth of what is left to 1 is added: it rises with
    every repetition, by less each time, and never reaches 1 by itself.
    """
    greater = max(memory.importance, importance)
    return replace(
        memory,
        importance=greater + (FULL_IMPORTANCE - greater) // STEPS,
        count=memory.count + 1,
        repeated=max(at, memory.repeated or memory.created),
    )


def is_repeated(memory: Memory, content: str, category: str) -> bool:
    """Return whether a current memory says the same, however it is spaced."""
    return (
        memory.superseded_by is None
        and memory.category == category
        and memory.content.split() == content.split()
    )


def to_thousandths(importance: float) -> int:
    """Return an importance from 0 to 1 in thousandths."""
    if not 0 <= importance <= 1:
        raise InputError(
            f"expected a number from 0 to 1, not {str(importance)[:40]}",
            field="importance",
            value=importance,
        )
    return int(importance * FULL_IMPORTANCE + 0.5)


def to_document(memory: Memory, split: chunking.Cut) -> Document:
    """Return the record, chunks and links that a memory is stored as."""
    attrs: dict[str, str | int] = {"category": memory.category, "importance": memory.importance}
    for key in ("edited", "supersedes", "superseded_by", "repeated"):
        value = getattr(memory, key)
        if value is not None:
            attrs[key] = value
    if memory.count > 1:
        attrs["count"] = memory.count
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
    is_old = memory.superseded_by is not None
    kind, title = (OLD, OLD_TITLE) if is_old else (KIND, "")
    chunks = chunking.make_chunks(record, [(kind, memory.content)], split, title)
    return Document(
        with_language(record, chunks),
        chunks,
        () if memory.supersedes is None else (Link(memory.id, memory.supersedes, SUPERSEDES),),
    )


@stored_json.of_record
def from_record(record: Record, chunks: Iterable[Chunk]) -> Memory:
    """Return the memory that a record and its chunks store."""
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
        count=int(attrs.get("count", 1)),
        repeated=_number(attrs.get("repeated")),
    )


def link_chains(memories: Mapping[str, Memory]) -> dict[str, Memory]:
    """Return memories with `superseded_by` set from the `supersedes` of the others.

    Raises `InputError` where two supersede the same one, where a memory comes to supersede itself,
    and where a memory has other readers than the one that it supersedes.
    """
    older = {name: memory.supersedes for name, memory in memories.items() if memory.supersedes}
    for target, count in sorted(Counter(older.values()).items()):
        if count > 1:
            raise InputError(
                f"memory {target} would be superseded by {count} memories",
                hint="supersede it by one of them",
            )
    for name in sorted(older):
        _refuse_circle(name, older)
    newer = {target: name for name, target in older.items()}
    for target, name in newer.items():
        if target in memories and memories[target].acl != memories[name].acl:
            raise InputError(
                f"memory {name} and memory {target}, which it supersedes, have different readers",
                hint="share both with the same people",
            )
    return {
        name: replace(memory, superseded_by=newer.get(name)) for name, memory in memories.items()
    }


def remove_from_chain(memories: Mapping[str, Memory], forgotten: str) -> dict[str, Memory]:
    """Remove a memory from its chain: its neighbors close up, or the older one is current again."""
    removed = memories[forgotten]
    return link_chains(
        {
            name: replace(memory, supersedes=removed.supersedes)
            if memory.supersedes == forgotten
            else memory
            for name, memory in memories.items()
            if name != forgotten
        }
    )


def sort_by_age(memories: Iterable[Memory]) -> list[Memory]:
    """Sort memories by their creation time, oldest first."""
    return sorted(memories, key=lambda memory: (memory.created, memory.id))


def find_changed(before: Mapping[str, Memory], after: Mapping[str, Memory]) -> Sequence[Memory]:
    """Return the memories that are new or changed."""
    return sort_by_age(memory for name, memory in after.items() if before.get(name) != memory)


def _refuse_circle(start: str, older: Mapping[str, str]) -> None:
    seen, name = {start}, older.get(start)
    while name is not None and name not in seen:
        seen.add(name)
        name = older.get(name)
    if name is not None:
        raise InputError(f"memory {name} would supersede itself", hint="break the circle")


def _number(value: str | int | None) -> int | None:
    return None if value is None else int(value)


def _text(value: str | int | None) -> str | None:
    return None if value is None else str(value)
