"""What is met on disk, and what becomes of it?"""

from __future__ import annotations

from dataclasses import dataclass

from quire.core.types.outline import Outline
from quire.core.types.records import Chunk, Link, Record


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file met on a walk: its path in the space (with `/`) and where it lies on disk."""

    path: str
    location: str
    size: int
    mtime: int


MISSING_EXTRA = "an extra is missing"
MAY_PASS = (
    "cannot be read",
    "folder cannot be read",
    "changed while",
    "vanished before",
    MISSING_EXTRA,
)
"""How the reasons begin that say nothing of what a file is."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that was left out, and why."""

    path: str
    reason: str

    @property
    def may_pass(self) -> bool:
        """Whether the reason says nothing of what the file is: the next run may read it."""
        return self.reason.startswith(MAY_PASS)


@dataclass(frozen=True, slots=True)
class Document:
    """What a reader made of one file: the record, its chunks, its links and its outline."""

    record: Record
    chunks: tuple[Chunk, ...]
    links: tuple[Link, ...] = ()
    outline: Outline | None = None
