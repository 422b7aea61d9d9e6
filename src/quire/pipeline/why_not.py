"""Why is a piece not in a context, and what would have let it in?

The question is answered by trying: whatever kept the piece out is relaxed, as little as it takes,
and the steps are run again, until the piece is in. So what is named has been checked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from quire.core.protocols import View
from quire.core.types import (
    NO_FILTER,
    Chunk,
    Decision,
    Recipe,
)
from quire.errors import InputError
from quire.packing import KEEP
from quire.pipeline.draft import Draft
from quire.pipeline.request import ResolvedRequest
from quire.pipeline.retrieve import Retrieved, ask, question_of
from quire.pipeline.sections import parts_of
from quire.pipeline.steps import STEPS, assemble, deduped
from quire.pipeline.validate import MAX_BUDGET
from quire.retrieval import COLLECTORS

TRIES = 8
THOUSANDTHS = 1000
"""Overlaps are compared in thousandths."""

Run = Callable[[Recipe], Draft]
"""Gathers for a recipe, again where its sources must be asked for more."""

Changed = Callable[[Recipe, int], Recipe]
"""Gives a recipe with another value of one setting."""


class Ranks(Protocol):
    """Tells at which place each source ranks the chunk, however deep."""

    def __call__(self, *, filtered: bool) -> dict[str, int]:
        """Look within the request's filter, or everywhere."""


_SETTINGS: dict[str, tuple[str, Changed]] = {
    "rank": (
        "rank.top",
        lambda recipe, value: replace(recipe, rank=replace(recipe.rank, top=value)),
    ),
    "depth": (
        "rank.times",
        lambda recipe, value: replace(recipe, rank=replace(recipe.rank, times=value)),
    ),
    "dedup": (
        "fit.dedup",
        lambda recipe, value: replace(recipe, fit=replace(recipe.fit, dedup=value / THOUSANDTHS)),
    ),
    "group": (
        "fit.per_document",
        lambda recipe, value: replace(recipe, fit=replace(recipe.fit, per_document=value)),
    ),
    "pack": (
        "budget.total",
        lambda recipe, value: replace(recipe, budget=replace(recipe.budget, total=value)),
    ),
}
"""The setting that each step drops pieces by."""


@dataclass(frozen=True, slots=True)
class Relaxation:
    """One thing that kept a piece out, and the setting that lets it past."""

    step: str
    reason: str
    setting: str
    value: float | str


@dataclass(frozen=True, slots=True)
class WhyNot:
    """What became of a piece, and what lets it in."""

    chunk_id: str
    path: str
    lines: tuple[int, int]
    inside: bool
    """It is in the context as it is."""
    step: str
    """The step that decided over it."""
    reason: str
    relaxed: tuple[Relaxation, ...]
    """All of these together let it in."""
    checked: bool
    """The request was run again with them, and the piece was in."""


@dataclass(frozen=True, slots=True)
class _Way:
    """What keeps a piece out and, if there is one, the recipe that lets it past."""

    step: str
    reason: str
    setting: str = ""
    value: float | str = 0
    recipe: Recipe | None = None


def at(view: View, path: str, line: int | None) -> list[Chunk]:
    """Find the chunks at a place; what is not there and what may not be read look the same."""
    found = [
        chunk
        for record in view.listing()
        if record.path == path
        for chunk in view.chunks_of(record.id)
        if line is None or chunk.lines[0] <= line <= chunk.lines[1]
    ]
    if not found:
        place = (path or ".") if line is None else f"{path}:{line}"
        raise InputError(f"there is nothing at {place} that this viewer may read")
    return found


def places(
    view: View, asked: ResolvedRequest, first: Retrieved, chunk_id: str, *, filtered: bool
) -> dict[str, int]:
    """Tell at which place each source of the recipe ranks a chunk, however deep it must look."""
    coverage = view.coverage()
    depths = dict.fromkeys(asked.recipe.sources, max(1, coverage.chunks))
    best: dict[str, int] = {}
    for part in parts_of(asked.request, asked.recipe):
        vector = first.vectors.get(part.query)
        makes = {} if vector is None else {part.query: partial(bytes, vector)}
        deep = replace(
            part,
            depths={name: depths[name] for name in part.depths},
            where=part.where if filtered else NO_FILTER,
        )
        question = question_of(asked, deep, first.features.known.as_of, first.situated)
        found = ask(view, replace(question, exact=True), asked.recipe, deep, makes).hits
        for name, hits in found.items():
            for place, hit in enumerate(hits.hits, start=1):
                if hit.id == chunk_id:
                    best[name] = min(place, best.get(name, place))
    return best


def why_not(draft: Draft, chunk: Chunk, run: Run, ranks: Ranks) -> WhyNot:
    """Find out what keeps a chunk out, and what lets it in."""
    first = decision = _decision(draft, chunk.id)
    ways: list[_Way] = []
    while decision is None or decision.verdict == "dropped":
        ways.append(_way_past(draft, decision, chunk.id, run, ranks))
        recipe = ways[-1].recipe
        if recipe is None or len(ways) == TRIES:
            break
        draft = run(recipe)
        decision = _decision(draft, chunk.id)
    fate = first or ways[0]
    return WhyNot(
        chunk_id=chunk.id,
        path=chunk.path,
        lines=chunk.lines,
        inside=not ways,
        step=fate.step,
        reason=fate.reason,
        relaxed=_relaxed(ways),
        checked=decision is not None and decision.verdict != "dropped",
    )


def _relaxed(ways: list[_Way]) -> tuple[Relaxation, ...]:
    """Name each setting once: what was relaxed later may have made it necessary to go further."""
    last = {way.setting: way.value for way in ways if way.setting}
    first = {way.setting: way for way in reversed(ways) if way.setting}
    return tuple(
        Relaxation(first[name].step, first[name].reason, name, last[name]) for name in last
    )


def _decision(draft: Draft, chunk_id: str) -> Decision | None:
    context = assemble(replace(draft, allow_empty=True), (), ())
    return next((one for one in context.decisions if one.chunk_id == chunk_id), None)


def _way_past(
    draft: Draft, decision: Decision | None, chunk_id: str, run: Run, ranks: Ranks
) -> _Way:
    """Relax what keeps a piece out, as little as it takes."""
    if decision is None:
        return _deeper(draft.recipe, ranks)
    step, recipe, found = decision.step, draft.recipe, len(draft.chunks)
    setting, changed = _SETTINGS[step]
    low, most = {
        "rank": (recipe.rank.top, found),
        "depth": (recipe.rank.times, MAX_BUDGET),
        "dedup": (round(recipe.fit.dedup * THOUSANDTHS), THOUSANDTHS),
        "group": (recipe.fit.per_document, found),
        "pack": (recipe.budget.total, MAX_BUDGET),
    }[step]

    section = recipe.section(draft.sections.get(chunk_id, ""))
    if step == "rank" and section is not None:
        setting, changed = f"sections.{section.name}.k", partial(_with_k, section.name)
        low = section.k
    names = [name for name, _ in STEPS]
    before = names.index(step)
    after = names.index("fit" if step == "pack" else step) + 1  # only the whole tells what fits
    reached = replace(draft, allow_empty=True)
    for _, act in STEPS[:before]:
        reached = act(reached)

    def past(value: int) -> bool:
        tried = replace(reached, recipe=changed(recipe, value))
        for _, act in STEPS[before:after]:
            tried = act(tried)
        if step == "pack":
            return all(piece.candidate.chunk.id != chunk_id for piece in tried.left)
        return all(one.chunk_id != chunk_id or one.step != step for one in tried.decisions)

    def past_with_more(value: int) -> bool:
        """Ask again: with the budget grows how deep sources are asked, and so what they say."""
        fate = _decision(run(changed(recipe, value)), chunk_id)
        return fate is None or fate.step != step

    value = _least(low, most, past)
    if step == "pack" and value is not None:
        least = past_with_more(value) and (value - 1 <= low or not past_with_more(value - 1))
        value = value if least else _least(low, most, past_with_more)
    if value is None:
        return _other_way(reached, decision) if step == "dedup" else _Way(step, decision.reason)
    told = value / THOUSANDTHS if step == "dedup" else value
    return _Way(step, decision.reason, setting, told, changed(recipe, value))


def _other_way(reached: Draft, decision: Decision) -> _Way:
    """Let a commit and the code that it changes both stand, if that is what kept it out."""
    recipe = reached.recipe
    kept = replace(recipe, fit=replace(recipe.fit, same_path=KEEP))
    dropped = {one.chunk_id for one in deduped(replace(reached, recipe=kept)).decisions}
    if decision.chunk_id in dropped:
        return _Way("dedup", decision.reason)
    return _Way("dedup", decision.reason, "fit.same_path", KEEP, kept)


def _with_k(name: str, recipe: Recipe, value: int) -> Recipe:
    sections = tuple(
        replace(section, k=value) if section.name == name else section
        for section in recipe.sections
    )
    return replace(recipe, sections=sections)


def _deeper(recipe: Recipe, ranks: Ranks) -> _Way:
    """Ask the source that ranks it best for so many that it is among them."""
    found = ranks(filtered=True)
    if not found:
        # Where names lead depends on what is found by itself.
        names = sorted(recipe.sources)
        asked_of = [name for name in names if not COLLECTORS[name].needs_leads] or names
        why = ", and ".join(COLLECTORS[source].miss for source in asked_of)
        unfound = f"not found by {' or '.join(asked_of)}: {why}"
        return _Way("collect", "the filter leaves it out" if ranks(filtered=False) else unfound)
    name = min(found, key=lambda source: (found[source], source))
    place, asked = found[name], recipe.depth(name)
    told = ", ".join(f"{where} by {source}" for source, where in sorted(found.items()))
    reason = f"not among the first {asked}: it ranks {told}"
    # Who is asked for more may rank in another way: then so much more that it is found.
    place = place if place > asked else 2 * asked
    sources = {**recipe.sources, name: replace(recipe.sources[name], k=place)}
    return _Way("collect", reason, f"sources.{name}.k", place, replace(recipe, sources=sources))


def _least(low: int, most: int, holds: Callable[[int], bool]) -> int | None:
    """Find a value that holds where the one below does not: first further up, then halving."""
    reach = 64
    while not holds(high := min(low + reach, most)):
        if high >= most:
            return None
        low, reach = high, reach * 2
    while low + 1 < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle
    return high
