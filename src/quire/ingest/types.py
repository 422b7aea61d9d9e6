"""Values that pass between the readers, the splitters and `read.py`.

A reader takes a `SourceFile` and returns a `ParsedFile`. All positions in these values are
characters of the parsed text; `read.py` and `entities.py` turn them into bytes and lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import NamedTuple

from quire.core.frozen import dataclass
from quire.core.types import NO_METADATA, MetadataValue

MAX_TITLE_LENGTH = 120


class UnreadableFile(Exception):  # noqa: N818  # not an error: it becomes a Skipped value
    """The file has a known format but cannot be read; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """The input of a reader: decoded text, or the bytes of a binary format."""

    text: str
    data: bytes
    language: str
    path: str = ""


@dataclass(frozen=True, slots=True)
class ChunkSpan:
    """A half-open range of characters that becomes a chunk."""

    start: int
    end: int
    title: str = ""


@dataclass(frozen=True, slots=True)
class EntitySpan:
    """A named range of characters that becomes an entity: a function, a section, a message."""

    kind: str
    name: str
    start: int
    end: int
    parent: int | None = None
    """Index of the enclosing entity in `ParsedFile.entities`; None at the top level."""
    signature: str = ""
    summary: str = ""
    decorators: tuple[str, ...] = ()
    attrs: Mapping[str, str | int] = field(default_factory=dict)
    qualified: str = ""
    """Qualified name; if empty, the names of the enclosing entities and its own, dot-separated."""


class NameReference(NamedTuple):
    """A name that an entity uses and that may be defined elsewhere.

    A named tuple, because a file has one for every name in it: creating a tuple is three times
    as fast as creating a frozen dataclass.
    """

    name: str
    kind: str
    within: int | None = None
    """Index of the innermost entity that uses the name; None for the file itself."""


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """The text of a file and what its reader found in it."""

    text: str
    spans: tuple[ChunkSpan, ...]
    """Cover the text without gaps or overlaps."""
    title: str = ""
    author: str | None = None
    modified: int | None = None
    attrs: Mapping[str, str] = field(default_factory=dict)
    metadata: Mapping[str, MetadataValue] = field(default_factory=lambda: NO_METADATA)
    """What the file says of itself in its front matter."""
    links: tuple[str, ...] = ()
    """Link targets as they are written in the file."""
    kind: str = ""
    """Kind of the record if the content decides it (`conversation`); empty: the path does."""
    root_kind: str = ""
    """Kind of the root entity (`module`, `session`); empty: `file` for code, else `document`."""
    summary: str = ""
    """Summary of the whole file: a module's docstring, a document's first paragraph."""
    entities: tuple[EntitySpan, ...] = ()
    """Ordered by start; each one follows the entity that encloses it."""
    references: tuple[NameReference, ...] = ()
    line_map: tuple[tuple[int, int], ...] | None = None
    """Ascending pairs (character, line of the file), for text extracted from a file; None if
    `text` is the file's own text."""


def join_titles(names: Iterable[str]) -> str:
    """Join headings into one title, the outermost first."""
    return " > ".join(name for name in names if name)


def collapse_whitespace(text: str) -> str:
    """Replace every run of white space, line breaks included, by one space."""
    return " ".join(text.split())


def clean_title(title: str) -> str:
    """Put a title on one line and truncate it to `MAX_TITLE_LENGTH`."""
    title = collapse_whitespace(title)
    if len(title) <= MAX_TITLE_LENGTH:
        return title
    return title[: MAX_TITLE_LENGTH - 1].rstrip() + "…"


def merge_blank_spans(text: str, spans: Iterable[ChunkSpan]) -> tuple[ChunkSpan, ...]:
    """Merge each blank span into the span before it; leading blank ones go to the first."""
    merged: list[ChunkSpan] = []
    blank_start: int | None = None
    for span in spans:
        if span.start == span.end:
            continue
        if not text[span.start : span.end].isspace():
            start = span.start if blank_start is None else blank_start
            merged.append(ChunkSpan(start, span.end, span.title))
            blank_start = None
        elif merged:
            merged[-1] = ChunkSpan(merged[-1].start, span.end, merged[-1].title)
        elif blank_start is None:
            blank_start = span.start
    if blank_start is not None:
        merged.append(ChunkSpan(blank_start, len(text)))
    return tuple(merged)
