"""Small pages of code: few items, each with its declaration, once, and lines of its body."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from quire import Quire
from tests.conftest import Tree

PARAMETERS = "".join(f"    parameter_{number}: int = {number},\n" for number in range(30))
STEPS = "".join(
    f'    total_{number} = weigh(parameter_{number % 30}, "parcel weight {number}")\n'
    for number in range(60)
)
NOTES = "".join(f'        note_{number} = "heavy {number}"\n' for number in range(8))
LONG = f'def ship_parcels(\n{PARAMETERS}) -> int:\n    """Ship parcels."""\n{STEPS}    return 0\n'
BAR = f'''import typing as t


@t.overload
def draw_bar(
    stream: None,
{PARAMETERS}) -> None: ...


@t.overload
def draw_bar(
    stream: int,
{PARAMETERS}) -> int: ...


def draw_bar(
    stream: int | None,
{PARAMETERS}) -> int | None:
    """Draw a bar on a stream."""
{STEPS}    return stream


def weigh(value: int, label: str) -> int:
    scaled = value * len(label)
    if scaled < 0:
{NOTES}        raise ValueError("a parcel weighs something")
    return scaled


def letter(value: int) -> int:
    return value
'''


@pytest.fixture
def store(tree: Tree) -> Iterator[Quire]:
    tree.write("quire.toml", '[embed]\nprovider = "none"\n')
    tree.write("ship.py", LONG)
    tree.write("bar.py", BAR)
    with tree.open() as opened:
        opened.index()
        yield opened


@pytest.mark.parametrize("budget", range(640, 1300, 80))
def test_parts_of_a_function_stand_below_one_declaration(store: Quire, budget: int) -> None:
    page = store.assemble("how does ship_parcels weigh", recipe="agent", budget=budget, reserve={})
    assert len(re.findall(r"^def ship_parcels", page.text, re.MULTILINE)) == 1
    assert page.text.count("**Function** `ship_parcels`") == 1
    assert store.verify(page.receipt, page.text).problems == ()
    for item in page.text.split("**Function**"):
        marks = [int(line) for line in re.findall(r"… continues at line (\d+)", item)]
        assert marks == sorted(marks), "in the order of the source"
        named = re.search(r"\(lines \d+.(\d+)\)", item)
        if named is not None and marks and "left out" not in item:
            body = item.partition("```python\n")[2].partition("\n```")[0]
            shown = body.rpartition("continues at line")[2].count("\n")
            assert int(named[1]) == marks[-1] + shown - 1, "all of its lines are named"


@pytest.mark.parametrize("query", ["draw_bar", "parameter", "stream bar"])
@pytest.mark.parametrize("budget", range(120, 400, 40))
def test_a_definition_is_never_shown_without_its_declaration(
    store: Quire, budget: int, query: str
) -> None:
    page = store.assemble(query, recipe="agent", budget=budget, reserve={}, allow_empty=True)
    for code in re.findall(r"```python\n(.*?)\n```", page.text, re.DOTALL):
        assert "def " in code, page.text


def test_the_best_definition_of_a_small_page_has_a_body(store: Quire) -> None:
    page = store.assemble("how is a parcel weighed", recipe="agent", budget=400, reserve={})
    assert 'raise ValueError("a parcel weighs something")' in page.text
