"""What exactly is asked for?

Options of a caller, a recipe and defaults become one value that says everything, so that two
askings that mean the same are the same, and a receipt can be replayed.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict

from quire import recipe as recipes
from quire import tokens
from quire.contracts import Counter
from quire.errors import InputError
from quire.values import NO_FILTER, Filter, Recipe, Request, Viewer


class Options(TypedDict, total=False):
    """What may be said beside the question; what is not said, the recipe decides."""

    recipe: str | Recipe
    budget: int
    """The whole window in tokens."""
    reserve: Mapping[str, int]
    """What is kept free of the window, by purpose; {} for nothing."""
    model: str
    """The model, or the counter, to count for."""
    viewer: Viewer | str | None
    where: Filter
    format: str
    metadata: bool
    pack: str
    order: str
    overflow: str
    hard: bool
    dedup: float
    per_document: int
    recent: int
    as_of: int | None
    previous: Sequence[str]
    """The chunk ids of an earlier context, for the order `stable`."""
    exact: bool
    allow_empty: bool


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with everything decided."""

    request: Request
    recipe: Recipe
    counter: Counter
    viewer: Viewer | str | None = None
    allow_empty: bool = False
    vector: bytes | None = None
    """The question's vector, where a receipt gives it."""

    @property
    def key(self) -> tuple[Hashable, ...]:
        """What tells this asking from others, the viewer aside."""
        recipe = recipes.recipe_hash(self.recipe)
        return (self.request, recipe, self.counter.name, self.allow_empty, self.vector)


DEFAULT_RECIPE = "documents"
DEFAULT_MODEL = "o200k"
_BUDGET = {"budget": "total", "reserve": "reserved", "overflow": "overflow", "hard": "hard"}
_FIT = ("pack", "order", "dedup", "per_document")
_RENDER = ("format", "metadata")


def decide(query: str, options: Options) -> Asked:
    """Put a question, its options and their recipe together."""
    if not query.strip():
        raise InputError("the query is empty: say what the context is for")
    named = options.get("recipe", DEFAULT_RECIPE)
    recipe = recipes.load(named) if isinstance(named, str) else named
    counter = tokens.open_counter(options.get("model", DEFAULT_MODEL))
    where = options.get("where", NO_FILTER)
    return Asked(
        request=Request(
            query=query,
            model=counter.name,
            kinds=where.kinds,
            paths=where.paths,
            since=where.since,
            until=where.until,
            as_of=options.get("as_of"),
            exact=options.get("exact", False),
            previous=tuple(options.get("previous", ())),
        ),
        recipe=_adjusted(recipe, dict(options)),
        counter=counter,
        viewer=options.get("viewer"),
        allow_empty=options.get("allow_empty", False),
    )


def _adjusted(recipe: Recipe, options: Mapping[str, Any]) -> Recipe:
    """Let options override what a recipe says."""
    budget = {ours: options[name] for name, ours in _BUDGET.items() if name in options}
    fitted = {name: options[name] for name in _FIT if name in options}
    said = {name: options[name] for name in _RENDER if name in options}
    ranked = {"recent": options["recent"]} if "recent" in options else {}
    return replace(
        recipe,
        budget=replace(recipe.budget, **budget),
        fit=replace(recipe.fit, **fitted),
        render=replace(recipe.render, **said),
        rank=replace(recipe.rank, **ranked),
    )
