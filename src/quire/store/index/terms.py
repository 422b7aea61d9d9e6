"""Which readable rows hold the words of a question, and what is each word worth there?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from quire.store.index import analyzer, bm25
from quire.store.sqlite.snapshot import Snapshot

Places = npt.NDArray[np.int64]

MOST_WORDS = 1024
"""So many different words of a question are looked up, the rarest ones."""
STRIP = 1 << 15
"""So many rows are scored at once: what is computed for them stays in the cache."""
FEW = 32
"""Searching a list for a row costs as much as looking at so many of its rows."""


@dataclass(frozen=True, slots=True)
class Term:
    """A word of the question with the readable rows that hold it."""

    rows: npt.NDArray[np.int32]
    times: npt.NDArray[np.uint8]
    asked: int
    rarity: int

    @property
    def most(self) -> int:
        """What the word can add to a row at most."""
        return bm25.most(self.asked, self.rarity)

    def add_to(self, scores: npt.NDArray[Any], norms: npt.NDArray[np.int32]) -> None:
        """Add to each row that holds the word what it is worth there."""
        for at in range(0, self.rows.size, STRIP):
            held = self.rows[at : at + STRIP]
            times = self.times[at : at + STRIP]
            worth = bm25.weights(times, np.take(norms, held), self.asked, self.rarity)
            # No row stands twice in a list; this is `scores[held] += worth`, only faster.
            np.add.at(scores, held, worth)

    def worth(self, rows: Places, norms: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
        """Tell what the word is worth in each of these rows."""
        at = np.searchsorted(self.rows, rows)
        at[at == self.rows.size] = 0
        met = self.rows[at] == rows
        worth = np.zeros(rows.size, np.int32)
        worth[met] = bm25.weights(self.times[at[met]], norms[rows[met]], self.asked, self.rarity)
        return worth

    def within(self, held: Places) -> Term:
        """Count the rows by their places among these, which hold them all."""
        places = np.searchsorted(held, self.rows).astype(np.int32)
        return Term(places, self.times, self.asked, self.rarity)

    def among(self, able: Places, scores: npt.NDArray[Any]) -> Term:
        """Keep only the rows that can still win (and maybe some that a filter leaves out)."""
        if able.size * FEW < self.rows.size:
            at = np.searchsorted(self.rows, able)
            at[at == self.rows.size] = 0
            hit = at[self.rows[at] == able]
        else:  # whoever is not able has less than the least of those who are
            hit = np.flatnonzero(np.take(scores, self.rows) >= scores[able].min())
        return Term(self.rows[hit], self.times[hit], self.asked, self.rarity)


def terms_of(snapshot: Snapshot, query: str) -> list[Term]:
    """Look up the words of a question, the rarest first."""
    found = [
        (word, asked, *snapshot.posting(word)) for word, asked in analyzer.asked(query).items()
    ]
    found.sort(key=lambda term: (term[2].size, term[0]))
    return [
        Term(held, times, asked, bm25.rarity(snapshot.readable.chunks, held.size))
        for _, asked, held, times in found
        if held.size
    ][:MOST_WORDS]


def holding_all(snapshot: Snapshot, name: str) -> Places:
    """Give the readable rows that hold every word of a name."""
    lists = [snapshot.posting(word)[0] for word in sorted(set(analyzer.words(name)))]
    if not lists:
        return np.zeros(0, np.int64)
    held, *others = sorted(lists, key=lambda each: each.size)
    for other in others:
        if not held.size:
            break
        at = np.searchsorted(other, held)
        at[at == other.size] = 0
        held = held[other[at] == held]
    return held.astype(np.int64)
