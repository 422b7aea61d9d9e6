"""What is kept in a store?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from quire.core import hashing

MAIN = "main"
PUBLIC = "public"
OWN_TIME = "+"
"""Ends the digest in the stamp of a file that says itself when it was modified."""
TIMED = ("commit", "memory", "experience")
"""Kinds of records whose time is when they were made; any other may claim what it likes."""
BLOCK = "block."
"""The kinds of blocks begin with it."""
NO_ATTRS: Mapping[str, str | int] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Record:
    """One thing that was ingested: a document, a source file, a commit, a memory.

    The text itself is kept by the record's chunks, which together cover it.
    """

    id: str
    kind: str
    path: str
    title: str = ""
    parent: str | None = None
    position: int = 0
    modified: int | None = None
    """Seconds since 1970, UTC; from front matter, git or the caller; from the disk if asked."""
    author: str | None = None
    acl: tuple[str, ...] | None = None
    """Who may read it (`public`, `user:NAME`, `group:NAME`, `link:TOKEN`); None: the space's rules
    decide."""
    attrs: Mapping[str, str | int] = field(default_factory=lambda: NO_ATTRS)
    paths: tuple[str, ...] = ()
    """The paths that it tells of (a commit's files, a block's page): only who may read them all
    may read it."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a record's text, with its place in it."""

    id: str
    record_id: str
    kind: str
    path: str
    title: str
    """The headings (or enclosing definitions) above it, joined by ` > `; never the path."""
    sequence: int
    start: int
    """Offset of the first byte in the record's text as UTF-8."""
    end: int
    lines: tuple[int, int]
    """First and last line, counted from 1; (0, 0) where lines mean nothing."""
    text: str

    @property
    def vector_key(self) -> str:
        """The name of the vector that stands for this text."""
        return hashing.vector_key(self.title, self.text)


@dataclass(frozen=True, slots=True)
class Link:
    """A directed tie between two records; the target need not exist (yet)."""

    source: str
    target: str
    kind: str


@dataclass(frozen=True, slots=True)
class Event:
    """Something that a person did to a record at a time: an edit, a view."""

    actor: str
    verb: str
    record_id: str
    at: int


@dataclass(frozen=True, slots=True)
class AccessRule:
    """Files that match the glob may be read by these principals; the last match decides."""

    glob: str
    principals: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a file looked like when it was indexed: enough to see that it has not changed."""

    path: str
    size: int
    mtime: int
    """Nanoseconds; -1 when the file was too fresh to be trusted and must be read again."""
    digest: str
    record_id: str
