"""Pieces: candidates as they would be shown, and what they cost in tokens.

The steps ask here for the text and the cost of a candidate at each level of detail, for the cost of
a whole selection as it will be rendered, and for a piece that is cut to the room that is left.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from quire import packing, rendering, tokens
from quire.core import hashing
from quire.core.types import (
    BLOCK_PREFIX,
    CAPPED,
    CUT,
    LEVELS,
    SUMMARIZED,
    WHOLE,
    Candidate,
    Chunk,
    Passage,
    Piece,
)
from quire.pipeline.draft import Draft
from quire.pipeline.units import find_unit
from quire.store.index import analyzer

CODE = "code"
SUMMARY_MARK = "(summarized) "
"""Precedes what a language model wrote."""
CODE_KINDS = ("code", f"{BLOCK_PREFIX}code")
"""The kinds of chunks that are cut between lines."""
SMALL_PART = 4
"""One item may take this part of the whole budget in any case, a quarter: its section may be the
only one that found something."""
SMALL_ITEM = 80
"""And so many tokens: in a small budget, few items with a body are better than many without."""
SPARE_PART = 40
"""A cut at a good place may leave this part of the budget unused: one fortieth."""


def make_candidate(draft: Draft, chunk: Chunk, score: int, signals: Mapping[str, int]) -> Candidate:
    """Return a chunk as a candidate, with everything that was retrieved about it."""
    return Candidate(
        chunk,
        score,
        signals,
        record=draft.records.get(chunk.record_id),
        crumbs=draft.crumbs.get(chunk.record_id, ()),
        heading=draft.headings.get(chunk.record_id, ""),
        place=draft.places.get(chunk.record_id, ()),
        context=draft.contexts.get(chunk.record_id),
        section=draft.recipe.section(draft.sections.get(chunk.id, "")),
        author=draft.authors.get(chunk.record_id, ""),
    )


def add_entity(draft: Draft, candidate: Candidate) -> Candidate:
    """Return a candidate with the entity that it belongs to; code with the unit it is shown as."""
    chunk = candidate.chunk
    outline = draft.outlines.get(chunk.record_id)
    if outline is None:
        return candidate
    if chunk.kind != CODE:
        return replace(candidate, entity=outline.innermost(chunk.start, chunk.end))
    unit = find_unit(outline, chunk, draft.request.query)
    language = str(outline.entities[WHOLE].attrs.get("language", ""))
    return replace(candidate, entity=unit.entity, unit=unit, language=language)


def make_piece(draft: Draft, candidate: Candidate) -> Piece:
    """Return a candidate in full, with the variants of less detail that the recipe allows."""
    recipe, count = draft.recipe, draft.counter.count
    entity, group = candidate.entity, ""
    form = rendering.get_format(recipe.render)
    if entity is not None and form.entities:
        group = f"{candidate.chunk.record_id} {entity.start} {entity.end} {entity.qualified}"
    if candidate.section is not None and form.sections:
        group = f"{candidate.section.name} {group or candidate.chunk.record_id}"
    text = rendering.item_text(candidate, recipe.render)
    full = Piece(candidate, count(text), text, group=group)
    if form.sections and candidate.context is None:
        return _limit_item(draft, full)
    variants: list[Piece] = []
    for level in LEVELS[1:]:
        if level in recipe.fit.levels and (entity is not None or candidate.context is not None):
            shorter = rendering.item_text(candidate, recipe.render, level)
            cost = count(shorter)
            if cost < (variants[-1] if variants else full).tokens:
                variants.append(Piece(candidate, cost, shorter, level=level, group=group))
    return replace(full, variants=tuple(variants))


def is_shown_once(draft: Draft, piece: Piece) -> bool:
    """Tell whether another piece of the same entity would only repeat this one."""
    if rendering.get_format(draft.recipe.render).shortener is not None:
        return True
    return bool(piece.group) and (bool(draft.recipe.render.cap) or piece.is_described)


# --- cost ---------------------------------------------------------------------------------------


def heading_counter(draft: Draft) -> Callable[[Piece], int]:
    """Return a function that counts a piece's heading, once for all pieces under it."""
    spec, count, cache = draft.recipe.render, draft.counter.count, draft.token_counts
    costs: dict[tuple[str, str], int] = {}

    def heading_cost(piece: Piece) -> int:
        heading = (piece.heading, piece.level)
        if heading not in costs:
            key = (piece.candidate.chunk.id, piece.level, piece.text)
            if key not in cache:
                cache[key] = count(rendering.heading_text(piece, spec))
            costs[heading] = cache[key]
        return costs[heading]

    return heading_cost


def count_tokens(draft: Draft, pieces: Sequence[Piece]) -> int:
    """Count what pieces cost as they will be rendered."""
    shown = [(piece.candidate.chunk.id, piece.level, piece.text) for piece in pieces]
    key = (draft.footer, draft.recipe.budget.available if not pieces else 0, *shown)
    if key not in draft.token_counts:
        draft.token_counts[key] = draft.counter.count(render_pieces(draft, pieces)[1])
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
        sections=draft.recipe.sections if form.sections else (),
    )
    text = rendering.render(passages, spec, draft.frame)
    if not passages and draft.counter.count(text) > draft.recipe.budget.available:
        return passages, ""  # not even the text of an empty context fits
    return passages, text


# --- cutting ------------------------------------------------------------------------------------


def make_cutter(draft: Draft) -> Callable[[Piece, int], Piece | None]:
    """Return a function that cuts a piece to a number of tokens, at a good place if it can.

    The piece records that number: a receipt is verified by cutting again.
    """
    cut = _cutter(draft)

    def cut_to(piece: Piece, room: int) -> Piece | None:
        part = cut(piece, room)
        return None if part is None else replace(part, room=room)

    return cut_to


def _cutter(draft: Draft) -> Callable[[Piece, int], Piece | None]:
    counter, spare = draft.counter, draft.recipe.budget.available // SPARE_PART
    fit = draft.recipe.fit
    if rendering.get_format(draft.recipe.render).shortener is not None:
        return partial(_cut_item, draft)
    if fit.cut != tokens.KEEP_START or fit.shortest:
        return partial(_cut_by_strategy, draft)

    def cut(piece: Piece, room: int) -> Piece | None:
        text = tokens.truncate_text(counter, piece.text, room)
        used = counter.count(text)
        while text and room - used > spare:
            more = tokens.truncate_text(counter, piece.text[len(text) :], room - used)
            longer = counter.count(text + more)
            if not more or longer > room:
                break
            text, used = text + more, longer
        return packing.with_cut_text(piece, text, used) if text else None

    return cut


def texts_to_summarize(draft: Draft) -> dict[str, int]:
    """Return the texts that had to be cut and should be summarized, with their room in tokens."""
    if draft.recipe.fit.cut != tokens.SUMMARIZE:
        return {}
    texts = {
        item_body(draft, piece.candidate): piece.tokens
        for piece in draft.pieces
        if piece.level in {CUT, CAPPED}
    }
    return {text: room for text, room in texts.items() if text}


def summary_key(text: str) -> str:
    """Return the key under which the summary of a text is recorded."""
    return hashing.identifier("shown", text)


def _limit_item(draft: Draft, piece: Piece) -> Piece:
    """Return an item that takes no more of its section's share than the section allows."""
    section = piece.candidate.section
    if section is None or not section.item:
        return piece
    available = draft.recipe.budget.available
    limit = max(
        draft.recipe.share(section) * section.item // 100,
        available // SMALL_PART,
        SMALL_ITEM,
    )
    if piece.tokens <= limit:
        return piece
    if rendering.get_format(draft.recipe.render).shortener is None:
        part = make_cutter(draft)(piece, limit)
        return piece if part is None else replace(_at_level(part, CAPPED), room=0)
    shorter = _shorten_item(draft, piece, limit)
    return shorter if shorter.tokens < piece.tokens else piece


def _shorten_item(draft: Draft, piece: Piece, room: int) -> Piece:
    """Shorten the body of an item until it fits, with the note that it was shortened."""
    form, counter = rendering.get_format(draft.recipe.render), draft.counter
    assert form.shortener is not None, "only formats that render items in their own words"
    candidate = piece.candidate
    render_item = form.shortener(candidate, draft.recipe.render)
    bare = render_item(lambda _: "")
    body = room - counter.count(bare)
    text = bare
    while body > 0:
        text = render_item(partial(_shorten, draft, candidate, limit=body))
        excess = counter.count(text) - room
        if excess <= 0:
            break
        text, body = bare, body - excess
    has_summary = draft.summaries and summary_key(item_body(draft, candidate)) in draft.summaries
    level = SUMMARIZED if has_summary else CAPPED
    return Piece(candidate, counter.count(text), text, level=level, group=piece.group)


def make_context_cutter(draft: Draft) -> Callable[[Piece, int], Piece | None] | None:
    """Return a function that cuts a context; None if the recipe shows no contexts as such."""
    form = rendering.get_format(draft.recipe.render)
    return make_cutter(draft) if draft.contexts and form.shortener is not None else None


def _cut_context(draft: Draft, piece: Piece, room: int) -> Piece | None:
    """Keep as many rules of a context as fit; if all do, as much of its prose as fits."""
    active, counter = piece.candidate.context, draft.counter
    assert active is not None, "only contexts are cut this way"
    rules = len(active.context.behavior_rules)
    text = rendering.shortened_context(active, rules, "")
    if counter.count(text) > room:
        texts = partial(rendering.shortened_context, active, text="")
        fitting = bisect_right(range(rules), room, key=lambda count: counter.count(texts(count)))
        text = texts(fitting - 1) if fitting else ""
        if counter.count(text) > room:  # counts grow only nearly with the text
            return None
    else:
        body = rendering.context_prose(active.context)
        limit = room - counter.count(text)
        while limit > 0:
            part = _shorten(draft, piece.candidate, body, limit)
            longer = rendering.shortened_context(active, rules, part) if part else text
            excess = counter.count(longer) - room
            if excess <= 0:
                text = longer
                break
            limit -= excess
    cost = counter.count(text)
    return packing.with_cut_text(piece, text, cost) if text and cost < piece.tokens else None


def _cut_item(draft: Draft, piece: Piece, room: int) -> Piece | None:
    if piece.candidate.context is not None:
        return _cut_context(draft, piece, room)
    shorter = _shorten_item(draft, piece, room)
    fits = shorter.tokens <= room and shorter.tokens < piece.tokens
    return _at_level(shorter, CUT) if fits else None


def _cut_by_strategy(draft: Draft, piece: Piece, room: int) -> Piece | None:
    """Keep the part of a text that the recipe's strategy keeps, unless too little is left."""
    text = _shorten(draft, piece.candidate, piece.text, room)
    has_summary = summary_key(piece.text) in draft.summaries
    # A summary may say everything in a few words.
    shortest = 1 if has_summary else max(1, draft.recipe.fit.shortest)
    if not shortest <= len(text) < len(piece.text):
        return None
    part = packing.with_cut_text(piece, text, draft.counter.count(text))
    return replace(part, level=SUMMARIZED) if has_summary else part


def _shorten(draft: Draft, candidate: Candidate, text: str, limit: int) -> str:
    """Shorten the text of a candidate to a number of tokens: to its summary, or to a part of it."""
    counter, summary = draft.counter, draft.summaries.get(summary_key(text))
    if summary is not None:
        return tokens.shorten(counter, f"{SUMMARY_MARK}{summary}", limit, tokens.KEEP_START)
    aim = tokens.Aim(
        draft.request.query, analyzer.content_words, code=candidate.chunk.kind in CODE_KINDS
    )
    return tokens.shorten(counter, text, limit, draft.recipe.fit.cut, aim)


def _at_level(piece: Piece, level: str) -> Piece:
    """Return a piece at a level of detail; a summary stays one."""
    return piece if piece.level == SUMMARIZED else replace(piece, level=level)


def item_body(draft: Draft, candidate: Candidate) -> str:
    """Return the part of a candidate that is cut when it is too long."""
    form = rendering.get_format(draft.recipe.render)
    if form.shortener is None or candidate.context is not None:
        return rendering.item_text(candidate, draft.recipe.render)
    bodies = [""]

    def collect(body: str) -> str:
        bodies.append(body)
        return ""

    form.shortener(candidate, draft.recipe.render)(collect)
    return bodies[-1]
