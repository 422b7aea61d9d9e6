"""Searches of one shard, which all count and score as one store would.

Each search has two rounds. In the first every shard counts, in the second it scores by the totals
of all; its best k are sure to hold those of the whole best k that lie in it. A search with a reach
has a third: the neighbors of the best k of the whole. `quire.store.index.search` defines the
results.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from quire.core.types import Filter, Hit, Wording
from quire.store.index import bm25, proximity, vectors
from quire.store.index.filters import allowed_rows
from quire.store.index.hits import best_hits
from quire.store.index.scoring import score_rows
from quire.store.index.search import embedded_rows
from quire.store.index.snapshot import IndexSnapshot, RowNumbers
from quire.store.index.terms import find_rows_with_all, find_terms
from quire.store.index.totals import Totals, norms


@dataclass(frozen=True, slots=True)
class WordQuery:
    """What a search by words is asked."""

    query: str
    k: int
    where: Filter
    wording: Wording


def best_by_words(snapshot: IndexSnapshot, asked: WordQuery, totals: Totals) -> tuple[Hit, ...]:
    """Find the k chunks of a shard whose words match best."""
    terms = find_terms(snapshot, asked.query, asked.wording, totals)
    allowed = allowed_rows(snapshot, asked.where)
    scored = score_rows(terms, norms(snapshot, totals), allowed, asked.k)
    return best_hits(snapshot, *scored, asked.k)


def best_nearby(
    snapshot: IndexSnapshot,
    asked: WordQuery,
    totals: Totals,
    *,
    seeds: RowNumbers,
    reach: int,
) -> tuple[Hit, ...]:
    """Find the k chunks that match best among some rows of a shard and their neighbors."""
    if not seeds.size:
        return ()
    terms = find_terms(snapshot, asked.query, asked.wording, totals)
    rows, scores = proximity.score_neighbors(snapshot, terms, seeds, reach, totals)
    allowed = allowed_rows(snapshot, asked.where)
    if allowed is not None:
        rows, scores = rows[allowed[rows]], scores[allowed[rows]]
    return best_hits(snapshot, rows, scores, asked.k)


def count_with_all(snapshot: IndexSnapshot, names: Sequence[str], totals: Totals) -> list[int]:
    """Return how many readable chunks of a shard hold all words of each name."""
    return [find_rows_with_all(snapshot, name, totals).size for name in names]


def all_with(
    snapshot: IndexSnapshot,
    names: Sequence[str],
    held: Sequence[int],
    where: Filter,
    totals: Totals,
) -> list[tuple[Hit, ...]]:
    """Find the chunks of a shard that hold all words of each name; `held` do in the whole."""
    allowed = allowed_rows(snapshot, where)
    results: list[tuple[Hit, ...]] = []
    for name, count in zip(names, held, strict=True):
        rows = find_rows_with_all(snapshot, name, totals)
        if allowed is not None:
            rows = rows[allowed[rows]]
        idf = bm25.idf(totals.chunks, count)
        results.append(best_hits(snapshot, rows, np.full(rows.size, idf), max(1, rows.size)))
    return results


def count_distances(snapshot: IndexSnapshot, vector: bytes, where: Filter) -> tuple[int, list[int]]:
    """Return how many rows of a shard pass and have a vector, and how many at each distance."""
    if not snapshot.access.vectors:
        return 0, []
    _, slots = embedded_rows(snapshot, where)
    code = vectors.sign_codes(np.frombuffer(vector, np.int8)[None])[0]
    _, codes = snapshot.vectors()
    distances = np.take(vectors.hamming_distances(codes, code), slots)
    return int(slots.size), np.bincount(distances).tolist()


def nearest(
    snapshot: IndexSnapshot, vector: bytes, k: int, where: Filter, within: int | None
) -> tuple[Hit, ...]:
    """Find the k chunks of a shard whose vectors are nearest.

    With `within`, only those whose codes have at most this distance from that of the query.
    """
    if not snapshot.access.vectors:
        return ()
    if within is None:
        scored = snapshot.searches.nearest(snapshot, vector, k, where)
        if scored is not None:
            return best_hits(snapshot, *scored, k)
    rows, slots = embedded_rows(snapshot, where)
    matrix, codes = snapshot.vectors()
    if within is not None:
        code = vectors.sign_codes(np.frombuffer(vector, np.int8)[None])[0]
        near = np.take(vectors.hamming_distances(codes, code), slots) <= within
        rows, slots = rows[near], slots[near]
    return best_hits(snapshot, rows, vectors.score_slots(matrix, vector, slots), k)
