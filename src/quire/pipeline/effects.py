"""Options that have no effect with a recipe or a format: whoever gives one is told.

Each row says when an option counts. Options without a row always do, or are refused where they do
not; what only some sources read stands with the collectors (`notes.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from quire import rendering
from quire.core.types import Recipe
from quire.core.types.options import OPTIONS
from quire.retrieval import RULES, TIMED_COLLECTORS, VECTOR_COLLECTORS

STABLE = "stable"
CUT = "cut"
OPTIMAL = "optimal"


def _read_by_format(name: str) -> tuple[Callable[[Recipe], bool], Callable[[Recipe], str]]:
    return (
        lambda recipe: name in rendering.get_format(recipe.render).reads,
        lambda recipe: f"with the format {recipe.render.format!r}",
    )


def _may_cut(recipe: Recipe) -> bool:
    form = rendering.get_format(recipe.render)
    cuts = recipe.budget.overflow == CUT and recipe.budget.hard and recipe.fit.pack != OPTIMAL
    return cuts or form.shortener is not None or any(each.item for each in recipe.sections)


def _shows_levels(recipe: Recipe) -> bool:
    return not rendering.get_format(recipe.render).sections or RULES in recipe.sources


def needs_time(recipe: Recipe) -> bool:
    """Tell whether a recipe needs to know what time it is."""
    boosts_recent = any("recency" in section.lifts for section in recipe.sections)
    collectors = recipe.sources.keys() & TIMED_COLLECTORS
    return bool(recipe.rank.recent or recipe.rank.weights or boosts_recent or collectors)


def _with_recipe(recipe: Recipe) -> str:
    return f"with the recipe {recipe.name!r}"


Row = tuple[Callable[[Recipe], bool], Callable[[Recipe], str]]
EFFECTS: Mapping[str, Row] = {
    **{name: _read_by_format(name) for name in ("metadata", "groups", "content", "cap", "sources")},
    "levels": (_shows_levels, lambda recipe: f"with the format {recipe.render.format!r}"),
    "cut": (_may_cut, lambda _: "unless `overflow` is cut"),
    "overflow": (
        lambda recipe: recipe.budget.hard and recipe.fit.pack != OPTIMAL,
        lambda recipe: "with a soft budget" if not recipe.budget.hard else "if `pack` is optimal",
    ),
    "previous": (
        lambda recipe: recipe.fit.order == STABLE,
        lambda _: "unless `order` is stable",
    ),
    "as_of": (needs_time, _with_recipe),
    "exact": (lambda recipe: bool(VECTOR_COLLECTORS & recipe.sources.keys()), _with_recipe),
}
"""When an option counts, and how its absence of effect is worded."""


def options_without_effect(options: Mapping[str, Any], own: Recipe, used: Recipe) -> list[str]:
    """Name the options that ask for something else than the recipe and change nothing.

    `own` is the recipe without these options, `used` the one with them.
    """
    return [
        f"`{name}` has no effect {reason(used)}"
        for name, (counts, reason) in EFFECTS.items()
        if name in options and _asks(name, options[name], own) and not counts(used)
    ]


def _asks(name: str, value: Any, recipe: Recipe) -> bool:
    setting = OPTIONS[name].setting
    if not setting:
        return value not in (None, (), [], "", False)
    part, field = setting.split(".")
    own = getattr(getattr(recipe, part), field)
    return bool((tuple(value) if isinstance(value, list) else value) != own)
