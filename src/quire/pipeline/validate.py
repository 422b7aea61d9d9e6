"""Check that a context can be made with a recipe.

What is impossible is refused by name, before anything is looked up: a way of packing that does not
exist, a budget that contradicts itself, a section without a source. Errors name the recipe's
setting; `request` names the option instead, if one was given.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import fields
from typing import Any

from quire import ingest, packing, ranking, rendering, retrieval, tokens
from quire.core import conditions
from quire.core.globs import is_negated
from quire.core.types import (
    BROUGHT,
    FULL,
    LEVELS,
    Budget,
    Filter,
    Recipe,
    Section,
    SourceSpec,
)
from quire.errors import BudgetError, ConfigError, InputError, unknown
from quire.pipeline import recipe as recipes
from quire.retrieval import COLLECTORS, LEXICAL

DEFAULT_RECIPE = "documents"
MAX_BUDGET = 100_000_000
MAX_WEIGHT = 1000
MAX_PERCENT = 1000
RERANK_LIMITS = {"top": 1000, "weight": 100, "timeout": 600_000}
"""The options of `[rank] rerank` and the most that each may be."""
MAX_REACH = 3
"""Further away than this many chunks, a word counts for nothing."""

CHOICES: dict[str, Collection[str]] = {
    "fit.pack": packing.STRATEGIES,
    "fit.order": packing.ORDERS,
    "fit.cut": tokens.STRATEGIES,
    "fit.same_path": packing.SAME_PATH_RULES,
    "budget.overflow": packing.OVERFLOWS,
    "rank.fusion": ranking.FUSIONS,
    "render.format": rendering.FORMATS,
}
"""The values of a setting, from the tables of the stages; help texts list them as well."""

_EXPECTED: dict[str, tuple[type | tuple[type, ...], str]] = {
    "int": (int, "a whole number"),
    "float": ((int, float), "a number"),
    "bool": (bool, "true or false"),
    "str": (str, "a text"),
    "Mapping[str, int]": (Mapping, "whole numbers by name"),
    "tuple[str, ...]": (tuple, "a list of names"),
}
"""What a value must be, by the declared type of its setting."""
SECTION_SCORES = ("sources", ranking.RELEVANCE)


def check(recipe: Recipe) -> None:
    """Refuse a recipe that no context can be made with, and say what is wrong with it."""
    for name in ("budget", "rank", "fit", "render"):
        _check_types(name, getattr(recipe, name))
    check_budget(recipe.budget)
    _check_fit(recipe)
    _check_rank(recipe)
    for name, intent in recipe.intents.items():
        _check_types(f"intents.{name}", intent)
    _check_sections(recipe)
    if not recipe.sources:
        raise ConfigError(
            f"the recipe {recipe.name!r} has no sources",
            field="sources",
            hint=f'add [sources.{LEXICAL}], or begin with extends = "{DEFAULT_RECIPE}"',
        )
    if recipe.is_brought:
        return
    for name, source in recipe.sources.items():
        if name not in COLLECTORS:  # to look for plug-ins takes time
            _check_choice("sources", "source", name, retrieval.collector_names())
        _check_source(name, source)


def refuse_brought(recipe: Recipe) -> None:
    """Refuse a recipe whose texts nobody can search for."""
    if recipe.is_brought:
        raise InputError(
            f"{BROUGHT!r} is not a source of a store: the caller brings the texts",
            field="sources",
            value=BROUGHT,
            hint="use `quire.ContextAssembler`",
        )


def _check_fit(recipe: Recipe) -> None:
    fit, render = recipe.fit, recipe.render
    _check_setting("fit.pack", "packing strategy", fit.pack)
    _check_setting("fit.order", "order", fit.order)
    _check_setting("budget.overflow", "overflow", recipe.budget.overflow)
    rendering.get_format(render)
    _check_range("fit.dedup", fit.dedup, 0, 1)
    _check_range("fit.per_document", fit.per_document, 0)
    _check_range("render.cap", render.cap, 0)
    _check_range("render.sources", render.sources, 0)
    for level in fit.levels:
        _check_choice("fit.levels", "level of detail", level, LEVELS)
    if FULL not in fit.levels:
        raise InputError(f"must contain {FULL!r}", field="fit.levels", value=fit.levels)
    _check_setting("fit.cut", "way to cut", fit.cut)
    _check_range("fit.shortest", fit.shortest, 0)
    _check_setting("fit.same_path", "value", fit.same_path)


def _check_rank(recipe: Recipe) -> None:
    rank = recipe.rank
    _check_range("rank.top", rank.top, 1)
    _check_range("rank.deeper", rank.deeper, 0)
    _check_range("rank.fill", rank.fill, 0)
    _check_range("rank.times", rank.times, 0)
    for name, weight in rank.weights.items():
        _check_choice("rank.weights", "signal", name, ranking.SIGNALS)
        _check_range(f"rank.weights.{name}", weight, 0, MAX_WEIGHT)
    _check_setting("rank.fusion", "fusion", rank.fusion)
    _check_range("rank.constant", rank.constant, 0)
    _check_range("rank.reach", rank.reach, 0, MAX_REACH)
    _check_range("rank.recent", rank.recent, 0, MAX_PERCENT)
    _check_range("rank.feedback", rank.feedback, 0, 100)
    _check_range("rank.floor", rank.floor, 0, ranking.CERTAIN)
    _check_range("rank.topic", rank.topic, 0, ranking.CERTAIN)
    for name, value in rank.rerank.items():
        _check_choice("rank.rerank", "option", name, RERANK_LIMITS)
        _check_range(f"rank.rerank.{name}", value, 0, RERANK_LIMITS[name])
    for role, percent in rank.roles.items():
        _check_choice("rank.roles", "role of files", role, ingest.roles())
        _check_range(f"rank.roles.{role}", percent, 0, 100)


def _check_source(name: str, source: SourceSpec) -> None:
    place = f"sources.{name}"
    known = (*retrieval.get_collector(name).options, *ranking.WEIGHT_OPTIONS)
    _check_types(place, source)
    _check_range(f"{place}.k", source.k, 1)
    _check_range(f"{place}.weight", source.weight, 0, MAX_WEIGHT)
    for option, value in source.options.items():
        _check_choice(f"{place}.options", "option", option, known)
        if not is_a(value, int):
            raise _wrong_type(f"{place}.options.{option}", "a whole number", value)
        if option in ranking.WEIGHT_OPTIONS:
            _check_range(f"{place}.options.{option}", value, 0, MAX_PERCENT)


def _check_sections(recipe: Recipe) -> None:
    names = [section.name for section in recipe.sections]
    if len(set(names)) != len(names):
        raise ConfigError(
            f"the recipe {recipe.name!r} has two sections of one name", field="sections"
        )
    if rendering.get_format(recipe.render).sections and not names:
        raise InputError(
            f"{recipe.render.format!r} needs sections, and the recipe {recipe.name!r} has none",
            field="render.format",
            value=recipe.render.format,
            hint="use another format, or a recipe with sections",
        )
    if names and not any(section.weight for section in recipe.sections):
        raise ConfigError(
            f"no section of the recipe {recipe.name!r} has a weight above 0", field="sections"
        )
    for section in recipe.sections:
        _check_section(recipe, section)


def _check_section(recipe: Recipe, section: Section) -> None:
    place = f"sections.{section.name}"
    if terms := recipes.terms_of(section):
        raise InputError(
            f"the term {{{terms[0]}}} has no value",
            field=place,
            hint="write it out (`quire premortem DOMAIN` fills in the recipe premortem)",
        )
    _check_types(place, section)
    _check_range(f"{place}.k", section.k, 1)
    _check_range(f"{place}.weight", section.weight, 0, MAX_BUDGET)
    _check_range(f"{place}.item", section.item, 0, 100)
    _check_range(f"{place}.timeout", section.timeout, 0)
    _check_choice(f"{place}.score", "score of items", section.score, SECTION_SCORES)
    _check_choice(f"{place}.order", "order of items", section.order, packing.SECTION_ORDERS)
    for source in section.sources:
        _check_choice(f"{place}.sources", "source of this recipe", source, recipe.sources)
    for name, percent in section.lifts.items():
        _check_choice(f"{place}.lifts", "signal", name, ranking.BOOSTS)
        _check_range(f"{place}.lifts.{name}", percent, 0, MAX_PERCENT)
    for name in section.show:
        _check_choice(f"{place}.show", "part of an item", name, rendering.EXPERIENCE_FIELDS)


def check_filter(where: Filter) -> None:
    """Refuse a filter that nothing can pass."""
    if where.where:
        conditions.parse(where.where)
    if where.paths and all(is_negated(glob) for glob in where.paths):
        raise InputError(
            f"every glob of {', '.join(map(repr, where.paths))} excludes, so nothing is left",
            field="paths",
            value=where.paths,
            hint="put a glob that includes first, such as '**'",
        )


def check_budget(budget: Budget) -> None:
    """Refuse a budget that contradicts itself."""
    check_tokens("budget.total", budget.total)
    for name, value in budget.reserved.items():
        if not is_a(value, int) or value < 0:
            raise BudgetError(
                f"{name} must be a whole number of at least 0, not {value!r}",
                field="budget.reserved",
                value=value,
            )
    for name in ("history", "system", "overhead"):
        if (part := getattr(budget, name)) < 0:
            raise BudgetError(f"must be at least 0, not {part}", field=f"budget.{name}", value=part)
    if budget.available <= 0:
        reserved = ", ".join(f"{name} {value}" for name, value in budget.reserved.items())
        raise BudgetError(
            f"all of its {budget.total} tokens are reserved ({reserved})",
            field="budget.total",
            value=budget.total,
            hint="raise {budget} or lower {reserve}",
        )


def check_tokens(field: str, count: int) -> None:
    """Refuse a number of tokens that no window can have."""
    if not 0 < count <= MAX_BUDGET:
        raise BudgetError(
            f"must be between 1 and {MAX_BUDGET} tokens, not {count}", field=field, value=count
        )


def is_a(value: object, kind: type | tuple[type, ...]) -> bool:
    """Tell whether a value is of a type; True is not a number."""
    if isinstance(value, bool):
        return kind in {bool, object}
    return isinstance(value, kind)


def _check_types(place: str, part: Any) -> None:
    for item in fields(part):
        kind, expected = _EXPECTED[str(item.type)]
        value = getattr(part, item.name)
        if not is_a(value, kind):
            raise _wrong_type(f"{place}.{item.name}", expected, value)


def _wrong_type(field: str, expected: str, value: object) -> InputError:
    return InputError(f"expected {expected}, not {value!r}", field=field, value=value)


def _check_setting(setting: str, what: str, value: str) -> None:
    _check_choice(setting, what, value, CHOICES[setting])


def _check_choice(field: str, what: str, value: str, allowed: Iterable[str]) -> None:
    if value not in allowed:
        raise unknown(what, value, allowed, field=field)


def _check_range(field: str, value: float, least: int, most: int | None = None) -> None:
    if not value >= least or (most is not None and value > most):  # `not`: NaN is in no range
        limits = f"at least {least}" if most is None else f"between {least} and {most}"
        raise InputError(f"must be {limits}, not {value}", field=field, value=value)
