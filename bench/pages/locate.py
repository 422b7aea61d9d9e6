"""Where in its file a text stands, by its words.

Pages show blocks, signatures and cut texts, whose own records name no lines of the file. Words are
compared, not characters, so that white space and markup between them do not matter.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

GRAM = 3
"""Words that must follow each other in both texts where not all of them do."""
LEAST = 0.5
"""The share of a text's words that must be found so."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a file, and the line of each (from 1)."""

    words: tuple[str, ...]
    lines: tuple[int, ...]


@lru_cache(maxsize=512)
def words_of(text: str) -> Words:
    """Split a text into words with their lines."""
    found = [
        (word, number)
        for number, line in enumerate(text.split("\n"), 1)
        for word in _WORD.findall(line.lower())
    ]
    return Words(tuple(word for word, _ in found), tuple(line for _, line in found))


def locate(file: str, shown: str, start: int = 1) -> tuple[int, int] | None:
    """Return the first and last line of a text in a file, the nearest at or after a line first."""
    whole, part = words_of(file), words_of(shown).words
    if not part:
        return None
    starts = _occurrences(whole.words, part)
    if starts:
        at = next((at for at in starts if whole.lines[at] >= start), starts[0])
        return whole.lines[at], whole.lines[at + len(part) - 1]
    return _locate_roughly(whole, part)


def _occurrences(words: Sequence[str], part: Sequence[str]) -> list[int]:
    size, first = len(part), part[0]
    return [
        at
        for at in range(len(words) - size + 1)
        if words[at] == first and tuple(words[at : at + size]) == tuple(part)
    ]


def _locate_roughly(whole: Words, part: Sequence[str]) -> tuple[int, int] | None:
    """Find a text of which words are missing or added: the densest lines with its word groups."""
    grams = {tuple(part[at : at + GRAM]) for at in range(len(part) - GRAM + 1)}
    hits = [
        whole.lines[at]
        for at in range(len(whole.words) - GRAM + 1)
        if tuple(whole.words[at : at + GRAM]) in grams
    ]
    if not grams or len(set(hits)) == 0:
        return None
    best = max(_runs(sorted(set(hits)), gap=3), key=lambda run: _weight(run, hits))
    return (best[0], best[-1]) if _weight(best, hits) >= LEAST * len(grams) else None


def _weight(run: Sequence[int], hits: Sequence[int]) -> int:
    return sum(run[0] <= line <= run[-1] for line in hits)


def _runs(lines: Sequence[int], gap: int) -> list[list[int]]:
    """Split line numbers where more than `gap` of them are missing."""
    runs: list[list[int]] = []
    for line in lines:
        if runs and line - runs[-1][-1] <= gap + 1:
            runs[-1].append(line)
        else:
            runs.append([line])
    return runs


def runs_of(lines: Iterable[int], gap: int = 3) -> list[tuple[int, int]]:
    """Join line numbers to spans, over gaps of a few lines."""
    return [(run[0], run[-1]) for run in _runs(sorted(set(lines)), gap)]


def shown_lines(file: str, span: tuple[int, int], page: str) -> list[int]:
    """Return the lines of a span that a page shows, by their words."""
    lines = file.split("\n")[span[0] - 1 : span[1]]
    shown = " ".join(words_of(page).words)
    padded = f" {shown} "
    numbers = []
    for number, line in enumerate(lines, span[0]):
        words = words_of(line).words
        if words and f" {' '.join(words)} " in padded:
            numbers.append(number)
    return numbers


def place_pages(files: Mapping[str, str], pages: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Tell which file each page came from: the one that holds most of its texts."""
    holders: dict[tuple[str, ...], set[str]] = {}
    for path, text in files.items():
        for line in text.split("\n"):
            holders.setdefault(words_of(line).words, set()).add(path)
    placed = {}
    for page, texts in pages.items():
        votes: Counter[str] = Counter()
        for text in texts:
            for line in text.split("\n"):
                paths = holders.get(words_of(line).words, set())
                votes.update(dict.fromkeys(paths, 1000 // len(paths) if paths else 0))
        if votes:
            placed[page] = min(votes, key=lambda path: (-votes[path], path))
    return placed
