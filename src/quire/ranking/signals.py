"""Signals: the score of a candidate as the weighted sum of several properties.

Each signal measures a candidate in thousandths; the recipe gives its weight. A signal that does not
know counts half.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from quire.core.tasks import read_task
from quire.core.types import BLOCK_PREFIX, Candidate
from quire.ranking import boosts
from quire.ranking.feature_table import MAX_SIGNAL, FeatureTable, Signal

UNKNOWN = 500
STEP_COST = 100
"""What one step in the hierarchy costs."""
OVERDUE = "overdue"


def semantic(candidate: Candidate, features: FeatureTable) -> int:
    """Return how similar a candidate is to the query: by its words, as long as it has no vector.

    An overdue task that is asked for answers by being overdue, whatever words it has.
    """
    name = candidate.chunk.id
    if name in features.similarity:
        return features.similarity[name]
    return MAX_SIGNAL if _answers_late(candidate, features) else features.words.get(name, 0)


def structural(candidate: Candidate, features: FeatureTable) -> int:
    """Return how near a candidate is to the record that the user is viewing."""
    if not features.has_focus:
        return UNKNOWN
    steps = features.distances.get(candidate.chunk.record_id)
    return 0 if steps is None else max(0, MAX_SIGNAL - STEP_COST * steps)


def recency(candidate: Candidate, features: FeatureTable) -> int:
    """Return how new a candidate is: 0 after a month, half if there is no date."""
    record = candidate.record
    if record is None or record.modified is None or features.as_of is None:
        return UNKNOWN
    return boosts.recency(candidate, features)


def type_(candidate: Candidate, features: FeatureTable) -> int:
    """Return how well the type of a block answers the intent of the query."""
    fit = features.types.get(block_type(candidate), UNKNOWN)
    return MAX_SIGNAL if _answers_late(candidate, features) else fit


def affinity(candidate: Candidate, features: FeatureTable) -> int:
    """Return how lately the user worked on a candidate or on one of its ancestors."""
    return features.affinity.get(candidate.chunk.record_id, 0)


SIGNALS: dict[str, Signal] = {
    "semantic": semantic,
    "structural": structural,
    "recency": recency,
    "type": type_,
    "affinity": affinity,
}
"""A weighed signal is one function and one row."""


def weigh(
    candidates: Sequence[Candidate], weights: Mapping[str, int], features: FeatureTable
) -> list[Candidate]:
    """Score each candidate by the weighted sum of its signals, and sort the best first."""
    return sorted(
        (_weigh(candidate, weights, features) for candidate in candidates),
        key=lambda candidate: candidate.order,
    )


def _weigh(candidate: Candidate, weights: Mapping[str, int], features: FeatureTable) -> Candidate:
    signals = {name: SIGNALS[name](candidate, features) for name in sorted(weights)}
    score = sum(weights[name] * signals[name] for name in signals)
    if candidate.chunk.record_id in features.included:
        score += MAX_SIGNAL * sum(weights.values())  # above all that need not be in
    overdue = {OVERDUE: MAX_SIGNAL} if is_overdue(candidate, features) else {}
    return replace(candidate, score=score, signals={**candidate.signals, **signals, **overdue})


def is_overdue(candidate: Candidate, features: FeatureTable) -> bool:
    """Tell whether a candidate was due before the moment of the request and is not done."""
    if candidate.record is None or features.as_of is None:
        return False
    task = read_task(candidate.record)
    return task is not None and task.is_overdue(features.as_of)


def _answers_late(candidate: Candidate, features: FeatureTable) -> bool:
    """Tell whether a candidate is overdue and the query is after tasks: it answers best."""
    is_asked = features.types.get(block_type(candidate), UNKNOWN) > UNKNOWN
    return is_asked and is_overdue(candidate, features)


def block_type(candidate: Candidate) -> str:
    """Return the type of the block that a candidate belongs to."""
    kind = candidate.chunk.kind if candidate.record is None else candidate.record.kind
    return kind.removeprefix(BLOCK_PREFIX)
