"""No recipe leaves out a piece as a repeat of what its page does not show."""

from __future__ import annotations

import pytest

from quire import Quire
from tests.pipeline.test_repeats import assert_repeats_are_shown


@pytest.mark.parametrize("name", ["agent", "documents", "entities", "workspace"])
@pytest.mark.parametrize("pack", ["score_weighted", "optimal"])
def test_no_recipe_leaves_out_what_it_does_not_show(shop: Quire, name: str, pack: str) -> None:
    for query in ("why is login slow: session cache and connections", "give tests a clock"):
        for budget in (60, 120, 200, 400, 1000, 4000):
            context = shop.assemble(
                query, recipe=name, budget=budget, pack=pack, reserve={}, allow_empty=True
            )
            assert context.tokens <= budget
            assert_repeats_are_shown(context)
