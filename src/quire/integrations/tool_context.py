"""Contexts for calls of tools.

The one place that turns a call into a context: the wrapper of tools and the proxy both use it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from quire.core.types import Context, Situation
    from quire.engine import Quire

RECIPE = "agent"
RULES_RECIPE = "situation"
PLACE_PARAMS = ("context", "path", "file_path", "file")
"""Parameters that may name the place that a call works on, the most specific first."""
TITLE = "What is known (from Quire, not from the tool)"
DEFAULT_BUDGET = 1000
"""Tokens of a context for a call."""
ITEMS_PER_SECTION = 5
"""More would seldom fit, and each call waits for all of them."""
CANDIDATES_PER_SEARCH = 8
"""Small for the same reason."""
MAX_VALUE_LENGTH = 300
MAX_QUERY_LENGTH = 2000
"""Characters: a parameter may be a whole file, and the query is only its beginning."""


def context_for(quire: Quire, situation: Situation, *, budget: int = DEFAULT_BUDGET) -> Context:
    """Assemble what is known of a situation: the `tool`, its `params`, the `intent`."""
    from quire.pipeline import recipe as recipes

    recipe = recipes.load(RECIPE)
    recipe = replace(
        recipe,
        sources={
            name: replace(source, k=CANDIDATES_PER_SEARCH)
            for name, source in recipe.sources.items()
        },
        render=replace(recipe.render, title=TITLE),
    )
    return quire.assemble(
        query_for(situation),
        recipe=recipe,
        budget=budget,
        limit=ITEMS_PER_SECTION,
        allow_empty=True,
    )


def rules_context_for(
    quire: Quire, situation: Situation, *, budget: int = DEFAULT_BUDGET
) -> Context:
    """Assemble the rules that apply to a call, and what was learned in similar calls.

    The place is the first of the parameters `context`, `path`, `file_path` and `file`.
    """
    value = situation.get("params")
    params = value if isinstance(value, Mapping) else {}
    base = next((params[name] for name in PLACE_PARAMS if isinstance(params.get(name), str)), "")
    return quire.assemble(
        query_for(situation),
        recipe=RULES_RECIPE,
        # A program may pass any value; rules are evaluated on plain data.
        situation=json.loads(json.dumps(situation, default=str)),
        base=str(base),
        budget=budget,
        allow_empty=True,
    )


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
