"""An index of vectors outside the store: it names candidates, which the store's vectors then score.

The store stays the truth. An index holds a point for each slot and access class that rows use now,
and says of which generation these points are. Of another generation it answers nothing, and the
vectors in the store are scanned: slower, never wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from quire.core.types import Filter, Hits
from quire.store.index.columns import ACCESS, SLOT, Columns
from quire.store.index.filters import allowed_rows
from quire.store.index.hits import best_hits
from quire.store.index.snapshot import IndexSnapshot
from quire.store.index.vectors import Matrix, dot

CLASS_BITS = 24
"""A point is a slot and an access class in one number."""
FEW = 4096
"""So many rows that pass a filter are scored at once, without the index."""
MIN_CANDIDATES = 256
MAX_CANDIDATES = 65_536
"""If so many do not hold the best k and all their ties, the vectors in the store are scanned."""
GROWTH = 4
ROUNDED = 1e-5
"""By so much of itself a product of floats may be another than that of whole numbers."""

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class VectorState:
    """The vectors of a space in one generation."""

    space: int
    epoch: int
    generation: int
    dims: int
    columns: Callable[[], Columns]
    vectors_at: Callable[[Numbers], Matrix]
    """Returns the vectors in some slots."""

    def points(self) -> Numbers:
        """Return the points that an index of this state has, in order."""
        table = self.columns().table
        used = (table[ACCESS] >= 0) & (table[SLOT] >= 0)
        slots = table[SLOT][used].astype(np.int64)
        return np.unique(slots << CLASS_BITS | table[ACCESS][used])


def slots_of(points: Numbers) -> Numbers:
    """Return the slot of each point."""
    return points >> CLASS_BITS


def classes_of(points: Numbers) -> Numbers:
    """Return the access class of each point."""
    return points & ((1 << CLASS_BITS) - 1)


@dataclass(frozen=True, slots=True)
class Nearest:
    """What an index answers."""

    slots: Numbers
    scores: npt.NDArray[np.float64]
    """The dot products that it computed; the store computes them again."""
    exhausted: bool
    """Whether there are no others that the viewer may read."""


class VectorIndex(Protocol):
    """Finds the slots nearest to a vector among those of some access classes."""

    @property
    def exact(self) -> bool:
        """Whether it finds the nearest ones, rather than most of them."""

    def nearest(
        self, state: VectorState, vector: bytes, classes: frozenset[int], limit: int
    ) -> Nearest | None:
        """Return the nearest slots of a state; None: the index is of another one, or fails."""

    def follow(self, state: VectorState) -> None:
        """Bring the index to a state, which must be the newest: the caller is the only writer."""

    def is_current(self, state: VectorState) -> bool:
        """Tell whether the index is of a state.

        Raises:
            VectorIndexError: It does not answer.
        """

    def close(self) -> None:
        """Close connections."""


def nearest_by_index(
    index: VectorIndex, snapshot: IndexSnapshot, vector: bytes, k: int, where: Filter
) -> Hits | None:
    """Find the k nearest chunks with the help of an index; None: it cannot help.

    The index is asked for more until all candidates that tie with the k-th are known, so that an
    exact one gives what a scan of all vectors gives.
    """
    column = snapshot.columns.table[SLOT]
    allowed = allowed_rows(snapshot, where)
    embedded = snapshot.access.rows & (column >= 0)
    rows = np.flatnonzero(embedded if allowed is None else embedded & allowed)
    slots = np.take(column, rows).astype(np.int64)
    if rows.size <= FEW:
        return Hits(best_hits(snapshot, rows, _score(snapshot, vector, slots), k))
    readable = slots if allowed is None else column[embedded].astype(np.int64)
    limit = max(MIN_CANDIDATES, 2 * k)
    while limit <= MAX_CANDIDATES:
        found = index.nearest(snapshot.vector_state, vector, snapshot.classes, limit)
        if found is None or not np.isin(found.slots, readable).all():
            return None  # or it names what the viewer may not read, or what is not there
        named = _score(snapshot, vector, found.slots)
        if not np.allclose(found.scores, named, rtol=ROUNDED, atol=0.5):
            return None  # in these slots it has the vectors of another store
        known, first = np.unique(found.slots, return_index=True)
        scores = named[first]
        at = np.minimum(np.searchsorted(known, slots), max(0, known.size - 1))
        near = np.flatnonzero(np.take(known, at) == slots) if known.size else rows[:0]
        near_scores = np.take(scores, at[near])
        if found.exhausted and near.size < min(k, rows.size):
            return None  # a graph gave up before it came to rows that pass the filter
        if found.exhausted or _holds_ties(near_scores, scores, k):
            hits = best_hits(snapshot, rows[near], near_scores, k)
            return Hits(hits, exact=index.exact)
        limit *= GROWTH
    return None


def _holds_ties(near: npt.NDArray[np.int32], scores: npt.NDArray[np.int32], k: int) -> bool:
    """Tell whether the k-th best of some rows is better than the last that the index named."""
    if near.size < k:
        return False
    return int(np.partition(near, near.size - k)[near.size - k]) > int(scores.min())


def _score(snapshot: IndexSnapshot, vector: bytes, slots: Numbers) -> npt.NDArray[np.int32]:
    """Return the dot product of a vector with those in some slots."""
    known, at = np.unique(slots, return_inverse=True)
    if not known.size:
        return np.zeros(0, np.int32)
    return np.take(dot(snapshot.vectors_at(known), vector), at)
