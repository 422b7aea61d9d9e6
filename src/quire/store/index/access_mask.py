"""Access masks: the rows that a viewer may read, and the statistics over them.

Everything that a score depends on is computed here over readable rows alone, so that what a
viewer may not read cannot show in their results.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from quire.core.lru import LRUCache
from quire.store.index import bm25
from quire.store.index.columns import ACCESS, LENGTH, SLOT, Columns

CACHE_SIZE = 16


@dataclass(frozen=True, slots=True)
class AccessMask:
    """The rows that a set of access classes makes readable, with their statistics."""

    rows: npt.NDArray[np.bool_]
    complete: bool
    """Whether every allocated row is readable: then no mask needs to be applied."""
    chunks: int
    words: int
    """The sum of their lengths."""
    vectors: int
    norms: npt.NDArray[np.int32]


class AccessMaskCache:
    """Computes access masks, and keeps those that were used last, each for the newest state."""

    def __init__(self) -> None:
        self._masks: LRUCache[tuple[int, frozenset[int]], tuple[int, AccessMask]] = LRUCache(
            CACHE_SIZE
        )
        self._norms: LRUCache[tuple[int, int, int, int], npt.NDArray[np.int32]] = LRUCache(
            CACHE_SIZE
        )

    def __len__(self) -> int:
        """Return how many masks are kept."""
        return len(self._masks)

    def get(self, space: int, columns: Columns, classes: frozenset[int]) -> AccessMask:
        """Return the mask of some access classes over the columns of a space."""
        key = space, classes
        generation, kept = self._masks.get(key) or (-1, None)
        if kept is not None and generation == columns.generation:
            return kept
        mask = compute_mask(columns, classes)
        if generation < columns.generation:  # a write must not fill the cache with older states
            self._masks.put(key, (columns.generation, mask))
        return mask

    def norms(self, space: int, columns: Columns, chunks: int, words: int) -> npt.NDArray[np.int32]:
        """Return the norms of all rows for the average of a whole that this is a part of."""
        key = (space, columns.generation, chunks, words)
        norms = self._norms.get(key)
        if norms is None:
            norms = bm25.norms(columns.table[LENGTH], chunks, words)
            self._norms.put(key, norms)
        return norms


def compute_mask(columns: Columns, classes: frozenset[int]) -> AccessMask:
    """Return the mask of some access classes, with the statistics of the readable rows."""
    rows = np.isin(columns.table[ACCESS], np.array(sorted(classes), np.int32))
    lengths = columns.table[LENGTH]
    chunks = int(np.count_nonzero(rows))
    total = int(lengths[rows].sum(dtype=np.int64))
    return AccessMask(
        rows=rows,
        complete=chunks == rows.size,
        chunks=chunks,
        words=total,
        vectors=int(np.count_nonzero(rows & (columns.table[SLOT] >= 0))),
        norms=bm25.norms(lengths, chunks, total),
    )
