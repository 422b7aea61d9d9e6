"""Every context can be made again from the pieces that its receipt names.

A piece must be a function of its own candidate, the request and the recipe: whoever changes how
pieces are cut or rendered so that this no longer holds has to record what is missing.
"""

from __future__ import annotations

from typing import Any

import pytest

from quire import Quire
from quire.errors import QuireError
from tests.receipts.conftest import as_read
from tests.receipts.forgeries import forged

RECIPES = ("documents", "entities", "situation", "workspace", "agent")
FORMATS = (None, "markers", "markdown", "xml", "plain", "json")
OVERFLOWS = ("skip", "cut", "stop")
OTHERS: dict[str, dict[str, Any]] = {
    "metadata": {"metadata": True},
    "edges": {"order": "edges", "budget": 900},
    "interleaved": {"pack": "interleaved"},
    "optimal": {"pack": "optimal", "budget": 500},
    "soft": {"hard": False, "budget": 200},
    "by count": {"model": "approx"},
    "kept end": {"cut": "keep_end", "overflow": "cut", "budget": 250},
    "extracted": {"cut": "extractive", "overflow": "cut", "budget": 250},
    "capped": {"recipe": "entities", "cap": 80},
    "levels": {"recipe": "entities", "levels": ["full", "signature", "outline"], "budget": 150},
    "a conversation": {"recipe": "workspace", "history": [("user", "And the quorum?")]},
    "instructions": {"recipe": "workspace", "system": "Be brief."},
    "excluded": {"exclude": ["minutes.md"]},
    "a focus": {"recipe": "workspace", "focus": "short"},
    "nothing": {"query": "zzzz", "kinds": ["commit"]},
    "too small": {"budget": 2, "allow_empty": True},
    "no room for sources": {"recipe": "entities", "budget": 45, "sources": 5},
    "a viewer": {"viewer": "alice"},
}


def check(world: Quire, options: dict[str, Any]) -> bool:
    """Assemble and verify; return whether there was anything to verify."""
    query = options.pop("query", "quorum vote of the validators")
    try:
        context = world.assemble(query, **{"reserve": {}, "allow_empty": True, **options})
    except QuireError:
        return False
    verified = world.verify(as_read(context.receipt), context.text, options.get("viewer"))
    assert verified.problems == (), options
    assert verified.binds
    return True


@pytest.mark.parametrize("recipe", RECIPES)
def test_every_recipe_and_format_is_rendered_again(world: Quire, recipe: str) -> None:
    made = sum(
        check(world, {"recipe": recipe, "overflow": overflow, "budget": budget}
              | ({} if form is None else {"format": form}))
        for form in FORMATS
        for overflow, budget in zip(OVERFLOWS, (180, 260, 700), strict=True)
    )  # fmt: skip
    assert made >= len(OVERFLOWS)


@pytest.mark.parametrize("name", sorted(OTHERS))
def test_contexts_with_options_are_rendered_again(world: Quire, name: str) -> None:
    assert check(world, {"budget": 400, **OTHERS[name]})


def test_a_small_change_of_how_a_piece_is_shown_is_noticed(world: Quire) -> None:
    context = world.assemble("quorum vote", budget=300, reserve={}, overflow="cut")
    receipt = as_read(context.receipt)
    (cut,) = [source for source in receipt["sources"] if source["level"] == "cut"]
    cut["room"] //= 2
    assert world.verify(forged(receipt), context.text)
