"""The searches of a view: by words, by exact names and by vectors.

Each returns the best k in a total order: score, then path, sequence, start and id. The row
numbers behind them depend on the store's history; nothing that is returned does.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from quire.core.types import Filter, Hit, Hits
from quire.errors import InputError
from quire.store.index import analyzer, bm25, proximity, vectors
from quire.store.index.columns import SLOT
from quire.store.index.filters import allowed_rows, check_filter
from quire.store.index.hits import best_hits, best_rows
from quire.store.index.scoring import score_rows
from quire.store.index.snapshot import IndexSnapshot
from quire.store.index.terms import find_rows_with_all, find_terms, readable_posting


def lexical(snapshot: IndexSnapshot, query: str, k: int, where: Filter, reach: int = 0) -> Hits:
    """Find the k chunks whose words match best, alone or together with their neighbors."""
    _check_k(k)
    check_filter(where)
    proximity.check_reach(reach)
    terms = find_terms(snapshot, query)
    allowed = allowed_rows(snapshot, where)
    rows, scores = score_rows(terms, snapshot.access.norms, allowed, k)
    if reach and rows.size:
        seeds, _ = best_rows(snapshot, rows, scores, k)
        rows, scores = proximity.score_neighbors(snapshot, terms, seeds, reach)
        if allowed is not None:
            rows, scores = rows[allowed[rows]], scores[allowed[rows]]
    return Hits(best_hits(snapshot, rows, scores, k))


def match_all(
    snapshot: IndexSnapshot, names: Sequence[str], limit: int, where: Filter
) -> list[tuple[Hit, ...]]:
    """Find for each name the chunks that contain all its words; none if more than `limit` do."""
    check_filter(where)
    allowed = allowed_rows(snapshot, where)
    results: list[tuple[Hit, ...]] = []
    for name in names:
        rows = find_rows_with_all(snapshot, name)
        idf = bm25.idf(snapshot.access.chunks, rows.size)
        if rows.size > limit:
            rows = rows[:0]
        elif allowed is not None:
            rows = rows[allowed[rows]]
        results.append(best_hits(snapshot, rows, np.full(rows.size, idf), max(1, rows.size)))
    return results


def rarities(snapshot: IndexSnapshot, query: str) -> dict[str, int]:
    """Return how rare each word of a query is; one that no chunk holds is as rare as one in one."""
    return {
        word: bm25.idf(snapshot.access.chunks, max(1, readable_posting(snapshot, word)[0].size))
        for word in sorted(analyzer.count_query_words(query))
    }


def semantic(
    snapshot: IndexSnapshot, vector: bytes, k: int, where: Filter, *, exact: bool = False
) -> Hits:
    """Find the k chunks whose vectors are nearest."""
    _check_k(k)
    check_filter(where)
    if not snapshot.access.vectors:
        return Hits(())
    _check_vector(snapshot, vector)
    column = snapshot.columns.table[SLOT]
    embedded = snapshot.access.rows & (column >= 0)
    allowed = allowed_rows(snapshot, where)
    rows = np.flatnonzero(embedded if allowed is None else embedded & allowed)
    slots = np.take(column, rows)
    matrix, codes = snapshot.vectors()
    complete = exact or rows.size <= vectors.SCAN_LIMIT
    if not complete:
        near = vectors.select_nearest(codes, vector, slots, k)
        rows, slots = rows[near], slots[near]
    scores = vectors.score_slots(matrix, vector, slots)
    return Hits(best_hits(snapshot, rows, scores, k), exact=complete)


def _check_k(k: int) -> None:
    if k < 1:
        raise InputError(f"must be at least 1, not {k}", field="k", value=k)


def _check_vector(snapshot: IndexSnapshot, vector: bytes) -> None:
    if len(vector) != snapshot.dims:
        raise InputError(
            f"the query vector has {len(vector)} dimensions, the stored vectors have "
            f"{snapshot.dims}"
        )
    if not vectors.has_exact_products(vector):
        raise InputError("the norm of the query vector is too large", hint="scale its numbers down")
