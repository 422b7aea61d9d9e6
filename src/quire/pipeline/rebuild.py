"""Rebuild a context from its receipt and the texts of its sources.

Nothing is searched, ranked or packed here. A receipt says which pieces are in, at which level of
detail and cut to how many tokens; everything else about a page follows from the request, the recipe
and what the store holds. So each piece is made again from its chunk, and all of them are rendered
by the same functions that rendered the context.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from quire import rendering
from quire.core.protocols import View
from quire.core.types import CAPPED, SUMMARIZED, Chunk, FusionStats, Passage, Piece, Rebuilt
from quire.errors import InputError
from quire.packing import variants
from quire.pipeline.authors import find_authors
from quire.pipeline.candidates import add_entity, make_candidate
from quire.pipeline.costs import render_pieces
from quire.pipeline.cuts import make_cutter
from quire.pipeline.decisions import decide_included
from quire.pipeline.draft import Draft, start_draft
from quire.pipeline.features import compute_features
from quire.pipeline.own_words import find_altered_words, name_own_words
from quire.pipeline.pieces import make_piece
from quire.pipeline.record_names import resolve_names
from quire.pipeline.request import ResolvedRequest
from quire.pipeline.result import make_source
from quire.pipeline.retrieve import (
    Retrieved,
    asked_tasks,
    look_up_records,
    moment,
    needs_outlines,
    parse_request,
)
from quire.retrieval import RULES
from quire.rules.evaluator import ActiveRules, RuleEvaluator

FIT = "fit"
"""The step of the decisions on pieces that are in, which stand in the order of preference."""

LIMITED = frozenset({CAPPED, SUMMARIZED})
"""The levels of items that may have been limited to what one item may take."""


def rebuild(
    view: View,
    resolved: ResolvedRequest,
    receipt: Mapping[str, Any],
    chunks: Mapping[str, Chunk],
    evaluator: RuleEvaluator | None,
) -> Rebuilt:
    """Make the context of a receipt, in today's form, again from the chunks that it names."""
    request, _ = resolve_names(view, resolved.request)
    resolved = replace(resolved, request=request)
    sections = {source["chunk_id"]: source["section"] for source in receipt["sources"]}
    retrieved = _look_up(view, resolved, sections, chunks, evaluator)
    return rebuild_from(retrieved, resolved, receipt, chunks)


def rebuild_from(
    retrieved: Retrieved,
    resolved: ResolvedRequest,
    receipt: Mapping[str, Any],
    chunks: Mapping[str, Chunk],
) -> Rebuilt:
    """Make it again from what was looked up about its chunks."""
    request, draft = resolved.request, start_draft(resolved, retrieved)
    sources = {source["chunk_id"]: source for source in receipt["sources"]}
    included = [decision for decision in receipt["decisions"] if decision["step"] == FIT]
    whole = [
        _whole_piece(draft, chunks[decision["chunk_id"]], decision, sources[decision["chunk_id"]])
        for decision in included
    ]
    pieces = [
        _as_shown(draft, piece, sources[piece.candidate.chunk.id]["level"], room)
        for piece in whole
        for room in [sources[piece.candidate.chunk.id]["room"]]
    ]
    passages, text = _render(draft, pieces)
    shown = [piece for passage in passages for run in passage.runs for piece in run.pieces]
    return Rebuilt(
        text=text,
        sources=tuple(map(make_source, shown)),
        decisions=tuple(
            decide_included(piece, full.tokens) for piece, full in zip(pieces, whole, strict=True)
        ),
        altered=tuple(find_altered_words(resolved.recipe, request)),
        own_words=name_own_words(
            resolved.recipe, request, () if resolved.recorded is None else resolved.recorded.failed
        ),
        from_chunks=not needs_outlines(resolved.recipe)
        and not resolved.recipe.sections
        and not any(rendering.is_virtual(chunk.path) for chunk in chunks.values()),
    )


def _look_up(
    view: View,
    resolved: ResolvedRequest,
    sections: Mapping[str, str],
    chunks: Mapping[str, Chunk],
    evaluator: RuleEvaluator | None,
) -> Retrieved:
    """Look up everything about the chunks that is shown beside their texts."""
    request, recipe, recorded = resolved.request, resolved.recipe, resolved.recorded
    assert recorded is not None, "the request of a receipt has what its run recorded"
    as_of = moment(view, request, recipe)
    vector = recorded.vectors.get(request.query)
    parsed = parse_request(view, request, recipe, as_of, vector=vector, model=recorded.embedder)
    record_ids = sorted({chunk.record_id for chunk in chunks.values()})
    records = look_up_records(view, request, recipe, chunks.values())
    return Retrieved(
        coverage=view.coverage(),
        vectors={},
        hits={},
        fusion_stats=FusionStats(),
        chunks=chunks,
        records=records,
        outlines=view.outlines(record_ids) if needs_outlines(recipe) else {},
        features=compute_features(
            view,
            request,
            recipe,
            records,
            intents=(),
            matches={},
            model=None,
            as_of=as_of,
        ),
        authors=find_authors(view, chunks.values()),
        failed=recorded.failed,
        notes=(),
        sections=sections,
        active_rules=(
            evaluator.evaluate(view, request, recorded, as_of)
            if evaluator is not None and RULES in recipe.sources
            else ActiveRules()
        ),
        parsed=parsed,
        tasks=asked_tasks(view, request, recipe, parsed, as_of),
        writer=recorded.writer,
        summaries=recorded.summaries,
    )


def _whole_piece(
    draft: Draft, chunk: Chunk, decision: Mapping[str, Any], source: Mapping[str, Any]
) -> Piece:
    """Return the piece of a chunk in full, or as an item that was limited to some tokens."""
    candidate = make_candidate(draft, chunk, decision["score"], decision["signals"])
    limit = source["room"] if source["level"] in LIMITED else 0
    return make_piece(draft, add_entity(draft, candidate), limit)


def _as_shown(draft: Draft, piece: Piece, level: str, room: int) -> Piece:
    """Return a piece as the receipt says that it is shown."""
    same = (
        variant for variant in variants(piece) if (variant.level, variant.room) == (level, room)
    )
    shown = next(same, None) or (make_cutter(draft)(piece, room) if room else None)
    if shown is None or shown.level != level:
        chunk = piece.candidate.chunk
        raise InputError(
            f"{chunk.path}: the recipe does not show this piece as the receipt says ({level}"
            + (f", cut to {room} tokens)" if room else ")")
        )
    return shown


def _render(draft: Draft, pieces: Sequence[Piece]) -> tuple[tuple[Passage, ...], str]:
    """Render the pieces; without the list of sources if there was no room for it."""
    passages, text = render_pieces(draft, pieces)
    too_long = draft.counter.count(text) > draft.recipe.budget.available
    if draft.recipe.render.sources and draft.recipe.budget.hard and too_long:
        return render_pieces(replace(draft, footer=False), pieces)
    return passages, text
