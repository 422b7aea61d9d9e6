"""The steps that make a context of candidates.

The steps are a list, and one loop runs it. Each step is a pure function from a draft to the next:
nothing here waits, reads a clock or reads the store. A search, a context and a why-not question run
the same steps.
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
    Context,
    Decision,
    Failure,
    Piece,
    Recipe,
)
from quire.errors import BudgetTooSmallError
from quire.pipeline.draft import Draft
from quire.pipeline.pieces import (
    add_entity,
    count_frame,
    count_tokens,
    heading_counter,
    is_shown_once,
    make_candidate,
    make_context_cutter,
    make_cutter,
    make_piece,
    render_pieces,
)
from quire.pipeline.repeats import (
    ENTITY_SHOWN,
    MAX_ROUNDS,
    about_the_same,
    dropped_as,
    make_covered,
    place_of,
    restore,
    shown_by,
)
from quire.pipeline.result import make_context
from quire.pipeline.validate import check
from quire.ranking import CERTAIN, RELEVANCE, SIMILARITY
from quire.retrieval import COLLECTORS, TEXT_COLLECTORS

LEVEL_REASONS = {
    FULL: "fits",
    CUT: "cut to what was left",
    CAPPED: "cut to what one item of its section may take",
    SUMMARIZED: "summarized by a language model",
    SIGNATURE: "shown by its signature and summary: all of it are {} tokens",
    OUTLINE: "only named: all of it are {} tokens",
}
"""The reason that a decision gives for a piece that is in, by its level of detail."""
CONTEXT_REASONS = {
    **LEVEL_REASONS,
    SIGNATURE: "shown by its rules, without its text: all of it are {} tokens",
    OUTLINE: "only named: all of it are {} tokens",
}
"""The same for a context file."""
CHARS_PER_TOKEN = 4
"""A rough estimate, which only decides how many candidates are looked at."""
MIN_CANDIDATES = 40
"""This many candidates are looked at in any case: a short one may fill the last gap."""
HALF = CERTAIN // 2
RELEVANCE_SCALE = 10_000
"""What one thousandth of relevance is worth: the best hit of two sources has a million for each."""
NOTHING_RELEVANT = "nothing that was found is likely to help; `floor` 0 shows it all the same"
Step = Callable[[Draft], Draft]


def rank(draft: Draft) -> Draft:
    """Fuse the rankings of the sources into one, and keep the best candidates."""
    spec, top = draft.recipe.rank, draft.recipe.top
    candidates = [
        make_candidate(draft, draft.chunks[fused.hit.id], fused.hit.score, fused.signals)
        for fused in ranking.fuse(draft.hits, draft.recipe.sources, spec, draft.fusion_stats)
        if fused.hit.id in draft.chunks
    ]
    candidates = sorted(
        (_add_relevance(draft, candidate) for candidate in candidates),
        key=lambda candidate: candidate.order,
    )
    if spec.weights:
        candidates = ranking.weigh(candidates, spec.weights, draft.features)
    if draft.records or draft.features.feedback:
        candidates = ranking.boost(candidates, partial(_boosts, draft), draft.features)
    best: list[Candidate] = []
    decisions: list[Decision] = []
    ranks: Counter[str] = Counter()
    for candidate in candidates:
        section = candidate.section
        name, limit = ("", top) if section is None else (section.name, section.k)
        ranks[name] += 1
        if ranks[name] <= limit:
            best.append(add_entity(draft, candidate))
            continue
        place = f"ranked {ranks[name]}" + (f" for {name}" if name else "")
        decisions.append(_drop(candidate, "rank", f"{place}, only the first {limit} go on"))
    return replace(draft, candidates=tuple(best), decisions=tuple(decisions))


def drop_irrelevant(draft: Draft) -> Draft:
    """Drop what is not likely to be relevant.

    Only what a search for the text found is judged, and not if it holds half of the query's words.
    """
    floor, features = draft.recipe.rank.floor, draft.features
    relevant: list[Candidate] = []
    dropped: list[Candidate] = []
    for candidate in draft.candidates:
        by_text = COLLECTORS.keys() & candidate.signals.keys() <= TEXT_COLLECTORS
        is_required = candidate.chunk.record_id in features.included
        is_named = features.words.get(candidate.chunk.id, 0) >= HALF
        relevance = candidate.signals.get(RELEVANCE, floor)
        is_relevant = relevance >= floor or is_named or not by_text or is_required
        (relevant if is_relevant else dropped).append(candidate)
    decisions = [
        _drop(
            candidate,
            "relevance",
            f"not likely to help: its relevance is {candidate.signals[RELEVANCE] / CERTAIN:.3f}, "
            f"the least is {floor / CERTAIN:.3f}",
        )
        for candidate in dropped
    ]
    return replace(
        draft,
        candidates=tuple(relevant),
        decisions=(*draft.decisions, *decisions),
        notes=draft.notes if relevant or not dropped else (*draft.notes, NOTHING_RELEVANT),
    )


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
        _drop(candidate, "depth", f"better ones fill the budget {times} times over")
        for candidate in draft.candidates[count:]
    )
    return replace(
        draft, candidates=draft.candidates[:count], decisions=draft.decisions + decisions
    )


def dedup(draft: Draft) -> Draft:
    """Drop candidates that repeat a better one."""
    fit = draft.recipe.fit
    candidates, same_topic = packing.dedup_cross_source(draft.candidates, fit.same_path)
    candidates, contained = packing.dedup(candidates, fit.dedup, within=fit.within)
    candidates, similar = (
        packing.dedup_near(candidates, fit.dedup) if fit.fuzzy else (candidates, [])
    )
    repeats = (
        *about_the_same(same_topic),
        *dropped_as(contained, "it stands in"),
        *dropped_as(similar, "its words are those of"),
    )
    decisions = [
        _drop(repeat.candidate, "dedup", reason.format(place_of(better.chunk), better.chunk.id))
        for repeat in repeats
        for better, reason in repeat.better[:1]
    ]
    return replace(
        draft,
        candidates=tuple(candidates),
        repeats=repeats,
        decisions=(*draft.decisions, *decisions),
    )


def measure(draft: Draft) -> Draft:
    """Count what each candidate costs at each level of detail, and apply the limits of groups."""
    pieces: list[Piece] = []
    repeated: list[Piece] = []
    headings: set[str] = set()
    known = {piece.candidate.chunk.id: piece for piece in (*draft.preferred, *draft.repeated)}
    for candidate in draft.candidates:
        piece = known.get(candidate.chunk.id) or make_piece(draft, candidate)
        has_heading = piece.heading in headings
        is_alone = candidate.chunk.id in draft.ungrouped
        if has_heading and not is_alone and is_shown_once(draft, piece):
            repeated.append(piece)
        else:
            pieces.append(replace(piece, variants=()) if has_heading else piece)
            headings.add(piece.heading)
    limit = draft.recipe.fit.per_document
    pieces, surplus = packing.limit_per_document(pieces, limit)
    decisions = [decision for decision in draft.decisions if decision.step != "group"]
    decisions += [_drop(piece.candidate, "group", ENTITY_SHOWN, piece.tokens) for piece in repeated]
    decisions += [
        _drop(piece.candidate, "group", f"{limit} better pieces of its document", piece.tokens)
        for piece in surplus
    ]
    return replace(
        draft, pieces=tuple(pieces), repeated=tuple(repeated), decisions=tuple(decisions)
    )


def pack(draft: Draft) -> Draft:
    """Choose what fits, counting each piece for itself."""
    budget, strategy = draft.recipe.budget, draft.recipe.fit.pack
    count_heading = heading_counter(draft)
    settings = _PackSettings(
        strategy=strategy,
        overflow=_overflow(draft.recipe) if budget.hard else "stop",
        heading_cost=lambda piece: max(budget.overhead, count_heading(piece)),
        covered=make_covered(draft),
    )
    if draft.recipe.sections:
        shares = {section.name: section.weight for section in draft.recipe.sections}
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
    skips = draft.recipe.budget.hard and _overflow(draft.recipe) == "skip"
    cut = not all(piece.is_full for piece in refined.pieces)
    return replace(refined, truncated=(not skips and bool(refined.left_out)) or cut)


def _settle_repeats(draft: Draft) -> Draft:
    """Decide on repeats by what the context shows in the end."""
    covered = make_covered(draft)
    left_out = [piece for piece in draft.left_out if not covered(piece, draft.pieces)]
    decisions = [decision for decision in draft.decisions if decision.step != "dedup"]
    decided = {decision.chunk_id for decision in decisions}
    decided.update(piece.candidate.chunk.id for piece in (*draft.pieces, *left_out))
    for repeat in draft.repeats:
        chunk_id = repeat.candidate.chunk.id
        if chunk_id not in decided and (reason := shown_by(draft, repeat)) is not None:
            decisions.append(_drop(repeat.candidate, "dedup", reason))
            decided.add(chunk_id)
    decisions += [
        _drop(piece.candidate, "group", ENTITY_SHOWN, piece.tokens)
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
        draft = _nothing_fits(draft)
    full_costs = {piece.candidate.chunk.id: piece.tokens for piece in draft.preferred}
    decisions = [
        decide_included(piece, full_costs.get(piece.candidate.chunk.id)) for piece in draft.pieces
    ]
    decisions += [
        _drop(piece.candidate, "pack", reason, piece.tokens)
        for piece, reason in zip(draft.left_out, _reasons_left_out(draft), strict=True)
    ]
    return replace(draft, decisions=(*decisions, *draft.decisions))


def decide_included(piece: Piece, full_cost: int | None) -> Decision:
    """Return the decision on a piece that is in, by its level of detail."""
    verdict = "kept" if piece.is_full else "cut"
    reasons = LEVEL_REASONS if piece.candidate.context is None else CONTEXT_REASONS
    reason = reasons[piece.level].format(full_cost)
    return _decide(piece.candidate, "fit", verdict, reason, piece.tokens)


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


def run(draft: Draft) -> Draft:
    """Run all steps."""
    check(draft.recipe)
    for _, step in STEPS:
        draft = step(draft)
    return draft


def assemble(draft: Draft, failed: Sequence[Failure], notes: Sequence[str]) -> Context:
    """Run all steps, and return the context."""
    return make_context(run(draft), failed, notes)


def _overflow(recipe: Recipe) -> str:
    """Return what happens to a piece that does not fit; `optimal` knows no order to stop in."""
    return "skip" if recipe.fit.pack == "optimal" else recipe.budget.overflow


def _refine(draft: Draft) -> tuple[list[Piece], list[Piece]]:
    budget = draft.recipe.budget
    return packing.refine(
        draft.preferred,
        draft.pieces,
        budget.available,
        overflow=_overflow(draft.recipe),
        hard=budget.hard,
        measure=lambda pieces: count_tokens(draft, pieces),
        cut=make_cutter(draft),
        heading_cost=heading_counter(draft),
        covered=make_covered(draft),
        shorten=make_context_cutter(draft),
    )


def _score(pieces: Sequence[Piece]) -> int:
    return sum(map(packing.level_score, pieces))


def _reasons_left_out(draft: Draft) -> list[str]:
    """Return why each piece was left out: it does not fit, or packing had stopped."""
    budget = draft.recipe.budget
    room = max(0, budget.available - draft.tokens)
    tried = len(draft.left_out)
    if not budget.hard or any(piece.level in {CUT, SUMMARIZED} for piece in draft.pieces):
        tried = 0
    elif _overflow(draft.recipe) != "skip":
        tried = 1
    return [
        f"does not fit: {piece.tokens} tokens and its marker, {room} are left"
        if place < tried
        else "the budget was used up before its turn"
        for place, piece in enumerate(draft.left_out)
    ]


def _nothing_fits(draft: Draft) -> Draft:
    budget = draft.recipe.budget
    least = _smallest_cost(draft)
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


def _smallest_cost(draft: Draft) -> int:
    """Return what the smallest context costs that the overflow allows."""
    overflow = _overflow(draft.recipe)
    draft = replace(draft, footer=False)  # the list of sources is dropped first
    tried = draft.left_out if overflow == "skip" else draft.left_out[:1]
    least = min(
        count_tokens(draft, [variant]) for piece in tried for variant in packing.variants(piece)
    )
    if overflow != "cut":
        return least
    first = draft.left_out[0]
    cut = make_cutter(draft)
    parts = (cut(first, room) for room in range(1, first.tokens + 1))
    first = next((part for part in parts if part is not None), first)
    return min(least, count_tokens(draft, [first]))


def _add_relevance(draft: Draft, candidate: Candidate) -> Candidate:
    """Return a candidate with what is known of its relevance among its signals."""
    name = candidate.chunk.id
    tables = {RELEVANCE: draft.features.relevance, SIMILARITY: draft.features.similarity}
    known = {signal: table[name] for signal, table in tables.items() if name in table}
    if not known:
        return candidate
    section = candidate.section
    by_relevance = section is not None and section.score == RELEVANCE and RELEVANCE in known
    return replace(
        candidate,
        score=known[RELEVANCE] * RELEVANCE_SCALE if by_relevance else candidate.score,
        signals={**candidate.signals, **known},
    )


def _boosts(draft: Draft, candidate: Candidate) -> Mapping[str, int]:
    """Return what boosts a candidate, by how many percent at most."""
    spec = draft.recipe.rank
    boosts: dict[str, int] = {}
    if spec.recent and draft.features.as_of is not None:
        boosts["recency"] = spec.recent
    if candidate.chunk.record_id in draft.features.feedback:
        boosts["feedback"] = spec.feedback
    return boosts if candidate.section is None else {**boosts, **candidate.section.lifts}


def _drop(candidate: Candidate, step: str, reason: str, cost: int = 0) -> Decision:
    return _decide(candidate, step, "dropped", reason, cost)


def _decide(candidate: Candidate, step: str, verdict: str, reason: str, cost: int) -> Decision:
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
        # No caller may change what the next one gets from the cache.
        signals=receipts.FrozenDict(sorted(candidate.signals.items())),
    )
