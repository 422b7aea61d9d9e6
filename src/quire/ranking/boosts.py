"""Boosts: signals beside relevance that raise the score of a candidate.

A record may be new, important or trustworthy, or have been useful before. Each signal is a number
of thousandths and raises a score by some percent of it, in whole numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from quire.core.types import Candidate

MONTH = 30 * 24 * 60 * 60
MAX_SIGNAL = 1000
TRUST: Mapping[str, int] = {"gold": 1000, "silver": 700, "bronze": 400, "abandoned": 0}
"""How far an experience can be trusted, by the tier of its resolution."""


@dataclass(frozen=True, slots=True)
class FeatureTable:
    """What signals know of records and chunks, beside the candidates themselves."""

    as_of: int | None = None
    """The moment at which recency is judged."""
    feedback: Mapping[str, int] = field(default_factory=dict)
    """How useful records were, in thousandths from -1000 to 1000."""
    has_focus: bool = False
    """Whether the user is viewing a record."""
    distances: Mapping[str, int] = field(default_factory=dict)
    """Number of steps from the focus to each record."""
    similarity: Mapping[str, int] = field(default_factory=dict)
    """How similar chunks are to the query, in thousandths."""
    relevance: Mapping[str, int] = field(default_factory=dict)
    """How likely it is that chunks help to answer the query, in thousandths."""
    words: Mapping[str, int] = field(default_factory=dict)
    """The share of the query's words that chunks hold, weighted by rarity, in thousandths."""
    types: Mapping[str, int] = field(default_factory=dict)
    """How well types of blocks answer the intent of the query, in thousandths."""
    included: frozenset[str] = frozenset()
    """The records that must be in."""
    roles: Mapping[str, int] = field(default_factory=dict)
    """What records lose by their role in the project, in thousandths of their score, negative."""
    affinity: Mapping[str, int] = field(default_factory=dict)
    """How lately the user worked on records, in thousandths."""


Signal = Callable[[Candidate, FeatureTable], int]
"""Measures one property of a candidate, in thousandths."""


def recency(candidate: Candidate, features: FeatureTable) -> int:
    """Return 1000 for a record that was modified at this moment, 0 after a month."""
    record = candidate.record
    if record is None or record.modified is None or features.as_of is None:
        return 0
    age = max(0, features.as_of - record.modified)
    return max(0, MAX_SIGNAL - age * MAX_SIGNAL // MONTH)


def importance(candidate: Candidate, _: FeatureTable) -> int:
    """Return the importance that a memory was given."""
    return 0 if candidate.record is None else int(candidate.record.attrs.get("importance", 0))


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
