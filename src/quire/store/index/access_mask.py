"""Which rows may this viewer read, and what are they like on the whole?

Everything that a score depends on is computed here over readable rows alone, so what a viewer
may not read cannot show in what they get.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from quire.core.lru import LRUCache
from quire.store.index import bm25
from quire.store.index.columns import ACCESS, LENGTH, SLOT, Columns

KEPT = 16


@dataclass(frozen=True, slots=True)
class Readable:
    """The rows that a set of access classes makes readable, with their statistics."""

    mask: npt.NDArray[np.bool_]
    everything: bool
    """Whether every row that was ever handed out is readable: then no mask is needed."""
    chunks: int
    vectors: int
    norms: npt.NDArray[np.int32]


class ReadableRows:
    """Computes readable rows, and keeps those of the viewers who asked last."""

    def __init__(self) -> None:
        self._kept: LRUCache[tuple[int, int, frozenset[int]], Readable] = LRUCache(KEPT)

    def of(self, space: int, columns: Columns, classes: frozenset[int]) -> Readable:
        """Give the rows of these access classes."""
        at = (space, columns.generation, classes)
        made = self._kept.get(at)
        if made is None:
            made = _compute(columns, classes)
            self._kept.put(at, made)
        return made


def _compute(columns: Columns, classes: frozenset[int]) -> Readable:
    held = columns.table[ACCESS]
    mask = np.isin(held, np.array(sorted(classes), np.int32))
    lengths = columns.table[LENGTH]
    chunks = int(np.count_nonzero(mask))
    total = int(lengths[mask].sum(dtype=np.int64))
    return Readable(
        mask=mask,
        everything=chunks == mask.size,
        chunks=chunks,
        vectors=int(np.count_nonzero(mask & (columns.table[SLOT] >= 0))),
        norms=bm25.norms(lengths, chunks, total),
    )
