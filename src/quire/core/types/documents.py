"""Files on disk, and the documents that are read from them."""

from __future__ import annotations

from dataclasses import dataclass

from quire.core.types.outline import Outline
from quire.core.types.records import Chunk, Link, Record


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file that a walk found: its path in the space (with `/`) and its location on disk."""

    path: str
    location: str
    size: int
    mtime: int


MISSING_EXTRA = "an extra is missing"
TEMPORARY_REASONS = (
    "cannot be read",
    "folder cannot be read",
    "changed while",
    "vanished before",
    MISSING_EXTRA,
)
"""Beginnings of reasons that say nothing about the content of a file."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that was skipped, and the reason."""

    path: str
    reason: str

    @property
    def is_temporary(self) -> bool:
        """Whether the next run may be able to read the file."""
        return self.reason.startswith(TEMPORARY_REASONS)


@dataclass(frozen=True, slots=True)
class SkippedRow(Skipped):
    """A row of a source that was skipped; its path is empty if that could not be told."""

    row: int = 0
    """Its number among the rows that were read, from 1; of a file its line."""


@dataclass(frozen=True, slots=True)
class Redaction:
    """A secret that was taken out of a text; the text has a mark in its place."""

    path: str
    line: int
    kind: str
    fingerprint: str
    """Names the secret in `[ingest] allow_secrets`."""


@dataclass(frozen=True, slots=True)
class Document:
    """A record with its chunks, links and outline, as a reader makes it from one file."""

    record: Record
    chunks: tuple[Chunk, ...]
    links: tuple[Link, ...] = ()
    outline: Outline | None = None
    redacted: tuple[Redaction, ...] = ()
