"""Index a project while the server ends the connection, once before each statement of the run.

`QUIRE_KILLS` says how many of the statements are tried.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

import quire
from quire.store.postgres import connection as connections
from quire.store.postgres.database import Connection
from quire.system import retry
from tests.conftest import Tree
from tests.indexing.conftest import Repository
from tests.store.postgresql import Server, running
from tests.word_model import WordModel

CUTS = int(os.environ.get("QUIRE_KILLS", "24"))
SETTINGS = '[access]\ndefault = "owner"\n"*.md" = ["vera"]\n'
PAGES = {f"{name}.md": f"# {name}\n\nThe {name} boards at dawn.\n" for name in ("pilot", "cook")}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running() as started:
        yield started


class Cutter:
    """Counts the statements that are sent, and ends the connection before one of them."""

    def __init__(self) -> None:
        self.sent = 0
        self.cut_before = -1

    def wrap(self, send: Callable[..., Any]) -> Callable[..., Any]:
        """Return a method of a connection that counts, and maybe cuts, before it sends."""

        def counted(connection: Connection, *arguments: object) -> Any:
            if self.sent == self.cut_before:
                process = psutil.Process(connection.raw.info.backend_pid)
                process.terminate()
                psutil.wait_procs([process], timeout=20)
            self.sent += 1
            return send(connection, *arguments)

        return counted


@pytest.fixture
def cutter(monkeypatch: pytest.MonkeyPatch) -> Cutter:
    cutter = Cutter()
    for name in ("execute", "executemany"):
        monkeypatch.setattr(Connection, name, cutter.wrap(getattr(Connection, name)))
    monkeypatch.setattr(retry, "DELAYS", (0.0,))
    monkeypatch.setattr(connections, "DELAYS", (0.0, 0.0))
    return cutter


def work(root: Path, url: str) -> str:
    """Do what a project's day holds; return the hash over all that the store then has."""
    with quire.open(root, store=url, embedder=WordModel(16)) as project:
        project.index()
        project.documents.put("The mate counts the sails.", path="crew/mate")
        (root / "pilot.md").write_text("# pilot\n\nThe pilot boards at noon.\n")
        project.index()
        assert "noon" in project.assemble("When does the pilot board?", budget=2000).text
        assert project.status().records > 0
        return retry.read(project.store, "main", lambda view: view.roots().content)


def test_each_statement(repository: Repository, tree: Tree, server: Server, cutter: Cutter) -> None:
    repository.commit("The crew", {**PAGES, "quire.toml": SETTINGS})
    repository.commit("The cook sleeps", {"cook.md": "# cook\n\nThe cook sleeps at dawn.\n"})
    database = server.create()
    url = server.url(database)
    whole = work(tree.root, url)
    statements = cutter.sent
    assert statements > CUTS, "there is something to choose from"
    for number in range(CUTS):
        server.empty(database)
        repository.git("checkout", "--quiet", "--", ".")
        cutter.sent, cutter.cut_before = 0, number * statements // CUTS
        assert work(tree.root, url) == whole, f"cut before statement {cutter.cut_before}"
