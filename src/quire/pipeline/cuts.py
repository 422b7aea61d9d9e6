"""Cuts: pieces that are shortened to the room that is left, or to what one of them may take."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from quire import packing, rendering, tokens
from quire.core import hashing
from quire.core.languages import language_of
from quire.core.tasks import TASK_KINDS
from quire.core.types import (
    BLOCK_PREFIX,
    CAPPED,
    CUT,
    SUMMARIZED,
    Candidate,
    Piece,
    Section,
)
from quire.pipeline.draft import Draft
from quire.pipeline.units import CONTAINERS
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
BODY = 200
"""Code may take so many, if its section may and that is no more than half of the budget: less shows
hardly more than its declaration."""
SPARE_PART = 40
"""A cut at a good place may leave this part of the budget unused: one fortieth."""
MIN_WORDS = 8
"""Fewer words than this of a context's prose say nothing."""


def make_cutter(draft: Draft) -> Callable[[Piece, int], Piece | None]:
    """Return a function that cuts a piece to a number of tokens, at a good place if it can.

    The piece records that number: a receipt is verified by cutting again.
    """
    cut = _cutter(draft)

    def cut_to(piece: Piece, room: int) -> Piece | None:
        part = cut(_unlimited(draft, piece), room)
        return None if part is None else replace(part, room=room)

    return cut_to


def _unlimited(draft: Draft, piece: Piece) -> Piece:
    """Return an item in full that was limited: a cut does not depend on what else was found."""
    if piece.level not in {CAPPED, SUMMARIZED}:
        return piece
    text = rendering.item_text(piece.candidate, draft.recipe.render)
    return Piece(piece.candidate, draft.counter.count(text), text, group=piece.group)


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
        _text_to_cut(draft, piece.candidate): piece.tokens
        for piece in draft.pieces
        if piece.level in {CUT, CAPPED}
    }
    return {text: room for text, room in texts.items() if text}


def summary_key(text: str) -> str:
    """Return the key under which the summary of a text is recorded."""
    return hashing.identifier("shown", text)


def item_limit(draft: Draft, candidate: Candidate, sections: Sequence[Section]) -> int:
    """Return the tokens that one item may take, of what the sections that found something share."""
    section = candidate.section
    if section is None or not section.item:
        return 0
    available = draft.recipe.budget.available
    total = sum(other.weight for other in sections)
    share = available * section.weight // total if total else 0
    body = min(BODY, share, available // 2) if candidate.chunk.kind == CODE else 0
    return max(share * section.item // 100, available // SMALL_PART, SMALL_ITEM, body)


def limit_item(draft: Draft, piece: Piece, limit: int) -> Piece:
    """Return an item that takes no more than a number of tokens; 0: as many as it needs.

    The piece records that number: it depends on what else was found.
    """
    if not limit:
        return piece
    if piece.tokens <= limit:
        return piece
    if rendering.get_format(draft.recipe.render).shortener is None:
        part = make_cutter(draft)(piece, limit)
        return piece if part is None else _at_level(part, CAPPED)
    shorter = _shorten_item(draft, piece, limit)
    if shorter.tokens >= piece.tokens or _is_bare(draft, shorter):
        return piece
    less = tuple(variant for variant in piece.variants if variant.tokens < shorter.tokens)
    return replace(shorter, variants=less, room=limit)


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


def _is_bare(draft: Draft, piece: Piece) -> bool:
    """Tell whether nothing of its code is left in an item: not even its declaration fits.

    Decorators alone are nothing.
    """
    form, candidate = rendering.get_format(draft.recipe.render), piece.candidate
    if form.shortener is None or candidate.unit is None or piece.level == SUMMARIZED:
        return False
    if piece.text == form.shortener(candidate, draft.recipe.render)(lambda _: ""):
        return True
    code = piece.text.partition("```")[2].partition("\n")[2].partition("```")[0]
    lines = [line.strip() for line in code.split("\n")]
    shown = [line for line in lines if line and rendering.lines_of(line) == 1]
    unit = candidate.unit
    is_part = bool(unit.lines[0]) and not unit.others and unit.entity.kind in CONTAINERS
    if is_part and len(shown) == 1:
        return True  # of lines of a class nothing but the name of the class is left
    return bool(shown) and all(line.startswith("@") for line in shown)


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
            part = part if len(part.split()) >= MIN_WORDS else ""
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
    return _at_level(shorter, CUT) if fits and not _is_bare(draft, shorter) else None


def _cut_by_strategy(draft: Draft, piece: Piece, room: int) -> Piece | None:
    """Keep the part of a text that the recipe's strategy keeps, unless too little is left.

    A short task stays whole: without its due date it would mislead.
    """
    if piece.candidate.chunk.kind in TASK_KINDS and piece.tokens <= SMALL_ITEM:
        return None
    whole = _text_to_cut(draft, piece.candidate)
    text = _shorten_to_cap(draft, piece.candidate, whole, room)
    has_summary = summary_key(whole) in draft.summaries
    # A summary may say everything in a few words.
    shortest = 1 if has_summary else max(1, draft.recipe.fit.shortest)
    if not shortest <= len(text) < len(whole):
        return None
    part = packing.with_cut_text(piece, text, draft.counter.count(text))
    return replace(part, level=SUMMARIZED) if has_summary else part


def _shorten(draft: Draft, candidate: Candidate, text: str, limit: int) -> str:
    """Shorten the text of a candidate to a number of tokens: to its summary, or to a part of it."""
    counter, summary = draft.counter, draft.summaries.get(summary_key(text))
    if summary is not None:
        return tokens.shorten(counter, f"{SUMMARY_MARK}{summary}", limit, tokens.KEEP_START)
    words = partial(analyzer.content_words, language=text_language(draft, candidate))
    aim = tokens.Aim(draft.request.query, words, code=candidate.chunk.kind in CODE_KINDS)
    return tokens.shorten(counter, text, limit, draft.recipe.fit.cut, aim)


def _shorten_to_cap(draft: Draft, candidate: Candidate, text: str, limit: int) -> str:
    """Shorten the text of a candidate likewise, to no more characters than one piece may have."""
    cap = draft.recipe.render.cap
    part = _shorten(draft, candidate, text, limit)
    while cap and len(part) > cap and limit > 1:
        limit = max(1, min(limit, draft.counter.count(part)) * cap // len(part))
        part = _shorten(draft, candidate, text, limit)
    return part if not cap or len(part) <= cap else ""


def text_language(draft: Draft, candidate: Candidate) -> str:
    """Return the language that the text of a candidate is written in; empty: English."""
    record = draft.records.get(candidate.chunk.record_id)
    return "" if record is None else language_of(record)


def _text_to_cut(draft: Draft, candidate: Candidate) -> str:
    """Return the text that a part of a candidate is chosen from: all of it, whatever the cap."""
    spec = draft.recipe.render
    if rendering.get_format(spec).shortener is None:
        return rendering.whole_text(candidate, spec)
    return item_body(draft, candidate)


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


def cap_by_strategy(draft: Draft, piece: Piece) -> Piece:
    """Return a piece that shows the part of its text that the strategy of cuts keeps, if capped.

    The beginning is what is shown of a long text otherwise.
    """
    candidate, spec = piece.candidate, draft.recipe.render
    if not spec.cap or draft.recipe.fit.cut == tokens.KEEP_START or candidate.context is not None:
        return piece
    whole = rendering.whole_text(candidate, spec)
    if rendering.get_format(spec).shortener is not None or len(whole) <= spec.cap:
        return piece
    text = _shorten_to_cap(draft, candidate, whole, piece.tokens)
    cost = draft.counter.count(text)
    return replace(piece, text=text, tokens=cost, level=CAPPED) if text else piece
