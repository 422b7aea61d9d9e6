"""Nothing is left out as a repeat of what the context does not show."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from quire.core.types import Context, Recipe
from quire.errors import BudgetTooSmallError
from quire.pipeline.steps import assemble
from tests.pipeline.builders import chunk, document, draft, recipe
from tests.pipeline.invariants import holds
from tests.pipeline.strategies import CASES, recipes

SHORT = "The relay listens on the harbour side. It stops when the tide is out."
LONG = f"{SHORT} " + " ".join(
    f"Keeper number {number} of the light house writes down what the sea looks like."
    for number in range(20)
)
PATHS = ("a.md", "b.md", "c/d.md", "notes/with/a/very/long/path/that/costs/many/tokens/e.md")
NAMED = re.compile(r"\(([0-9a-f]{32,})\)\Z")

sentences = st.sampled_from(
    [
        SHORT,
        "Gulls rest on the pier in the morning.",
        "The ferry leaves at noon and comes back at night.",
        "A lamp burns in the window of the keeper, who reads until late. He drinks tea.",
    ]
)
texts = st.lists(sentences, min_size=1, max_size=6, unique=True).map(" ".join)
found = st.lists(st.tuples(texts, st.sampled_from(PATHS)), min_size=1, max_size=12)


def assert_repeats_are_shown(context: Context) -> None:
    """Check that each decision for a duplicate names a piece of the context."""
    inside = {source.chunk_id for source in context.sources}
    for decision in context.decisions:
        if decision.step == "dedup":
            named = NAMED.search(decision.reason)
            assert named is not None
            assert named[1] in inside, decision


def test_what_a_piece_too_long_repeats_takes_its_place() -> None:
    """The text of 20 words was left out for one of 300 that did not fit, and nothing was shown."""
    pieces = [chunk(LONG, "long.md"), chunk(SHORT, "short.md")]
    context = assemble(draft({"lexical": pieces}, recipe(60)), (), ())
    assert context.text == f"[DOC: short.md]\n{SHORT}\n"
    (lost,) = [one for one in context.decisions if one.verdict == "dropped"]
    assert (lost.path, lost.step) == ("long.md", "pack")
    assert context.omitted == 1
    both = assemble(draft({"lexical": pieces}, recipe(1000)), (), ())
    assert [source.path for source in both.sources] == ["long.md"]
    assert [one.step for one in both.decisions if one.path == "short.md"] == ["dedup"]


def test_the_smallest_budget_that_is_named_is_that_of_the_shortest() -> None:
    pieces = [chunk(LONG, "long.md"), chunk(SHORT, "short.md")]
    with pytest.raises(BudgetTooSmallError) as caught:
        assemble(draft({"lexical": pieces}, recipe(10)), (), ())
    needed = int(str(re.search(r"at least (\d+) tokens", str(caught.value))[1]))  # type: ignore[index]
    context = assemble(draft({"lexical": pieces}, recipe(needed)), (), ())
    assert context.tokens == needed
    assert [source.path for source in context.sources] == ["short.md"]


def test_of_several_copies_one_is_shown() -> None:
    """The best has a path that does not fit; its copies fit, one of them is enough."""
    copies = [chunk(SHORT, "x/" * 60 + "a.md"), chunk(SHORT, "b.md"), chunk(SHORT, "c.md")]
    context = assemble(draft({"lexical": copies}, recipe(60)), (), ())
    assert [source.path for source in context.sources] == ["b.md"]
    steps = {one.path: one.step for one in context.decisions if one.verdict == "dropped"}
    assert steps["c.md"] == "dedup"
    assert_repeats_are_shown(context)


def test_a_piece_whose_text_a_cheaper_copy_shows_is_a_repeat() -> None:
    """Behind a gap the better copy costs a mark more; beside its neighbour the other one fits."""
    first, near, far = document("a.md", "0", "validator.\n\n", "validator.\n\n")
    context = assemble(draft({"lexical": [first, far, near]}, recipe(11)), (), ())
    assert context.text == "[DOC: a.md]\n0validator.\n"
    (lost,) = [one for one in context.decisions if one.verdict == "dropped"]
    assert (lost.lines, lost.step) == (far.lines, "dedup")
    assert lost.reason == f"100% of it stands in a.md:1-1 ({near.id})"
    assert context.omitted == 0


@settings(max_examples=CASES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(found, recipes, st.integers(10, 260))
def test_no_piece_is_left_out_as_a_repeat_of_what_is_not_there(
    pieces: list[tuple[str, str]], base: Recipe, budget: int
) -> None:
    chunks = [
        chunk(text, path, place, start=1_000_000 * place)
        for place, (text, path) in enumerate(pieces)
    ]
    made = replace(base, budget=replace(base.budget, total=budget, reserved={}))
    started = draft({"lexical": chunks}, made, allow_empty=True)
    context = assemble(started, (), ())
    assert_repeats_are_shown(context)
    holds(context, made, {one.id: one for one in chunks})
    assert assemble(started, (), ()) == context
