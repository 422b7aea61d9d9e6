"""Hits: the best k of scored rows in their total order.

The order is score, then path, sequence, start and id. Row numbers play no part in it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from quire.core.types import Hit
from quire.store.index import topk
from quire.store.index.scoring import Scored
from quire.store.index.snapshot import IndexSnapshot, RowNumbers


def best_hits(
    snapshot: IndexSnapshot, rows: RowNumbers, scores: npt.NDArray[Any], k: int
) -> tuple[Hit, ...]:
    """Return the best k of the scored rows, in order."""
    rows, scores = best_rows(snapshot, rows, scores, k)
    if not rows.size:
        return ()
    by_row = dict(zip(rows.tolist(), scores.tolist(), strict=True))
    ordered = sorted((-by_row[row], *position) for row, *position in snapshot.positions(rows))
    return tuple(
        [
            Hit(chunk_id.hex(), -negated, path, sequence, start)
            for negated, path, sequence, start, chunk_id in ordered
        ]
    )


def best_rows(
    snapshot: IndexSnapshot, rows: RowNumbers, scores: npt.NDArray[Any], k: int
) -> Scored:
    """Return the best k of the scored rows, in any order; ties are resolved by position."""
    chosen = topk.top_indices(scores, k)
    rows, scores = rows[chosen], scores[chosen]
    if rows.size <= k:
        return rows, scores
    lowest = scores.min()
    above = np.flatnonzero(scores > lowest)
    first = snapshot.first_rows(rows[scores == lowest], k - above.size)
    tied = np.array(first, np.int64)
    return (
        np.concatenate([rows[above], tied]),
        np.concatenate([scores[above], np.full(tied.size, lowest)]),
    )
