"""The part of code that matches a query: its declaration, and the lines around the query's words.

The lines are one window, so that they can be read. Whoever shows them says how lines that are left
out are marked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isqrt

from quire.core.protocols import Counter

WHOLE = 100
"""Percent of its weight that a word has."""
DECLARATION_PART = 2
"""The declaration may take this part of the room, a half; of a longer one the first and the last
line are shown."""
MIN_LINES = 3
"""Fewer lines than this between two marks say nothing."""
SCALE = 1_000_000
_CLOSING = (")", "]", "}")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")

Mark = Callable[[int, str], str]
"""Returns the line that stands for a number of lines, with the indentation of the first of them."""


@dataclass(frozen=True, slots=True)
class Terms:
    """The words of a query, as they are looked for in a line."""

    weights: Mapping[str, int]
    """What each word of the query counts, in percent."""
    forms: Mapping[str, Mapping[str, int]]
    """For a word of a line the words of the query that it stands for, and what it then counts, in
    percent."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """What is looked for in code, and how it is shown."""

    terms: Terms
    words: Callable[[str], Iterable[str]]
    """Returns the words of a line."""
    mark: Mark
    declared: tuple[int, int] = (0, 0)
    """Where the declaration begins and ends in the text; the same place: it is not there."""
    lines_of: Callable[[str], int] = lambda _: 1
    """Returns how many lines of the source a line of the text stands for: it may be a mark."""


def matching_part(counter: Counter, text: str, limit: int, excerpt: Excerpt) -> str:
    """Return the window of code within a number of tokens that holds most of a query's words.

    Empty if no line has any of them, or if fewer than MIN_LINES of the best ones fit.
    """
    lines = _LINE.findall(text)
    scores = _score(lines, excerpt)
    if not any(scores):
        return ""
    costs = [counter.count(line) for line in lines]
    declared = _declared_lines(lines, excerpt.declared)
    head: Sequence[int] = declared
    if sum(costs[at] for at in head) > limit // DECLARATION_PART:
        head = sorted({declared[0], declared[-1]})
        if sum(costs[at] for at in head) > limit // DECLARATION_PART:
            head = ()
        # A window within it, or in the comment above it, says nothing of what it does.
        for at in range(declared[-1] + 1):
            scores[at] = {}
        if not any(scores):
            part = _show(lines, head, range(0), excerpt) if len(declared) == len(lines) else ""
            return part if counter.count(part) <= limit else ""
    room = limit - sum(costs[at] for at in head)
    while room > 0:
        window = _best_window(scores, costs, room)
        if sum(bool(lines[at].strip()) for at in window) < min(MIN_LINES, len(lines)):
            return ""
        above = [at for at in _headers(lines, window) if at not in declared]
        if sum(costs[at] for at in above) > limit // DECLARATION_PART:
            above = above[:1]
        part = _show(lines, [*head, *above], window, excerpt)
        excess = counter.count(part) - limit
        if excess <= 0:
            return part
        room -= excess
    return ""


def _declared_lines(lines: Sequence[str], declared: tuple[int, int]) -> range:
    """Return the numbers of the lines that a declaration stands in."""
    start, end = declared
    if end <= start:
        return range(0)
    first = last = at = 0
    for number, line in enumerate(lines):
        first = number if at <= start else first
        last = number if at < end else last
        at += len(line)
    return range(first, last + 1)


def _headers(lines: Sequence[str], window: range) -> list[int]:
    """Return the lines above a window that begin the blocks it lies in, the outermost first.

    Without them the end of one function would be read as the beginning of the next. Of a header of
    several lines the first and the last are returned.
    """
    filled = (at for at in window if lines[at].strip())
    first = next(filled, window.start)
    margin = _margin(lines[first])
    headers: list[int] = []
    for at in range(first - 1, -1, -1):
        line = lines[at]
        if not line.strip():
            continue
        if _margin(line) < margin or (
            headers and _margin(line) == margin and _closes(lines[headers[-1]])
        ):
            headers.append(at)
            margin = _margin(line)
    return headers[::-1]


def _margin(line: str) -> int:
    return len(line) - len(line.lstrip())


def _closes(line: str) -> bool:
    """Tell whether a line ends what an earlier one of the same margin began."""
    return line.lstrip().startswith(_CLOSING)


def _score(lines: Sequence[str], excerpt: Excerpt) -> list[dict[str, int]]:
    """Return for each line what the words of the query count that it has.

    A word counts the more, the fewer lines have it.
    """
    terms = excerpt.terms
    found: list[dict[str, int]] = []
    for line in lines:
        words: dict[str, int] = {}
        for form in excerpt.words(line):
            for word, percent in terms.forms.get(form, {}).items():
                words[word] = max(words.get(word, 0), percent)
        found.append(words)
    having = {word: sum(word in words for words in found) for word in terms.weights}
    rarity = {word: isqrt(SCALE * len(lines) // count) for word, count in having.items() if count}
    return [
        {
            word: rarity[word] * terms.weights[word] * percent // WHOLE
            for word, percent in words.items()
        }
        for words in found
    ]


def _best_window(scores: Sequence[Mapping[str, int]], costs: Sequence[int], room: int) -> range:
    """Return the lines within some tokens whose words count most; each word counts once.

    Of equal ones those with the words nearest to their middle are taken, then the first.
    """
    best: tuple[tuple[int, int, int], range] | None = None
    for start in range(len(scores)):
        end, used = start, 0
        while end < len(scores) and used + costs[end] <= room:
            used += costs[end]
            end += 1
        words: dict[str, int] = {}
        for found in scores[start:end]:
            for word, score in found.items():
                words[word] = max(words.get(word, 0), score)
        hits = [at for at in range(start, end) if scores[at]]
        if not hits:
            continue
        off_centre = abs(sum(2 * at + 1 for at in hits) - len(hits) * (start + end)) // len(hits)
        key = (sum(words.values()), -off_centre, -start)
        if best is None or key > best[0]:
            best = key, range(start, end)
    return range(0) if best is None else best[1]


def _show(lines: Sequence[str], head: Sequence[int], window: range, excerpt: Excerpt) -> str:
    """Return the lines of the declaration and of the window, with marks for all others."""
    kept = sorted({*head, *window})
    while kept and not lines[kept[-1]].strip():
        kept.pop()
    parts: list[str] = []
    done = 0
    for at in (*kept, len(lines)):
        left = [line for line in lines[done:at] if line.strip()]
        count = sum(map(excerpt.lines_of, lines[done:at]))
        if left and not count:
            parts += left  # a mark, which stays
        elif left:
            mark = excerpt.mark(count, left[0])
            is_short = len("".join(lines[done:at]).strip()) <= len(mark.strip())
            parts += lines[done:at] if is_short else [f"{mark}\n"]
        elif at < len(lines) and parts:
            parts += lines[done:at]  # blank ones
        parts.append(lines[at].rstrip("\n") + "\n" if at < len(lines) else "")
        done = at + 1
    return "".join(parts).strip("\n")
