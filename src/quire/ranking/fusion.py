"""How do several rankings become one?

By adding up, in whole numbers. `sum` adds scores, each as a share of the best one of its source: so
how much better a hit is than the next counts, too. What is not in a list is worth nothing, so that
scores are counted from what it could have at best: from the last one of a list that was cut, from
zero where all that match are listed. `rrf` adds places (reciprocal rank fusion): a
place r in a list of weight w is worth w * UNIT / (constant + r), rounded down. How deep lists go
should follow the request then: in lists much deeper than what is asked for, two poor places
outweigh the best.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from quire.core.types import FusionStats, Hit, Hits, RankSpec, SourceSpec
from quire.errors import InputError
from quire.ranking import source_weights

UNIT = 1_000_000_000
SHARE = 1_000_000
"""What the best of a source is worth when scores are added, by its weight."""
SIMILARITIES = ("semantic",)
"""Sources whose scores have no zero of their own: the last one stands for it in any list."""

Worth = Callable[[Sequence[Hit], int, RankSpec], Iterator[int]]
"""Gives what each hit of a source is worth, for a weight of one, if a score is worth nothing."""
NO_BEARING = FusionStats()


@dataclass(frozen=True, slots=True)
class Fused:
    """A chunk with its place in the common order and what each ranking said of it."""

    hit: Hit
    """The score in it is the fused one."""
    signals: Mapping[str, int]
    """Each ranking's own score, by the ranking's name, and what changed its weight."""


def fuse(
    found: Mapping[str, Hits],
    sources: Mapping[str, SourceSpec],
    spec: RankSpec,
    bearing: FusionStats = NO_BEARING,
    most: int | None = None,
) -> list[Fused]:
    """Merge rankings into one total order: fused score, path, sequence, offset, id.

    With `most`, only so many of the best are given.
    """
    if spec.fusion not in FUSIONS:
        raise InputError(f"{spec.fusion!r} is no fusion; there are {', '.join(FUSIONS)}")
    asked = [sources[name] for name in sorted(found)]
    leant = {whole: source_weights.signals(asked, bearing, whole=whole) for whole in (False, True)}
    met: dict[str, Hit] = {}
    scores: dict[str, int] = {}
    signals: dict[str, dict[str, int]] = {}
    for name in sorted(found):
        source, hits = sources[name], found[name].hits
        from_last = hits and (name in SIMILARITIES or name in bearing.cut)
        nothing = hits[-1].score - 1 if from_last else 0
        for hit, worth in zip(hits, FUSIONS[spec.fusion](hits, nothing, spec), strict=True):
            whole = hit.id in bearing.whole
            if hit.id not in met:
                met[hit.id] = hit
                signals[hit.id] = dict(leant[whole])
            added = source_weights.weighed(worth, source, bearing, whole=whole)
            scores[hit.id] = scores.get(hit.id, 0) + added
            signals[hit.id][name] = hit.score
    ordered = sorted(
        (-scores[hit.id], hit.path, hit.sequence, hit.start, hit.id) for hit in met.values()
    )
    return [
        Fused(Hit(name, -negated, path, sequence, start), signals[name])
        for negated, path, sequence, start, name in ordered[:most]
    ]


def _shares(hits: Sequence[Hit], nothing: int, _: RankSpec) -> Iterator[int]:
    best = max(1, hits[0].score - nothing) if hits else 1
    for hit in hits:
        yield max(0, hit.score - nothing) * SHARE // best


def _places(hits: Sequence[Hit], _: int, spec: RankSpec) -> Iterator[int]:
    for place, _hit in enumerate(hits, start=1):
        yield UNIT // (spec.constant + place)


FUSIONS: dict[str, Worth] = {"sum": _shares, "rrf": _places}
"""A way of fusing is one function and one row."""
