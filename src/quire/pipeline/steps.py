"""How do candidates become a context?

The steps are a list, and one loop runs it. Each step is a pure function from a draft to the next:
nothing here waits, reads a clock or asks the store.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypedDict

from quire import packing, ranking, receipts
from quire.core.types import (
    CAPPED,
    CUT,
    FULL,
    OUTLINE,
    SIGNATURE,
    SUMMARIZED,
    Candidate,
    Chunk,
    Context,
    Decision,
    Failure,
    Piece,
    Recipe,
)
from quire.errors import BudgetTooSmallError
from quire.pipeline import measure, result
from quire.pipeline.draft import Draft
from quire.pipeline.validate import check

LEVEL_SAID = {
    FULL: "fits",
    CUT: "cut to what was left",
    CAPPED: "cut to what one item of its section may take",
    SUMMARIZED: "summarized by a language model",
    SIGNATURE: "shown by its signature and summary: all of it are {} tokens",
    OUTLINE: "only named: all of it are {} tokens",
}
"""How it is told with how much detail a piece is in."""
TOKEN = 4
"""Characters in a token, roughly: that decides only over how many candidates are looked at."""
LEAST = 40
"""So many candidates are looked at in any case: a short one may fill the last gap."""
Step = Callable[[Draft], Draft]


def ranked(draft: Draft) -> Draft:
    """Merge the sources' rankings into one, and let only the best go on."""
    spec, top = draft.recipe.rank, draft.recipe.top
    merged = [
        measure.candidate(draft, draft.chunks[one.hit.id], one.hit.score, one.signals)
        for one in ranking.fuse(draft.found, draft.recipe.sources, spec, draft.bearing)
        if one.hit.id in draft.chunks
    ]
    if spec.weights:
        merged = ranking.weigh(merged, spec.weights, draft.known)
    if draft.records or draft.known.feedback:
        merged = ranking.boost(merged, partial(_lifts, draft), draft.known)
    kept: list[Candidate] = []
    decisions: list[Decision] = []
    places: Counter[str] = Counter()
    for candidate in merged:
        section = candidate.section
        name, most = ("", top) if section is None else (section.name, section.k)
        places[name] += 1
        if places[name] <= most:
            kept.append(measure.outlined(draft, candidate))
            continue
        told = f"ranked {places[name]}" + (f" for {name}" if name else "")
        decisions.append(_dropped(candidate, "rank", f"{told}, only the first {most} go on"))
    return replace(draft, candidates=tuple(kept), decisions=tuple(decisions))


def deepened(draft: Draft) -> Draft:
    """Let no more go on than could come in: what fills the budget several times over."""
    times, available = draft.recipe.rank.times, draft.recipe.budget.available
    room = times * available
    kept: list[Candidate] = []
    for candidate in draft.candidates:
        if times and room <= 0 and len(kept) >= LEAST:
            break
        kept.append(candidate)
        about = len(candidate.chunk.text) // TOKEN
        room -= about if about <= available else 0  # what cannot come in takes no room
    decisions = tuple(
        _dropped(candidate, "depth", f"better ones fill the budget {times} times over")
        for candidate in draft.candidates[len(kept) :]
    )
    return replace(draft, candidates=tuple(kept), decisions=draft.decisions + decisions)


def deduped(draft: Draft) -> Draft:
    """Leave out what says again what a better candidate says."""
    spec = draft.recipe.fit
    candidates, repeats = packing.dedup_cross_source(draft.candidates, spec.same_path)
    kept, dropped = packing.dedup(candidates, spec.dedup, within=spec.within)
    kept, similar = packing.dedup_near(kept, spec.dedup) if spec.fuzzy else (kept, [])
    decisions = tuple(
        _dropped(
            repeat.candidate,
            "dedup",
            f"{_place(repeat.of.chunk)} tells of the same ({repeat.of.chunk.id})",
        )
        for repeat in repeats
    )
    decisions += tuple(
        _dropped(
            repeat.candidate,
            "dedup",
            f"{repeat.percent}% of it stands in {_place(repeat.of.chunk)} ({repeat.of.chunk.id})",
        )
        for repeat in dropped
    )
    decisions += tuple(
        _dropped(
            repeat.candidate,
            "dedup",
            f"{repeat.percent}% of its words are those of {_place(repeat.of.chunk)} "
            f"({repeat.of.chunk.id})",
        )
        for repeat in similar
    )
    return replace(draft, candidates=tuple(kept), decisions=draft.decisions + decisions)


def measured(draft: Draft) -> Draft:
    """Count what each candidate costs at each level of detail, and keep to the limits of groups."""
    pieces: list[Piece] = []
    again: list[Piece] = []
    headings: set[str] = set()
    for candidate in draft.candidates:
        piece = measure.piece(draft, candidate)
        known = piece.heading in headings
        if known and measure.is_said_once(draft, piece):
            again.append(piece)
        else:
            pieces.append(replace(piece, instead=()) if known else piece)
            headings.add(piece.heading)
    most = draft.recipe.fit.per_document
    kept, rest = packing.limit_per_document(pieces, most)
    decisions = [
        _dropped(piece.candidate, "group", "its entity is there already", piece.tokens)
        for piece in again
    ]
    decisions += [
        _dropped(piece.candidate, "group", f"{most} better pieces of its document", piece.tokens)
        for piece in rest
    ]
    return replace(draft, pieces=tuple(kept), decisions=(*draft.decisions, *decisions))


def packed(draft: Draft) -> Draft:
    """Choose what fits, taking each piece for what it costs alone."""
    budget, way = draft.recipe.budget, draft.recipe.fit.pack
    opening = measure.opening(draft)
    how = _Packing(
        strategy=way,
        overflow=_overflow(draft.recipe) if budget.hard else "stop",
        heading_cost=lambda piece: max(budget.overhead, opening(piece)),
    )
    if draft.recipe.sections:
        shares = {section.name: section.weight for section in draft.recipe.sections}
        room = max(0, budget.available - measure.around(draft, draft.pieces))
        made, preferred = packing.pack_shares(draft.pieces, room, shares, **how)
    else:
        made = packing.pack(draft.pieces, budget.available, **how)
        preferred = packing.sort_by_preference(draft.pieces, way)
    return replace(
        draft, pieces=made.chosen, left=made.rest, gap=made.gap, preferred=tuple(preferred)
    )


class _Packing(TypedDict):
    """How a budget is packed."""

    strategy: str
    overflow: str
    heading_cost: Callable[[Piece], int]


def settled(draft: Draft) -> Draft:
    """Measure the whole as it will be said: take out what is too much, fill what is left."""
    kept, left = _settled(draft)
    if not kept and left and draft.footer and draft.recipe.render.sources:
        bare = replace(draft, footer=False)
        kept, left = _settled(bare)
        if kept:
            draft = replace(bare, notes=(*bare.notes, "there is no room to name the sources"))
    passing = draft.recipe.budget.hard and _overflow(draft.recipe) == "skip"
    lost = _score(draft.pieces) - _score(kept)
    return replace(
        draft,
        pieces=tuple(kept),
        left=tuple(left),
        truncated=(not passing and bool(left)) or not all(piece.whole for piece in kept),
        gap=max(0, draft.gap + lost) if draft.recipe.fit.pack == "optimal" else 0,
    )


def said(draft: Draft) -> Draft:
    """Say what was chosen, and decide over every candidate."""
    passages, text = measure.say(draft, draft.pieces)
    draft = replace(draft, passages=passages, text=text, tokens=draft.counter.count(text))
    if not draft.pieces and draft.left:
        draft = _nothing_fits(draft)
    full = {piece.candidate.chunk.id: piece.tokens for piece in draft.preferred}
    decisions = [
        _decided(
            piece.candidate,
            "fit",
            "kept" if piece.whole else "cut",
            LEVEL_SAID[piece.level].format(full.get(piece.candidate.chunk.id)),
            piece.tokens,
        )
        for piece in draft.pieces
    ]
    decisions += [
        _dropped(piece.candidate, "pack", reason, piece.tokens)
        for piece, reason in zip(draft.left, _left_out(draft), strict=True)
    ]
    return replace(draft, decisions=(*decisions, *draft.decisions))


STEPS: tuple[tuple[str, Step], ...] = (
    ("rank", ranked),
    ("depth", deepened),
    ("dedup", deduped),
    ("group", measured),
    ("pack", packed),
    ("fit", settled),
    ("render", said),
)


def run(draft: Draft) -> Draft:
    """Run all steps."""
    check(draft.recipe)
    for _, step in STEPS:
        draft = step(draft)
    return draft


def assemble(draft: Draft, failed: Sequence[Failure], notes: Sequence[str]) -> Context:
    """Run all steps, and tell what came of it."""
    return result.told(run(draft), failed, notes)


def _overflow(recipe: Recipe) -> str:
    """Say what becomes of what does not fit; `optimal` weighs whole pieces, in no order."""
    return "skip" if recipe.fit.pack == "optimal" else recipe.budget.overflow


def _settled(draft: Draft) -> tuple[list[Piece], list[Piece]]:
    budget = draft.recipe.budget
    return packing.refine(
        draft.preferred,
        draft.pieces,
        budget.available,
        overflow=_overflow(draft.recipe),
        hard=budget.hard,
        measure=lambda pieces: measure.length(draft, pieces),
        cut=measure.cutter(draft),
        heading_cost=measure.opening(draft),
    )


def _score(pieces: Sequence[Piece]) -> int:
    return sum(map(packing.level_score, pieces))


def _left_out(draft: Draft) -> list[str]:
    """Say of each piece that was left out why: it does not fit, or packing had ended."""
    budget = draft.recipe.budget
    room = max(0, budget.available - draft.tokens)
    tried = len(draft.left)
    if not budget.hard or any(piece.level in {CUT, SUMMARIZED} for piece in draft.pieces):
        tried = 0
    elif _overflow(draft.recipe) != "skip":
        tried = 1
    return [
        f"does not fit: {piece.tokens} tokens and its marker, {room} are left"
        if place < tried
        else "the budget was used up before its turn"
        for place, piece in enumerate(draft.left)
    ]


def _nothing_fits(draft: Draft) -> Draft:
    budget = draft.recipe.budget
    least = _least(draft)
    needed = budget.total + least - budget.available
    message = (
        f"not even one piece fits: at least {least} tokens are needed, {budget.available} of "
        f"{budget.total} are available"
    )
    if draft.allow_empty:
        return replace(draft, notes=(*draft.notes, f"{message}; raise `budget` to {needed}"))
    cuts = budget.overflow == "cut" or draft.recipe.fit.pack == "optimal"
    raise BudgetTooSmallError(
        message,
        field="budget",
        value=budget.total,
        hint=f"raise {{budget}} to {needed}, "
        + ("" if cuts else "set {overflow} to cut, ")
        + "or set {allow_empty}",
    )


def _least(draft: Draft) -> int:
    """Tell what the least costs that could be said, as the overflow wants it."""
    overflow = _overflow(draft.recipe)
    draft = replace(draft, footer=False)  # the names of the sources go first
    tried = draft.left if overflow == "skip" else draft.left[:1]
    least = min(
        measure.length(draft, [each]) for piece in tried for each in packing.variants(piece)
    )
    if overflow != "cut":
        return least
    first = draft.left[0]
    cut = measure.cutter(draft)
    parts = (cut(first, room) for room in range(1, first.tokens + 1))
    first = next((part for part in parts if part is not None), first)
    return min(least, measure.length(draft, [first]))


def _lifts(draft: Draft, candidate: Candidate) -> Mapping[str, int]:
    """Tell what lifts a candidate, by how many percent at most."""
    spec = draft.recipe.rank
    general: dict[str, int] = {}
    if spec.recent and draft.known.as_of is not None:
        general["recency"] = spec.recent
    if candidate.chunk.record_id in draft.known.feedback:
        general["feedback"] = spec.feedback
    return general if candidate.section is None else {**general, **candidate.section.lifts}


def _dropped(candidate: Candidate, step: str, reason: str, cost: int = 0) -> Decision:
    return _decided(candidate, step, "dropped", reason, cost)


def _decided(candidate: Candidate, step: str, verdict: str, reason: str, cost: int) -> Decision:
    chunk = candidate.chunk
    return Decision(
        chunk_id=chunk.id,
        path=chunk.path,
        lines=chunk.lines,
        step=step,
        verdict=verdict,
        reason=reason,
        tokens=cost,
        score=candidate.score,
        # No caller may alter what the next one is given from the cache.
        signals=receipts.FrozenDict(sorted(candidate.signals.items())),
    )


def _place(chunk: Chunk) -> str:
    return f"{chunk.path}:{chunk.lines[0]}-{chunk.lines[1]}" if chunk.lines[0] else chunk.path
