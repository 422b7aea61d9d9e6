"""The suite notices the removal of every single filter.

One filter at a time is replaced by one that lets all pass; then a check of the suite must report a
difference. `QUIRE_MUTATIONS=all` tries those that take seconds, too.
"""

from __future__ import annotations

import ast
import os
import re
from pathlib import Path
from random import Random

import pytest

import quire
from quire.core.protocols import View
from quire.store import open_store
from tests.store.reference import Limits
from tests.store.test_interference import any_world, check

from . import single
from .comparing import differences, worlds
from .filters import (
    BY_CLASS,
    BY_ROW,
    CIRCLE,
    FILTERS,
    KEPT,
    SEARCHES,
    STORE,
    THROUGH_OTHERS,
    WORLDS,
    Filter,
)
from .worlds import DEEDS

SOURCE = Path(quire.__file__).parent
ALL = os.environ.get("QUIRE_MUTATIONS") == "all"
MOST_CASES = 300
"""So many random stores are tried before a filter counts as not tested."""
OTHERS = ("store/access.py: _may_read", "report/markup.py: visible")
"""Functions of such a name that are only called by one in the list, or that hide nothing."""
TRIED = [one for one in FILTERS if ALL or one.quick or one.check != WORLDS]


def notices(one: Filter, folder: Path) -> list[str]:
    """Return what the check of a filter reports."""
    if one.check == CIRCLE:
        return single.refused_circle(folder)
    if one.check == KEPT:
        return single.kept_contexts(folder)
    if one.check == SEARCHES:
        return single.kept_searches(folder)
    if one.check == WORLDS:
        with worlds(folder, pending=one.pending) as (bare, busy):
            return differences(bare, busy, [DEEDS[name] for name in one.deeds], most=1)
    store = open_store(folder / "store.db")
    try:
        for number in range(MOST_CASES):
            check(any_world(Random(number)), store, Limits(), f"case {number}")
    except AssertionError as error:
        return [str(error)]
    finally:
        store.close()
    return []


@pytest.mark.parametrize("check", [CIRCLE, KEPT, SEARCHES])
def test_nothing_is_told_with_all_filters(quick_path: Path, check: str) -> None:
    assert notices(Filter("none", check, lambda _: None), quick_path) == []


@pytest.mark.parametrize("one", TRIED, ids=lambda one: one.name)
def test_a_filter_that_is_gone_is_noticed(
    quick_path: Path, monkeypatch: pytest.MonkeyPatch, one: Filter
) -> None:
    one.remove(monkeypatch)
    assert notices(one, quick_path), f"nothing tells that {one.name} is gone"


# --- the list is whole ---------------------------------------------------------------------------


def test_every_question_of_a_view_has_a_filter_in_the_list() -> None:
    asked = {name for name in vars(View) if not name.startswith("_")} - {"viewer"}
    assert asked <= {*BY_CLASS, *BY_ROW, *THROUGH_OTHERS}
    assert set(THROUGH_OTHERS.values()) <= set(BY_CLASS)


def test_every_query_of_the_view_that_names_classes_is_in_the_list() -> None:
    tree = ast.parse((SOURCE / "store/sql/view.py").read_text())
    methods = {
        method.name
        for method in ast.walk(tree)
        if isinstance(method, ast.FunctionDef)
        for node in ast.walk(method)
        if isinstance(node, ast.Attribute) and node.attr == "_classes"
    }
    inner = {"query"}  # a function inside a method of the list
    assert methods - {"__init__"} - inner == set(BY_CLASS)


def test_every_function_that_hides_is_in_the_list() -> None:
    """A function of such a name is a filter; one that is new needs a line in the list."""
    named = {one.name.rpartition(".")[2].partition(" ")[0] for one in FILTERS}
    hiding = re.compile(r"_?visible(_record)?|shown|_?readable|_?may_read|covers")
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and hiding.fullmatch(node.name):
                place = f"{path.relative_to(SOURCE).as_posix()}: {node.name}"
                assert node.name in named or place in OTHERS, place


def test_a_store_filter_is_checked_by_the_store_alone() -> None:
    assert {one.check for one in FILTERS} == {STORE, WORLDS, CIRCLE, KEPT, SEARCHES}
    assert len({one.name for one in FILTERS}) == len(FILTERS)
