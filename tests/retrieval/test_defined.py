"""The definitions that a query names are found, whatever else mentions them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import quire
from quire.core.types import NO_FILTER, OWNER, Filter, Viewer
from quire.engine import Quire
from quire.retrieval import Query
from quire.retrieval.defined import collect_defined

USES = (
    "from box import Box\n\n\ndef test_{0}() -> None:\n    Box().load_all('{0}')\n    Box().get()\n"
)
BOB = Viewer("bob")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Quire]:
    (tmp_path / "quire.toml").write_text('[access]\n"hidden.py" = ["ann"]\n')
    (tmp_path / "box.py").write_text(
        "class Box:\n    def load_all(self, name):\n        return name\n\n"
        "    def get(self):\n        return 1\n"
    )
    (tmp_path / "shelf.py").write_text("class Shelf:\n    def get(self):\n        return 2\n")
    (tmp_path / "hidden.py").write_text("def load_all():\n    return 'hidden'\n")
    for number in range(9):
        (tmp_path / f"test_{number}.py").write_text(USES.format(number))
    with quire.open(tmp_path) as opened:
        opened.index(embed=False)
        yield opened


def found(store: Quire, query: str, viewer: Viewer = BOB, where: Filter = NO_FILTER) -> list[str]:
    with store.store.view(viewer) as view:
        hits = collect_defined(view, Query(query, where=where), 10).hits
    return [hit.path for hit in hits]


def test_a_name_finds_its_definition(store: Quire) -> None:
    assert found(store, "where is load_all") == ["box.py"]
    assert found(store, "what does Box.get do") == ["box.py", "shelf.py"]
    assert found(store, "get shelf.py") == ["shelf.py"]
    assert found(store, "get() of ./shelf.py")[0] == "shelf.py"
    assert found(store, "get a box") == [], "a word is no name"


def test_only_what_the_viewer_may_read_and_the_filter_allows(store: Quire) -> None:
    assert found(store, "load_all", OWNER) == ["box.py", "hidden.py"]
    assert found(store, "load_all", OWNER, Filter(paths=("hidden*",))) == ["hidden.py"]
    assert found(store, "load_all", OWNER, Filter(kinds=("document",))) == []
    assert found(store, "load_all", OWNER, Filter(since=2**40)) == []


def test_a_definition_comes_before_its_uses(store: Quire) -> None:
    page = store.assemble("load_all", recipe="documents", viewer="bob")
    assert page.sources[0].path == "box.py"
