"""Can a context be made with this recipe?

Whatever cannot be is refused by name, before anything is looked up: a way of packing that does not
exist, a budget that contradicts itself, a section that asks nobody.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from quire import packing, ranking, rendering, tokens
from quire.core import toml
from quire.core.types import FULL, LEVELS, Budget, Recipe, SourceSpec
from quire.errors import BudgetError, ConfigError, InputError
from quire.pipeline import recipe as recipes
from quire.retrieval import COLLECTORS, LEXICAL

DEFAULT_RECIPE = "documents"
LARGEST_BUDGET = 100_000_000
MOST_WEIGHT = 1000
MOST_LEANING = 1000
MOST_RECENT = 1000
FARTHEST = 3
"""Further away than so many chunks nothing is left of what a word is worth."""

_KINDS: dict[str, tuple[type | tuple[type, ...], str]] = {
    "int": (int, "a whole number"),
    "float": ((int, float), "a number"),
    "bool": (bool, "true or false"),
    "str": (str, "a text"),
    "Mapping[str, int]": (Mapping, "whole numbers by name"),
    "tuple[str, ...]": (tuple, "a list of names"),
}


def check(recipe: Recipe) -> None:
    """Refuse a recipe that no context can be made with, and say what is wrong with it."""
    for name in ("budget", "rank", "fit", "render"):
        _typed(name, getattr(recipe, name))
    check_budget(recipe.budget)
    _one_of("pack", "way of packing", recipe.fit.pack, packing.STRATEGIES)
    _one_of("order", "order", recipe.fit.order, packing.ORDERS)
    _one_of("overflow", "overflow", recipe.budget.overflow, packing.OVERFLOWS)
    _one_of("format", "format", recipe.render.format, rendering.FORMATS)
    _within("fit.dedup", recipe.fit.dedup, 0, 1)
    _within("fit.per_document", recipe.fit.per_document, 0)
    _within("render.cap", recipe.render.cap, 0)
    _within("render.sources", recipe.render.sources, 0)
    for level in recipe.fit.levels:
        _one_of("levels", "level of detail", level, LEVELS)
    if FULL not in recipe.fit.levels:
        raise InputError(f"levels: {FULL!r} is missing: what fits is shown in full")
    _within("rank.top", recipe.rank.top, 1)
    _within("rank.deeper", recipe.rank.deeper, 0)
    _within("rank.times", recipe.rank.times, 0)
    _one_of("cut", "way to cut", recipe.fit.cut, tokens.STRATEGIES)
    _within("fit.shortest", recipe.fit.shortest, 0)
    for name, weight in recipe.rank.weights.items():
        _one_of("rank.weights", "signal that is weighed", name, ranking.SIGNALS)
        _within(f"rank.weights.{name}", weight, 0, MOST_WEIGHT)
    for name, intent in recipe.intents.items():
        _typed(f"intents.{name}", intent)
    _one_of("same_path", "rule for one path", recipe.fit.same_path, packing.SAME_PATH_RULES)
    _check_sections(recipe)
    _one_of("fusion", "fusion", recipe.rank.fusion, ranking.FUSIONS)
    _within("rank.constant", recipe.rank.constant, 0)
    _within("rank.reach", recipe.rank.reach, 0, FARTHEST)
    _within("rank.recent", recipe.rank.recent, 0, MOST_RECENT)
    _within("rank.feedback", recipe.rank.feedback, 0, 100)
    if not recipe.sources:
        raise ConfigError(
            f"the recipe {recipe.name!r} asks no source: name [sources.{LEXICAL}], or begin it "
            f'with extends = "{DEFAULT_RECIPE}"'
        )
    for name, source in recipe.sources.items():
        if name not in COLLECTORS:
            toml.refused(f"the recipe {recipe.name!r}: [sources]", name, COLLECTORS)
        _check_source(name, source)


def _check_source(name: str, source: SourceSpec) -> None:
    place, known = f"sources.{name}", (*COLLECTORS[name].options, *ranking.WEIGHT_OPTIONS)
    _typed(place, source)
    _within(f"{place}.k", source.k, 1)
    _within(f"{place}.weight", source.weight, 0, MOST_WEIGHT)
    for option, value in source.options.items():
        if option not in known:
            toml.refused(f"{place}.options", option, known)
        if not is_a(value, int):
            raise InputError(f"{place}.options.{option} is {value!r}: expected a whole number")
        if option in ranking.WEIGHT_OPTIONS:
            _within(f"{place}.options.{option}", value, 0, MOST_LEANING)


def _check_sections(recipe: Recipe) -> None:
    names = [section.name for section in recipe.sections]
    if len(set(names)) != len(names):
        raise ConfigError(f"the recipe {recipe.name!r} has two sections of one name")
    if rendering.get_format(recipe.render).sections and not names:
        raise InputError(
            f"the format {recipe.render.format!r} says sections, and the recipe "
            f"{recipe.name!r} has none: use another format, or a recipe with sections"
        )
    if names and not any(section.weight for section in recipe.sections):
        raise ConfigError(f"the recipe {recipe.name!r}: no section has a weight above 0")
    for section in recipe.sections:
        place = f"sections.{section.name}"
        if open_terms := recipes.terms_of(section):
            raise InputError(
                f"{place} asks for {{{open_terms[0]}}}, and nothing says what that is: write it "
                "out (for the recipe premortem, `quire premortem DOMAIN` does)"
            )
        _typed(place, section)
        _within(f"{place}.k", section.k, 1)
        _within(f"{place}.weight", section.weight, 0, LARGEST_BUDGET)
        _within(f"{place}.item", section.item, 0, 100)
        _within(f"{place}.timeout", section.timeout, 0)
        _one_of(f"{place}.order", "order of items", section.order, packing.SECTION_ORDERS)
        for source in section.sources:
            _one_of(f"{place}.sources", "source of this recipe", source, recipe.sources)
        for name, percent in section.lifts.items():
            _one_of(f"{place}.lifts", "signal that lifts", name, ranking.BOOSTS)
            _within(f"{place}.lifts.{name}", percent, 0, MOST_RECENT)
        for name in section.show:
            _one_of(f"{place}.show", "part that can be shown", name, rendering.EXPERIENCE_FIELDS)


def check_budget(budget: Budget) -> None:
    """Refuse a budget that contradicts itself, by name."""
    if budget.total <= 0:
        raise BudgetError(f"the budget is {budget.total} tokens: it must be above zero")
    if budget.total > LARGEST_BUDGET:
        raise BudgetError(
            f"the budget is {budget.total} tokens: more than any window ({LARGEST_BUDGET} at most)"
        )
    for name, value in budget.reserved.items():
        if not isinstance(value, int) or isinstance(value, bool):
            raise BudgetError(f"{value!r} is reserved for {name}: it must be a whole number")
        if value < 0:
            raise BudgetError(f"{value} tokens are reserved for {name}: it must not be negative")
    for name in ("history", "system"):
        if (part := getattr(budget, name)) < 0:
            raise BudgetError(f"{name} may take {part} tokens: it must not be negative")
    if budget.overhead < 0:
        raise BudgetError(f"the overhead is {budget.overhead}: it must not be negative")
    if budget.available <= 0:
        parts = ", ".join(f"{name} {value}" for name, value in budget.reserved.items())
        raise BudgetError(
            f"of {budget.total} tokens all are reserved ({parts}): raise the budget, or "
            "lower the reserves"
        )


def _typed(place: str, part: Any) -> None:
    for item in fields(part):
        value = getattr(part, item.name)
        kind, wanted = _KINDS[str(item.type)]
        if not is_a(value, kind):
            raise InputError(f"{place}.{item.name} is {value!r}: expected {wanted}")


def is_a(value: object, kind: type | tuple[type, ...]) -> bool:
    """Tell whether a value is of a kind; True is no number."""
    if isinstance(value, bool):
        return kind in {bool, object}
    return isinstance(value, kind)


def _one_of(name: str, what: str, value: str, known: Sequence[str] | Mapping[str, Any]) -> None:
    if value not in known:
        raise InputError(f"{name}: {value!r} is no {what}; there are {', '.join(known)}")


def _within(place: str, value: float, least: int, most: int | None = None) -> None:
    if not value >= least or (most is not None and value > most):  # `not`: NaN is nowhere
        limits = f"at least {least}" if most is None else f"between {least} and {most}"
        raise InputError(f"{place} is {value}: it must be {limits}")
