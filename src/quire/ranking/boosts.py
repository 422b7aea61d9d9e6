"""What else speaks for a candidate, beside how well it answers?

That it is new, that it was said to matter, that it can be trusted. Each of these is a signal in
thousandths, and lifts a score by some percent of it, in whole numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from quire.core.types import Candidate

MONTH = 30 * 24 * 60 * 60
MOST = 1000
TRUST: Mapping[str, int] = {"gold": 1000, "silver": 700, "bronze": 400, "abandoned": 0}
"""How far an experience can be trusted, by how it was resolved."""


@dataclass(frozen=True, slots=True)
class FeatureTable:
    """What is known beside the candidates themselves."""

    as_of: int | None = None
    """The moment at which it is judged what is new."""
    feedback: Mapping[str, int] = field(default_factory=dict)
    """How useful records were, in thousandths, down to -1000."""
    looking: bool = False
    """Whether the asker looks at something."""
    distances: Mapping[str, int] = field(default_factory=dict)
    """How many steps away from it records stand."""
    similarity: Mapping[str, int] = field(default_factory=dict)
    """How similar chunks are to the question, in thousandths."""
    types: Mapping[str, int] = field(default_factory=dict)
    """How well kinds of things answer what the question is after, in thousandths."""
    affinity: Mapping[str, int] = field(default_factory=dict)
    """How lately the asker worked on records, in thousandths."""


Signal = Callable[[Candidate, FeatureTable], int]
"""Tells how much a signal says of a candidate, in thousandths."""


def recency(candidate: Candidate, known: FeatureTable) -> int:
    """Tell how new a record is: 1000 at this very moment, nothing after a month."""
    record = candidate.record
    if record is None or record.modified is None or known.as_of is None:
        return 0
    return max(0, MOST - max(0, known.as_of - record.modified) * MOST // MONTH)


def importance(candidate: Candidate, _: FeatureTable) -> int:
    """Tell how much a memory was said to matter."""
    return 0 if candidate.record is None else int(candidate.record.attrs.get("importance", 0))


def confidence(candidate: Candidate, _: FeatureTable) -> int:
    """Tell how far an experience can be trusted."""
    record = candidate.record
    return 0 if record is None else TRUST.get(str(record.attrs.get("tier", "")), 0)


def feedback(candidate: Candidate, known: FeatureTable) -> int:
    """Tell how useful a record was."""
    return known.feedback.get(candidate.chunk.record_id, 0)


LIFTS: dict[str, Signal] = {
    "recency": recency,
    "importance": importance,
    "confidence": confidence,
    "feedback": feedback,
}
"""A signal that lifts is one function and one row; a recipe says by how much."""


def lifted(
    merged: Sequence[Candidate],
    lifts: Callable[[Candidate], Mapping[str, int]],
    known: FeatureTable,
) -> list[Candidate]:
    """Lift candidates by what is known of their records, by so many percent at most each."""
    return sorted(
        (_lifted(candidate, lifts(candidate), known) for candidate in merged),
        key=lambda candidate: candidate.order,
    )


def _lifted(candidate: Candidate, lifts: Mapping[str, int], known: FeatureTable) -> Candidate:
    if not lifts:
        return candidate
    said = {name: LIFTS[name](candidate, known) for name in sorted(lifts)}
    more = sum(candidate.score * lifts[name] * said[name] // 100_000 for name in said)
    return replace(
        candidate,
        score=candidate.score + more,
        signals={**candidate.signals, **said},
        lifted=candidate.lifted + more,
    )
