"""What is a candidate worth where several signals are weighed against each other?

Each signal says something of a candidate in thousandths; the recipe says what each of them weighs.
What a signal does not know counts half.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from quire.core.types import BLOCK, Candidate
from quire.ranking import boosts
from quire.ranking.boosts import FeatureTable, Signal

MOST = 1000
HALF = 500
STEP = 100
"""What one step in the tree costs."""
OVERDUE = "overdue"
DONE = ("done", "complete", "completed", "closed", "cancelled")
ZERO = timedelta()


def semantic(candidate: Candidate, known: FeatureTable) -> int:
    """Tell how similar it is to the question."""
    return known.similarity.get(candidate.chunk.id, 0)


def structural(candidate: Candidate, known: FeatureTable) -> int:
    """Tell how near it stands to what the asker looks at."""
    if not known.looking:
        return HALF
    steps = known.distances.get(candidate.chunk.record_id)
    return 0 if steps is None else max(0, MOST - STEP * steps)


def recency(candidate: Candidate, known: FeatureTable) -> int:
    """Tell how new it is: nothing after a month, half if nobody knows."""
    record = candidate.record
    if record is None or record.modified is None or known.as_of is None:
        return HALF
    return boosts.recency(candidate, known)


def type_(candidate: Candidate, known: FeatureTable) -> int:
    """Tell how well its kind answers what the question is after."""
    worth = known.types.get(type_of(candidate), HALF)
    # Where tasks are asked for, the one that is late answers best.
    return MOST if worth > HALF and is_overdue(candidate, known) else worth


def affinity(candidate: Candidate, known: FeatureTable) -> int:
    """Tell how lately the asker worked on it, or on what it stands in."""
    return known.affinity.get(candidate.chunk.record_id, 0)


SIGNALS: dict[str, Signal] = {
    "semantic": semantic,
    "structural": structural,
    "recency": recency,
    "type": type_,
    "affinity": affinity,
}
"""A signal that is weighed is one function and one row."""


def weighed(
    merged: Sequence[Candidate], weights: Mapping[str, int], known: FeatureTable
) -> list[Candidate]:
    """Give each candidate the weighted sum of its signals as its score, the best first."""
    return sorted(
        (_weighed(candidate, weights, known) for candidate in merged),
        key=lambda candidate: candidate.order,
    )


def _weighed(candidate: Candidate, weights: Mapping[str, int], known: FeatureTable) -> Candidate:
    said = {name: SIGNALS[name](candidate, known) for name in sorted(weights)}
    score = sum(weights[name] * said[name] for name in said)
    late = {OVERDUE: MOST} if is_overdue(candidate, known) else {}
    return replace(candidate, score=score, signals={**candidate.signals, **said, **late})


def is_overdue(candidate: Candidate, known: FeatureTable) -> bool:
    """Tell whether something is due and not done, at the moment that is asked about."""
    if candidate.record is None or known.as_of is None:
        return False
    told = json.loads(str(candidate.record.attrs.get("properties", "{}")))
    due, done = told.get("due"), told.get("done") or told.get("status") in DONE
    if done or not isinstance(due, str):
        return False
    try:
        day = datetime.fromisoformat(due)
    except ValueError:
        return False
    ends = day.replace(tzinfo=day.tzinfo or UTC) + (timedelta(days=1) if "T" not in due else ZERO)
    return ends.timestamp() <= known.as_of


def type_of(candidate: Candidate) -> str:
    """Tell what kind of block a candidate is."""
    kind = candidate.chunk.kind if candidate.record is None else candidate.record.kind
    return kind.removeprefix(BLOCK)
