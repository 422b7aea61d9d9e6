"""What only names a chunk leaves out says the same as what makes candidates of all."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from quire.core.types import Recipe
from quire.pipeline import rank as ranking
from quire.pipeline.rank import rank
from tests.pipeline.builders import draft
from tests.pipeline.strategies import CASES, World, recipes, worlds


@settings(
    max_examples=CASES // 4,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(worlds(), recipes, st.integers(1, 6), st.lists(st.integers(0, 30), max_size=4))
def test_what_is_only_named_is_decided_as_if_it_were_a_candidate(
    monkeypatch: pytest.MonkeyPatch, world: World, recipe: Recipe, top: int, seen: list[int]
) -> None:
    names = sorted(world.found)
    started = draft(
        {"lexical": world.lexical, "semantic": world.semantic},
        replace(recipe, rank=replace(recipe.rank, top=top, deeper=0)),
    )
    known = tuple(dict.fromkeys(names[place % len(names)] for place in seen if names))
    started = replace(started, request=replace(started.request, seen=known))
    with monkeypatch.context() as patched:
        patched.setattr(ranking, "_is_fused_order_final", lambda _: False)
        expected = rank(started)
    found = rank(started)
    assert found.candidates == expected.candidates
    assert found.decisions == expected.decisions
