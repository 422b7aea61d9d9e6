"""Every context can be made again from the pieces that its receipt names.

A piece must be a function of its own candidate, the request and the recipe: whoever changes how
pieces are cut or rendered so that this no longer holds has to record what is missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from quire import Context, Quire
from quire.errors import QuireError
from tests.conftest import Tree
from tests.pipeline.conftest import opened
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


# --- pieces that moved within their file ---------------------------------------------------------

OTHERS_WORDS = " ".join(f"Harbour {number} has a crane." for number in range(120))
VOTES = " ".join(f"Vote {number} had a quorum." for number in range(12))


def minutes(above: str) -> str:
    return f"# Harbours\n\n{above}\n\n# Votes\n\n{VOTES}\n"


def ask(project: Quire, budget: int) -> Context:
    return project.assemble("votes with a quorum", budget=budget, reserve={}, paths=["minutes.md"])


@pytest.fixture
def votes(tree: Tree) -> Iterator[Quire]:
    """A project whose question is answered by the last section of a file."""
    tree.fill({"minutes.md": minutes(OTHERS_WORDS)})
    with opened(tree) as found:
        found.index()
        yield found


def move(project: Quire, tree: Tree) -> None:
    """Edit the section above, as people do."""
    tree.write("minutes.md", minutes(OTHERS_WORDS.replace(". ", ".\n", 2)))
    project.index()


def test_a_signed_receipt_holds_after_its_piece_has_moved(votes: Quire, tree: Tree) -> None:
    made = ask(votes, 140)
    assert [source.lines for source in made] == [(5, 7)]
    receipt = as_read(made.receipt)
    signature = votes.sign(receipt)
    move(votes, tree)
    found = votes.verify(receipt, made.text, signature=signature)
    assert found.problems == ()
    assert found.holds
    moved = "minutes.md:5-7: the store has this text at line 7; the file has changed since"
    assert moved in found.not_checked


def test_an_unsigned_receipt_says_that_its_piece_has_moved(votes: Quire, tree: Tree) -> None:
    made = ask(votes, 140)
    move(votes, tree)
    found = votes.verify(as_read(made.receipt), made.text)
    assert not found.holds
    moved = "minutes.md:5-7: the store has this text at line 7"
    assert any(text.startswith(moved) for text in found.problems)


def test_a_state_that_is_the_same_has_no_piece_at_other_lines(votes: Quire) -> None:
    made = ask(votes, 140)
    receipt = as_read(made.receipt)
    receipt["sources"][0]["chunk"]["lines"] = receipt["sources"][0]["lines"] = [6, 8]
    altered = forged(receipt)
    found = votes.verify(altered, made.text, signature=votes.sign(altered))
    assert not found.holds
    assert any("at line 5" in text for text in found.problems)


def test_what_was_left_out_may_move_without_a_signature(votes: Quire, tree: Tree) -> None:
    tree.write("short.md", "A quorum votes on votes with a quorum.\n")
    votes.index()
    made = votes.assemble("votes with a quorum", budget=40, reserve={})
    assert [source.path for source in made] == ["short.md"]
    move(votes, tree)
    found = votes.verify(as_read(made.receipt), made.text)
    assert found.holds, found.problems
    moved = r"the lines of \d+ of the candidates that were left out: their files have changed since"
    assert any(re.fullmatch(moved, text) for text in found.not_checked)


def test_a_long_line_that_differs_is_quoted_to_a_mark(votes: Quire) -> None:
    made = ask(votes, 140)
    found = votes.verify(as_read(made.receipt), made.text.replace("Vote 0", "Vote 9"))
    (difference,) = [text for text in found.problems if "does not follow" in text]
    quoted = r"line 4 is '([^']+)…', but its sources give '([^']+)…'"
    assert re.search(quoted, difference), difference
