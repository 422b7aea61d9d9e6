"""Where may running text be cut?

Between paragraphs, else between sentences; a sentence is cut only when it alone is longer
than twice the target: then at a line's end, a clause, a word, and at last between any two
signs. Each character is looked at a bounded number of times, however long a line is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from quire.core.graphemes import may_cut

PARAGRAPH_END = re.compile(r"\n(?:[ \t\f]*\n)+")
# Western marks want white space behind them and no small letter; Chinese and Japanese ones not.
SENTENCE_END = re.compile(
    "(?P<stop>[.!?\u2026])[\"'\u201d\u2019\u00bb)\\]*_]*+\\s++(?![a-z])"
    "|[\u3002\uff01\uff1f\uff61][\u300d\u300f\u201d\u2019\uff09]*\\s*"
)
LAST_WORD = re.compile(r"[\w.]+\Z")
ABBREVIATIONS = re.compile(
    r"al|approx|cf|ch|dept|dr|e\.g|ed|eq|etc|figs?|i\.e|inc|jr|ltd?|mrs?|ms|op|pp|prof|refs?"
    r"|resp|sec|st|u\.[kns]|viz|vol|vs|[^\W\d_]",  # and initials
    re.IGNORECASE,
)
CLAUSE_END = re.compile("[,;:)\u2013\u2014]\\s+|[\uff0c\u3001\uff1b\uff1a]")
WORD_END = re.compile(r"\s+")


def paragraphs(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Go through the paragraphs; each one takes the blank lines behind it."""
    for match in PARAGRAPH_END.finditer(text, start, end):
        if match.end() < end:
            yield start, match.end()
            start = match.end()
    if start < end:
        yield start, end


def sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Go through the sentences; each one takes the white space behind it."""
    for match in SENTENCE_END.finditer(text, start, end):
        at = match.end()
        if at < end and may_cut(text, at, start) and not _abbreviated(text, match, start):
            yield start, at
            start = at
    if start < end:
        yield start, end


def split(text: str, start: int, end: int, target: int) -> list[tuple[int, int]]:
    """Cut a paragraph into stretches of about the target's length."""
    if end - start <= target:
        return [(start, end)]
    found: list[tuple[int, int]] = []
    for first, last in sentences(text, start, end):
        if last - first > 2 * target:
            found += split_anywhere(text, first, last, target)
        else:
            found.append((first, last))
    return fill(found, target)


def fill(spans: Iterable[tuple[int, int]], limit: int) -> list[tuple[int, int]]:
    """Join neighbours for as long as they stay within the limit together.

    What is shorter than a quarter of the limit says little alone: it takes its neighbour in
    up to twice the limit.
    """
    filled: list[tuple[int, int]] = []
    for start, end in spans:
        short = filled and (start - filled[-1][0]) * 4 < limit
        if filled and end - filled[-1][0] <= (2 * limit if short else limit):
            filled[-1] = (filled[-1][0], end)
        else:
            filled.append((start, end))
    return filled


def split_anywhere(text: str, start: int, end: int, size: int) -> list[tuple[int, int]]:
    """Cut a stretch without sentences into parts of at most the size, at the best places."""
    size = max(1, size)
    parts = []
    while end - start > size:
        at = _best_cut(text, start, start + size, min(end, start + 2 * size))
        parts.append((start, at))
        start = at
    if start < end:
        parts.append((start, end))
    return parts


def _abbreviated(text: str, match: re.Match[str], start: int) -> bool:
    if match["stop"] != ".":
        return False
    word = LAST_WORD.search(text[max(start, match.start() - 12) : match.start()])
    return word is not None and ABBREVIATIONS.fullmatch(word.group()) is not None


def _best_cut(text: str, start: int, limit: int, furthest: int) -> int:
    middle = (start + limit) // 2
    line_end = text.rfind("\n", middle, limit)
    if line_end >= 0:
        return line_end + 1
    for kind, first in ((CLAUSE_END, middle), (WORD_END, middle), (WORD_END, start)):
        places = [match.end() for match in kind.finditer(text, first, limit)]
        for at in reversed(places):
            if at > start and may_cut(text, at, start):
                return at
    return _between_signs(text, start, limit, furthest)


def _between_signs(text: str, start: int, limit: int, furthest: int) -> int:
    """Find the last place between two signs up to a limit, or the first one behind it."""
    for at in range(min(limit, len(text)), start, -1):
        if may_cut(text, at, start):
            return at
    for at in range(limit + 1, min(furthest, len(text))):
        if may_cut(text, at, start):
            return at
    return min(furthest, len(text))
