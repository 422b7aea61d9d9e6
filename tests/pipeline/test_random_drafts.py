"""Every promise holds for random hits and random recipes."""

from __future__ import annotations

import re
from dataclasses import replace

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from quire import tokens
from quire.core.types import Context, Recipe
from quire.errors import BudgetTooSmallError
from quire.pipeline.draft import Draft
from quire.pipeline.steps import assemble
from tests.pipeline.builders import chunk, draft
from tests.pipeline.invariants import holds, passes_over
from tests.pipeline.strategies import CASES, World, models, recipes, worlds

often = settings(max_examples=CASES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
rarer = settings(
    max_examples=CASES // 4, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


def made(started: Draft) -> Context:
    return assemble(started, (), ())


def drafted(world: World, recipe: Recipe, model: str, earlier: list[int]) -> Draft:
    names = sorted(world.found)
    return draft(
        {"lexical": world.lexical, "semantic": world.semantic},
        recipe,
        counter=tokens.open_counter(model),
        previous=list(dict.fromkeys(names[place % len(names)] for place in earlier if names)),
        allow_empty=True,
    )


@often
@given(worlds(), recipes, models, st.lists(st.integers(0, 30), max_size=4, unique=True))
def test_every_context_keeps_every_promise(
    world: World, recipe: Recipe, model: str, earlier: list[int]
) -> None:
    started = drafted(world, recipe, model, earlier)
    context = made(started)
    holds(
        context,
        recipe,
        world.found,
        model=started.counter.name,
        previous=started.request.previous,
    )
    assert made(started) == context


@rarer
@given(worlds(), recipes, models)
def test_a_budget_that_is_too_small_names_the_smallest_that_works(
    world: World, recipe: Recipe, model: str
) -> None:
    small = replace(recipe, budget=replace(recipe.budget, total=1, hard=True))
    started = replace(drafted(world, small, model, []), allow_empty=False)
    if not world.found:
        assert made(started).text == ""
        return
    try:
        context = made(started)
    except BudgetTooSmallError as error:
        named = re.search(r"raise budget to (\d+)", str(error))
        assert named is not None
        total = int(named[1])
    else:  # some counters take nothing for a text of a few bytes
        assert context.text
        return

    def at(budget: int) -> Draft:
        enough = replace(small, budget=replace(small.budget, total=budget))
        return replace(started, recipe=enough)

    context = made(at(total))
    assert context.sources
    assert context.tokens <= total
    for less in range(max(1, total - 3), total):
        refusal = ""
        try:
            context = made(at(less))
        except BudgetTooSmallError as error:
            refusal = str(error)
        if refusal:
            assert re.search(rf"raise budget to {total}\b", refusal)
        else:  # of a text that begins with empty lines, a shorter cut may fit as well
            assert recipe.budget.overflow == "cut"
            assert context.tokens <= less
    empty = made(replace(started, allow_empty=True))
    assert (empty.text, empty.tokens, empty.sources) == ("", 0, ())
    assert any(f"raise `budget` to {total}" in note for note in empty.notes)


@rarer
@given(worlds(), recipes, st.sampled_from(["o200k", "approx"]))
def test_cut_fills_the_budget(world: World, recipe: Recipe, model: str) -> None:
    """Above 95%, where more was there; markers of forty tokens aside.

    Blank lines alone are nothing to cut: what is made of them (and takes a token for each in JSON)
    is left out whole.
    """
    assume(not any("\n" * 10 in one.text for one in world.found.values()))
    budget = replace(recipe.budget, total=400, overflow="cut", hard=True, overhead=0)
    filling = replace(recipe, budget=budget)
    context = made(drafted(world, filling, model, []))
    if passes_over(filling):
        assert not context.truncated
    elif context.omitted or any(one.verdict == "cut" for one in context.decisions):
        assert context.truncated
        assert context.tokens > 0.95 * context.available


@rarer
@given(worlds(), recipes)
def test_a_greater_budget_never_holds_less_under_stop(world: World, recipe: Recipe) -> None:
    """What is in under a budget is in under a greater one, or gives way to what repeats it."""
    kinds = replace(recipe.budget, overflow="stop", hard=True)
    before: list[str] = []
    for total in (20, 60, 150, 400, 1000):
        stopping = replace(recipe, budget=replace(kinds, total=total))
        if stopping.fit.pack == "optimal":
            return
        context = made(drafted(world, stopping, "o200k", []))
        names = [source.chunk_id for source in context.sources]
        repeated = {one.chunk_id for one in context.decisions if one.step in {"dedup", "group"}}
        assert set(before) <= {*names, *repeated}
        before = names


@rarer
@given(
    st.lists(
        st.tuples(st.integers(0, 1), st.integers(0, 50), st.integers(1, 20)), min_size=1, max_size=9
    ),
    recipes,
)
def test_chunks_that_overlap_are_printed_once(
    windows: list[tuple[int, int, int]], recipe: Recipe
) -> None:
    """Each word stands in a context once, however many pieces hold it."""
    texts = [" ".join(f"{letter}{number:02}" for number in range(60)) for letter in "pq"]
    found = [
        chunk(texts[which][4 * start : 4 * (start + size)], f"{which}.md", place, start=4 * start)
        for place, (which, start, size) in enumerate(dict.fromkeys(windows))
    ]
    markers = replace(recipe, render=replace(recipe.render, format="markers"))
    context = made(draft({"lexical": found}, markers, allow_empty=True))
    words = re.findall(r"\b[pq]\d\d\b", context.text)
    assert len(set(words)) == len(words)
    kept = {one.chunk_id for one in context.decisions if one.verdict == "kept"}
    for one in found:
        if one.id in kept:
            assert one.text.strip() in context.text
    assert {source.chunk_id for source in context.sources} >= kept
