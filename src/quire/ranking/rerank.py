"""Rerank: the scores of a reranker give the best candidates another order.

Its scores are on a scale of their own, which says nothing about candidates that it did not see. So
only the order among those that it saw changes: the scores that they had are dealt out again, the
highest to the first. Everything that compares scores later (packing, sections) sees the same
numbers as without a reranker.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from quire.core import guard
from quire.core.types import Candidate
from quire.errors import InputError, PluginError

RERANK = "rerank"
"""The signal that says what the reranker gave."""
SCALE = 1_000_000
"""What the best text of a call gets; the worst gets nothing."""
MAX_WEIGHT = 100


class OwnReranker:
    """Reranks with what was plugged in.

    Args:
        given: A function of a query and texts that returns a score for each, an object with
            `rerank` (`core.protocols.Reranker`), or a pair of a name and one of these.
    """

    def __init__(self, given: Any, prefix: str = guard.OWN) -> None:
        name, plugin = guard.split_pair("reranker", given)
        score = getattr(plugin, "rerank", plugin)
        if not callable(score):
            raise InputError(
                f"expected a function of a query and texts, or an object with `rerank`, not "
                f"{plugin!r:.80}",
                field="reranker",
            )
        self.name = f"{prefix}:{name}"
        self._score = score
        self._described = f"the reranker {name!r}"

    def score(self, query: str, texts: Sequence[str], timeout: float) -> list[int]:
        """Return a score for each text as a share of the best, or raise `PluginError`."""
        answer = guard.call(self._described, lambda: self._score(query, [*texts]), timeout)
        try:
            numbers = [float(each) for each in answer]
        except (TypeError, ValueError):
            raise PluginError(
                f"{self._described} answered with {answer!r:.60}, not with a list of numbers"
            ) from None
        if len(numbers) != len(texts):
            raise PluginError(
                f"{self._described} was given {len(texts)} texts and returned {len(numbers)} scores"
            )
        if not all(map(math.isfinite, numbers)):
            raise PluginError(f"{self._described} returned an infinite score or NaN")
        return _shares(numbers)


def _shares(numbers: Sequence[float]) -> list[int]:
    """Return whole numbers from 0 for the least to SCALE for the most."""
    low, high = min(numbers, default=0.0), max(numbers, default=0.0)
    half = high / 2 - low / 2  # halves, whose difference is always finite
    if half <= 0:
        return [SCALE] * len(numbers)
    return [round((number / 2 - low / 2) / half * SCALE) for number in numbers]


def rerank(
    candidates: Sequence[Candidate], scores: Mapping[str, int], weight: int
) -> list[Candidate]:
    """Deal out the scores of the candidates that a reranker saw, by its scores and their own.

    Args:
        candidates: The candidates, the best first.
        scores: What the reranker gave each chunk, by its id.
        weight: What its scores count, in percent; the rest is what the candidates have.
    """
    seen = [candidate for candidate in candidates if candidate.chunk.id in scores]
    if not seen:
        return list(candidates)
    best = max(1, *(candidate.score for candidate in seen), 1)

    def key(candidate: Candidate) -> tuple[int, tuple[int, str, int, int, str]]:
        share = max(0, candidate.score) * SCALE // best
        combined = weight * scores[candidate.chunk.id] + (MAX_WEIGHT - weight) * share
        return -combined, candidate.order

    ordered = sorted(seen, key=key)
    dealt = sorted((candidate.score for candidate in seen), reverse=True)
    for place in range(len(dealt) - 2, -1, -1):  # equal scores would be ordered by their paths
        dealt[place] = max(dealt[place], dealt[place + 1] + 1)
    changed = {
        candidate.chunk.id: replace(
            candidate,
            score=score,
            signals={**candidate.signals, RERANK: scores[candidate.chunk.id]},
        )
        for candidate, score in zip(ordered, dealt, strict=True)
    }
    return sorted(
        (changed.get(candidate.chunk.id, candidate) for candidate in candidates),
        key=lambda candidate: candidate.order,
    )
