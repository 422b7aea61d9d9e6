"""Why is a piece not in a context, and what would have let it in?

The question is answered by trying: whatever kept the piece out is relaxed, as little as it takes,
and the steps are run again, until the piece is in. So what is named has been checked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from quire import collect, tokens
from quire import recipe as recipes
from quire.assembling import Draft, assemble
from quire.contracts import View
from quire.errors import BudgetTooSmallError, InputError
from quire.request import Asked
from quire.values import Context, Decision, Filter, Recipe, Request, Viewer

TRIES = 8

Places = Callable[[str], dict[str, int]]
"""Tells at which place each source ranks a chunk, however deep."""

Run = Callable[[Recipe], Draft]
"""Gathers for a recipe, again where its sources must be asked for more."""


@dataclass(frozen=True, slots=True)
class Relaxation:
    """One thing that kept a piece out, and the setting that lets it past."""

    step: str
    reason: str
    setting: str
    value: int | float | str


@dataclass(frozen=True, slots=True)
class WhyNot:
    """What became of a piece, and what lets it in."""

    chunk_id: str
    path: str
    lines: tuple[int, int]
    inside: bool
    """It is in the context as it is."""
    relaxed: tuple[Relaxation, ...]
    """All of these together let it in."""
    checked: bool
    """The request was run again with them, and the piece was in."""


def asked_in(receipt: Mapping[str, Any], viewer: Viewer | str | None) -> Asked:
    """Read from a receipt what was asked, so that it can be asked again."""
    data = {**receipt["request"]}
    for name in ("kinds", "paths", "previous"):
        data[name] = tuple(data[name])
    vector = receipt["query_vector"]
    return Asked(
        request=Request(**data),
        recipe=recipes.from_data(receipt["recipe"]),
        counter=tokens.open_counter(receipt["counter"]),
        viewer=viewer,
        allow_empty=True,
        vector=None if vector is None else bytes.fromhex(vector),
    )


def at(view: View, path: str, line: int | None) -> list[str]:
    """Find the chunks at a place; what is not there and what may not be read look the same."""
    found = [
        chunk
        for record in view.listing()
        if record.path == path
        for chunk in view.chunks_of(record.id)
        if line is None or chunk.lines[0] <= line <= chunk.lines[1]
    ]
    if not found:
        place = path if line is None else f"{path}:{line}"
        raise InputError(f"there is nothing at {place} that this viewer may read")
    return [chunk.id for chunk in found]


def places(view: View, asked: Asked, vector: bytes | None, chunk_id: str) -> dict[str, int]:
    """Tell at which place each source of the recipe ranks a chunk, however deep it must look."""
    request = asked.request
    where = Filter(request.kinds, request.paths, request.since, request.until)
    everything = max(1, view.coverage().chunks)
    depths = dict.fromkeys(asked.recipe.sources, everything)
    make = None if vector is None else lambda: vector
    found = collect.search(view, request.query, make, depths, where, exact=True).found
    return {
        name: place
        for name, hits in found.items()
        for place, hit in enumerate(hits.hits, start=1)
        if hit.id == chunk_id
    }


def why_not(
    draft: Draft, chunk_id: str, run: Run, places: Callable[[str], dict[str, int]]
) -> WhyNot:
    """Find out what keeps a chunk out; `places` tells where each source ranks it."""
    chunk = None
    relaxed: list[Relaxation] = []
    inside = False
    for _ in range(TRIES):
        decision = _decision(_context(draft), chunk_id)
        chunk = draft.chunks.get(chunk_id) or chunk
        if decision is not None and decision.verdict != "dropped":
            inside = True
            break
        step = _relax(draft, decision, chunk_id, places)
        if step is None:
            break
        recipe, relaxation = step
        relaxed.append(relaxation)
        draft = run(recipe)
    lines, path = (chunk.lines, chunk.path) if chunk else ((0, 0), "")
    return WhyNot(
        chunk_id=chunk_id,
        path=path,
        lines=lines,
        inside=inside and not relaxed,
        relaxed=tuple(relaxed),
        checked=inside,
    )


def _context(draft: Draft) -> Context:
    return assemble(replace(draft, allow_empty=True), (), ())


def _decision(context: Context, chunk_id: str) -> Decision | None:
    return next((one for one in context.decisions if one.chunk_id == chunk_id), None)


def _relax(
    draft: Draft,
    decision: Decision | None,
    chunk_id: str,
    places: Places,
) -> tuple[Recipe, Relaxation] | None:
    recipe = draft.recipe
    if decision is None:
        return _deeper(recipe, places(chunk_id))
    if decision.step == "rank":
        place = int(decision.reason.split()[1].rstrip(","))
        wider = replace(recipe, rank=replace(recipe.rank, top=place))
        return wider, Relaxation("rank", decision.reason, "rank.top", place)
    if decision.step == "dedup":
        loose = replace(recipe, fit=replace(recipe.fit, dedup=1.0))
        return loose, Relaxation("dedup", decision.reason, "fit.dedup", 1.0)
    if decision.step == "group":
        free = replace(recipe, fit=replace(recipe.fit, per_document=0))
        return free, Relaxation("group", decision.reason, "fit.per_document", 0)
    total = _enough(draft, chunk_id)
    if total is None:
        return None
    larger = replace(recipe, budget=replace(recipe.budget, total=total))
    return larger, Relaxation("pack", decision.reason, "budget.total", total)


def _deeper(recipe: Recipe, places: dict[str, int]) -> tuple[Recipe, Relaxation] | None:
    """Ask the source that ranks it best for so many that it is among them."""
    if not places:
        return None
    name = min(places, key=lambda source: (places[source], source))
    place = places[name]
    told = ", ".join(f"{place} by {source}" for source, place in sorted(places.items()))
    sources = {**recipe.sources, name: replace(recipe.sources[name], k=place)}
    reason = f"not among the first {recipe.sources[name].k}: it ranks {told}"
    return replace(recipe, sources=sources), Relaxation(
        "collect", reason, f"sources.{name}.k", place
    )


def _enough(draft: Draft, chunk_id: str) -> int | None:
    """Find the smallest budget that lets a piece in: halve the range, then try just below."""

    def holds(total: int) -> bool:
        budget = replace(draft.recipe.budget, total=total)
        tried = replace(draft, recipe=replace(draft.recipe, budget=budget))
        try:
            decision = _decision(_context(tried), chunk_id)
        except BudgetTooSmallError:
            return False
        return decision is not None and decision.verdict != "dropped"

    low = draft.recipe.budget.total
    high = low + 64
    while not holds(high):
        if high > 64 * max(low, 1_000_000):
            return None
        high = low + (high - low) * 2
    while low + 1 < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle
    return high
