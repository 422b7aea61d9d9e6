"""Tests, generated and vendored files count less than sources, unless they are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from quire import Quire
from quire.core.types import Recipe, Record
from quire.errors import InputError
from quire.pipeline.features import find_role_losses
from quire.pipeline.recipe import load
from tests.conftest import Tree

SOURCE = 'def empty_cart(cart):\n    """Empty a cart."""\n    cart.clear()\n'
TEST = (
    "def test_empty_cart():\n    cart = Cart(1)\n    empty_cart(cart)\n"
    "    assert not cart, 'empty cart'\n"
)
ASKED = "How does it empty a cart?"


@pytest.fixture
def shop(tree: Tree) -> Iterator[Quire]:
    tree.write("quire.toml", '[embed]\nprovider = "none"\n')
    tree.write("src/cart.py", SOURCE)
    tree.write("tests/test_cart.py", TEST)
    tree.write(
        "vendor/cart.js", "function emptyCart(cart) {\n  cart.length = 0; // empty cart\n}\n"
    )
    with tree.open() as quire:
        quire.index()
        yield quire


def paths(quire: Quire, query: str, recipe: Recipe | str = "documents") -> list[str]:
    """List the paths of what was found, the best first."""
    decisions = quire.assemble(query, recipe=recipe).decisions
    return [one.path for one in sorted(decisions, key=lambda one: -one.score)]


def test_a_test_does_not_outrank_the_source(shop: Quire) -> None:
    base = load("documents")
    plain = replace(base, rank=replace(base.rank, roles={}))
    assert paths(shop, ASKED, plain)[0] == "tests/test_cart.py"
    for recipe in ("documents", "agent"):
        assert paths(shop, ASKED, recipe)[0] == "src/cart.py"


def test_a_question_about_tests_turns_it_round(shop: Quire) -> None:
    assert paths(shop, "Which tests empty a cart?")[0] == "tests/test_cart.py"
    assert paths(shop, "empty cart in test_cart.py")[0] == "tests/test_cart.py"


def test_a_question_about_tests_takes_no_more_than_half_of_a_source() -> None:
    source = Record("s", "code", "src/cart.py", attrs={"role": "source"})
    asked = "Which tests empty a cart?"
    for percent, loss in ((30, -500), (50, -500), (80, -200)):
        assert find_role_losses(asked, {"s": source}, {"test": percent}) == {"s": loss}
    assert find_role_losses(asked, {"s": source}, {"test": 100}) == {}


def test_what_a_role_costs_is_a_signal(shop: Quire) -> None:
    by_path = {one.path: one.signals for one in shop.assemble(ASKED).decisions}
    assert by_path["tests/test_cart.py"]["role"] == -700
    assert by_path["vendor/cart.js"]["role"] == -500
    assert "role" not in by_path["src/cart.py"]


def test_a_commit_counts_less_unless_the_question_is_about_history_or_names_it() -> None:
    sha = "73e2f6f0c3a1b2d4e5f60718293a4b5c6d7e8f90"
    commit = Record("c", "commit", f".git/commit/{sha}", "Empty the cart", attrs={"sha": sha})

    def loss(query: str) -> int:
        return find_role_losses(query, {"c": commit}, {"commit": 50}).get("c", 0)

    assert loss(ASKED) == loss("What is 73e2f6e?") == -500
    assert loss("Why was the cart emptied?") == loss("What does 73e2f6f do?") == 0
    assert find_role_losses(ASKED, {"c": commit}, {"test": 50}) == {}


def test_a_recipe_says_what_roles_count(shop: Quire) -> None:
    base = load("documents")
    tests_first = replace(base, rank=replace(base.rank, roles={"source": 10}))
    assert paths(shop, ASKED, tests_first)[0] == "tests/test_cart.py"
    for roles in ({"tests": 10}, {"test": 101}):
        with pytest.raises(InputError):
            shop.assemble(ASKED, recipe=replace(base, rank=replace(base.rank, roles=roles)))


def test_a_project_says_what_its_files_are(shop: Quire, tree: Tree) -> None:
    tree.write(
        "quire.toml",
        '[embed]\nprovider = "none"\n[ingest]\nroles = ["test: src/**", "source: tests/**"]\n',
    )
    with tree.open() as quire:
        quire.index()
        assert paths(quire, ASKED)[0] == "tests/test_cart.py"


def test_a_map_leads_with_sources(tree: Tree) -> None:
    tree.write("quire.toml", '[embed]\nprovider = "none"\n')
    tree.write("vendor/jquery.py", "def pick(text):\n    return text\n")
    users = "from vendor.jquery import pick\nfrom lib import choose\n\n"
    tree.write("lib.py", "def choose(text):\n    return text\n")
    for number in range(6):
        call = "    pick(1)\n" + ("    choose(1)\n" if number < 4 else "")
        tree.write(f"app{number}.py", f"{users}def use{number}():\n{call}")
    with tree.open() as quire:
        quire.index()
        assert quire.map(budget=15).text.startswith("lib.py:")
