"""Neighbor scoring: rows that match together with the chunks around them.

A paragraph or a turn of a conversation is understood by its neighbors. So the chunks around the
best ones are scored as well: for each word, a chunk gets the word's own weight in it or, less a
quarter per position, its weight in a chunk nearby in the same record. A definition in code is
self-contained and has no neighbors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from quire.errors import InputError
from quire.store.index.columns import KIND, RECORD
from quire.store.index.snapshot import IndexSnapshot, RowNumbers
from quire.store.index.terms import Term
from quire.store.index.totals import Totals, norms

ISOLATED_KIND = "code"
"""Chunks of this kind have no neighbors."""
QUARTERS = 4
"""A word loses one of so many parts of its weight with each position of distance."""
BATCH = 64
"""The number of words that are scored at once: few enough for the cache."""


def check_reach(reach: int) -> None:
    """Refuse a distance at which nothing is left of a word's weight."""
    if not 0 <= reach < QUARTERS:
        raise InputError(
            f"must be between 0 and {QUARTERS - 1}, not {reach}", field="reach", value=reach
        )


def score_neighbors(
    snapshot: IndexSnapshot,
    terms: Sequence[Term],
    seeds: RowNumbers,
    reach: int,
    totals: Totals | None = None,
) -> tuple[RowNumbers, npt.NDArray[np.int64]]:
    """Score the seeds and the rows within reach of them by the words within reach of each."""
    rows, records, positions = _surrounding_rows(snapshot, seeds, reach)
    is_seed = np.isin(rows, seeds)
    pairs = _neighbor_pairs(records, positions, reach)
    within_reach = is_seed.copy()
    for left, right, _ in pairs:
        within_reach[left] |= is_seed[right]
        within_reach[right] |= is_seed[left]
    scores = np.zeros(rows.size, np.int64)
    lengths = norms(snapshot, totals)
    words = _by_word(terms)
    for start in range(0, len(words), BATCH):
        batch = words[start : start + BATCH]
        # The terms of one word have no row in common: their sum is the weight of the word.
        own = np.array(
            [sum(term.weights_in(rows, lengths) for term in word) for word in batch], np.int32
        )
        best = own.copy()
        for left, right, share in pairs:
            best[:, left] = np.maximum(best[:, left], own[:, right] * share // QUARTERS)
            best[:, right] = np.maximum(best[:, right], own[:, left] * share // QUARTERS)
        scores += best.sum(axis=0, dtype=np.int64)
    return rows[within_reach], scores[within_reach]


def _by_word(terms: Sequence[Term]) -> list[list[Term]]:
    words: dict[str, list[Term]] = {}
    for term in terms:
        words.setdefault(term.word, []).append(term)
    return list(words.values())


def _surrounding_rows(
    snapshot: IndexSnapshot, seeds: RowNumbers, reach: int
) -> tuple[RowNumbers, npt.NDArray[Any], npt.NDArray[Any]]:
    """Return the rows within twice the reach of the seeds: row, record and position in it.

    They come in reading order. A row without neighbors gets a record number of its own.
    """
    table = snapshot.columns.table
    isolated = max(snapshot.kind_numbers((ISOLATED_KIND,)), default=-1)
    neighbors = snapshot.neighbors(seeds, 2 * reach)
    rows, index = np.unique(neighbors[:, 0], return_index=True)
    connected = table[KIND, rows] != isolated
    rows, positions = rows[connected], neighbors[index[connected], 1]
    records = table[RECORD, rows]
    order = np.lexsort((rows, positions, records))
    single = seeds[table[KIND, seeds] == isolated]
    return (
        np.concatenate([single, rows[order]]),
        np.concatenate([-1 - single, records[order]]),
        np.concatenate([np.zeros(single.size, np.int64), positions[order]]),
    )


def _neighbor_pairs(
    records: npt.NDArray[Any], positions: npt.NDArray[Any], reach: int
) -> list[tuple[RowNumbers, RowNumbers, npt.NDArray[np.int32]]]:
    """Return all pairs of neighbors with the quarters of a word's weight left between them."""
    pairs = []
    step = 1
    while step < records.size:
        distance = positions[step:] - positions[:-step]
        # A difference that overflows 64 bits is negative.
        close = (distance >= 0) & (distance <= reach)
        left = np.flatnonzero((records[step:] == records[:-step]) & close)
        if not left.size:
            break
        pairs.append((left, left + step, (QUARTERS - distance[left]).astype(np.int32)))
        step += 1
    return pairs
