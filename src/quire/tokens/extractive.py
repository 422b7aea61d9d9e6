"""Which part of a text is kept when there is no room for all of it?

Its beginning, its end, or the sentences that have most to do with the question, in their order. All
of them count as they will be shown, and split no sentence where a whole one fits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from quire.core.protocols import Counter
from quire.tokens.truncate import cut

KEEP_START, KEEP_END = "keep_start", "keep_end"
EXTRACTIVE, SUMMARIZE = "extractive", "summarize"
BETWEEN = " … "
"""Stands where sentences are left out."""
_SENTENCE = re.compile(r"[^.!?\n]*(?:[.!?]+[\"')\]]*(?=\s|$)|\n|$)\s*")
_WORD = re.compile(r"\w+")
_SHORTEST = 3

Keep = Callable[[Counter, str, int, str], str]
"""Gives what is kept of a text within so many tokens, for a question."""


def shorten(counter: Counter, text: str, limit: int, way: str, query: str = "") -> str:
    """Give as much of a text as so many tokens hold, in one of the WAYS."""
    if counter.count(text) <= limit:
        return text
    return WAYS[way](counter, text, limit, query)


def _keep_start(counter: Counter, text: str, limit: int, _: str) -> str:
    return cut(counter, text, limit)


def _keep_end(counter: Counter, text: str, limit: int, _: str) -> str:
    """Take sentences from the end, as long as they fit; else the last words."""
    kept = ""
    for sentence in reversed(sentences(text)):
        if counter.count((sentence + kept).strip()) > limit:
            break
        kept = sentence + kept
    if kept.strip():
        return kept.strip()
    words = text.split()
    low, high = 0, len(words)
    while low < high:  # how many of the last words fit
        middle = (low + high + 1) // 2
        if counter.count(" ".join(words[len(words) - middle :])) <= limit:
            low = middle
        else:
            high = middle - 1
    return " ".join(words[len(words) - low :]) if low else ""


def _extractive(counter: Counter, text: str, limit: int, query: str) -> str:
    """Take the sentences that share most with the question, then show them in their order."""
    found = sentences(text)
    wanted = _words(query)
    shared = [len(wanted & _words(sentence)) for sentence in found]
    order = sorted(range(len(found)), key=lambda place: (-shared[place], place))
    chosen: set[int] = set()
    for place in order:
        if counter.count(_joined(found, {*chosen, place})) <= limit:
            chosen.add(place)
    return _joined(found, chosen) if chosen else cut(counter, text, limit)


WAYS: dict[str, Keep] = {
    KEEP_START: _keep_start,
    KEEP_END: _keep_end,
    EXTRACTIVE: _extractive,
    SUMMARIZE: _extractive,
}
"""A way to shorten is one function and one row."""


def sentences(text: str) -> list[str]:
    """Cut a text into sentences and lines, each with the white space after it."""
    return [found for found in _SENTENCE.findall(text) if found]


def _joined(found: Sequence[str], chosen: set[int]) -> str:
    told = ""
    before = -1
    for place in sorted(chosen):
        told = told.rstrip() + BETWEEN if place > before + 1 and told else told
        told += found[place]
        before = place
    return told.strip()


def _words(text: str) -> set[str]:
    return {word for word in _WORD.findall(text.lower()) if len(word) >= _SHORTEST}
