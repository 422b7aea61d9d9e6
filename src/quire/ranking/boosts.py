"""Boosts: signals beside relevance that raise the score of a candidate.

A record may be new, important or trustworthy, or have been useful before. Each signal is a number
of thousandths and raises a score by some percent of it, in whole numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from quire.core import stored_json
from quire.core.types import Candidate
from quire.ranking.feature_table import MAX_SIGNAL, FeatureTable, Signal

MONTH = 30 * 24 * 60 * 60
TRUST: Mapping[str, int] = {"gold": 1000, "silver": 700, "bronze": 400, "abandoned": 0}
"""How far an experience can be trusted, by the tier of its resolution."""


def recency(candidate: Candidate, features: FeatureTable) -> int:
    """Return 1000 for a record that was modified at this moment, 0 after a month."""
    record = candidate.record
    if record is None or record.modified is None or features.as_of is None:
        return 0
    age = max(0, features.as_of - record.modified)
    return max(0, MAX_SIGNAL - age * MAX_SIGNAL // MONTH)


def importance(candidate: Candidate, _: FeatureTable) -> int:
    """Return the importance that a memory was given."""
    return 0 if candidate.record is None else stored_json.number(candidate.record, "importance")


def confidence(candidate: Candidate, _: FeatureTable) -> int:
    """Return how far an experience can be trusted."""
    record = candidate.record
    return 0 if record is None else TRUST.get(str(record.attrs.get("tier", "")), 0)


def feedback(candidate: Candidate, features: FeatureTable) -> int:
    """Return how useful a record was."""
    return features.feedback.get(candidate.chunk.record_id, 0)


def role(candidate: Candidate, features: FeatureTable) -> int:
    """Return what a file loses by its role in the project."""
    return features.roles.get(candidate.chunk.record_id, 0)


BOOSTS: dict[str, Signal] = {
    "recency": recency,
    "importance": importance,
    "confidence": confidence,
    "feedback": feedback,
    "role": role,
}
"""A boost is one function and one row; a recipe says by how many percent it raises a score."""


def boost(
    candidates: Sequence[Candidate],
    percents: Callable[[Candidate], Mapping[str, int]],
    features: FeatureTable,
) -> list[Candidate]:
    """Raise the score of each candidate by at most its percents, and sort the best first."""
    return sorted(
        (_boost(candidate, percents(candidate), features) for candidate in candidates),
        key=lambda candidate: candidate.order,
    )


def _boost(candidate: Candidate, percents: Mapping[str, int], features: FeatureTable) -> Candidate:
    if not percents:
        return candidate
    signals = {name: BOOSTS[name](candidate, features) for name in sorted(percents)}
    raised = sum(candidate.score * percents[name] * signals[name] // 100_000 for name in signals)
    return replace(
        candidate,
        score=candidate.score + raised,
        signals={**candidate.signals, **signals},
        boosted=candidate.boosted + raised,
    )
