"""Splitting of running text into spans of about a target length.

Text is split between paragraphs, else between sentences. A sentence is split only if it alone
is longer than twice the target: at a line end, else after a clause, else after a word, and as
a last resort between any two graphemes. Each character is examined a bounded number of times,
however long a line is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from quire.core.graphemes import is_boundary

PARAGRAPH_END = re.compile(r"\n(?:[ \t\f]*\n)+")
# A Western stop must be followed by white space and not by a lower-case letter; a Chinese or
# Japanese one ends the sentence by itself.
SENTENCE_END = re.compile(
    "(?P<stop>[.!?\u2026])[\"'\u201d\u2019\u00bb)\\]*_]*+\\s++(?![a-z])"
    "|[\u3002\uff01\uff1f\uff61][\u300d\u300f\u201d\u2019\uff09]*\\s*"
)
LAST_WORD = re.compile(r"[\w.]+\Z")
ABBREVIATIONS = re.compile(
    r"al|approx|cf|ch|dept|dr|e\.g|ed|eq|etc|figs?|i\.e|inc|jr|ltd?|mrs?|ms|op|pp|prof|refs?"
    r"|resp|sec|st|u\.[kns]|viz|vol|vs|[^\W\d_]",  # a single letter is an initial
    re.IGNORECASE,
)
CLAUSE_END = re.compile("[,;:)\u2013\u2014]\\s+|[\uff0c\u3001\uff1b\uff1a]")
WORD_END = re.compile(r"\s+")


def iter_paragraphs(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the spans of the paragraphs, each with the blank lines that follow it."""
    for match in PARAGRAPH_END.finditer(text, start, end):
        if match.end() < end:
            yield start, match.end()
            start = match.end()
    if start < end:
        yield start, end


def iter_sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the spans of the sentences, each with the white space that follows it."""
    for match in SENTENCE_END.finditer(text, start, end):
        at = match.end()
        if at < end and is_boundary(text, at, start) and not _is_abbreviation(text, match, start):
            yield start, at
            start = at
    if start < end:
        yield start, end


def split(text: str, start: int, end: int, target: int) -> list[tuple[int, int]]:
    """Split a paragraph into spans of about the target length."""
    if end - start <= target:
        return [(start, end)]
    spans: list[tuple[int, int]] = []
    for first, last in iter_sentences(text, start, end):
        if last - first > 2 * target:
            spans += split_anywhere(text, first, last, target)
        else:
            spans.append((first, last))
    return merge_spans(spans, target)


def merge_spans(spans: Iterable[tuple[int, int]], limit: int) -> list[tuple[int, int]]:
    """Merge adjacent spans for as long as the result stays within the limit.

    A span shorter than a quarter of the limit is of little use alone: it may grow up to twice
    the limit by taking in its neighbor.
    """
    merged: list[tuple[int, int]] = []
    for start, end in spans:
        short = merged and (start - merged[-1][0]) * 4 < limit
        if merged and end - merged[-1][0] <= (2 * limit if short else limit):
            merged[-1] = (merged[-1][0], end)
        else:
            merged.append((start, end))
    return merged


def split_anywhere(text: str, start: int, end: int, size: int) -> list[tuple[int, int]]:
    """Split text without sentence ends into spans of at most `size`, at the best places."""
    size = max(1, size)
    spans = []
    while end - start > size:
        at = _find_best_split(text, start, start + size, min(end, start + 2 * size))
        spans.append((start, at))
        start = at
    if start < end:
        spans.append((start, end))
    return spans


def _is_abbreviation(text: str, match: re.Match[str], start: int) -> bool:
    if match["stop"] != ".":
        return False
    word = LAST_WORD.search(text[max(start, match.start() - 12) : match.start()])
    return word is not None and ABBREVIATIONS.fullmatch(word.group()) is not None


def _find_best_split(text: str, start: int, limit: int, furthest: int) -> int:
    middle = (start + limit) // 2
    line_end = text.rfind("\n", middle, limit)
    if line_end >= 0:
        return line_end + 1
    for pattern, first in ((CLAUSE_END, middle), (WORD_END, middle), (WORD_END, start)):
        ends = [match.end() for match in pattern.finditer(text, first, limit)]
        for at in reversed(ends):
            if at > start and is_boundary(text, at, start):
                return at
    return _find_grapheme_boundary(text, start, limit, furthest)


def _find_grapheme_boundary(text: str, start: int, limit: int, furthest: int) -> int:
    """Return the last grapheme boundary up to the limit, else the first one after it."""
    for at in range(min(limit, len(text)), start, -1):
        if is_boundary(text, at, start):
            return at
    for at in range(limit + 1, min(furthest, len(text))):
        if is_boundary(text, at, start):
            return at
    return min(furthest, len(text))
