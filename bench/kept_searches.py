"""What does a semantic search cost with the cache and without, by the number of vectors?

Made-up vectors in six access classes, all of them readable; only the comparison is measured, not
the lookup of what was found. A change replaces five vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from statistics import median
from time import thread_time
from types import SimpleNamespace
from typing import Any

import numpy as np

from bench.report import Table
from quire.core.types import NO_FILTER
from quire.store.index import topk, vectors
from quire.store.index.access_mask import compute_mask
from quire.store.index.columns import ACCESS, RECORD, SLOT, Columns, empty_table
from quire.store.index.columns import Table as Rows
from quire.store.index.search_cache import SearchCache

SIZES = (10_000, 50_000, 100_000, 200_000)
DIMS = 384
CLASSES = 6
TIMES = 30
K = 15


def tables() -> Iterator[Table]:
    """Measure each size."""
    table = Table(
        "CPU ms of comparing vectors, median",
        ("vectors", "all compared", "asked first", "asked again", "after a change"),
    )
    random = np.random.default_rng(0)
    for size in SIZES:
        matrix = random.integers(-60, 60, (size, DIMS)).astype(np.int8)
        query = random.integers(-60, 60, DIMS).astype(np.int8).tobytes()
        rows = empty_table(size)
        rows[ACCESS] = random.integers(0, CLASSES, size)
        rows[SLOT] = np.arange(size)
        rows[RECORD] = np.arange(size) // 8
        state = _snapshot(rows, 1, matrix)
        all_compared = _times(lambda: _scan(state, query))  # noqa: B023 - called at once
        first = _times(lambda: SearchCache().nearest(state, query, K, NO_FILTER))  # noqa: B023
        cache = SearchCache()
        cache.nearest(state, query, K, NO_FILTER)
        again = _times(lambda: cache.nearest(state, query, K, NO_FILTER))  # noqa: B023
        changed = []
        for generation in range(2, TIMES + 2):
            rows = rows.copy()
            rows[SLOT, random.integers(0, size, 5)] = random.integers(0, size, 5)
            later = _snapshot(rows, generation, matrix)
            changed.append(_time(lambda: cache.nearest(later, query, K, NO_FILTER)))  # noqa: B023
        table.add(size, all_compared, first, again, median(changed))
    table.notes.append(f"{CLASSES} classes, k = {K}; after a change: the first search after it")
    yield table


def _snapshot(rows: Rows, generation: int, matrix: vectors.Matrix) -> Any:
    columns, classes = Columns(generation, rows), frozenset(range(CLASSES))
    return SimpleNamespace(
        space_id=1,
        epoch=0,
        columns=columns,
        classes=classes,
        access=compute_mask(columns, classes),
        vectors=lambda: (matrix, None),
    )


def _scan(state: Any, query: bytes) -> None:
    slots = state.columns.table[SLOT]
    rows = np.flatnonzero(state.access.rows & (slots >= 0))
    topk.top_indices(vectors.score_slots(state.vectors()[0], query, np.take(slots, rows)), K)


def _times(run: Callable[[], object]) -> float:
    return median(_time(run) for _ in range(TIMES))


def _time(run: Callable[[], object]) -> float:
    begun = thread_time()
    run()
    return 1000 * (thread_time() - begun)
