"""The first step: the rankings of the sources become one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from quire import ranking
from quire.core.types import Candidate, Chunk, Decision
from quire.pipeline.candidates import add_entity, make_candidate
from quire.pipeline.decisions import drop, drop_chunk
from quire.pipeline.draft import Draft
from quire.pipeline.function_parts import lift_between
from quire.pipeline.relevance import SEEN, add_relevance
from quire.pipeline.relevance import STEP as RELEVANCE_STEP
from quire.pipeline.rerank import rerank_option

Fused = tuple[Chunk, int, Mapping[str, int]]
"""A chunk with its fused score and the signals that the score is made of."""


def rank_all(draft: Draft) -> list[Candidate]:
    """Fuse the rankings of the sources into one; return all candidates, the best first."""
    spec = draft.recipe.rank
    candidates = [make_candidate(draft, *each) for each in _fuse(draft)]
    if draft.features.relevance or draft.features.similarity:
        candidates = sorted(
            (add_relevance(draft, candidate) for candidate in candidates),
            key=lambda candidate: candidate.order,
        )
    if spec.weights:
        candidates = ranking.weigh(candidates, spec.weights, draft.features)
    if (draft.records or draft.features.feedback) and _has_boosts(draft):
        candidates = ranking.boost(candidates, partial(_boosts, draft), draft.features)
    if draft.reranks:
        weight = rerank_option(draft.recipe, "weight")
        candidates = [
            candidate
            for group in _by_section(candidates)
            for candidate in ranking.rerank(group, draft.reranks, weight)
        ]
        candidates.sort(key=lambda candidate: candidate.order)
    return list(candidates)


def _fuse(draft: Draft) -> list[Fused]:
    """Fuse the rankings of the sources; return chunks with scores and signals, the best first."""
    recipe, chunks = draft.recipe, draft.chunks
    return [
        (chunks[fused.chunk_id], fused.score, fused.signals)
        for fused in ranking.fuse(draft.hits, recipe.sources, recipe.rank, draft.fusion_stats)
        if fused.chunk_id in chunks
    ]


def _is_fused_order_final(draft: Draft) -> bool:
    """Tell whether nothing beside the rankings of the sources decides which candidates go on."""
    recipe, features = draft.recipe, draft.features
    if recipe.sections or recipe.rank.weights or draft.reranks:
        return False
    if features.relevance or features.similarity:
        return False
    return not _has_boosts(draft)


def _by_section(candidates: Sequence[Candidate]) -> list[list[Candidate]]:
    """Group candidates by their sections, which have queries of their own."""
    groups: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        name = "" if candidate.section is None else candidate.section.name
        groups.setdefault(name, []).append(candidate)
    return list(groups.values())


def rank(draft: Draft) -> Draft:
    """Fuse the rankings of the sources into one, and keep the best candidates."""
    top = draft.recipe.top
    best: list[Candidate] = []
    decisions: list[Decision] = []
    ranks: Counter[str] = Counter()
    seen = frozenset(draft.request.seen)
    ranked, rest = _split_at(draft, top + len(seen))
    for candidate in ranked:
        section = candidate.section
        if candidate.chunk.id in seen:
            decisions.append(drop(candidate, RELEVANCE_STEP, SEEN))
            continue
        name, limit = ("", top)
        if section is not None:
            name, limit = section.name, draft.recipe.items(section)
        ranks[name] += 1
        if ranks[name] <= limit:
            best.append(add_entity(draft, candidate))
            continue
        decisions.append(drop(candidate, "rank", _behind(ranks[name], limit, name)))
    for chunk, score, signals in rest:
        if chunk.id in seen:
            decisions.append(drop_chunk(chunk, score, signals, RELEVANCE_STEP, SEEN))
            continue
        ranks[""] += 1
        reason = _behind(ranks[""], top)
        decisions.append(drop_chunk(chunk, score, signals, "rank", reason))
    return replace(draft, candidates=tuple(lift_between(best)), decisions=tuple(decisions))


def _split_at(draft: Draft, last: int) -> tuple[list[Candidate], list[Fused]]:
    """Return the candidates, the best first, and what follows so many: it is only named.

    Where more than the rankings of the sources decides, all of them become candidates.
    """
    if not _is_fused_order_final(draft):
        return rank_all(draft), []
    fused = _fuse(draft)
    return [make_candidate(draft, *each) for each in fused[:last]], fused[last:]


def _behind(place: int, limit: int, name: str = "") -> str:
    """Say why a candidate does not go on."""
    section = f" for {name}" if name else ""
    return f"ranked {place}{section}, only the first {limit} go on"


def _has_boosts(draft: Draft) -> bool:
    """Tell whether any candidate can be boosted."""
    features, spec = draft.features, draft.recipe.rank
    by_time = spec.recent and features.as_of is not None
    lifts = any(section.lifts for section in draft.recipe.sections)
    return bool(by_time or features.roles or features.feedback or lifts)


def _boosts(draft: Draft, candidate: Candidate) -> Mapping[str, int]:
    """Return what boosts a candidate, by how many percent at most."""
    spec = draft.recipe.rank
    boosts: dict[str, int] = {}
    if spec.recent and draft.features.as_of is not None:
        boosts["recency"] = spec.recent
    if candidate.chunk.record_id in draft.features.roles:
        boosts["role"] = 100
    if candidate.chunk.record_id in draft.features.feedback:
        boosts["feedback"] = spec.feedback
    return boosts if candidate.section is None else {**boosts, **candidate.section.lifts}
