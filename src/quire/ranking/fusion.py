"""Fusion: several rankings become one, by adding in whole numbers.

`sum` adds scores, each as a share of the best score of its source, so that the lead of a hit over
the next one counts as well. A chunk that is missing from a list gets nothing from it, so scores
count from the best that such a chunk could have: from the last hit of a list that was truncated,
from zero where all matches are listed.

`rrf` adds ranks (reciprocal rank fusion): rank r in a list of weight w adds
w * RRF_SCALE / (constant + r), rounded down. The depth of the lists should then follow the request:
in lists much deeper than what is wanted, two poor ranks outweigh the best one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from quire.core.frozen import dataclass
from quire.core.types import FusionStats, Hit, Hits, RankSpec, SourceSpec
from quire.errors import unknown
from quire.ranking import source_weights
from quire.ranking.source_weights import SIMILARITY_SOURCES, Traits

SUM_SCALE = 1_000_000
"""What the best hit of a source adds under `sum`, times the weight of the source."""
RRF_SCALE = 1_000_000_000
ScoreHits = Callable[[Sequence[Hit], int, RankSpec], list[int]]
"""Returns what each hit of a source adds at a weight of one, given the score that adds nothing."""
NO_STATS = FusionStats()
NO_TRAITS = Traits()


@dataclass(frozen=True, slots=True)
class Fused:
    """A chunk in the fused order, with the score that each source gave it."""

    chunk_id: str
    score: int
    """The fused score."""
    signals: Mapping[str, int]
    """The score of each source by its name, and the signals that changed weights."""


def fuse(
    hits: Mapping[str, Hits],
    sources: Mapping[str, SourceSpec],
    spec: RankSpec,
    stats: FusionStats = NO_STATS,
    limit: int | None = None,
) -> list[Fused]:
    """Merge rankings into one total order: fused score, path, sequence, offset, id.

    With `limit`, only so many of the best are returned.
    """
    if spec.fusion not in FUSIONS:
        raise unknown("fusion", spec.fusion, FUSIONS, field="rank.fusion")
    specs = {name: sources[name] for name in sorted(hits)}
    # What else decides over a chunk; most have nothing of it, and the others are of few kinds.
    marked = stats.single_chunks | stats.code_chunks | stats.languages.keys()
    traits = {
        hit.id: Traits.of(hit.id, stats)
        for name in specs
        for hit in hits[name].hits
        if hit.id in marked
    }
    kinds = sorted({NO_TRAITS, *traits.values()})
    weight_signals = {each: source_weights.weight_signals(specs, stats, each) for each in kinds}
    first: dict[str, Hit] = {}
    scores: dict[str, int] = {}
    found: dict[str, dict[str, int]] = {}
    for name, source in specs.items():
        ranking = hits[name].hits
        factors = {each: source_weights.factors(name, source, stats, each) for each in kinds}
        # Similarities have no zero of their own: they always count from the last hit.
        from_last = ranking and (name in SIMILARITY_SOURCES or name in stats.truncated)
        zero = ranking[-1].score - 1 if from_last else 0
        points = FUSIONS[spec.fusion](ranking, zero, spec)
        plain = source_weights.all_weighted(points, factors[NO_TRAITS])
        found[name] = {hit.id: hit.score for hit in ranking}
        for hit, own, usual in zip(ranking, points, plain, strict=True):
            chunk_id = hit.id
            added = (
                source_weights.weighted(own, factors[traits[chunk_id]])
                if chunk_id in traits
                else usual
            )
            if chunk_id in first:
                scores[chunk_id] += added
            else:
                first[chunk_id] = hit
                scores[chunk_id] = added
    places = [
        (-scores[chunk_id], hit.path, hit.sequence, hit.start, chunk_id)
        for chunk_id, hit in first.items()
    ]
    fused = []
    for negated, *_, chunk_id in sorted(places)[:limit]:
        signals = dict(weight_signals[traits.get(chunk_id, NO_TRAITS)])
        for name, own_scores in found.items():
            if chunk_id in own_scores:
                signals[name] = own_scores[chunk_id]
        fused.append(Fused(chunk_id, -negated, signals))
    return fused


def _shares(hits: Sequence[Hit], zero: int, _: RankSpec) -> list[int]:
    best = max(1, hits[0].score - zero) if hits else 1
    return [(hit.score - zero) * SUM_SCALE // best if hit.score > zero else 0 for hit in hits]


def _reciprocal_ranks(hits: Sequence[Hit], _: int, spec: RankSpec) -> list[int]:
    return [RRF_SCALE // (spec.constant + rank) for rank in range(1, len(hits) + 1)]


FUSIONS: dict[str, ScoreHits] = {"sum": _shares, "rrf": _reciprocal_ranks}
"""A fusion is one function and one row."""
