"""How do several rankings become one?

By adding up, in whole numbers. `sum` adds scores, each as a share of the best one of its source: so
how much better a hit is than the next counts, too. `rrf` adds places (reciprocal rank fusion): a
place r in a list of weight w is worth w * UNIT / (constant + r), rounded down. How deep lists go
should follow the request then: in lists much deeper than what is asked for, two poor places
outweigh the best.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from quire.errors import InputError
from quire.values import Hit, Hits, RankSpec

UNIT = 1_000_000_000
SHARE = 1_000_000
"""What the best of a source is worth when scores are added, by its weight."""
SIMILARITIES = ("semantic",)
"""Sources whose scores have no zero: what counts is how far a hit is above the last one."""

Worth = Callable[[str, Sequence[Hit], RankSpec], Iterator[int]]
"""Gives what each hit of a source is worth, for a weight of one."""


@dataclass(frozen=True, slots=True)
class Fused:
    """A chunk with its place in the common order and what each ranking said of it."""

    hit: Hit
    """The score in it is the fused one."""
    signals: Mapping[str, int]
    """Each ranking's own score, by the ranking's name."""


def fuse(
    found: Mapping[str, Hits],
    weights: Mapping[str, int],
    spec: RankSpec,
    most: int | None = None,
) -> list[Fused]:
    """Merge rankings into one total order: fused score, path, sequence, offset, id.

    With `most`, only so many of the best are given.
    """
    if spec.fusion not in FUSIONS:
        raise InputError(f"{spec.fusion!r} is no fusion; there are {', '.join(FUSIONS)}")
    met: dict[str, Hit] = {}
    scores: dict[str, int] = {}
    signals: dict[str, dict[str, int]] = {}
    for name in sorted(found):
        hits = found[name].hits
        for hit, worth in zip(hits, FUSIONS[spec.fusion](name, hits, spec), strict=True):
            met[hit.id] = hit
            scores[hit.id] = scores.get(hit.id, 0) + weights[name] * worth
            signals.setdefault(hit.id, {})[name] = hit.score
    ordered = sorted(
        (-scores[hit.id], hit.path, hit.sequence, hit.start, hit.id) for hit in met.values()
    )
    return [
        Fused(Hit(name, -negated, path, sequence, start), signals[name])
        for negated, path, sequence, start, name in ordered[:most]
    ]


def _shares(name: str, hits: Sequence[Hit], _: RankSpec) -> Iterator[int]:
    if not hits:
        return
    zero = hits[-1].score - 1 if name in SIMILARITIES else 0
    best = max(1, hits[0].score - zero)
    for hit in hits:
        yield max(0, hit.score - zero) * SHARE // best


def _places(_: str, hits: Sequence[Hit], spec: RankSpec) -> Iterator[int]:
    for place, _hit in enumerate(hits, start=1):
        yield UNIT // (spec.constant + place)


FUSIONS: dict[str, Worth] = {"sum": _shares, "rrf": _places}
"""A way of fusing is one function and one row."""
