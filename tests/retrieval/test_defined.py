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
    assert found(store, "what does box.get do")[0] == "box.py", "a variable, called as its class is"
    assert found(store, "what does shelf.get do")[0] == "shelf.py"
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


def test_what_stands_in_for_something_in_a_test_is_not_meant(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "reply.py").write_text("class Reply:\n    def send_all(self):\n        return 1\n")
    fakes = "class Reply:\n    def send_all(self):\n        return 0\n\n\n"
    only = (
        "class Fake:\n    def send_all(self):\n        return 2\n\n\ndef make_fake():\n    pass\n"
    )
    (tmp_path / "tests" / "test_a.py").write_text(f"{fakes}def on_send():\n    pass\n\n\n{only}")
    (tmp_path / "tests" / "test_b.py").write_text(f"{fakes}def on_send():\n    pass\n")
    with quire.open(tmp_path) as opened:
        opened.index(embed=False)
        for query in ("how does send_all work", "how does Reply.send_all work", "reply.send_all"):
            assert found(opened, query, OWNER) == ["reply.py"]
        assert found(opened, "why is on_send not called", OWNER) == [], "two tests have one"
        assert found(opened, "where is make_fake", OWNER) == ["tests/test_a.py"]
        assert found(opened, "what does Fake.send_all return", OWNER)[0] == "tests/test_a.py"
        assert "tests/test_b.py" in found(opened, "on_send in tests/test_b.py", OWNER)
