"""How do several rankings become one?

Reciprocal rank fusion in whole numbers: a place r in a list of weight w is worth
w * UNIT / (constant + r), rounded down. How deep the lists go is the caller's choice and should
follow the request: in lists much deeper than what is asked for, two poor places outweigh the best.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from quire.values import Hit, Hits

UNIT = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Fused:
    """A chunk with its place in the common order and what each ranking said of it."""

    hit: Hit
    """The score in it is the fused one."""
    signals: Mapping[str, int]
    """Each ranking's own score, by the ranking's name."""


def fuse(found: Mapping[str, Hits], weights: Mapping[str, int], constant: int) -> list[Fused]:
    """Merge rankings into one total order: fused score, path, sequence, offset, id."""
    met: dict[str, Hit] = {}
    scores: dict[str, int] = {}
    signals: dict[str, dict[str, int]] = {}
    for name in sorted(found):
        for place, hit in enumerate(found[name].hits, start=1):
            met[hit.id] = hit
            worth = weights[name] * UNIT // (constant + place)
            scores[hit.id] = scores.get(hit.id, 0) + worth
            signals.setdefault(hit.id, {})[name] = hit.score
    fused = [
        Fused(Hit(hit.id, scores[hit.id], hit.path, hit.sequence, hit.start), signals[hit.id])
        for hit in met.values()
    ]
    return sorted(fused, key=lambda one: one.hit.order)
