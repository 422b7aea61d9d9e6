"""What is known that helps with a call of a tool?

The one place where a situation becomes a context: the wrapper of tools and the proxy both ask here.
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
RULES = "situation"
PLACES = ("context", "path", "file_path", "file")
"""What a call may say of where it works, the most telling first."""
TITLE = "What is known (from Quire, not from the tool)"
CAP = 1000
"""Tokens that a context for a call may have, unless it is said otherwise."""
ITEMS = 5
"""Of each section: more would seldom fit, and each call waits for all of them."""
DEPTH = 8
"""So many candidates are asked of each search, for the same reason."""
LONGEST_VALUE = 300
LONGEST_QUESTION = 2000
"""Characters: what a tool is given may be a whole file, and the question is what it begins with."""


def context_for(quire: Quire, situation: Situation, *, budget: int = CAP) -> Context:
    """Assemble what is known of a situation: the `tool`, its `params`, the `intent`."""
    from quire.pipeline import recipe as recipes

    recipe = recipes.load(RECIPE)
    recipe = replace(
        recipe,
        sources={name: replace(source, k=DEPTH) for name, source in recipe.sources.items()},
        render=replace(recipe.render, title=TITLE),
    )
    return quire.assemble(
        question(situation), recipe=recipe, budget=budget, limit=ITEMS, allow_empty=True
    )


def ruled_context_for(quire: Quire, situation: Situation, *, budget: int = CAP) -> Context:
    """Assemble the rules that hold for a call, and what was learned in others like it.

    The place is the first of `context`, `path`, `file_path` and `file` that the call is given.
    """
    given = situation.get("params")
    params = given if isinstance(given, Mapping) else {}
    base = next((params[name] for name in PLACES if isinstance(params.get(name), str)), "")
    return quire.assemble(
        question(situation),
        recipe=RULES,
        # What a program passes need not be plain data; what is judged must be.
        situation=json.loads(json.dumps(situation, default=str)),
        base=str(base),
        budget=budget,
        allow_empty=True,
    )


def question(situation: Situation) -> str:
    """Say a situation as a question: what is meant, the tool's name, what it is given."""
    name = str(situation.get("tool", ""))
    parts = (
        str(situation.get("intent") or ""),
        name.replace("_", " ").replace("-", " "),
        *_said(situation.get("params")),
    )
    return "\n".join(part for part in parts if part.strip())[:LONGEST_QUESTION] or name


def _said(value: Any) -> Iterator[str]:
    """Give the texts and numbers in what a tool is given; what begins with `_` is not meant."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            if not str(key).startswith("_"):
                yield from _said(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _said(item)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield str(value)[:LONGEST_VALUE]
