"""The model works beside the search of words, and requests do not wait for each other."""

from __future__ import annotations

import threading
from concurrent.futures import thread as pools
from typing import Any

import pytest

import quire
from tests.conftest import Tree
from tests.pipeline.builders import Meaning

FILES = {"tides.md": "The harbour master reads the tides.\n", "bread.md": "Dough rests an hour.\n"}
SECONDS = 60


def lock_of_all_pools() -> Any:
    """Return the lock under which a pool begins a thread, and waits until it runs."""
    return vars(pools)["_global_shutdown_lock"]


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of the threads that a model is to work in."""
    names: list[str] = []

    class Noted(threading.Thread):
        def start(self) -> None:
            names.append(self.name)
            super().start()

    monkeypatch.setattr(threading, "Thread", Noted)
    return names


def test_a_request_waits_for_no_lock_that_other_requests_hold(tree: Tree) -> None:
    tree.fill(FILES)
    found: list[str] = []
    with quire.open(tree.root, embedder=Meaning()) as q:
        q.index()
        asking = threading.Thread(target=lambda: found.append(q.search("tides").results[0].path))
        with lock_of_all_pools():
            asking.start()
            asking.join(SECONDS)
            assert found == ["tides.md"], "it waits for another request"


def test_a_vector_that_is_known_takes_no_thread(tree: Tree, begun: list[str]) -> None:
    tree.fill(FILES)
    model = Meaning()
    with quire.open(tree.root, embedder=model) as q:
        q.index()
        first, again = q.search("tides"), q.search("tides", k=1)
        assert (model.asked, begun) == (["tides"], ["quire-embed"])
        assert again.results[0] == first.results[0]
        assert "semantic" in first.results[0].signals


def test_without_a_model_no_thread_is_begun_to_find_that_out(tree: Tree, begun: list[str]) -> None:
    tree.fill(FILES)
    with quire.open(tree.root, embedder=Meaning()) as q:
        q.index()
    tree.write("quire.toml", "[embed]\nprovider = 'none'\n")
    with quire.open(tree.root) as q:
        result = q.search("tides")
    assert [result.results[0].path, *begun] == ["tides.md"]
    assert [failure.source for failure in result.failed] == ["semantic"]
