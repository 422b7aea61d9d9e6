"""Costs: what pieces take of the budget, counted as they will be rendered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from quire import packing, rendering, tokens
from quire.core.types import Passage, Piece
from quire.pipeline.draft import Draft
from quire.pipeline.page_counts import count_page


def heading_counter(draft: Draft) -> Callable[[Piece], int]:
    """Return a function that counts a piece's heading, once for all pieces under it."""
    spec, count, cache = draft.recipe.render, draft.counter.count, draft.cache.headings

    def heading_cost(piece: Piece) -> int:
        key = (piece.candidate.chunk.id, piece.level, piece.text)
        if key not in cache:
            cache[key] = count(rendering.heading_text(piece, spec))
        return cache[key]

    return heading_cost


def count_tokens(draft: Draft, pieces: Sequence[Piece]) -> int:
    """Count what pieces cost as they will be rendered."""
    shown = [(piece.candidate.chunk.id, piece.level, piece.text) for piece in pieces]
    key = (draft.footer, draft.recipe.budget.available if not pieces else 0, *shown)
    if key not in draft.token_counts:
        counted = count_page(draft, pieces)
        if counted is None:
            text = render_pieces(draft, pieces)[1]
            counted = tokens.count_by_parts(draft.counter, text, draft.cache.counts)
        draft.token_counts[key] = counted
    return draft.token_counts[key]


def count_frame(draft: Draft, pieces: Sequence[Piece]) -> int:
    """Count what a page costs beside its items, with the best item of each section on it."""
    best: dict[str, Piece] = {}
    for piece in pieces:
        section = piece.candidate.section
        best.setdefault("" if section is None else section.name, piece)
    items = list(best.values())
    return max(0, count_tokens(draft, items) - sum(piece.tokens for piece in items))


def render_pieces(draft: Draft, pieces: Sequence[Piece]) -> tuple[tuple[Passage, ...], str]:
    """Arrange and render pieces as the recipe says."""
    fit, spec = draft.recipe.fit, draft.recipe.render
    if not draft.footer:
        spec = replace(spec, sources=0)
    form = rendering.get_format(spec)
    passages = packing.arrange(
        pieces,
        fit.order,
        fit.pack,
        draft.request.previous,
        by_category=spec.groups and form.entities and not form.sections,
        by_page=form.joins_pages,
        sections=draft.recipe.sections if form.sections else (),
    )
    text = rendering.render(passages, spec, draft.frame)
    if not passages and draft.counter.count(text) > draft.recipe.budget.available:
        return passages, ""  # not even the text of an empty context fits
    return passages, text
