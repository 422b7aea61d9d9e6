"""Strategies to shorten a text to a number of tokens.

Keep its beginning, its end, or the sentences that share most words with the query, in their
order. Each strategy counts the text as it will be shown, and splits no sentence where a whole one
fits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
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
MAX_TRIES = 200
"""How many sentences are tried one by one."""

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
    sentences = split_sentences(text)
    count = _most(
        lambda count: counter.count("".join(sentences[len(sentences) - count :]).strip()) <= limit,
        len(sentences),
    )
    tail = "".join(sentences[len(sentences) - count :]).strip()
    if tail:
        return tail
    words = text.split()
    count = _most(
        lambda count: counter.count(" ".join(words[len(words) - count :])) <= limit, len(words)
    )
    return " ".join(words[len(words) - count :])


def _extract(counter: Counter, text: str, limit: int, query: str) -> str:
    """Return the sentences that share most words with the query, in their order in the text.

    The sentences are tried one by one. Of very many, as many of the best are taken at once as fit
    together, and only the next few are tried: each try counts all that was taken.
    """
    sentences = split_sentences(text)
    query_words = _words(query)
    shared = [len(query_words & _words(sentence)) for sentence in sentences]
    order = sorted(range(len(sentences)), key=lambda index: (-shared[index], index))
    count = 0
    if len(sentences) > MAX_TRIES:
        count = _most(
            lambda count: counter.count(_join(sentences, order[:count])) <= limit, len(sentences)
        )
    selected = set(order[:count])
    for index in order[count : count + MAX_TRIES]:
        if counter.count(_join(sentences, {*selected, index})) <= limit:
            selected.add(index)
    return _join(sentences, selected) if selected else truncate_text(counter, text, limit)


def _most(fits: Callable[[int], bool], total: int) -> int:
    """Return how many of some parts fit, from none to all.

    The number is doubled first, so that nothing much longer than what fits is ever counted.
    """
    low, high = 0, 1
    while high <= total and fits(high):
        low, high = high, 2 * high
    high = min(high, total + 1)
    while high - low > 1:
        middle = (low + high) // 2
        if fits(middle):
            low = middle
        else:
            high = middle
    return low


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


def _join(sentences: Sequence[str], selected: Iterable[int]) -> str:
    """Join the selected sentences, with a mark for each gap between them."""
    parts: list[str] = []
    previous = -1
    for index in sorted(selected):
        if index > previous + 1 and parts:
            while parts and not parts[-1].rstrip():
                parts.pop()
            if parts:
                parts[-1] = parts[-1].rstrip()
            parts.append(GAP_MARK)
        parts.append(sentences[index])
        previous = index
    return "".join(parts).strip()


def _words(text: str) -> set[str]:
    return {word for word in _WORD.findall(text.lower()) if len(word) >= _MIN_WORD_LENGTH}
