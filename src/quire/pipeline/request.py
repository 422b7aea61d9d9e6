"""What exactly is asked for?

Options of a caller, a recipe and defaults become one value that says everything, so that two
askings that mean the same are the same, and a receipt can be replayed. What cannot be is refused
here, by name, before anything is looked up.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict

from quire import rules, tokens
from quire.core import toml
from quire.core.protocols import Counter
from quire.core.types import (
    NO_FILTER,
    Filter,
    Recipe,
    Recorded,
    Request,
    Section,
    Viewer,
)
from quire.errors import BudgetError, InputError, InvalidContextTypeError
from quire.pipeline import recipe as recipes
from quire.pipeline.validate import DEFAULT_RECIPE, check, is_a


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
    groups: bool
    """Code, documentation, conversations and the rest under titles of their own."""
    content: bool
    """The text itself, not only what an entity says of itself."""
    cap: int
    """At most so many characters of a piece; 0: all of it."""
    sources: int
    """Name so many sources, at most, at the end."""
    levels: Sequence[str]
    """With how much detail pieces may be shown: `full`, `signature`, `outline`."""
    pack: str
    order: str
    overflow: str
    hard: bool
    dedup: float
    per_document: int
    recent: int
    feedback: int
    """What feedback moves a score by at most, in percent; 0: nothing."""
    as_of: int | None
    previous: Sequence[str]
    """The chunk ids of an earlier context, for the order `stable`."""
    exact: bool
    allow_empty: bool
    types: Sequence[str]
    """Which sections of the recipe are asked for, by name: `memories`, `code`, …"""
    limit: int
    """At most so many items of each section; one that has fewer than others keeps to that."""
    shares: Mapping[str, int]
    """What sections have of the budget, in proportion to each other; one with 0 is not asked."""
    cut: str
    """What is kept of a piece that is cut: `keep_start`, `keep_end`, `extractive`, `summarize`."""
    focus: str | None
    """What the asker looks at: the id of a record, or the path of a file."""
    include: Sequence[str]
    """Records that belong in, whatever is asked: ids, or paths of files."""
    exclude: Sequence[str]
    """Records that do not, nor what stands below them; likewise."""
    prefer: Sequence[str]
    """Kinds of things that answer best: `todo`, `page`."""
    depth: int | None
    """How far up and down from the focus is looked."""
    history: Sequence[tuple[str, str]]
    """The conversation so far: who speaks, and what."""
    system: str
    """The caller's own instructions."""
    situation: Mapping[str, Any]
    """What is going on, for rules to be decided by: `tool`, `params`, `path`, `intent`, …"""
    base: str
    """The context, or the place, whose rules hold."""


@dataclass(frozen=True, slots=True)
class ResolvedRequest:
    """A question with everything decided."""

    request: Request
    recipe: Recipe
    counter: Counter
    viewer: Viewer | str | None = None
    allow_empty: bool = False
    recorded: Recorded | None = None

    @property
    def key(self) -> tuple[Hashable, ...]:
        """What tells this asking from others, the viewer aside."""
        recipe = recipes.recipe_hash(self.recipe)
        # Two models that count alike are not told the same of it.
        counter = (self.counter.name, self.counter.note)
        recorded = None if self.recorded is None else self.recorded.key
        return (self.request, recipe, counter, self.allow_empty, recorded)


DEFAULT_MODEL = tokens.DEFAULT_MODEL
GIVEN = ("history", "system")
"""Parts of a page that the asker brings along."""

_BUDGET = {"budget": "total", "reserve": "reserved", "overflow": "overflow", "hard": "hard"}
_FIT = ("pack", "order", "dedup", "per_document", "levels", "cut")
_RANK = ("recent", "feedback")
_RENDER = ("format", "metadata", "groups", "content", "cap", "sources")
_BESIDE: dict[str, tuple[type | tuple[type, ...], str]] = {
    "recipe": ((str, Recipe), "a name, a file or a Recipe"),
    "model": (str, "a name"),
    "viewer": ((str, Viewer, type(None)), "a name or a Viewer"),
    "where": (Filter, "a Filter"),
    "as_of": ((int, type(None)), "seconds since 1970"),
    "previous": ((list, tuple), "a list of chunk ids"),
    "exact": (bool, "True or False"),
    "allow_empty": (bool, "True or False"),
    "types": ((list, tuple), "a list of names"),
    "limit": (int, "a whole number"),
    "shares": (Mapping, "tokens by the names of sections"),
    "focus": ((str, type(None)), "an id"),
    "include": ((list, tuple), "a list of ids"),
    "exclude": ((list, tuple), "a list of ids"),
    "prefer": ((list, tuple), "a list of kinds"),
    "depth": ((int, type(None)), "a whole number"),
    "history": ((list, tuple), "a list of pairs: who speaks, and what"),
    "system": (str, "a text"),
    "situation": (Mapping, "a mapping of plain data"),
    "base": (str, "a path"),
}
"""Options that do not go into the recipe, and what they may be."""


def decide(query: str, options: Options) -> ResolvedRequest:
    """Put a question, its options and their recipe together."""
    if not isinstance(query, str) or not query.strip():
        raise InputError("the query is empty: say what the context is for")
    try:
        query.encode()
    except UnicodeEncodeError as error:
        raise InputError("the query holds bytes that are no UTF-8: write it as text") from error
    _known(options)
    named = options.get("recipe", DEFAULT_RECIPE)
    recipe = recipes.load(named) if isinstance(named, str) else named
    recipe = _adjusted(recipe, dict(options))
    check(recipe)
    # 1 and 1.0 mean the same, but are not written the same.
    recipe = replace(recipe, fit=replace(recipe.fit, dedup=float(recipe.fit.dedup)))
    counter = tokens.open_counter(options.get("model", DEFAULT_MODEL))
    where = options.get("where", NO_FILTER)
    return ResolvedRequest(
        request=Request(
            query=query.strip(),
            model=counter.name,
            kinds=where.kinds,
            paths=where.paths,
            since=where.since,
            until=where.until,
            as_of=options.get("as_of"),
            exact=options.get("exact", False),
            previous=tuple(options.get("previous", ())),
            focus=options.get("focus"),
            include=tuple(options.get("include", ())),
            exclude=tuple(options.get("exclude", ())),
            prefer=tuple(options.get("prefer", ())),
            depth=options.get("depth"),
            history=_conversation(options.get("history", ())),
            system=options.get("system", "").strip(),
            situation=_situation(options.get("situation")),
            base=options.get("base", "").strip("/"),
        ),
        recipe=recipe,
        counter=counter,
        viewer=options.get("viewer"),
        allow_empty=options.get("allow_empty", False),
    )


def _situation(told: Mapping[str, Any] | None) -> str:
    """Write a situation in the one form that stands for it."""
    if told is None:
        return ""
    return json.dumps(
        rules.validate_situation(told), sort_keys=True, ensure_ascii=False, separators=(",", ":")
    )


def _conversation(told: Sequence[object]) -> tuple[tuple[str, str], ...]:
    found = []
    for message in told:
        if not isinstance(message, list | tuple) or [*map(type, message)] != [str, str]:
            raise InputError(f"history holds {message!r}: expected who speaks, and what")
        found.append((message[0], message[1]))
    return tuple(found)


def _known(options: Mapping[str, Any]) -> None:
    """Refuse an option that does not exist, or that is none of what it may be."""
    for name, value in options.items():
        if name not in Options.__annotations__:
            toml.refused("assemble", name, Options.__annotations__)
        kind, wanted = _BESIDE.get(name, (object, ""))
        if not is_a(value, kind):
            raise InputError(f"{name} is {value!r}: expected {wanted}")


def _adjusted(recipe: Recipe, options: Mapping[str, Any]) -> Recipe:
    """Let options override what a recipe says."""
    budget = {ours: options[name] for name, ours in _BUDGET.items() if name in options}
    fitted = {name: options[name] for name in _FIT if name in options}
    if isinstance(fitted.get("levels"), list | tuple):
        fitted["levels"] = tuple(fitted["levels"])
    if "pack" in fitted:
        fitted.setdefault("order", "auto")  # another way of packing brings its own order
    said = {name: options[name] for name in _RENDER if name in options}
    ranked = {name: options[name] for name in _RANK if name in options}
    recipe = _of_types(recipe, options)
    return replace(
        recipe,
        budget=replace(recipe.budget, **budget),
        fit=replace(recipe.fit, **fitted),
        render=replace(recipe.render, **said),
        rank=replace(recipe.rank, **ranked),
    )


def _of_types(recipe: Recipe, options: Mapping[str, Any]) -> Recipe:
    """Keep the sections that are asked for, each with as many items as are asked for."""
    if not recipe.sections and ("types" in options or "limit" in options):
        named = "types" if "types" in options else "limit"
        raise InputError(
            f"{named}: the recipe {recipe.name!r} has no sections; the recipe 'agent' has some"
        )
    sections = recipe.sections
    if "types" in options:
        wanted = _section_names(recipe, options["types"])
        sections = tuple(section for section in sections if section.name in wanted)
    if "shares" in options:
        sections, recipe = _shared(recipe, sections, options["shares"])
    if "limit" in options:
        limit, most = options["limit"], max(section.k for section in recipe.sections)
        if limit < 1:
            raise InputError(f"limit is {limit}: ask for at least one item of each section")
        # What has fewer than the others on purpose, such as values, does not get more.
        sections = tuple(
            replace(section, k=limit if section.k == most else min(section.k, limit))
            for section in sections
        )
    return replace(recipe, sections=sections)


def _shared(
    recipe: Recipe, sections: Sequence[Section], shares: Mapping[str, int]
) -> tuple[tuple[Section, ...], Recipe]:
    """Give sections their parts of the budget; what has none is not asked."""
    known = [section.name for section in sections]
    for name, part in shares.items():
        if name not in known and name not in GIVEN:
            raise InvalidContextTypeError(
                f"shares: there is no {name!r} in the recipe {recipe.name!r}; "
                f"there are {', '.join((*known, *GIVEN))}"
            )
        if not is_a(part, int) or part < 0:
            raise BudgetError(f"{part!r} tokens for {name}: it must be a whole number, not below 0")
    kept = tuple(
        replace(section, weight=shares.get(section.name, section.weight))
        for section in sections
        if shares.get(section.name, section.weight)
    )
    if not kept:
        raise BudgetError("shares: no section has any tokens, so that nothing could be found")
    budget = replace(
        recipe.budget,
        history=shares.get("history", recipe.budget.history),
        system=shares.get("system", recipe.budget.system),
    )
    return kept, replace(recipe, budget=budget)


def _section_names(recipe: Recipe, types: Sequence[str]) -> list[str]:
    known = [section.name for section in recipe.sections]
    if not types:
        raise InvalidContextTypeError(
            f"types: none is named, so nothing could be found; there are {', '.join(known)}"
        )
    singular = {_singular(name): name for name in known}
    for name in types:
        if not isinstance(name, str) or (name not in known and name not in singular):
            raise InvalidContextTypeError(
                f"types: there is no {name!r} in the recipe {recipe.name!r}; "
                f"there are {', '.join(known)}"
            )
    wanted = {singular.get(name, name) for name in types}
    return [name for name in known if name in wanted]


def _singular(name: str) -> str:
    return name[:-3] + "y" if name.endswith("ies") else name.removesuffix("s")
