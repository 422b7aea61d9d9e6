"""BM25 scores of rows, with pruning of rows that can no longer reach the best k.

Terms are added from the rarest to the most frequent. Once the terms to come cannot lift a row
into the best k, long posting lists are only evaluated for the rows that still can.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from quire.store.index import topk
from quire.store.index.snapshot import Mask, RowNumbers
from quire.store.index.terms import Term

PRUNE_FROM = 20_000
"""The length of a posting list from which on pruning pays off."""
SPARSE_FACTOR = 64
"""If fewer than one row in so many contains any of the words, only those rows are scored."""

Scored = tuple[RowNumbers, npt.NDArray[Any]]
"""Row numbers with their scores."""


def score_rows(
    terms: list[Term], norms: npt.NDArray[np.int32], allowed: Mask | None, k: int
) -> Scored:
    """Return the rows that may belong to the best k, with their scores."""
    if sum(term.rows.size for term in terms) * SPARSE_FACTOR >= norms.size:
        return _score(terms, norms, allowed, k)
    # Rare words: compute over the rows that contain them, and over no others.
    none = np.zeros(0, np.int32)
    rows = np.unique(np.concatenate([none, *(term.rows for term in terms)])).astype(np.int64)
    allowed_rows = None if allowed is None else allowed[rows]
    renumbered = [term.renumber(rows) for term in terms]
    indices, scores = _score(renumbered, norms[rows], allowed_rows, k)
    return rows[indices], scores


def _score(terms: list[Term], norms: npt.NDArray[np.int32], allowed: Mask | None, k: int) -> Scored:
    total = remaining = sum(term.max_weight for term in terms)
    scores: npt.NDArray[Any] = np.zeros(norms.size, np.int32 if total < 1 << 31 else np.int64)
    candidates: RowNumbers | None = None
    for term in terms:
        if term.rows.size >= PRUNE_FROM and remaining < total - remaining:
            candidates = _prune(scores, candidates, allowed, k, remaining)
        evaluated = term
        if candidates is not None and candidates.size < scores.size // 4:
            evaluated = term.restrict(candidates, scores)
        evaluated.add_to(scores, norms)
        remaining -= term.max_weight
    if candidates is None and allowed is not None:
        candidates = np.flatnonzero(allowed)
    eligible = scores if candidates is None else scores[candidates]
    threshold = topk.kth_best(eligible, k) if eligible.size > k else 0
    best = np.flatnonzero(eligible >= max(1, threshold))
    return best if candidates is None else candidates[best], eligible[best]


def _prune(
    scores: npt.NDArray[Any],
    candidates: RowNumbers | None,
    allowed: Mask | None,
    k: int,
    remaining: int,
) -> RowNumbers | None:
    """Return the rows that can still reach the best k if `remaining` is added; None: all."""
    eligible = scores if candidates is None else scores[candidates]
    if allowed is not None:
        eligible = np.where(allowed if candidates is None else allowed[candidates], eligible, 0)
    threshold = topk.kth_best(eligible, k) if eligible.size > k else 0
    if threshold <= remaining:
        return candidates
    # No other row can reach the k-th best any more, not even as a tie.
    chosen = np.flatnonzero(eligible >= threshold - remaining)
    return chosen if candidates is None else candidates[chosen]
