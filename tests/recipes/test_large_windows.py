"""A large budget is filled where there is enough text, and a limit that is asked for holds."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

import quire
from tests.conftest import Forest, Tree

FILES, BUDGET = 1600, 40_000
NO_MODEL = '[embed]\nprovider = "none"\n'
WORDS = [
    "anchor",
    "ballast",
    "capstan",
    "davit",
    "fender",
    "gunwale",
    "halyard",
    "keelson",
    "lanyard",
    "mizzen",
    "oakum",
]


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with far more texts about tides than any list of the best holds."""
    tree: Tree = Forest(tmp_path_factory.mktemp("harbour"))()
    random = Random(7)
    for number in range(FILES):
        said = " ".join(f"{random.choice(WORDS)}{random.randrange(5000)}" for _ in range(25))
        body = f"def tide_{number}():\n    return '{said}'\n"
        text = f"# Tide {number}\n\nThe tide of {said}.\n"
        kind = number % 2
        tree.write(f"{number}.{'py' if kind else 'md'}", body if kind else text)
    tree.write("quire.toml", NO_MODEL)
    tree.index()
    return tree.root


@pytest.mark.parametrize("recipe", ["documents", "entities", "agent"])
def test_a_large_budget_is_filled(harbour: Path, recipe: str) -> None:
    with quire.open(harbour) as q:
        context = q.assemble("the tide", recipe=recipe, budget=BUDGET, reserve={}, floor=0)
    assert 0.95 * BUDGET < context.tokens <= BUDGET


def test_a_section_has_no_more_items_than_was_asked_for(harbour: Path) -> None:
    with quire.open(harbour) as q:
        context = q.assemble("the tide", recipe="agent", budget=BUDGET, limit=7, floor=0)
    sections = [source.section for source in context.sources]
    assert {sections.count(name) for name in sections} == {7}
