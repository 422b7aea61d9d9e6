"""Strategies to shorten a text to a number of tokens.

Keep its beginning, its end, or the sentences that share most words with the query, in their
order. Each strategy counts the text as it will be shown, and splits no sentence where a whole one
fits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

from quire.core.protocols import Counter
from quire.tokens.truncate import truncate_text

KEEP_START, KEEP_END = "keep_start", "keep_end"
EXTRACTIVE, SUMMARIZE = "extractive", "summarize"
GAP_MARK = " … "
"""Stands where sentences are left out."""
_SENTENCE_END = re.compile(r"(?<![.!?])[.!?]++[\"')\]]*+(?:\s++|\Z)|\n\s*+")
_WORD = re.compile(r"\w+")
_MIN_WORD_LENGTH = 3

Strategy = Callable[[Counter, str, int, str], str]
"""Shortens a text to a number of tokens, for a query: (counter, text, limit, query)."""


def shorten(counter: Counter, text: str, limit: int, strategy: str, query: str = "") -> str:
    """Return as much of a text as fits the limit, chosen by one of the STRATEGIES."""
    if counter.count(text) <= limit:
        return text
    return STRATEGIES[strategy](counter, text, limit, query)


def _keep_start(counter: Counter, text: str, limit: int, _: str) -> str:
    return truncate_text(counter, text, limit)


def _keep_end(counter: Counter, text: str, limit: int, _: str) -> str:
    """Return the last sentences that fit, or the last words where no sentence does."""
    tail = ""
    for sentence in reversed(split_sentences(text)):
        if counter.count((sentence + tail).strip()) > limit:
            break
        tail = sentence + tail
    if tail.strip():
        return tail.strip()
    words = text.split()
    low, high = 0, len(words)
    while low < high:  # how many of the last words fit
        middle = (low + high + 1) // 2
        if counter.count(" ".join(words[len(words) - middle :])) <= limit:
            low = middle
        else:
            high = middle - 1
    return " ".join(words[len(words) - low :]) if low else ""


def _extract(counter: Counter, text: str, limit: int, query: str) -> str:
    """Return the sentences that share most words with the query, in their order in the text."""
    sentences = split_sentences(text)
    query_words = _words(query)
    shared = [len(query_words & _words(sentence)) for sentence in sentences]
    order = sorted(range(len(sentences)), key=lambda index: (-shared[index], index))
    selected: set[int] = set()
    for index in order:
        if counter.count(_join(sentences, {*selected, index})) <= limit:
            selected.add(index)
    return _join(sentences, selected) if selected else truncate_text(counter, text, limit)


STRATEGIES: dict[str, Strategy] = {
    KEEP_START: _keep_start,
    KEEP_END: _keep_end,
    EXTRACTIVE: _extract,
    SUMMARIZE: _extract,  # where no language model writes the summary
}
"""A new strategy is one function and one row."""


def split_sentences(text: str) -> list[str]:
    """Split a text into sentences and lines, each with the white space after it."""
    ends = [match.end() for match in _SENTENCE_END.finditer(text)]
    bounds = [0, *ends, len(text)]
    return [text[start:end] for start, end in pairwise(bounds) if start < end]


def _join(sentences: Sequence[str], selected: set[int]) -> str:
    """Join the selected sentences, with a mark for each gap between them."""
    text = ""
    previous = -1
    for index in sorted(selected):
        text = text.rstrip() + GAP_MARK if index > previous + 1 and text else text
        text += sentences[index]
        previous = index
    return text.strip()


def _words(text: str) -> set[str]:
    return {word for word in _WORD.findall(text.lower()) if len(word) >= _MIN_WORD_LENGTH}
