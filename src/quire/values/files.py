"""What is met on disk, and what becomes of it?"""

from __future__ import annotations

from dataclasses import dataclass

from quire.values.kept import Chunk, Link, Record
from quire.values.outline import Outline


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file met on a walk: its path in the space (with `/`) and where it lies on disk."""

    path: str
    location: str
    size: int
    mtime: int


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that was left out, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Document:
    """What a reader made of one file: the record, its chunks, its links and its outline."""

    record: Record
    chunks: tuple[Chunk, ...]
    links: tuple[Link, ...] = ()
    outline: Outline | None = None
