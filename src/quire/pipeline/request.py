"""Resolve a query and its options into one request that leaves nothing open.

The options of a caller, a recipe and the defaults become one value, so that two requests with the
same meaning are equal and a receipt can be replayed. Options that contradict each other or do not
exist are refused by name, before anything is looked up.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from quire import rules, tokens
from quire.core import conditions, dates
from quire.core.frozen import dataclass
from quire.core.protocols import Counter
from quire.core.types import NO_FILTER, Filter, Recipe, Recorded, Request, Section, Viewer
from quire.core.types.option_spec import DATE, Option
from quire.core.types.options import BY_SETTING, FILTERS, OPTIONS, Options
from quire.errors import BudgetError, CallerError, InputError, InvalidContextTypeError, unknown
from quire.pipeline import recipe as recipes
from quire.pipeline.effects import options_without_effect
from quire.pipeline.sections import filter_of
from quire.pipeline.validate import (
    DEFAULT_RECIPE,
    check,
    check_filter,
    is_a,
    refuse_brought,
)

DEFAULT_MODEL = tokens.DEFAULT_MODEL
MAX_QUERY_LENGTH = 100_000
"""Characters of a query. A longer one is a document: what it asks for cannot be told."""
FOOTER_BUDGET = 1000
"""A smaller budget goes to the texts: sources are listed only if the request says so."""
SEARCH_OPTIONS = (*FILTERS, "viewer", "exact", "refresh")
"""The options of a context that a search has as well."""
OWN_PARTS = ("history", "system")
"""Parts of a page that the caller provides, which have a share of the budget like sections."""


@dataclass(frozen=True, slots=True)
class ResolvedRequest:
    """A request with everything decided."""

    request: Request
    recipe: Recipe
    counter: Counter
    viewer: Viewer | str | None = None
    allow_empty: bool = False
    recorded: Recorded | None = None
    notes: tuple[str, ...] = ()
    """The options that were given and have no effect."""
    refresh: bool = True
    """Whether quoted files that changed on disk may be read again."""

    @property
    def key(self) -> tuple[Hashable, ...]:
        """What distinguishes this request from others, the viewer aside."""
        recipe = recipes.recipe_hash(self.recipe)
        # Two models may count alike and still have different notes.
        counter = (self.counter.name, self.counter.note)
        recorded = None if self.recorded is None else self.recorded.key
        return (self.request, recipe, counter, self.allow_empty, recorded, self.notes)


def resolve(
    query: str,
    options: Options,
    today: int | None = None,
    own_counter: Counter | None = None,
) -> ResolvedRequest:
    """Combine a query, its options and their recipe.

    Args:
        query: What is asked.
        options: The options of the context.
        today: The moment of a request that names none, for recipes that ask for it.
        own_counter: The caller's own counter, which counts unless the options name another one.
    """
    text = check_query(query, "say what the context is for")
    _check_options(options)
    own, recipe = _resolved_recipe(options)
    refuse_brought(recipe)
    counter = open_counter(options.get("model"), own_counter)
    request = Request(query=text, model=counter.name, **_recorded_values(options))
    if request.as_of is None and recipe.rank.today:
        request = replace(request, as_of=today)
    check_filter(filter_of(request))
    return ResolvedRequest(
        request=request,
        recipe=recipe,
        counter=counter,
        viewer=options.get("viewer"),
        allow_empty=options.get("allow_empty", False),
        notes=tuple(options_without_effect(options, own, recipe)),
        refresh=options.get("refresh", True),
    )


def open_counter(name: str | None, own: Counter | None = None) -> Counter:
    """Open a counter by its name; None: the caller's own, or the default one."""
    if own is not None and name in {None, own.name}:
        return own
    return tokens.open_counter(DEFAULT_MODEL if name is None else name)


def resolve_search(
    query: str, k: int, options: Mapping[str, Any], own_counter: Counter | None = None
) -> ResolvedRequest:
    """Resolve a search: the default recipe, up to a ranking of the k best."""
    if isinstance(k, bool) or not isinstance(k, int):
        raise InputError(f"expected a whole number, not {k!r:.80}", field="k", value=k)
    if k < 1:
        raise InputError(f"must be at least 1, not {k}", field="k", value=k)
    check_query(query, "say what to look for")
    for name in options:
        if name not in SEARCH_OPTIONS:
            raise unknown("option", name, SEARCH_OPTIONS)
    resolved = resolve(query, {**options}, own_counter=own_counter)  # type: ignore[typeddict-item]  # checked above
    recipe = resolved.recipe
    # Twice as deep, since the sources find different chunks.
    sources = {
        name: replace(source, k=max(source.k, 2 * k)) for name, source in recipe.sources.items()
    }
    ranking = replace(recipe.rank, top=k, deeper=0)
    return replace(resolved, recipe=replace(recipe, sources=sources, rank=ranking))


def check_query(query: object, hint: str) -> str:
    """Return a query without blanks around it; refuse one that cannot be searched for."""
    if not isinstance(query, str) or not query.strip():
        raise InputError("the query is empty", hint=hint)
    if len(query) > MAX_QUERY_LENGTH:
        raise InputError(
            f"the query has {len(query)} characters; at most {MAX_QUERY_LENGTH} are allowed",
            hint="ask a shorter question",
        )
    try:
        query.encode()
    except UnicodeEncodeError as error:
        raise InputError("the query is not valid Unicode") from error
    return query.strip()


def _check_options(options: Mapping[str, Any]) -> None:
    for name, value in options.items():
        if name not in OPTIONS:
            raise unknown("option", name, OPTIONS)
        option = OPTIONS[name]
        if not option.accepts(value):
            raise InputError(f"expected {option.expected}, not {value!r}", field=name, value=value)
    where = options.get("where", NO_FILTER)
    if isinstance(where, Filter) and where != NO_FILTER:
        for name in FILTERS:
            if name in options and name != "where":
                raise InputError("cannot be combined with a Filter as `where`", field=name)


def _resolved_recipe(options: Options) -> tuple[Recipe, Recipe]:
    """Return the recipe, and the same with the settings that options override, checked."""
    named = options.get("recipe", DEFAULT_RECIPE)
    if isinstance(named, str):
        own = recipes.load(named)
    else:
        own = named if isinstance(named, Recipe) else recipes.from_mapping(named)
    recipe = _overridden(own, dict(options))
    try:
        check(recipe)
    except CallerError as error:
        # Who gave an option reads of that option, who wrote a recipe of the recipe's setting.
        option = BY_SETTING.get(error.field)
        if option is not None and option.name in options:
            error.field = option.name
        raise
    if "sources" not in options and recipe.budget.available < FOOTER_BUDGET:
        recipe = replace(recipe, render=replace(recipe.render, sources=0))
    # 1 and 1.0 mean the same, but are written differently.
    return own, replace(recipe, fit=replace(recipe.fit, dedup=float(recipe.fit.dedup)))


def _overridden(recipe: Recipe, options: Mapping[str, Any]) -> Recipe:
    changes: dict[str, dict[str, Any]] = {}
    for setting, option in BY_SETTING.items():
        if option.name in options:
            part, field = setting.split(".")
            changes.setdefault(part, {})[field] = _frozen(options[option.name])
    if "pack" in options:
        changes["fit"].setdefault("order", "auto")  # each way of packing has an order of its own
    recipe = _with_sections(recipe, options)
    parts = {part: replace(getattr(recipe, part), **values) for part, values in changes.items()}
    return replace(recipe, **parts)


def _recorded_values(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a request's fields, for the options that are given."""
    where = options.get("where", NO_FILTER)
    given = where if isinstance(where, Filter) else NO_FILTER
    values = {name: getattr(given, name) for name in FILTERS}
    values |= {name: value for name, value in options.items() if OPTIONS[name].recorded}
    values["where"] = given.where if where is given else where
    recorded = {name: _recorded_value(OPTIONS[name], value) for name, value in values.items()}
    return recorded | {"alive_at": given.alive_at}


def _recorded_value(option: Option, value: Any) -> Any:
    """Return a value in the one form that stands for it."""
    if option.form == DATE:
        end = option.name == "until"
        return dates.parse_date(option.name, value, end=end) if isinstance(value, str) else value
    return _CANONICAL.get(option.name, _frozen)(value)


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _canonical_situation(situation: Mapping[str, Any]) -> str:
    return json.dumps(
        rules.validate_situation(situation),
        sort_keys=True,
        ensure_ascii=False,
        separators=(",", ":"),
    )


def _messages(history: Sequence[object]) -> tuple[tuple[str, str], ...]:
    messages = []
    for message in history:
        if not isinstance(message, list | tuple) or [*map(type, message)] != [str, str]:
            raise InputError(
                f"expected pairs of role and content, not {message!r}",
                field="history",
                value=message,
            )
        messages.append((message[0], message[1]))
    return tuple(messages)


_CANONICAL: Mapping[str, Callable[[Any], Any]] = {
    "situation": _canonical_situation,
    "history": _messages,
    "system": str.strip,
    "base": lambda place: place.strip("/"),
    "where": conditions.read,
}
"""How the values of some options are written in the one form that stands for them."""


# --- sections -----------------------------------------------------------------------------------


def _with_sections(recipe: Recipe, options: Mapping[str, Any]) -> Recipe:
    """Keep the sections that are wanted, each with its share and its number of items."""
    for name in ("types", "limit"):
        if name in options and not recipe.sections:
            raise InputError(
                f"the recipe {recipe.name!r} has no sections",
                field=name,
                hint="use a recipe with sections, such as 'agent'",
            )
    sections = recipe.sections
    if "types" in options:
        wanted = _section_names(recipe, options["types"])
        if len(wanted) < len(sections):  # to name some of them is to ask for these
            sections = tuple(
                replace(section, asked=()) for section in sections if section.name in wanted
            )
    if "shares" in options:
        sections, recipe = _shared(recipe, sections, options["shares"])
    if "limit" in options:
        sections = _limited(recipe, sections, options["limit"])
        recipe = replace(recipe, rank=replace(recipe.rank, fill=0))
    return replace(recipe, sections=sections)


def _limited(recipe: Recipe, sections: Sequence[Section], limit: int) -> tuple[Section, ...]:
    if limit < 1:
        raise InputError(f"must be at least 1, not {limit}", field="limit", value=limit)
    usual = max(section.k for section in recipe.sections)
    # A section with fewer items than the others, such as values, has fewer on purpose.
    return tuple(
        replace(section, k=limit if section.k == usual else min(section.k, limit))
        for section in sections
    )


def _shared(
    recipe: Recipe, sections: Sequence[Section], shares: Mapping[str, int]
) -> tuple[tuple[Section, ...], Recipe]:
    """Give sections their shares of the budget; a section with no share is left out."""
    known = (*(section.name for section in sections), *OWN_PARTS)
    for name, share in shares.items():
        if name not in known:
            raise _unknown_section("shares", recipe, name, known)
        if not is_a(share, int) or share < 0:
            raise BudgetError(
                f"the share of {name} must be a whole number of at least 0, not {share!r}",
                field="shares",
                value=share,
            )
    selected = tuple(
        replace(section, weight=shares.get(section.name, section.weight))
        for section in sections
        if shares.get(section.name, section.weight)
    )
    if not selected:
        raise BudgetError("no section has a share above 0", field="shares", value=dict(shares))
    budget = replace(
        recipe.budget,
        history=shares.get("history", recipe.budget.history),
        system=shares.get("system", recipe.budget.system),
    )
    return selected, replace(recipe, budget=budget)


def _section_names(recipe: Recipe, types: Sequence[str]) -> set[str]:
    known = [section.name for section in recipe.sections]
    if not types:
        raise InvalidContextTypeError("names no section", field="types", allowed=known)
    singular = {_singular(name): name for name in known}
    for name in types:
        if not isinstance(name, str) or (name not in known and name not in singular):
            raise _unknown_section("types", recipe, name, known)
    return {singular.get(name, name) for name in types}


def _unknown_section(
    field: str, recipe: Recipe, name: object, known: Sequence[str]
) -> InvalidContextTypeError:
    return InvalidContextTypeError(
        f"the recipe {recipe.name!r} has no section {name!r}",
        field=field,
        value=name,
        allowed=known,
    )


def _singular(name: str) -> str:
    return name[:-3] + "y" if name.endswith("ies") else name.removesuffix("s")
