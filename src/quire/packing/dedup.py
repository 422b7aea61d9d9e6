"""Does this say again what is already there?

The share of a text's three-word runs that stand in another text is its overlap with it. A
candidate that overlaps with a better one by more than the threshold is left out. All runs are
sorted once, as numbers: then it shows who holds many runs that stand in a better one, and only
those are compared, with all better ones at a time. So the work grows with the text, not the pairs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt

from quire.core.types import Candidate

RUN = 3
NUMBER_BITS = 63
"""A run is one number, if the numbers of its words have room in so many bits."""
_WORD = re.compile(r"\w+|[^\w\s]")

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A candidate that was left out, with the better one and how much of it stands there."""

    candidate: Candidate
    of: Candidate
    percent: int


def dedup(
    candidates: Sequence[Candidate], threshold: float, *, within: bool = True
) -> tuple[list[Candidate], list[Duplicate]]:
    """Part candidates, best first, into those to keep and those that repeat a better one.

    Pieces of one record are compared only if that is wanted (`within`): two functions of a file may
    be nearly alike, and yet be two.
    """
    permille = round(threshold * 1000)
    held = _Runs([candidate.chunk.text for candidate in candidates])
    near = set(np.flatnonzero(held.met * 1000 > permille * held.sizes).tolist())
    same: dict[str, int] = {}
    is_kept = np.zeros(len(candidates), np.bool_)
    records = np.array([candidate.chunk.record_id for candidate in candidates])
    kept: list[Candidate] = []
    dropped: list[Duplicate] = []
    for place, candidate in enumerate(candidates):
        first = same.setdefault(candidate.chunk.text, place)
        if first != place:
            dropped.append(Duplicate(candidate, candidates[first], 100))
            continue
        if place in near:
            size = int(held.sizes[place])
            among = is_kept if within else is_kept & (records != records[place])
            best, shared = held.most_shared(place, among)
            if shared * 1000 > permille * size:
                dropped.append(Duplicate(candidate, candidates[best], shared * 100 // size))
                del same[candidate.chunk.text]
                continue
        is_kept[place] = True
        kept.append(candidate)
    return kept, dropped


def overlap(text: str, other: str) -> float:
    """Give the share of a text's three-word runs that stand in another."""
    held = _Runs([other, text])
    return int(held.met[1]) / int(held.sizes[1]) if held.sizes[1] else 0.0


class _Runs:
    """The runs of three words of some texts, case aside; a shorter text is one run."""

    def __init__(self, texts: Sequence[str]) -> None:
        words = [_padded(_WORD.findall(text.lower())) for text in texts]
        owners = np.repeat(np.arange(len(texts)), [len(each) for each in words])
        runs = _numbered(list(chain.from_iterable(words)))
        whole = np.flatnonzero(owners[: runs.size] == owners[owners.size - runs.size :])
        # Stable: of those who hold a run the best stands first, and each of them together.
        order = whole[np.argsort(runs[whole], kind="stable")]
        runs, owners = runs[order], owners[order]
        begins = np.ones(runs.size, np.bool_)
        begins[1:] = runs[1:] != runs[:-1]
        own = begins.copy()
        own[1:] |= owners[1:] != owners[:-1]
        self._owners = owners[own]
        """Who holds a run, best first, run by run."""
        self._begins = np.flatnonzero(begins[own])
        self._within = np.cumsum(begins[own]) - 1
        self.sizes: Numbers = np.bincount(self._owners, minlength=len(texts))
        """How many different runs each text has."""
        firsts = np.bincount(self._owners[self._begins], minlength=len(texts))
        self.met: Numbers = self.sizes - firsts
        """How many of them stand in a better text."""

    def most_shared(self, place: int, among: npt.NDArray[np.bool_]) -> tuple[int, int]:
        """Tell which better one, the first of such, shares most runs with a text, and how many."""
        mine = np.flatnonzero(self._owners == place)
        begins = self._begins[self._within[mine]]
        before = mine - begins
        ends = np.cumsum(before)
        each = np.arange(int(ends[-1])) + np.repeat(begins - (ends - before), before)
        better = self._owners[each]
        counts = np.bincount(better[among[better]], minlength=1)
        best = int(np.argmax(counts))
        return best, int(counts[best])


def _padded(words: list[str]) -> list[str]:
    """Let a text of few words be one run: what is lacking is no word."""
    return words + [""] * (RUN - len(words)) if 0 < len(words) < RUN else words


def _numbered(words: Sequence[str]) -> Numbers:
    """Give each run of three words, wherever it begins, the same number as its like."""
    numbers = {word: number for number, word in enumerate(dict.fromkeys(words))}
    which = np.fromiter(map(numbers.__getitem__, words), np.int64, len(words))
    bits = len(numbers).bit_length()
    runs = which
    for ahead in range(1, RUN):
        if bits * (ahead + 1) > NUMBER_BITS:
            runs = np.unique(runs, return_inverse=True)[1]
        runs = runs[: which[ahead:].size] << bits | which[ahead:]
    return runs
