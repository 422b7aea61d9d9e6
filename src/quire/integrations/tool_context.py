"""Contexts for calls of tools.

The one place that turns a call into a context: the wrapper of tools and the proxy both use it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from quire.core.types import Context, Recipe, Situation
    from quire.engine import Quire

RECIPE = "tools"
RULES_RECIPE = "situation"
RULES = "rules"
"""The source of contexts."""
PATH_PARAMS = ("path", "file_path", "file")
"""Parameters that may name the file or folder that a call works on."""
PLACE_PARAMS = ("context", *PATH_PARAMS)
"""Parameters that may name the place whose rules apply, the most specific first."""
DEFAULT_BUDGET = 1000
"""Tokens of a context for a call."""
MAX_VALUE_LENGTH = 300
MAX_QUERY_LENGTH = 2000
"""Characters: a parameter may be a whole file, and the query is only its beginning."""


def context_for(
    quire: Quire,
    situation: Situation,
    *,
    budget: int = DEFAULT_BUDGET,
    shared_only: bool = True,
) -> Context:
    """Assemble what is known of a situation: the `tool`, its `params`, the `intent`.

    The contexts that apply come first: at the place that the call names, all of them; without one,
    those that the rules of the root inject for this call. What other users wrote for themselves is
    left out unless `shared_only` is off.
    """
    place = place_of(quire.root(), situation)
    context = quire.assemble(
        query_for(situation),
        recipe=_call_recipe(inherited=bool(place.base)),
        situation=place.situation,
        base=place.base,
        budget=budget,
        allow_empty=True,
        shared_only=shared_only,
    )
    return replace(context, notes=(*context.notes, *place.notes))


def _call_recipe(*, inherited: bool) -> Recipe:
    """Return the recipe for a call: with all contexts of its place, or those that rules inject."""
    from quire.pipeline import recipe as recipes

    recipe = recipes.load(RECIPE)
    rules = replace(recipe.sources[RULES], options={"inherited": int(inherited)})
    return replace(recipe, sources={**recipe.sources, RULES: rules})


def rules_context_for(
    quire: Quire,
    situation: Situation,
    *,
    budget: int = DEFAULT_BUDGET,
    shared_only: bool = True,
) -> Context:
    """Assemble the rules that apply to a call, and what was learned in similar calls."""
    place = place_of(quire.root(), situation)
    context = quire.assemble(
        query_for(situation),
        recipe=RULES_RECIPE,
        situation=place.situation,
        base=place.base,
        budget=budget,
        allow_empty=True,
        shared_only=shared_only,
    )
    return replace(context, notes=(*context.notes, *place.notes))


@dataclass(frozen=True, slots=True)
class CallPlace:
    """The place that a call works on, and the call as a situation at that place."""

    base: str
    situation: Situation
    notes: tuple[str, ...] = ()


def place_of(root: Path, situation: Situation) -> CallPlace:
    """Return the place of a call: the first of its parameters that names one.

    The situation gets the key `path`, if the call names a file or folder. A path outside of the
    project is not a place in it, so that only the rules of the root apply.
    """
    from quire.rules import places

    value = situation.get("params")
    params = value if isinstance(value, Mapping) else {}
    # A program may pass any value; rules are evaluated on plain data.
    plain, notes = _plain(situation)
    named = {name: str(params[name]) for name in PLACE_PARAMS if _is_path(params.get(name))}
    path = next((named[name] for name in PATH_PARAMS if name in named), "")
    if path:
        plain = {places.PATH_KEY: places.relative_path(root, path) or path, **plain}
    place = next(iter(named.values()), "")
    base = places.relative_path(root, place)
    if base is None:
        note = f"{place!r} is outside of the project: only the rules of its root apply"
        return CallPlace("", plain, (*notes, note))
    return CallPlace(base, plain, notes)


def _plain(situation: Situation) -> tuple[Situation, tuple[str, ...]]:
    """Return a situation as plain data; without its parameters if rules cannot read them."""
    from quire.errors import InputError
    from quire.rules import validate_situation

    try:
        return validate_situation(json.loads(json.dumps(situation, default=str))), ()
    except (InputError, TypeError, ValueError, RecursionError) as error:
        rest = {key: str(value) for key, value in situation.items() if key != "params"}
        return rest, (f"rules do not see the parameters of the call: {error}",)


def _is_path(value: object) -> bool:
    return isinstance(value, str | os.PathLike) and bool(str(value))


def query_for(situation: Situation) -> str:
    """Word a situation as a query: the intent, the tool's name, its parameters."""
    name = str(situation.get("tool", ""))
    parts = (
        str(situation.get("intent") or ""),
        name.replace("_", " ").replace("-", " "),
        *_texts(situation.get("params")),
    )
    return "\n".join(part for part in parts if part.strip())[:MAX_QUERY_LENGTH] or name


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts and numbers in a parameter; names that begin with `_` are internal."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            if not str(key).startswith("_"):
                yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield str(value)[:MAX_VALUE_LENGTH]
