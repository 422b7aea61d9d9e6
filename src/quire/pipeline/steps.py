"""The steps that make a context of candidates.

The steps are a list, and one loop runs it. Each step is a pure function from a draft to the next:
nothing here waits, reads a clock or reads the store. A search, a context and a why-not question run
the same steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TypedDict

from quire import packing
from quire.core.types import (
    MATCH,
    SIGNATURE,
    Context,
    Failure,
    Piece,
)
from quire.pipeline.costs import count_frame, count_tokens, heading_counter, render_pieces
from quire.pipeline.cuts import item_limit, make_context_cutter, make_cutter
from quire.pipeline.decisions import decide_included, drop
from quire.pipeline.draft import Draft
from quire.pipeline.overflow import nothing_fits, overflow_of, reasons_left_out
from quire.pipeline.pieces import is_shown_once, make_piece
from quire.pipeline.rank import rank
from quire.pipeline.relevance import drop_irrelevant
from quire.pipeline.repeats import (
    ENTITY_SHOWN,
    MAX_ROUNDS,
    about_the_same,
    dropped_as,
    find_in_longer,
    implemented_by,
    make_covered,
    place_of,
    restore,
    same_text_shown,
    shown_by,
    shown_elsewhere,
    shown_texts,
)
from quire.pipeline.result import make_context
from quire.pipeline.twins import find_overloads, find_twins
from quire.pipeline.validate import check
from quire.rendering import get_format

CHARS_PER_TOKEN = 4
"""A rough estimate, which only decides how many candidates are looked at."""
MIN_CANDIDATES = 40
"""This many candidates are looked at in any case: a short one may fill the last gap."""
Step = Callable[[Draft], Draft]
Around = Callable[[str], AbstractContextManager[object]]
"""Stands around each step, by its name: for whoever measures. No step knows of it."""


def limit_depth(draft: Draft) -> Draft:
    """Drop the candidates behind those that fill the budget several times over."""
    times, available = draft.recipe.rank.times, draft.recipe.budget.available
    room = times * available
    count = 0
    for candidate in draft.candidates:
        if times and room <= 0 and count >= MIN_CANDIDATES:
            break
        count += 1
        estimate = len(candidate.chunk.text) // CHARS_PER_TOKEN
        room -= estimate if estimate <= available else 0  # what cannot fit takes no room
    decisions = tuple(
        drop(candidate, "depth", f"better ones fill the budget {times} times over")
        for candidate in draft.candidates[count:]
    )
    return replace(
        draft, candidates=draft.candidates[:count], decisions=draft.decisions + decisions
    )


def dedup(draft: Draft) -> Draft:
    """Drop candidates that repeat a better one."""
    fit = draft.recipe.fit
    candidates, same_topic = packing.dedup_cross_source(draft.candidates, fit.same_path)
    candidates, elsewhere = packing.dedup_records(candidates)
    overloads = find_overloads(candidates)
    declared = {candidate.chunk.id for candidate, _ in overloads}
    candidates = [each for each in candidates if each.chunk.id not in declared]
    runs = packing.Runs.of([each.content for each in candidates], draft.cache.words)
    places = {candidate.chunk.id: place for place, candidate in enumerate(candidates)}
    candidates, contained = packing.dedup(candidates, fit.dedup, within=fit.within, runs=runs)
    candidates, similar = (
        packing.dedup_near(candidates, fit.dedup) if fit.fuzzy else (candidates, [])
    )
    kept = [places[candidate.chunk.id] for candidate in candidates]
    in_longer = find_in_longer(draft.recipe, candidates, runs.only(kept))
    repeats = (
        *about_the_same(same_topic),
        *shown_elsewhere(elsewhere),
        *implemented_by(overloads),
        *dropped_as(contained, "it stands in"),
        *dropped_as(similar, "its words are those of"),
    )
    decisions = [
        drop(repeat.candidate, "dedup", reason.format(place_of(better.chunk), better.chunk.id))
        for repeat in repeats
        for better, reason in repeat.better[:1]
    ]
    return replace(
        draft,
        candidates=tuple(candidates),
        repeats=(*repeats, *in_longer),
        restored=draft.restored | {repeat.candidate.chunk.id for repeat in in_longer},
        decisions=(*draft.decisions, *decisions),
    )


def measure(draft: Draft) -> Draft:
    """Count what each candidate costs at each level of detail, and apply the limits of groups."""
    pieces: list[Piece] = []
    repeated: list[Piece] = []
    headings: set[str] = set()
    known = {piece.candidate.chunk.id: piece for piece in (*draft.preferred, *draft.repeated)}
    twins = _find_twins(draft) if SIGNATURE in draft.recipe.fit.levels else frozenset()
    found = {candidate.section.name for candidate in draft.candidates if candidate.section}
    sections = [section for section in draft.recipe.sections if section.name in found]
    for candidate in draft.candidates:
        piece = known.get(candidate.chunk.id) or make_piece(
            draft, candidate, item_limit(draft, candidate, sections)
        )
        if candidate.chunk.id in twins:
            piece = next((less for less in piece.variants if less.level == SIGNATURE), piece)
        has_heading = piece.heading in headings
        is_alone = candidate.chunk.id in draft.ungrouped
        if has_heading and not is_alone and is_shown_once(draft, piece):
            repeated.append(piece)
        else:
            # A declaration would be said twice; other lines of a function are not.
            less = tuple(variant for variant in piece.variants if variant.level == MATCH)
            pieces.append(replace(piece, variants=less) if has_heading else piece)
            headings.add(piece.heading)
    limit = draft.recipe.fit.per_document
    pieces, surplus = packing.limit_per_document(pieces, limit)
    decisions = [decision for decision in draft.decisions if decision.step != "group"]
    decisions += [drop(piece.candidate, "group", ENTITY_SHOWN, piece.tokens) for piece in repeated]
    decisions += [
        drop(piece.candidate, "group", f"{limit} better pieces of its document", piece.tokens)
        for piece in surplus
    ]
    return replace(
        draft, pieces=tuple(pieces), repeated=tuple(repeated), decisions=tuple(decisions)
    )


def _find_twins(draft: Draft) -> frozenset[str]:
    """Return the ids of chunks whose definition is nearly that of a better candidate."""
    key = tuple([candidate.chunk.id for candidate in draft.candidates])
    known = draft.cache.twins
    if key not in known:
        known[key] = find_twins(draft.candidates, draft.cache.definitions)
    return known[key]


def pack(draft: Draft) -> Draft:
    """Choose what fits, counting each piece for itself."""
    budget, strategy = draft.recipe.budget, draft.recipe.fit.pack
    count_heading = heading_counter(draft)
    settings = _PackSettings(
        strategy=strategy,
        overflow=overflow_of(draft.recipe) if budget.hard else "stop",
        heading_cost=lambda piece: max(budget.overhead, count_heading(piece)),
        covered=make_covered(draft),
    )
    if draft.recipe.sections:
        found = {piece.candidate.section.name for piece in draft.pieces if piece.candidate.section}
        shares = {
            section.name: section.weight if section.name in found else 0
            for section in draft.recipe.sections
        }
        room = max(0, budget.available - count_frame(draft, draft.pieces))
        first = [packing.rules_first(piece) for piece in draft.pieces]
        packed, order = packing.pack_shares(first, room, shares, **settings)
        in_full = {piece.candidate.chunk.id: piece for piece in draft.pieces}
        preferred = [in_full[piece.candidate.chunk.id] for piece in order]
    else:
        packed = packing.pack(draft.pieces, budget.available, **settings)
        preferred = packing.sort_by_preference(draft.pieces, strategy)
    return replace(
        draft,
        pieces=packed.chosen,
        left_out=packed.rest,
        gap=packed.gap,
        preferred=tuple(preferred),
    )


class _PackSettings(TypedDict):
    strategy: str
    overflow: str
    heading_cost: Callable[[Piece], int]
    covered: packing.Covered


def refine(draft: Draft) -> Draft:
    """Measure the whole as it will be rendered: remove what is too much, fill what is left.

    What was left out as a repeat of a piece that is not shown is restored, and packed again.
    """
    refined = _refine_once(draft)
    rounds = 0
    while (again := restore(refined, everything=rounds == MAX_ROUNDS)) is not None:
        rounds = min(rounds + 1, MAX_ROUNDS)
        again = replace(again, footer=draft.footer, notes=draft.notes)
        refined = _refine_once(pack(measure(again)))
    refined = _settle_repeats(refined)
    form = get_format(draft.recipe.render)
    is_list = form.entities and not form.sections  # of entities, which are cut off somewhere
    skips = draft.recipe.budget.hard and overflow_of(draft.recipe) == "skip" and not is_list
    cut = not all(piece.is_full for piece in refined.pieces)
    return replace(refined, truncated=(not skips and bool(refined.left_out)) or cut)


def _settle_repeats(draft: Draft) -> Draft:
    """Decide on repeats by what the context shows in the end."""
    covered = make_covered(draft)
    by_text = shown_texts(draft.pieces)
    left_out: list[Piece] = []
    decisions = [decision for decision in draft.decisions if decision.step != "dedup"]
    for piece in draft.left_out:
        if (same := same_text_shown(piece, by_text)) is not None:
            decisions.append(drop(piece.candidate, "dedup", same, piece.tokens))
        elif not covered(piece, draft.pieces):
            left_out.append(piece)
    decided = {decision.chunk_id for decision in decisions}
    decided.update(piece.candidate.chunk.id for piece in (*draft.pieces, *left_out))
    for repeat in draft.repeats:
        chunk_id = repeat.candidate.chunk.id
        if chunk_id not in decided and (reason := shown_by(draft, repeat)) is not None:
            decisions.append(drop(repeat.candidate, "dedup", reason))
            decided.add(chunk_id)
    decisions += [
        drop(piece.candidate, "group", ENTITY_SHOWN, piece.tokens)
        for piece in draft.left_out
        if piece.candidate.chunk.id not in decided
    ]
    return replace(draft, left_out=tuple(left_out), decisions=tuple(decisions))


def _refine_once(draft: Draft) -> Draft:
    pieces, left_out = _refine(draft)
    if not pieces and left_out and draft.footer and draft.recipe.render.sources:
        bare = replace(draft, footer=False)
        pieces, left_out = _refine(bare)
        if pieces:
            draft = replace(bare, notes=(*bare.notes, "there is no room to list the sources"))
    lost = _score(draft.pieces) - _score(pieces)
    return replace(
        draft,
        pieces=tuple(pieces),
        left_out=tuple(left_out),
        gap=max(0, draft.gap + lost) if draft.recipe.fit.pack == "optimal" else 0,
    )


def render(draft: Draft) -> Draft:
    """Render the pieces, and resolve on every candidate that is left."""
    passages, text = render_pieces(draft, draft.pieces)
    draft = replace(draft, passages=passages, text=text, tokens=draft.counter.count(text))
    if not draft.pieces and draft.left_out:
        draft = nothing_fits(draft)
    full_costs = {
        piece.candidate.chunk.id: piece.tokens
        if piece.is_full
        else make_piece(draft, piece.candidate).tokens
        for piece in draft.preferred
    }
    decisions = [
        decide_included(piece, full_costs.get(piece.candidate.chunk.id)) for piece in draft.pieces
    ]
    decisions += [
        drop(piece.candidate, "pack", reason, piece.tokens)
        for piece, reason in zip(draft.left_out, reasons_left_out(draft), strict=True)
    ]
    return replace(draft, decisions=(*decisions, *draft.decisions))


STEPS: tuple[tuple[str, Step], ...] = (
    ("rank", rank),
    ("relevance", drop_irrelevant),
    ("depth", limit_depth),
    ("dedup", dedup),
    ("group", measure),
    ("pack", pack),
    ("fit", refine),
    ("render", render),
)
"""All steps in their order, by the names that decisions give them."""
RANKING, CHOOSING, FITTING = STEPS[:2], STEPS[:4], STEPS[4:]
"""The steps that no budget changes; those before pieces are made; those that make pieces fit."""


def run(
    draft: Draft, around: Around = nullcontext, only: Sequence[tuple[str, Step]] | None = None
) -> Draft:
    """Run all steps, or only some."""
    check(draft.recipe)
    for name, step in STEPS if only is None else only:
        with around(name):
            draft = step(draft)
    return draft


def assemble(
    draft: Draft, failed: Sequence[Failure], notes: Sequence[str], around: Around = nullcontext
) -> Context:
    """Run all steps, and return the context."""
    return make_context(run(draft, around), failed, notes)


def _refine(draft: Draft) -> tuple[list[Piece], list[Piece]]:
    budget = draft.recipe.budget
    return packing.refine(
        draft.preferred,
        draft.pieces,
        budget.available,
        overflow=overflow_of(draft.recipe),
        hard=budget.hard,
        measure=lambda pieces: count_tokens(draft, pieces),
        cut=make_cutter(draft),
        heading_cost=heading_counter(draft),
        covered=make_covered(draft),
        shorten=make_context_cutter(draft),
        detail_first=bool(draft.recipe.sections) and not draft.contexts,
    )


def _score(pieces: Sequence[Piece]) -> int:
    return sum(map(packing.level_score, pieces))
