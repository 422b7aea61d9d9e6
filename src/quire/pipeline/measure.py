"""How would pieces of a draft be shown, and what does that cost?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from quire import packing, rendering, tokens
from quire.core import hashing
from quire.core.types import (
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

MARK = "(summarized) "
"""Stands before what a language model wrote."""
TO_SPARE = 40
"""A cut that ends well may leave so small a part of the budget unused: one fortieth."""


def opening(draft: Draft) -> Callable[[Piece], int]:
    """Count what the headings of pieces cost, each once: that of the first piece under it."""
    say, count, counted = draft.recipe.render, draft.counter.count, draft.counted
    known: dict[tuple[str, str], int] = {}

    def opening(piece: Piece) -> int:
        under = (piece.heading, piece.level)
        if under not in known:
            at = (piece.candidate.chunk.id, piece.level, piece.text)
            if at not in counted:
                counted[at] = count(rendering.heading_text(piece, say))
            known[under] = counted[at]
        return known[under]

    return opening


def say(draft: Draft, pieces: Sequence[Piece]) -> tuple[tuple[Passage, ...], str]:
    """Arrange pieces and say them as the recipe wants."""
    spec, form = draft.recipe.fit, draft.recipe.render
    if not draft.footer:
        form = replace(form, sources=0)
    chosen = rendering.get_format(form)
    passages = packing.arrange(
        pieces,
        spec.order,
        spec.pack,
        draft.request.previous,
        by_category=form.groups and chosen.entities and not chosen.sections,
        sections=draft.recipe.sections if chosen.sections else (),
    )
    text = rendering.render(passages, form, draft.frame)
    if not passages and draft.counter.count(text) > draft.recipe.budget.available:
        return passages, ""  # not even the words for nothing fit
    return passages, text


def candidate(draft: Draft, chunk: Chunk, score: int, signals: Mapping[str, int]) -> Candidate:
    """Give a chunk with what speaks for it."""
    return Candidate(
        chunk,
        score,
        signals,
        record=draft.records.get(chunk.record_id),
        crumbs=draft.crumbs.get(chunk.record_id, ()),
        place=draft.places.get(chunk.record_id, ()),
        context=draft.contexts.get(chunk.record_id),
        section=draft.recipe.section(draft.sections.get(chunk.id, "")),
    )


def outlined(draft: Draft, candidate: Candidate) -> Candidate:
    """Give a candidate with the entity that it is a part of."""
    chunk = candidate.chunk
    outline = draft.outlines.get(chunk.record_id)
    if outline is None:
        return candidate
    whole = outline.entities[WHOLE]
    return replace(
        candidate,
        entity=outline.innermost(chunk.start, chunk.end),
        language=str(whole.attrs.get("language", "")) if chunk.kind == "code" else "",
    )


def piece(draft: Draft, candidate: Candidate) -> Piece:
    """Show a candidate in full, with what may be shown instead of it."""
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
        return _limited(draft, full)
    instead: list[Piece] = []
    for level in LEVELS[1:]:
        if level in recipe.fit.levels and (entity is not None or candidate.context is not None):
            less = rendering.item_text(candidate, recipe.render, level)
            cost = count(less)
            if cost < (instead[-1] if instead else full).tokens:
                instead.append(Piece(candidate, cost, less, level=level, group=group))
    return replace(full, instead=tuple(instead))


def _limited(draft: Draft, piece: Piece) -> Piece:
    """Let one item take no more of its section's part than it may."""
    section = piece.candidate.section
    if section is None or not section.item:
        return piece
    most = draft.recipe.share(section) * section.item // 100
    if piece.tokens <= most:
        return piece
    if rendering.get_format(draft.recipe.render).shortener is None:
        part = cutter(draft)(piece, most)
        return piece if part is None else _at(part, CAPPED)
    shorter = _shortened(draft, piece, most)
    return shorter if shorter.tokens < piece.tokens else piece


def _shortened(draft: Draft, piece: Piece, room: int) -> Piece:
    """Cut what is said of an item to so many tokens, the note about it included, if that goes."""
    form, counter = rendering.get_format(draft.recipe.render), draft.counter
    assert form.shortener is not None, "only what says items in its own words"
    candidate, spec = piece.candidate, draft.recipe.render
    worded = form.shortener(candidate, spec)
    bare = worded(lambda _: "")
    body = room - counter.count(bare)
    text = bare
    while body > 0:
        text = worded(partial(_less, draft, limit=body))
        over = counter.count(text) - room
        if over <= 0:
            break
        text, body = bare, body - over
    written = draft.summaries and named(_body(draft, candidate)) in draft.summaries
    level = SUMMARIZED if written else CAPPED
    return Piece(candidate, counter.count(text), text, level=level, group=piece.group)


def is_said_once(draft: Draft, piece: Piece) -> bool:
    """Tell whether another piece of the same entity would say the same, or what the cap hides."""
    if rendering.get_format(draft.recipe.render).shortener is not None:
        return True
    return bool(piece.group) and (bool(draft.recipe.render.cap) or piece.described)


def length(draft: Draft, pieces: Sequence[Piece]) -> int:
    """Count what pieces cost as they will be said."""
    shown = [(piece.candidate.chunk.id, piece.level, piece.text) for piece in pieces]
    at = (draft.footer, draft.recipe.budget.available if not pieces else 0, *shown)
    if at not in draft.counted:
        draft.counted[at] = draft.counter.count(say(draft, pieces)[1])
    return draft.counted[at]


def around(draft: Draft, pieces: Sequence[Piece]) -> int:
    """Count what a page costs beside its items, with the best of each section on it."""
    first: dict[str, Piece] = {}
    for piece in pieces:
        section = piece.candidate.section
        first.setdefault("" if section is None else section.name, piece)
    return max(0, length(draft, list(first.values())) - sum(each.tokens for each in first.values()))


def cutter(draft: Draft) -> Callable[[Piece, int], Piece | None]:
    """Give a function that cuts a piece to so many tokens, at a good place if that costs little."""
    counter, spare = draft.counter, draft.recipe.budget.available // TO_SPARE
    spec = draft.recipe.fit
    if rendering.get_format(draft.recipe.render).shortener is not None:
        return partial(_cut_item, draft)
    if spec.cut != tokens.KEEP_START or spec.shortest:
        return partial(_cut_as_wanted, draft)

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


def _cut_item(draft: Draft, piece: Piece, room: int) -> Piece | None:
    shorter = _shortened(draft, piece, room)
    fits = shorter.tokens <= room and shorter.tokens < piece.tokens
    return _at(shorter, CUT) if fits else None


def _cut_as_wanted(draft: Draft, piece: Piece, room: int) -> Piece | None:
    """Keep the part of a text that the recipe wants, unless too little is left of it."""
    spec, counter = draft.recipe.fit, draft.counter
    text = _less(draft, piece.text, room)
    written = named(piece.text) in draft.summaries
    shortest = 1 if written else max(1, spec.shortest)  # a summary may say all in few words
    if not shortest <= len(text) < len(piece.text):
        return None
    part = packing.with_cut_text(piece, text, counter.count(text))
    return replace(part, level=SUMMARIZED) if written else part


def _less(draft: Draft, text: str, limit: int) -> str:
    """Give as much of a text as so many tokens hold: what was written of it, or a part of it."""
    counter, written = draft.counter, draft.summaries.get(named(text))
    if written is not None:
        return tokens.shorten(counter, f"{MARK}{written}", limit, tokens.KEEP_START)
    return tokens.shorten(counter, text, limit, draft.recipe.fit.cut, draft.request.query)


def _at(piece: Piece, level: str) -> Piece:
    """Say why less of a piece is shown; of a summary that is said already."""
    return piece if piece.level == SUMMARIZED else replace(piece, level=level)


def _body(draft: Draft, candidate: Candidate) -> str:
    """Give what of a candidate is cut when it is too long."""
    form = rendering.get_format(draft.recipe.render)
    if form.shortener is None:
        return rendering.item_text(candidate, draft.recipe.render)
    bodies = [""]

    def seen(body: str) -> str:
        bodies.append(body)
        return ""

    form.shortener(candidate, draft.recipe.render)(seen)
    return bodies[-1]


def named(text: str) -> str:
    """Name a text, so that what was written of it is found again."""
    return hashing.identifier("shown", text)


def cut_short(draft: Draft) -> dict[str, int]:
    """List the texts that had to be cut and should be summarized, and how many tokens each has."""
    if draft.recipe.fit.cut != tokens.SUMMARIZE:
        return {}
    found = {
        _body(draft, piece.candidate): piece.tokens
        for piece in draft.pieces
        if piece.level in {CUT, CAPPED}
    }
    return {text: room for text, room in found.items() if text}
