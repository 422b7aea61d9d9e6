"""Parts of one function: a part between two better ones belongs beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from quire import rendering
from quire.core.types import Candidate

BETWEEN = "between"
"""The signal of a part whose score was raised: by how many thousandths."""
THOUSAND = 1000


def lift_between(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Give a part that joins two better ones of its function the score of the lesser of them.

    Without it a reader has the beginning and the end of a function, and not its middle. The
    candidates are returned in their new order.
    """
    parts = [each for each in candidates if each.unit is not None and rendering.is_part(each)]
    if len(parts) < len(("above", "itself", "below")):
        return list(candidates)
    ends = {(*_function(each), each.chunk.end): each for each in parts}
    starts = {(*_function(each), each.chunk.start): each for each in parts}
    lifted: dict[str, Candidate] = {}
    for part in parts:
        above = ends.get((*_function(part), part.chunk.start))
        below = starts.get((*_function(part), part.chunk.end))
        if above is None or below is None:
            continue
        score = min(above.score, below.score)
        if score > part.score > 0:
            raised = score * THOUSAND // part.score - THOUSAND
            signals = {**part.signals, BETWEEN: raised}
            lifted[part.chunk.id] = replace(part, score=score, signals=signals)
    if not lifted:
        return list(candidates)
    shown = (lifted.get(each.chunk.id, each) for each in candidates)
    return sorted(shown, key=lambda candidate: candidate.order)


def _function(part: Candidate) -> tuple[str, int, int]:
    entity = rendering.entity_of(part)
    return part.chunk.record_id, entity.start, entity.end
