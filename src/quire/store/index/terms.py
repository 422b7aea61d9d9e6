"""Terms: the words of a query with the readable rows that contain them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from quire.store.damage import damaged
from quire.store.index import analyzer, bm25
from quire.store.index.postings import Posting
from quire.store.index.snapshot import IndexSnapshot, RowNumbers

MAX_TERMS = 1024
"""The number of different words of a query that are looked up, the rarest ones."""
STRIP = 1 << 15
"""The number of rows that are scored at once: few enough for the cache."""
SEARCH_COST = 32
"""Searching a list for one row costs as much as scanning this many of its rows."""


@dataclass(frozen=True, slots=True)
class Term:
    """A word of a query with the readable rows that contain it."""

    rows: npt.NDArray[np.int32]
    counts: npt.NDArray[np.uint8]
    query_count: int
    idf: int

    @property
    def max_weight(self) -> int:
        """The most that the word can add to the score of a row."""
        return bm25.max_weight(self.query_count, self.idf)

    def add_to(self, scores: npt.NDArray[Any], norms: npt.NDArray[np.int32]) -> None:
        """Add the word's weight to the score of each row that contains it."""
        for start in range(0, self.rows.size, STRIP):
            rows = self.rows[start : start + STRIP]
            counts = self.counts[start : start + STRIP]
            weights = bm25.weights(counts, np.take(norms, rows), self.query_count, self.idf)
            # No row occurs twice in a list; this is `scores[rows] += weights`, only faster.
            np.add.at(scores, rows, weights)

    def weights_in(self, rows: RowNumbers, norms: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
        """Return the word's weight in each of these rows, 0 where they do not contain it."""
        index = np.searchsorted(self.rows, rows)
        index[index == self.rows.size] = 0
        present = self.rows[index] == rows
        weights = np.zeros(rows.size, np.int32)
        weights[present] = bm25.weights(
            self.counts[index[present]], norms[rows[present]], self.query_count, self.idf
        )
        return weights

    def renumber(self, rows: RowNumbers) -> Term:
        """Replace row numbers by their indices in `rows`, which contains all of them."""
        indices = np.searchsorted(rows, self.rows).astype(np.int32)
        return Term(indices, self.counts, self.query_count, self.idf)

    def restrict(self, candidates: RowNumbers, scores: npt.NDArray[Any]) -> Term:
        """Keep only the rows among the candidates (and possibly some that a filter excludes)."""
        if candidates.size * SEARCH_COST < self.rows.size:
            index = np.searchsorted(self.rows, candidates)
            index[index == self.rows.size] = 0
            chosen = index[self.rows[index] == candidates]
        else:  # a row that is not a candidate scores less than the lowest candidate
            chosen = np.flatnonzero(np.take(scores, self.rows) >= scores[candidates].min())
        return Term(self.rows[chosen], self.counts[chosen], self.query_count, self.idf)


def find_terms(snapshot: IndexSnapshot, query: str) -> list[Term]:
    """Look up the words of a query, the rarest first."""
    postings = [
        (word, query_count, *readable_posting(snapshot, word))
        for word, query_count in analyzer.count_query_words(query).items()
    ]
    postings.sort(key=lambda posting: (posting[2].size, posting[0]))
    return [
        Term(rows, counts, query_count, bm25.idf(snapshot.access.chunks, rows.size))
        for _, query_count, rows, counts in postings
        if rows.size
    ][:MAX_TERMS]


def find_rows_with_all(snapshot: IndexSnapshot, text: str) -> RowNumbers:
    """Return the readable rows that contain every word of a text."""
    words = sorted(set(analyzer.tokenize(text)))
    lists = [readable_posting(snapshot, word)[0] for word in words]
    if not lists:
        return np.zeros(0, np.int64)
    rows, *others = sorted(lists, key=lambda posting: posting.size)
    for other in others:
        if not rows.size:
            break
        index = np.searchsorted(other, rows)
        index[index == other.size] = 0
        rows = rows[other[index] == rows]
    return rows.astype(np.int64)


def readable_posting(snapshot: IndexSnapshot, word: str) -> Posting:
    """Return the readable rows that contain a word."""
    rows, counts = snapshot.posting(word)
    if rows.size and rows[-1] >= snapshot.columns.rows:
        raise damaged("a posting list is damaged")
    if snapshot.access.complete:
        return rows, counts
    readable = np.take(snapshot.access.rows, rows)
    return rows[readable], counts[readable]
