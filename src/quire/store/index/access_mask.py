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
    vectors: int
    norms: npt.NDArray[np.int32]


class AccessMaskCache:
    """Computes access masks, and keeps those that were used last."""

    def __init__(self) -> None:
        self._masks: LRUCache[tuple[int, int, frozenset[int]], AccessMask] = LRUCache(CACHE_SIZE)

    def get(self, space: int, columns: Columns, classes: frozenset[int]) -> AccessMask:
        """Return the mask of some access classes over the columns of a space."""
        key = (space, columns.generation, classes)
        mask = self._masks.get(key)
        if mask is None:
            mask = compute_mask(columns, classes)
            self._masks.put(key, mask)
        return mask


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
        vectors=int(np.count_nonzero(rows & (columns.table[SLOT] >= 0))),
        norms=bm25.norms(lengths, chunks, total),
    )
