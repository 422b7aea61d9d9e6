"""Every budget is kept, or refused by name with what to do."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

import pytest

from quire import Quire
from quire.core.types import Options
from quire.errors import BudgetError, BudgetTooSmallError, CallerError, InputError, QuireError
from quire.pipeline.steps import assemble
from quire.pipeline.validate import MAX_BUDGET
from tests.conftest import Tree
from tests.pipeline.builders import chunk, draft, recipe
from tests.pipeline.invariants import count

QUERY = "quorum vote"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"budget": 0}, "budget: must be between 1 and 100000000 tokens, not 0"),
        ({"budget": -5}, "budget: must be between 1 and 100000000 tokens, not -5"),
        ({"budget": MAX_BUDGET + 1}, "must be between 1 and 100000000 tokens, not 100000001"),
        ({"budget": 10**30}, "must be between 1 and 100000000"),
        (
            {"budget": 800},
            "all of its 800 tokens are reserved (system 200, query 100, response 500)",
        ),
        ({"budget": 1}, "raise budget or lower reserve"),
        ({"budget": 500, "reserve": {"answer": 500}}, "tokens are reserved (answer 500)"),
        (
            {"reserve": {"system": -1}},
            "reserve: system must be a whole number of at least 0, not -1",
        ),
        (
            {"reserve": {"system": 2.5}},
            "reserve: system must be a whole number of at least 0, not 2.5",
        ),
        ({"reserve": {"system": "200"}}, "system must be a whole number of at least 0, not '200'"),
    ],
)
def test_a_budget_that_contradicts_itself(library: Quire, options: Options, said: str) -> None:
    with pytest.raises(BudgetError) as refused:
        library.assemble(QUERY, **options)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
    assert refused.value.exit_code == 2
    with pytest.raises(BudgetError):
        library.assemble("nothing in the library says xyzzy", **options)


@pytest.mark.parametrize("budget", ["4000", 4000.0, None, True, [4000]])
def test_a_budget_that_is_no_number(library: Quire, budget: object) -> None:
    with pytest.raises(InputError, match=r"budget: expected a whole number, not "):
        library.assemble(QUERY, budget=budget)  # type: ignore[arg-type]  # that is the point


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("--budget", "0"), 2, "--budget: must be between 1 and 100000000 tokens"),
        (("--budget", "-1"), 2, "--budget: must be between 1 and 100000000 tokens"),
        (("--budget", "100000001"), 2, "--budget: must be between 1 and 100000000 tokens"),
        (
            ("--budget", "99999999999999999999999999"),
            2,
            "--budget: must be between 1 and 100000000 tokens",
        ),
        (
            ("--budget", "800"),
            2,
            "reserved (system 200, query 100, response 500); raise --budget or",
        ),
        (
            ("--budget", "100", "--reserve", "a=60,b=60"),
            2,
            "reserved (a 60, b 60); raise --budget or lower --reserve",
        ),
        (
            ("--reserve", "system=-3"),
            2,
            "--reserve: system must be a whole number of at least 0, not -3",
        ),
        (
            ("--reserve", "system"),
            2,
            "--reserve: expected names with numbers such as system=200,response=500 (or `none`)",
        ),
        (
            ("--reserve", "system=²"),
            2,
            "--reserve: expected names with numbers such as system=200,response=500 (or `none`)",
        ),
        (
            ("--reserve", ""),
            2,
            "--reserve: expected names with numbers such as system=200,response=500 (or `none`)",
        ),
        (
            ("--reserve", "=5"),
            2,
            "--reserve: expected names with numbers such as system=200,response=500 (or `none`)",
        ),
        (("--budget", "3", "--reserve", "none"), 1, "not even one piece fits"),
        (("--budget", "3", "--reserve", "none", "--overflow", "cut"), 1, "not even one piece"),
        (("--budget", "3", "--reserve", "none", "--overflow", "stop"), 1, "not even one piece"),
    ],
)
def test_the_command_line_says_it_in_one_line(
    library_tree: Tree, arguments: tuple[str, ...], code: int, said: str
) -> None:
    done = library_tree.call("assemble", QUERY, *arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.startswith("quire: ")
    assert done.stderr.count("\n") == 1
    assert said in done.stderr


@pytest.mark.parametrize("overflow", ["skip", "cut", "stop"])
@pytest.mark.parametrize("reserve", [{}, {"system": 200, "query": 100, "response": 500}])
def test_too_small_for_one_piece_names_the_smallest_budget_that_works(
    library: Quire, overflow: str, reserve: Mapping[str, int]
) -> None:
    small = sum(reserve.values()) + 2
    with pytest.raises(BudgetTooSmallError) as refused:
        library.assemble(QUERY, budget=small, overflow=overflow, reserve=reserve)
    assert refused.value.exit_code == 1
    named = re.search(r"raise budget to (\d+)", str(refused.value))
    assert named is not None
    enough = int(named[1])
    context = library.assemble(QUERY, budget=enough, overflow=overflow, reserve=reserve)
    assert len(context.sources) == 1
    assert context.tokens == context.available == enough - sum(reserve.values())
    with pytest.raises(BudgetTooSmallError, match=f"raise budget to {enough}, "):
        library.assemble(QUERY, budget=enough - 1, overflow=overflow, reserve=reserve)


def test_too_small_but_an_empty_context_is_allowed(library: Quire) -> None:
    context = library.assemble(QUERY, budget=2, reserve={}, allow_empty=True)
    assert (context.text, context.tokens, context.sources) == ("", 0, ())
    assert context.omitted == sum(one.step == "pack" for one in context.decisions) > 0
    assert not context.truncated
    (note,) = context.notes
    assert "not even one piece fits" in note
    assert library.verify(context.receipt, "").problems == ()


def test_the_command_line_says_that_a_context_is_empty(library_tree: Tree) -> None:
    done = library_tree.call(
        "assemble", QUERY, "--budget", "3", "--reserve", "none", "--allow-empty"
    )
    assert (done.returncode, done.stdout) == (0, "")
    assert "not even one piece fits" in done.stderr
    assert "nothing fits" in done.stderr


def test_nothing_found_is_an_empty_context_and_no_error(library_tree: Tree) -> None:
    done = library_tree.call("assemble", "xyzzy", "--path", "nowhere/**")
    assert (done.returncode, done.stdout) == (0, "")
    assert "nothing found" in done.stderr
    told = json.loads(
        library_tree.call("assemble", "xyzzy", "--path", "nowhere/**", "--json").stdout
    )
    assert (told["text"], told["tokens"], told["sources"], told["decisions"]) == ("", 0, [], [])
    assert told["truncated"] is False
    assert told["omitted"] == 0


def test_an_empty_store(tree: Tree) -> None:
    tree.index()
    done = tree.call("assemble", QUERY)
    assert (done.returncode, done.stdout) == (0, "")
    with tree.open() as found:
        context = found.assemble(QUERY)
        assert found.verify(context.receipt, context.text).problems == ()
        assert found.replay(context.receipt)[1] == []


def test_soft_says_by_how_much_the_budget_is_passed(library: Quire, library_tree: Tree) -> None:
    for budget in (820, 1000, 1500, 3000):
        soft = library.assemble(QUERY, budget=budget, hard=False)
        hard = library.assemble(QUERY, budget=budget, allow_empty=True)
        assert hard.limit_exceeded == 0
        assert soft.limit_exceeded == max(0, soft.tokens - soft.available) > 0
        assert soft.tokens == count("o200k", soft.text)
        assert library.verify(soft.receipt, soft.text).problems == ()
        assert soft.limit_exceeded <= max(one.tokens for one in soft.sources) + 20
    done = library_tree.call("assemble", QUERY, "--budget", "820", "--soft")
    assert re.search(r"note: the budget of 20 tokens is exceeded by \d+", done.stderr)


def test_a_soft_budget_that_holds_everything_is_not_passed(library: Quire) -> None:
    context = library.assemble(QUERY, budget=100_000, hard=False)
    assert (context.limit_exceeded, context.omitted, context.truncated) == (0, 0, False)


def test_the_largest_budget_holds_everything(library: Quire) -> None:
    for pack in ("greedy", "optimal"):
        context = library.assemble(QUERY, budget=MAX_BUDGET, pack=pack)
        assert context.available == MAX_BUDGET - 800
        assert context.omitted == 0
        assert len(context.sources) > 30


@pytest.mark.parametrize("overflow", ["cut", "stop"])
def test_truncated_says_that_packing_ended_at_the_budget(library: Quire, overflow: str) -> None:
    ended = library.assemble(QUERY, budget=1500, overflow=overflow)
    assert ended.truncated
    assert ended.omitted
    whole = library.assemble(QUERY, budget=100_000, overflow=overflow)
    assert not whole.truncated
    assert not whole.omitted
    reasons = {one.reason for one in ended.decisions if one.step == "pack"}
    assert "the budget was used up before its turn" in reasons


def test_cut_charges_what_is_left_of_a_piece(library: Quire) -> None:
    context = library.assemble(QUERY, budget=1500, overflow="cut", pack="greedy")
    (cut,) = (one for one in context.decisions if one.verdict == "cut")
    (source,) = (one for one in context.sources if one.chunk_id == cut.chunk_id)
    assert source.tokens == cut.tokens > 0
    assert context.tokens <= context.available
    assert context.content_tokens == sum(one.tokens for one in context.sources)
    assert library.verify(context.receipt, context.text).problems == ()


def test_cut_ends_well_only_where_that_costs_little() -> None:
    """A paragraph that ends at four fifths of the room is no reason to waste the rest."""
    text = "word " * 330 + "ends here.\n\n" + "more of it " * 300
    started = draft({"lexical": [chunk(text)]}, recipe(400, overflow="cut"))
    context = assemble(started, (), ())
    assert 0.95 * 400 < context.tokens <= 400
    assert re.search(r"more of it more(?: of(?: it)?)?\n\.\.\.\n\Z", context.text)
    near = "word " * 383 + "ends here.\n\n" + "more of it " * 300
    context = assemble(draft({"lexical": [chunk(near)]}, recipe(400, overflow="cut")), (), ())
    assert context.text.endswith("ends here.\n...\n")


@pytest.mark.parametrize(
    "options",
    [
        {"budget": 0},
        {"pack": "x"},
        {"budget": 2, "reserve": {}},
        {"dedup": 5.0},
        {"recipe": "nowhere.toml"},
        {"model": "nobody-1"},
    ],
)
def test_whatever_is_refused_is_refused_on_purpose(library: Quire, options: Options) -> None:
    with pytest.raises(QuireError) as refused:
        library.assemble(QUERY, **options)
    assert isinstance(refused.value, CallerError | BudgetTooSmallError)
