"""Explain why a piece is not in a context, and what would let it in.

The answer is found by trying: whatever keeps the piece out is relaxed as little as possible, and
the steps are run again, until the piece is in. So every setting that is named has been checked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Protocol

from quire.core.frozen import dataclass
from quire.core.protocols import View
from quire.core.types import NO_FILTER, Chunk, Decision, Filter, Recipe
from quire.packing import KEEP
from quire.pipeline import sections
from quire.pipeline.draft import Draft
from quire.pipeline.record_names import resolve_names
from quire.pipeline.relevance import ONLY_NAMES, ONLY_TITLE, SEEN
from quire.pipeline.request import ResolvedRequest
from quire.pipeline.retrieve import Retrieved, collect_subquery, make_query
from quire.pipeline.steps import STEPS, assemble, dedup
from quire.pipeline.validate import MAX_BUDGET
from quire.ranking import RELEVANCE
from quire.retrieval import get_collector

MAX_TRIES = 8
MAX_PIECES = 3
"""Pieces of a file for which settings are tried: each try runs the request again, and a long file
has hundreds of pieces."""
NOT_FOUND = "no search found it"
THOUSANDTHS = 1000
"""Overlaps are compared in thousandths."""

Rerun = Callable[[Recipe], Draft]
"""Retrieves with another recipe, and returns the first draft."""
Change = Callable[[Recipe, int], Recipe]
"""Returns a recipe with another value of one setting."""


class SourceRanks(Protocol):
    """Returns the rank of the chunk in each source that finds it at any depth."""

    def __call__(self, *, filtered: bool) -> dict[str, int]:
        """Search within the request's filter, or everywhere."""


_SETTINGS: dict[str, tuple[str, Change]] = {
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
    """One reason that keeps a piece out, and the setting that lets it past."""

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
    """Whether it is in the context already."""
    step: str
    """The step that decided on it."""
    reason: str
    relaxed: tuple[Relaxation, ...]
    """All of these together let it in."""
    checked: bool
    """Whether the request was run again with them, and the piece was in."""
    tried: bool = True
    """Whether settings were tried at all: they are for the best pieces of a file alone."""


@dataclass(frozen=True, slots=True)
class _Obstacle:
    """What keeps a piece out and, if there is one, the recipe that lets it past."""

    step: str
    reason: str
    setting: str = ""
    value: float | str = 0
    recipe: Recipe | None = None


def chunks_at(view: View, path: str, line: int | None, *, shared_only: bool = False) -> list[Chunk]:
    """Return the chunks at a place; a missing one looks like one that may not be read."""
    return [
        chunk
        for record in view.listing(Filter(shared_only=shared_only))
        if record.path == path
        for chunk in view.chunks_of(record.id)
        if line is None or chunk.lines[0] <= line <= chunk.lines[1]
    ]


def source_ranks(
    view: View, resolved: ResolvedRequest, first: Retrieved, chunk_id: str, *, filtered: bool
) -> dict[str, int]:
    """Return the rank of a chunk in each source of the recipe, however deep."""
    (request, _), recipe = resolve_names(view, resolved.request), resolved.recipe
    depths = dict.fromkeys(recipe.sources, max(1, view.coverage().chunks))
    best: dict[str, int] = {}
    for subquery in sections.split(request, recipe, first.parsed.text):
        vector = first.vectors.get(subquery.query)
        makers = {} if vector is None else {subquery.query: partial(bytes, vector)}
        deep = replace(
            subquery,
            depths={name: depths[name] for name in subquery.depths},
            where=subquery.where if filtered else NO_FILTER,
        )
        query = make_query(
            request,
            recipe,
            deep,
            first.features.table.as_of,
            first.active_rules,
            tasks=first.parsed.tasks,
        )
        collected = collect_subquery(view, replace(query, exact=True), recipe, deep, makers)
        for name, hits in collected.hits.items():
            for rank, hit in enumerate(hits.hits, start=1):
                if hit.id == chunk_id:
                    best[name] = min(rank, best.get(name, rank))
    return best


def why_not_all(
    draft: Draft, chunks: Sequence[Chunk], rerun: Rerun, ranks: Callable[[str], SourceRanks]
) -> list[WhyNot]:
    """Find out what keeps chunks out, and for the best of them what lets them in."""
    decisions = {decision.chunk_id: decision for decision in _decisions(draft)}
    out = [chunk for chunk in chunks if not _is_inside(decisions.get(chunk.id))]
    # Those that were found come first, by their scores; the others in the order of the file.
    out.sort(key=lambda chunk: -decisions[chunk.id].score if chunk.id in decisions else 1)
    untried = {chunk.id for chunk in out[MAX_PIECES:]}
    return [
        _told(chunk, decisions.get(chunk.id))
        if chunk.id in untried
        else why_not(draft, chunk, decisions.get(chunk.id), rerun, ranks(chunk.id))
        for chunk in chunks
    ]


def _is_inside(decision: Decision | None) -> bool:
    return decision is not None and decision.verdict != "dropped"


def _told(chunk: Chunk, decision: Decision | None) -> WhyNot:
    """Say what became of a chunk, without a try to let it in."""
    step, reason = ("collect", NOT_FOUND) if decision is None else (decision.step, decision.reason)
    return WhyNot(
        chunk_id=chunk.id,
        path=chunk.path,
        lines=chunk.lines,
        inside=False,
        step=step,
        reason=reason,
        relaxed=(),
        checked=False,
        tried=False,
    )


def why_not(
    draft: Draft, chunk: Chunk, first: Decision | None, rerun: Rerun, ranks: SourceRanks
) -> WhyNot:
    """Find out what keeps a chunk out, on which there is a first decision, and what lets it in."""
    decision = first
    obstacles: list[_Obstacle] = []
    while not _is_inside(decision):
        obstacles.append(_relax(draft, decision, chunk.id, rerun, ranks))
        recipe = obstacles[-1].recipe
        if recipe is None or len(obstacles) == MAX_TRIES:
            break
        draft = rerun(recipe)
        decision = _decision(draft, chunk.id)
    outcome = first or obstacles[0]
    return WhyNot(
        chunk_id=chunk.id,
        path=chunk.path,
        lines=chunk.lines,
        inside=not obstacles,
        step=outcome.step,
        reason=outcome.reason,
        relaxed=_relaxations(obstacles),
        checked=_is_inside(decision),
    )


def _relaxations(obstacles: list[_Obstacle]) -> tuple[Relaxation, ...]:
    """Name each setting once, with its last value: later obstacles may have raised it again."""
    last = {obstacle.setting: obstacle.value for obstacle in obstacles if obstacle.setting}
    first = {obstacle.setting: obstacle for obstacle in reversed(obstacles) if obstacle.setting}
    return tuple(
        Relaxation(first[name].step, first[name].reason, name, last[name]) for name in last
    )


def _decisions(draft: Draft) -> Sequence[Decision]:
    return assemble(replace(draft, allow_empty=True), (), ()).decisions


def _decision(draft: Draft, chunk_id: str) -> Decision | None:
    return next((item for item in _decisions(draft) if item.chunk_id == chunk_id), None)


def _relax(
    draft: Draft, decision: Decision | None, chunk_id: str, rerun: Rerun, ranks: SourceRanks
) -> _Obstacle:
    """Relax the setting that keeps a piece out, as little as possible."""
    if decision is None:
        return _search_deeper(draft.recipe, ranks)
    step, recipe = decision.step, draft.recipe
    if step == RELEVANCE:
        return _lower_floor(recipe, decision)
    setting, change, low, high = _setting_of(draft, step, chunk_id)
    names = [name for name, _ in STEPS]
    before = names.index(step)
    # Only the whole, measured as it is rendered, shows what fits, and which repeats it shows.
    after = names.index("fit" if step in {"pack", "dedup"} else step) + 1
    reached = replace(draft, allow_empty=True)
    for _, act in STEPS[:before]:
        reached = act(reached)

    def gets_past(value: int) -> bool:
        tried = replace(reached, recipe=change(recipe, value))
        for _, act in STEPS[before:after]:
            tried = act(tried)
        if step == "pack":
            return all(piece.candidate.chunk.id != chunk_id for piece in tried.left_out)
        return all(item.chunk_id != chunk_id or item.step != step for item in tried.decisions)

    def gets_past_after_rerun(value: int) -> bool:
        """Retrieve again: sources are searched deeper with a larger budget."""
        outcome = _decision(rerun(change(recipe, value)), chunk_id)
        return outcome is None or outcome.step != step

    value = _smallest(low, high, gets_past)
    if step == "pack" and value is not None:
        is_smallest = gets_past_after_rerun(value) and (
            value - 1 <= low or not gets_past_after_rerun(value - 1)
        )
        value = value if is_smallest else _smallest(low, high, gets_past_after_rerun)
    if value is None:
        stays_out = _Obstacle(step, decision.reason)
        return _allow_same_path(reached, decision) if step == "dedup" else stays_out
    shown = value / THOUSANDTHS if step == "dedup" else value
    return _Obstacle(step, decision.reason, setting, shown, change(recipe, value))


def _setting_of(draft: Draft, step: str, chunk_id: str) -> tuple[str, Change, int, int]:
    """Return the setting that a step drops a piece by, how to change it, and its range."""
    recipe, count = draft.recipe, len(draft.chunks)
    setting, change = _SETTINGS[step]
    low, high = {
        "rank": (recipe.rank.top, count),
        "depth": (recipe.rank.times, MAX_BUDGET),
        "dedup": (round(recipe.fit.dedup * THOUSANDTHS), THOUSANDTHS),
        "group": (recipe.fit.per_document, count),
        "pack": (recipe.budget.total, MAX_BUDGET),
    }[step]
    section = recipe.section(draft.sections.get(chunk_id, ""))
    if step == "rank" and section is not None:
        return f"sections.{section.name}.k", partial(_with_k, section.name), section.k, high
    return setting, change, low, high


def _lower_floor(recipe: Recipe, decision: Decision) -> _Obstacle:
    """Lower the floor to the relevance of the piece; to 0 if that is not what keeps it out."""
    if decision.reason in {ONLY_NAMES, ONLY_TITLE, SEEN}:
        return _Obstacle(decision.step, decision.reason)
    relevance = decision.signals.get(RELEVANCE, recipe.rank.floor)
    floor = relevance if relevance < recipe.rank.floor else 0
    lower = replace(recipe, rank=replace(recipe.rank, floor=floor))
    return _Obstacle(decision.step, decision.reason, "rank.floor", floor, lower)


def _allow_same_path(reached: Draft, decision: Decision) -> _Obstacle:
    """Keep both a commit and the code that it changes, if that is what keeps the piece out."""
    recipe = reached.recipe
    relaxed = replace(recipe, fit=replace(recipe.fit, same_path=KEEP))
    dropped = {item.chunk_id for item in dedup(replace(reached, recipe=relaxed)).decisions}
    if decision.chunk_id in dropped:
        return _Obstacle("dedup", decision.reason)
    return _Obstacle("dedup", decision.reason, "fit.same_path", KEEP, relaxed)


def _with_k(name: str, recipe: Recipe, value: int) -> Recipe:
    changed = tuple(
        replace(section, k=value) if section.name == name else section
        for section in recipe.sections
    )
    return replace(recipe, sections=changed)


def _search_deeper(recipe: Recipe, ranks: SourceRanks) -> _Obstacle:
    """Raise the depth of the source that ranks the piece best until it is found."""
    source_places = ranks(filtered=True)
    if not source_places:
        # What a collector finds from leads depends on what the others find.
        names = sorted(recipe.sources)
        searched = [name for name in names if not get_collector(name).needs_leads] or names
        why = ", and ".join(get_collector(source).miss for source in searched)
        missed = f"not found by {' or '.join(searched)}: {why}"
        return _Obstacle("collect", "the filter leaves it out" if ranks(filtered=False) else missed)
    name = min(source_places, key=lambda source: (source_places[source], source))
    rank, depth = source_places[name], recipe.depth(name)
    ranked = ", ".join(f"{place} by {source}" for source, place in sorted(source_places.items()))
    reason = f"not among the first {depth}: it ranks {ranked}"
    # A source may rank differently when it is searched deeper: then twice as deep.
    k = rank if rank > depth else 2 * depth
    sources = {**recipe.sources, name: replace(recipe.sources[name], k=k)}
    return _Obstacle("collect", reason, f"sources.{name}.k", k, replace(recipe, sources=sources))


def _smallest(low: int, high: int, holds: Callable[[int], bool]) -> int | None:
    """Find a value that holds where the one below does not: by doubling, then by bisection."""
    reach = 64
    while not holds(tried := min(low + reach, high)):
        if tried >= high:
            return None
        low, reach = tried, reach * 2
    while low + 1 < tried:
        middle = (low + tried) // 2
        if holds(middle):
            tried = middle
        else:
            low = middle
    return tried
