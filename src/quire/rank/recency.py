"""How much does it help that something is new?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from quire.values import Candidate, Piece

MONTH = 30 * 24 * 60 * 60


def fresher(
    merged: Sequence[Candidate], modified: Mapping[str, int | None], as_of: int, percent: int
) -> list[Candidate]:
    """Lift what was changed lately; in whole numbers, in thousandths of a month."""
    lifted = []
    for candidate in merged:
        changed = modified.get(candidate.chunk.record_id)
        fresh = 0
        if changed is not None:
            fresh = max(0, 1000 - max(0, as_of - changed) * 1000 // MONTH)
        score = candidate.score + candidate.score * percent * fresh // 100_000
        signals = {**candidate.signals, "recency": fresh}
        lifted.append(replace(candidate, score=score, signals=signals))
    return sorted(lifted, key=lambda candidate: Piece(candidate, 0, "").order)
