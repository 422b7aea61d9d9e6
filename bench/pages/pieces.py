"""The pieces of a page, and where each of them stands in the material.

A piece is one source of a context. Its spans are the lines of the source that the page really
shows: of a signature or a cut text that is less than the source names.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from bench.pages.corpora import LEARNED
from bench.pages.locate import runs_of, shown_lines
from bench.pages.stores import Opened


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Lines of a document, from 1."""

    path: str
    first: int
    last: int

    @property
    def place(self) -> str:
        """The span in words."""
        return f"{self.path}:{self.first}-{self.last}"


@dataclass(frozen=True, slots=True)
class Piece:
    """What a page shows of one source."""

    spans: tuple[Span, ...]
    """Empty: it stands in no document, as the title of a folder."""
    tokens: int = 0


def text_of(texts: Mapping[str, str], span: Span) -> str:
    """Return the text of a span."""
    return "\n".join(texts[span.path].split("\n")[span.first - 1 : span.last])


def hash_of(texts: Mapping[str, str], span: Span) -> str:
    """Return a short hash of the text of a span, to notice that the material changed."""
    return hashlib.sha256(text_of(texts, span).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def size_of(texts: Mapping[str, str], path: str, lines: Iterable[int]) -> int:
    """Count the characters of some lines that are not white space."""
    file = texts[path].split("\n")
    return sum(len("".join(file[line - 1].split())) for line in lines if line <= len(file))


def pieces_of(opened: Opened, context: Any) -> list[Piece]:
    """Return the pieces of a context, in its order."""
    return [
        Piece(_spans(opened, source, context.text), source.tokens)
        for source in context.sources
        if source.path not in opened.corpus.frame
    ]


def _spans(opened: Opened, source: Any, page: str) -> tuple[Span, ...]:
    place = opened.places.get(source.record_id)
    if place is None:
        if source.path not in opened.texts:
            return ()
        place = (source.path, *source.lines)
    path, first, last = place
    if opened.corpus.form == LEARNED:
        return (Span(path, first, last),)
    shown = shown_lines(opened.texts[path], (first, last), page)
    runs = [Span(path, start, end) for start, end in runs_of(shown)] or [Span(path, first, last)]
    # A short line may stand on the page for another source, so only the longest run counts.
    longest = max(runs, key=lambda run: (len(text_of(opened.texts, run)), -run.first))
    return (longest,)
