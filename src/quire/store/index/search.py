"""The searches of a view: by words, by exact names and by vectors.

Each returns the best k in a total order: score, then path, sequence, start and id. The row
numbers behind them depend on the store's history; nothing that is returned does.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from quire.core.types import LITERAL, Filter, Hit, Hits, Wording
from quire.errors import InputError
from quire.store.index import analyzer, bm25, proximity, vectors
from quire.store.index.columns import SLOT
from quire.store.index.filters import allowed_rows, check_filter
from quire.store.index.hits import best_hits, best_rows
from quire.store.index.scoring import score_rows
from quire.store.index.snapshot import IndexSnapshot, RowNumbers
from quire.store.index.terms import (
    check_wording,
    find_posting,
    find_rows_with_all,
    find_terms,
    stemmed_languages,
)
from quire.store.index.vector_index import nearest_by_index


def lexical(
    snapshot: IndexSnapshot,
    query: str,
    k: int,
    where: Filter,
    *,
    reach: int = 0,
    wording: Wording = LITERAL,
) -> Hits:
    """Find the k chunks whose words match best, alone or together with their neighbors."""
    check_lexical(k, where, reach, wording)
    terms = find_terms(snapshot, query, wording)
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
    terms = analyzer.query_terms(query, stemmed_languages(snapshot))
    return {
        word: bm25.idf(
            snapshot.access.chunks, max(1, find_posting(snapshot, terms[word].forms)[0].size)
        )
        for word in sorted(terms)
    }


def semantic(
    snapshot: IndexSnapshot, vector: bytes, k: int, where: Filter, *, exact: bool = False
) -> Hits:
    """Find the k chunks whose vectors are nearest."""
    check_semantic(k, where)
    if not snapshot.access.vectors:
        return Hits(())
    check_vector(vector, snapshot.dims)
    if snapshot.vector_index is not None and not exact:
        hits = nearest_by_index(snapshot.vector_index, snapshot, vector, k, where)
        if hits is not None:
            return hits
    if exact or snapshot.access.vectors <= vectors.SCAN_LIMIT:
        scored = snapshot.searches.nearest(snapshot, vector, k, where)
        if scored is not None:
            return Hits(best_hits(snapshot, *scored, k))
    else:
        snapshot.searches.count_search(hit=False)
    rows, slots = embedded_rows(snapshot, where)
    matrix, codes = snapshot.vectors()
    complete = exact or rows.size <= vectors.SCAN_LIMIT
    if not complete:
        near = vectors.select_nearest(codes, vector, slots, k)
        rows, slots = rows[near], slots[near]
    scores = vectors.score_slots(matrix, vector, slots)
    return Hits(best_hits(snapshot, rows, scores, k), exact=complete)


def embedded_rows(
    snapshot: IndexSnapshot, where: Filter
) -> tuple[RowNumbers, npt.NDArray[np.int32]]:
    """Return the readable rows that pass and have a vector, with the slots of their vectors."""
    column = snapshot.columns.table[SLOT]
    embedded = snapshot.access.rows & (column >= 0)
    allowed = allowed_rows(snapshot, where)
    rows = np.flatnonzero(embedded if allowed is None else embedded & allowed)
    return rows, np.take(column, rows)


def check_lexical(k: int, where: Filter, reach: int, wording: Wording) -> None:
    """Refuse what no search by words can be asked for."""
    _check_k(k)
    check_filter(where)
    proximity.check_reach(reach)
    check_wording(wording)


def check_semantic(k: int, where: Filter) -> None:
    """Refuse what no search by a vector can be asked for."""
    _check_k(k)
    check_filter(where)


def _check_k(k: int) -> None:
    if k < 1:
        raise InputError(f"must be at least 1, not {k}", field="k", value=k)


def check_vector(vector: bytes, dims: int) -> None:
    """Refuse a vector that cannot be compared with those of a store."""
    if len(vector) != dims:
        raise InputError(
            f"the query vector has {len(vector)} dimensions, the stored vectors have {dims}"
        )
    if not vectors.has_exact_products(vector):
        raise InputError("the norm of the query vector is too large", hint="scale its numbers down")
