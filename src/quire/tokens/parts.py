"""Counting a text by its paragraphs, each of them once.

A page is counted again for each piece that may fit, and nearly all of it was counted before. Most
vocabularies split a text by a pattern before they encode it, and no pattern crosses a line end with
a visible ASCII character behind it. So the counts of what stands before and behind add up to that
of the whole. A slash is the exception: some patterns join `.` and line ends with it.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from quire.core.protocols import Counter
from quire.tokens.estimates import MarginCounter
from quire.tokens.vocabularies import VocabularyCounter

SHORT = 400
"""A text with fewer characters is counted at once."""
END = "\n\n"
"""The end of a paragraph."""
_END = re.compile(rf"{END}(?=[!-.0-~])")


def adding_up(counter: Counter) -> tuple[Counter, Callable[[int], int]] | None:
    """Return a counter whose counts of paragraphs add up, and what makes a count of their sum.

    None: the counts of this one do not. Each paragraph has its end, and the one behind it begins
    with a visible ASCII character other than a slash.
    """
    if isinstance(counter, MarginCounter):
        inner = adding_up(counter.counter)
        return None if inner is None else (inner[0], counter.add_margin)
    if isinstance(counter, VocabularyCounter) and counter.by_pattern:
        return counter, int
    return None


def count_by_parts(counter: Counter, text: str, known: dict[str, int]) -> int:
    """Return the number of tokens of a text, as the counter does.

    What a paragraph counts is taken from `known`, or added to it: it belongs to one counter.
    """
    by_parts = adding_up(counter)
    if by_parts is None or len(text) < SHORT:
        return counter.count(text)
    exact, counted = by_parts
    *parts, last = _END.split(text)
    total = exact.count(last)
    for part in parts:
        count = known.get(part)
        if count is None:
            count = known[part] = exact.count(f"{part}{END}")
        total += count
    return counted(total)
