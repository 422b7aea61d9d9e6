"""A search, and a context that fills its budget, say when nothing is likely to help."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from quire import Quire
from quire.pipeline.likely import NOTHING_LIKELY
from tests.conftest import Tree

pytestmark = pytest.mark.model

FILES: dict[str, str | bytes] = {
    "anchors.md": "The anchor of the ship is dropped in the harbour before the storm.\n",
    "dough.md": "The dough rests for an hour, then it goes into the hot oven.\n",
    "engines.md": "The engine turns fuel into motion; its valves are checked each spring.\n",
    "tides.md": "The tide turns at noon, and the harbour falls dry in the evening.\n",
    "pay.md": "The salary of each employee is paid on the last day of the month.\n",
    "quire.toml": '[access]\n"pay.md" = ["ann"]\n',
}


@pytest.fixture
def shelf(tree: Tree) -> Iterator[Quire]:
    tree.fill(FILES)
    with tree.open() as opened:
        opened.index()
        yield opened


def test_hits_that_are_not_likely_to_help_are_marked(shelf: Quire) -> None:
    result = shelf.search("salary", viewer="bob")
    assert result.results, "a search is never silently empty"
    assert not any(hit.likely for hit in result.results)
    assert NOTHING_LIKELY in result.notes
    mine = shelf.search("salary", viewer="ann")
    assert [hit.path for hit in mine.results if hit.likely] == ["pay.md"]
    assert NOTHING_LIKELY not in mine.notes


def test_the_command_marks_them_in_text_and_json(shelf: Quire, tree: Tree) -> None:
    shown = tree.call("search", "salary", "--viewer", "bob")
    assert "1. " in shown.stdout
    assert ", not likely to help  (" in shown.stdout
    assert f"note: {NOTHING_LIKELY}" in shown.stderr
    found = json.loads(tree.call("search", "salary", "--viewer", "bob", "--json").stdout)
    assert {hit["likely"] for hit in found["results"]} == {False}
    assert NOTHING_LIKELY in found["notes"]


def test_a_context_that_is_filled_says_so(shelf: Quire) -> None:
    context = shelf.assemble("who won the chess championship", viewer="bob")
    assert context.sources, "`documents` fills its budget"
    assert NOTHING_LIKELY in context.notes
    assert shelf.verify(context.receipt, context.text, "bob").holds
    for asked in ("when does the tide turn", "how long does the dough rest", "vessel in a gale"):
        assert NOTHING_LIKELY not in shelf.assemble(asked, viewer="bob").notes


def test_what_holds_the_words_is_likely_without_vectors(tree: Tree) -> None:
    tree.fill(FILES)
    tree.write("quire.toml", "[embed]\nprovider = 'none'\n")
    tree.index()
    with tree.open() as opened:
        result = opened.search("salary of employees")
        assert [(hit.path, hit.likely) for hit in result.results] == [("pay.md", True)]
        assert not result.notes
