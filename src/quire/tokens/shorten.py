"""Strategies to shorten a text to a number of tokens.

Keep its beginning, its end, or the sentences that say most about the query, in their order. Each
strategy counts the text as it will be shown, splits no sentence where a whole one fits, and marks
what it leaves out. Only the beginning of a text has no mark of its own: whoever shows it adds one.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter as Tally
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isqrt

from quire.core.protocols import Counter
from quire.core.sentences import ABBREVIATIONS
from quire.tokens.truncate import truncate_text

KEEP_START, KEEP_END = "keep_start", "keep_end"
EXTRACTIVE, SUMMARIZE = "extractive", "summarize"
GAP = "..."
"""Stands where something is left out."""
_SENTENCE_END = re.compile(
    r"(?<![.!?])[.!?]++[\"')\]]*+(?:[^\S\n]*+\n\s*+|\s++(?![a-z])|\Z)|\n\s*+"
    r"|[\u3002\uff01\uff1f]++[\u201d\u300d\u300f\uff09]*+\s*+"  # Chinese and Japanese
)
_ABBREVIATION = re.compile(rf"\b(?:{ABBREVIATIONS})\. \Z")
_WRAPPED = 50
"""A line of so many characters may be wrapped: then the next one begins with a small letter."""
_ROW = re.compile(r"[ \t]*+\|")
"""The beginning of a row of a Markdown table."""
_RULE_ROW = re.compile(r"[ \t]*+\|(?=[ \t|:]*+-)[ \t|:-]*+\s*+\Z")
"""The row between the head of a table and the others."""
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_WORD = re.compile(r"\w+")
_MIN_WORD_LENGTH = 3
MAX_TRIES = 200
"""How many sentences are tried one by one."""

Words = Callable[[str], Iterable[str]]
"""Returns the words of a text, without those that every text has."""


def split_words(text: str) -> list[str]:
    """Return the words of a text that are not very short."""
    return [word for word in _WORD.findall(text.lower()) if len(word) >= _MIN_WORD_LENGTH]


@dataclass(frozen=True, slots=True)
class Aim:
    """What a text is shortened for."""

    query: str = ""
    words: Words = split_words
    """Returns the words of a sentence or the query."""
    code: bool = False
    """Whether the text is code, which is cut between lines."""


NO_AIM = Aim()
Strategy = Callable[[Counter, str, int, Aim], str]
"""Shortens a text to a number of tokens."""


def shorten(counter: Counter, text: str, limit: int, strategy: str, aim: Aim = NO_AIM) -> str:
    """Return as much of a text as fits the limit, chosen by one of the STRATEGIES."""
    if counter.count(text) <= limit:
        return text
    return STRATEGIES[strategy](counter, text, limit, aim)


def _keep_start(counter: Counter, text: str, limit: int, aim: Aim) -> str:  # noqa: ARG001 - a strategy
    """Return the beginning of a text; the row of a table is in or out as a whole."""
    start = truncate_text(counter, text, limit)
    above, _, line = start.rpartition("\n")
    is_torn = _ROW.match(line) is not None and text[len(start) : len(start) + 1] not in {"", "\n"}
    return above if is_torn and above else start


def _keep_end(counter: Counter, text: str, limit: int, aim: Aim) -> str:
    """Return the last sentences that fit, or the last words where no sentence does."""
    sentences = _split(text, aim)
    total = len(sentences)
    for heads in (_table_heads(sentences), {}):  # without the head of a table if it does not fit

        def last(count: int, heads: Mapping[int, tuple[int, int]] = heads) -> str:
            return _join(sentences, _with_heads(range(total - count, total), heads))

        count = _most(lambda count: counter.count(last(count)) <= limit, total)
        if count:
            return last(count)
    starts = [match.start() for match in re.finditer(r"\S+", text)]
    count = _most(
        lambda count: counter.count(f"{GAP} {text[starts[-count] :].rstrip()}") <= limit,
        len(starts),
    )
    return f"{GAP} {text[starts[-count] :].rstrip()}" if count else ""


def _extract(counter: Counter, text: str, limit: int, aim: Aim) -> str:
    """Return the sentences that say most about the query, in their order in the text.

    The sentences are tried one by one. Of very many, as many of the best are taken at once as fit
    together, and only the next few are tried: each try counts all that was taken.
    """
    sentences = _split(text, aim)
    order = _by_relevance(sentences, aim)
    heads = _table_heads(sentences)

    def join(selected: Iterable[int]) -> str:
        return _join(sentences, _with_heads(selected, heads))

    count = 0
    if len(order) > MAX_TRIES:
        count = _most(lambda count: counter.count(join(order[:count])) <= limit, len(order))
    selected = set(order[:count])
    for index in order[count : count + MAX_TRIES]:
        if counter.count(join({*selected, index})) <= limit:
            selected.add(index)
    return join(selected) if selected else _keep_start(counter, text, limit, aim)


def _table_heads(sentences: Sequence[str]) -> dict[int, tuple[int, int]]:
    """Return the places of the head of the table, two lines, for the place of each other row."""
    heads: dict[int, tuple[int, int]] = {}
    first = 0
    for at, sentence in enumerate(sentences):
        if not _ROW.match(sentence):
            first = at + 1
        elif at > first + 1 and _RULE_ROW.match(sentences[first + 1]):
            heads[at] = (first, first + 1)
    return heads


def _with_heads(selected: Iterable[int], heads: Mapping[int, tuple[int, int]]) -> set[int]:
    chosen = set(selected)
    return chosen.union(*(heads.get(at, ()) for at in chosen))


def _by_relevance(sentences: Sequence[str], aim: Aim) -> list[int]:
    """Return the sentences in the order in which they are kept.

    A word of the query counts the more, the fewer sentences hold it: a word that stands everywhere
    says nothing about one of them. A sentence that says the same as an earlier one is left out;
    lines of code may be alike.
    """
    words = [tuple(aim.words(sentence)) for sentence in sentences]
    query = set(aim.words(aim.query))
    shared = [query.intersection(some) for some in words]
    holding = Tally(word for some in shared for word in some)
    scale = 1_000_000 * len(sentences)
    weights = {word: isqrt(scale // holding[word]) for word in holding}
    scores = [sum(weights[word] for word in some) for some in shared]
    if aim.code:
        return _lines_by_relevance(sentences, scores)
    seen: set[tuple[str, ...]] = set()
    kept = []
    for at, some in enumerate(words):
        if not some or some not in seen:
            kept.append(at)
            seen.add(some)
    return sorted(kept, key=lambda at: (-scores[at], at))


def _lines_by_relevance(lines: Sequence[str], scores: Sequence[int]) -> list[int]:
    """Return lines of code: the first, which declares it, then hits, then what is nearest to them.

    Blank lines come with those around them.
    """
    filled = [at for at, line in enumerate(lines) if line.strip()]
    hits = [at for at in filled if scores[at]]
    distances = {at: _distance(at, hits) for at in filled}
    return sorted(filled, key=lambda at: (at != filled[0], distances[at], -scores[at], at))


def _distance(at: int, hits: Sequence[int]) -> int:
    """Return how far a line is from the nearest hit, in ascending order; 0 if there is none."""
    after = bisect_left(hits, at)
    return min((abs(at - hit) for hit in hits[max(0, after - 1) : after + 1]), default=0)


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


def _split(text: str, aim: Aim) -> list[str]:
    return _LINE.findall(text) if aim.code else split_sentences(text)


def split_sentences(text: str) -> list[str]:
    """Split a text into sentences and lines, each with the white space after it.

    A long line that the next one continues with a small letter ends no sentence.
    """
    ends = [match.end() for match in _SENTENCE_END.finditer(text)]
    sentences: list[str] = []
    continues = False
    for start, end in pairwise([0, *ends, len(text)]):
        part = text[start:end]
        if continues:
            sentences[-1] += part
        elif part:
            sentences.append(part)
        continues = bool(sentences) and (
            _ABBREVIATION.search(part[-8:]) is not None
            or _is_wrapped(text, part, end)
            or _is_in_row(text, part, end)
        )
    return sentences


def _is_in_row(text: str, part: str, end: int) -> bool:
    """Tell whether a part ends within the row of a table."""
    if "\n" in part[len(part.rstrip()) :]:
        return False
    return _ROW.match(text, text.rfind("\n", 0, end) + 1) is not None


def _is_wrapped(text: str, part: str, end: int) -> bool:
    """Tell whether a part ends with a line that goes on in the next one."""
    body = part.rstrip()
    if part[len(body) :].strip(" \t") != "\n" or body.endswith((".", "!", "?", ":")):
        return False
    line_end = end - len(part) + len(body)
    line = line_end - (text.rfind("\n", 0, line_end) + 1)
    return line >= _WRAPPED and text[end : end + 1].islower()


def _join(sentences: Sequence[str], selected: Iterable[int]) -> str:
    """Join the selected sentences, with a mark wherever others are left out.

    The mark stands on a line of its own where the sentences around it do.
    """
    parts: list[str] = []
    previous = -1
    for index in (*sorted(selected), len(sentences)):
        if any(sentences[at].strip() for at in range(previous + 1, index)):
            _add_mark(parts, on_own_line=sentences[index - 1].rstrip(" \t").endswith("\n"))
        else:
            parts += sentences[previous + 1 : index]
        parts += sentences[index : index + 1]
        previous = index
    return "".join(parts).strip("\n").rstrip()


def _add_mark(parts: list[str], *, on_own_line: bool) -> None:
    """Add a mark to the parts of a text; what follows begins a line, or not."""
    while parts and not parts[-1].strip():
        parts.pop()
    if parts and parts[-1].strip() == GAP:
        return
    if parts:
        last = parts[-1].rstrip()
        space = "\n" if "\n" in parts[-1][len(last) :] else " "
        parts[-1] = last + space
    parts.append(f"{GAP}\n" if on_own_line else f"{GAP} ")
