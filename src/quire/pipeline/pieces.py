"""Pieces: candidates as they would be shown, at each level of detail, and what each one costs.

What a selection of them costs as a whole is in `costs.py`; how they are cut is in `cuts.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial

from quire import rendering, tokens
from quire.core.types import (
    LEVELS,
    MATCH,
    SIGNATURE,
    Candidate,
    Piece,
    RenderSpec,
)
from quire.pipeline.cuts import cap_by_strategy, limit_item, text_language
from quire.pipeline.draft import Draft
from quire.store.index import analyzer, lexicon

CODE, DOCUMENT = "code", "document"
MARKDOWN = "markdown"
MIN_WORDS = 8
"""Fewer words than this in the summary of an entity say nothing."""
NAME_WORDS = 2
"""A declaration of so many words, `class Cart`, says no more than the name above it."""
BARE_WORDS = 6
"""So does one of a function without a docstring: `def get(self, name)` tells its name and little
else; types and defaults tell more."""
_WORD = re.compile(r"\w+")
MATCH_TOKENS = 80
"""What an item of code takes that is shown by the lines that match the query: about as much as its
declaration and docstring, which would take its place."""
MATCH_SPARE = 20
"""One that is longer by no more than this is not shortened for it."""


def make_piece(draft: Draft, candidate: Candidate, limit: int = 0) -> Piece:
    """Return a candidate in full, with the variants of less detail that the recipe allows.

    An item of a page takes no more than `limit` tokens; 0: as many as it needs.
    """
    key = candidate.chunk.id, "" if candidate.section is None else candidate.section.name
    whole = draft.cache.pieces.get(key)
    if whole is None:
        whole = draft.cache.pieces[key] = _whole_piece(draft, candidate)
    elif whole.candidate is not candidate:  # with another score
        variants = tuple([replace(each, candidate=candidate) for each in whole.variants])
        whole = replace(whole, candidate=candidate, variants=variants)
    if is_item(draft, candidate):
        return _with_match(draft, limit_item(draft, whole, limit))
    return whole


def is_item(draft: Draft, candidate: Candidate) -> bool:
    """Tell whether a candidate is shown as an item of a page, which may take a part of it."""
    return rendering.get_format(draft.recipe.render).sections and candidate.context is None


def _whole_piece(draft: Draft, candidate: Candidate) -> Piece:
    """Return a candidate in full, with its variants; an item with its declaration."""
    recipe, count = draft.recipe, draft.counter.count
    entity, group = candidate.entity, ""
    form = rendering.get_format(recipe.render)
    if entity is not None and form.entities:
        group = f"{candidate.chunk.record_id} {entity.start} {entity.end} {entity.qualified}"
    if candidate.section is not None and form.sections:
        chunk = candidate.chunk
        own = {CODE: chunk.id, DOCUMENT: chunk.record_id}.get(chunk.kind)
        if chunk.kind == CODE and rendering.is_part(candidate):
            own = ""  # the parts of one function stand together
        group = f"{candidate.section.name} {own or group or chunk.record_id}"
    text = rendering.item_text(candidate, recipe.render)
    full = cap_by_strategy(draft, Piece(candidate, count(text), text, group=group))
    if is_item(draft, candidate):
        return _with_signature(draft, full)
    variants: list[Piece] = []
    for level in LEVELS[1:]:
        if level == MATCH:
            continue  # only on pages
        if level in recipe.fit.levels and (entity is not None or candidate.context is not None):
            shorter = rendering.item_text(candidate, recipe.render, level)
            if level == SIGNATURE and not _says_enough(candidate, shorter, recipe.render):
                continue  # it would be a name alone, or nearly
            cost = count(shorter)
            if cost < (variants[-1] if variants else full).tokens:
                variants.append(Piece(candidate, cost, shorter, level=level, group=group))
    return replace(full, variants=tuple(variants)) if variants else full


def _says_enough(candidate: Candidate, shorter: str, spec: RenderSpec) -> bool:
    """Tell whether an entity says something by its signature, or much by its summary.

    That of an entity which begins elsewhere says nothing of what was found.
    """
    if not _holds_beginning(candidate):
        return False
    summary = "" if candidate.entity is None else candidate.entity.summary
    says_much = len(summary.split()) >= MIN_WORDS
    if shorter == summary or (spec.format == MARKDOWN and says_much):
        return says_much
    is_bare = candidate.unit is not None and not (summary or candidate.unit.outline)
    return len(_WORD.findall(shorter)) > (BARE_WORDS if is_bare else NAME_WORDS)


def _holds_beginning(candidate: Candidate) -> bool:
    entity = candidate.entity
    return entity is None or rendering.holds_beginning(candidate, entity)


def _with_signature(draft: Draft, piece: Piece) -> Piece:
    """Return an item of code with its declaration as the variant of less detail.

    A part of a definition has none: it would say nothing of what was found.
    """
    candidate, recipe = piece.candidate, draft.recipe
    unit = candidate.unit
    if SIGNATURE not in recipe.fit.levels or unit is None or not recipe.render.content:
        return piece
    if unit.entity.parent is None or not _holds_beginning(candidate):
        return piece
    text = rendering.item_text(candidate, recipe.render, SIGNATURE)
    cost = draft.counter.count(text)
    if cost >= piece.tokens:
        return piece
    shorter = Piece(candidate, cost, text, level=SIGNATURE, group=piece.group)
    return replace(piece, variants=(shorter,))


def _with_match(draft: Draft, piece: Piece) -> Piece:
    """Return an item of code with the lines that match the query as a variant of less detail."""
    form, candidate, recipe = (
        rendering.get_format(draft.recipe.render),
        piece.candidate,
        draft.recipe,
    )
    if MATCH not in recipe.fit.levels or candidate.chunk.kind != CODE or not recipe.render.content:
        return piece
    if form.excerpt is None or piece.tokens <= MATCH_TOKENS + MATCH_SPARE:
        return piece
    text = _matching_text(draft, candidate, form.excerpt(candidate, recipe.render))
    cost = draft.counter.count(text)
    if not text or cost >= piece.tokens:
        return piece
    match = Piece(candidate, cost, text, level=MATCH, group=piece.group)
    less = (variant for variant in piece.variants if variant.tokens < cost)
    return replace(piece, variants=(match, *less))


def _matching_text(
    draft: Draft, candidate: Candidate, render: Callable[[rendering.CutCode], str]
) -> str:
    """Return an item of code by the lines around the words of the query; empty: it has none."""
    counter, language = draft.counter, text_language(draft, candidate)
    excerpt = tokens.Excerpt(
        _query_terms(draft.request.query, language),
        partial(analyzer.content_words, language=language),
        lambda count, text: rendering.left_out(
            candidate.language, count, rendering.margin_of(text)
        ),
        lines_of=rendering.lines_of,
    )
    room = MATCH_TOKENS - counter.count(render(lambda _body, _declared: ""))
    while room > 0:
        limit, bodies = room, [""]

        def cut(
            body: str,
            declared: tuple[int, int],
            limit: int = limit,
            bodies: list[str] = bodies,
        ) -> str:
            bodies.append(
                tokens.matching_part(counter, body, limit, replace(excerpt, declared=declared))
            )
            return bodies[-1]

        text = render(cut)
        if not bodies[-1]:
            return ""
        excess = counter.count(text) - MATCH_TOKENS
        if excess <= 0:
            return text
        room -= excess
    return ""


@lru_cache(maxsize=64)
def _query_terms(query: str, language: str) -> tokens.Terms:
    """Return the words of a query with those that are used in their place."""
    known = lexicon.load()
    asked = tuple(dict.fromkeys(analyzer.content_words(query, language)))
    forms: dict[str, dict[str, int]] = {word: {word: 100} for word in asked}
    for word in asked:
        for other in known.related.get(word, ()):
            forms.setdefault(other, {}).setdefault(word, lexicon.RELATED)
    weights = {word: lexicon.COMMON if word in known.common else 100 for word in asked}
    return tokens.Terms(weights, forms)


def is_shown_once(draft: Draft, piece: Piece) -> bool:
    """Tell whether another piece of the same entity would only repeat this one."""
    if rendering.get_format(draft.recipe.render).shortener is not None:
        return piece.candidate.chunk.kind not in {CODE, DOCUMENT}
    return bool(piece.group) and (bool(draft.recipe.render.cap) or piece.is_described)
