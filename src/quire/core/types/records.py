"""What a store contains: records, chunks, links, events, access rules and stamps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from types import MappingProxyType

from quire.core import hashing
from quire.core.frozen import dataclass

MAIN = "main"
PUBLIC = "public"
OWN_TIME = "+"
"""Suffix of the digest in the stamp of a file that states its own modification time."""
TIMED_KINDS = ("commit", "memory", "experience")
"""Kinds of records whose time is known to be true; any other may state whatever it likes."""
BLOCK_PREFIX = "block."
"""Prefix of the kinds of blocks."""
FILE = "file"
"""The attribute of a block with the file that it was imported from."""
LINE = "line"
"""The attribute with its first line in that file."""
SHOWN_PARTS = "shown"
"""The attribute with what of that file's path all readers may know, if not all of it: 1, the name
of the file, or 0, nothing."""
NO_ATTRS: Mapping[str, str | int] = MappingProxyType({})
MetadataValue = str | int | float | bool | tuple[str, ...]
"""A value of metadata; a text in the form of a date is one (`core/metadata.py`)."""
NO_METADATA: Mapping[str, MetadataValue] = MappingProxyType({})
PUT = "put"
"""The origin of documents that were put by a call or a command."""


def shown_file(attrs: Mapping[str, str | int]) -> str:
    """Return as much of the path of an imported file as all readers of its block may know."""
    file = str(attrs.get(FILE, ""))
    if SHOWN_PARTS not in attrs:
        return file
    return file.rpartition("/")[2] if attrs[SHOWN_PARTS] else ""


@dataclass(frozen=True, slots=True)
class Record:
    """One thing that was indexed: a document, a source file, a commit, a memory.

    Its text is in its chunks, which together cover it.
    """

    id: str
    kind: str
    path: str
    title: str = ""
    parent: str | None = None
    position: int = 0
    modified: int | None = None
    """Seconds since 1970, UTC; from front matter, git or the caller; from the disk by setting."""
    author: str | None = None
    acl: tuple[str, ...] | None = None
    """Who may read it (`public`, `user:NAME`, `group:NAME`, `link:TOKEN`); None: the access rules
    of the space decide."""
    attrs: Mapping[str, str | int] = field(default_factory=lambda: NO_ATTRS)
    """What its reader found: of a file `language` (its format or programming language), `role` (in
    its project) and `text_language` (of its prose, as `de`; English has none)."""
    paths: tuple[str, ...] = ()
    """The paths that it is about (a commit's files, a block's page): only viewers who may read all
    of them may read it."""
    metadata: Mapping[str, MetadataValue] = field(default_factory=lambda: NO_METADATA)
    """What filters read of it; in the form that `core/metadata.py` gives it."""
    expires: int | None = None
    """The first second at which it is no longer shown; None: it does not expire."""
    origin: str = ""
    """What keeps it up to date: `put` (a caller), `sync:NAME` (a source); empty: its file, or
    whatever its kind belongs to."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a record's text, with its place in the text."""

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
    """First and last line, counted from 1; (0, 0) if the text has no lines of a file."""
    text: str

    @property
    def vector_key(self) -> str:
        """The key of the vector of this text."""
        return hashing.vector_key(self.title, self.text)


@dataclass(frozen=True, slots=True)
class Link:
    """A directed link between two records; the target need not exist (yet)."""

    source: str
    target: str
    kind: str


@dataclass(frozen=True, slots=True)
class Event:
    """Something that a user did to a record at a time: an edit, a view."""

    actor: str
    verb: str
    record_id: str
    at: int


@dataclass(frozen=True, slots=True)
class AccessRule:
    """A glob and the principals that may read the files it matches; the last match decides."""

    glob: str
    principals: tuple[str, ...]


CHANGED = "changed"
DELETED = "deleted"
"""What can have become of a file since it was indexed."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """The state of a file when it was indexed: enough to see that it has not changed."""

    path: str
    size: int
    mtime: int
    """Nanoseconds; -1 if the file was too new to be trusted and must be read again."""
    digest: str
    record_id: str
