"""What does a reader hand back?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

TITLE_LENGTH = 120


class UnreadableFile(Exception):  # noqa: N818  # not an error: it becomes a Skipped value
    """A file is of a known format but cannot be read; says why and what to do."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """What a reader is given: the text, and for formats that are no text the bytes."""

    text: str
    data: bytes
    language: str
    path: str = ""


@dataclass(frozen=True, slots=True)
class ChunkSpan:
    """A stretch of a text, by its first character and the one behind its last."""

    start: int
    end: int
    title: str = ""


@dataclass(frozen=True, slots=True)
class EntitySpan:
    """A named stretch of a text: a function, a section, a message."""

    kind: str
    name: str
    start: int
    end: int
    parent: int | None = None
    """The place of the part around it among the parts; None: it stands in the file itself."""
    signature: str = ""
    summary: str = ""
    decorators: tuple[str, ...] = ()
    attrs: Mapping[str, str | int] = field(default_factory=dict)
    qualified: str = ""
    """Empty: the names of the parts around it and its own, joined by dots."""


class NameReference(NamedTuple):
    """A name that a part uses and that something elsewhere may define.

    There are as many as there are names in a file: a tuple is made three times as fast.
    """

    name: str
    kind: str
    within: int | None = None
    """The place of the innermost part that uses it; None: the file itself."""


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """A file's text, cut into pieces that follow each other without a gap."""

    text: str
    spans: tuple[ChunkSpan, ...]
    title: str = ""
    author: str | None = None
    modified: int | None = None
    attrs: Mapping[str, str] = field(default_factory=dict)
    links: tuple[str, ...] = ()
    """Addresses as they stand in the file."""
    kind: str = ""
    """What the record is, where the content decides (`conversation`); empty: the path does."""
    root_kind: str = ""
    """What the whole is (`module`, `session`); empty: a `file` of code, or a `document`."""
    summary: str = ""
    """What the whole says of itself: a module's docstring, a document's first paragraph."""
    entities: tuple[EntitySpan, ...] = ()
    """In the order of their beginnings, each after the one around it."""
    references: tuple[NameReference, ...] = ()
    line_map: tuple[tuple[int, int], ...] | None = None
    """For text that was taken out of a file: (character, line of the file), ascending."""


def join_titles(names: Iterable[str]) -> str:
    """Join headings into one title, the outermost first."""
    return " > ".join(name for name in names if name)


def collapse_whitespace(text: str) -> str:
    """Bring a text onto one line."""
    return " ".join(text.split())


def clean_title(title: str) -> str:
    """Bring a heading onto one line of a bounded length."""
    title = collapse_whitespace(title)
    return title if len(title) <= TITLE_LENGTH else title[: TITLE_LENGTH - 1].rstrip() + "…"


def merge_blank_spans(text: str, pieces: Iterable[ChunkSpan]) -> tuple[ChunkSpan, ...]:
    """Give white space that stands alone to the piece before it, or at the start behind it."""
    kept: list[ChunkSpan] = []
    blank_start: int | None = None
    for piece in pieces:
        if piece.start == piece.end:
            continue
        if not text[piece.start : piece.end].isspace():
            start = piece.start if blank_start is None else blank_start
            kept.append(ChunkSpan(start, piece.end, piece.title))
            blank_start = None
        elif kept:
            kept[-1] = ChunkSpan(kept[-1].start, piece.end, kept[-1].title)
        elif blank_start is None:
            blank_start = piece.start
    if blank_start is not None:
        kept.append(ChunkSpan(blank_start, len(text)))
    return tuple(kept)
