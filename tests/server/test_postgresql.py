"""The service on a real PostgreSQL server, for a project that it may not write to."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import Forest
from tests.store import postgresql

from .running import FILES, running


@pytest.fixture(scope="module")
def server() -> Iterator[postgresql.Server]:
    with postgresql.running() as started:
        yield started


def test_a_project_that_cannot_be_written_is_served(
    plant: Forest,
    server: postgresql.Server,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tree = plant("harbour")
    tree.fill(FILES)
    shutil.rmtree(tree.root / ".quire")
    tree.write(".quire", "no folder")  # as good as read-only, for the superuser as well
    state = tmp_path / "state"
    monkeypatch.setenv("QUIRE_STORE", server.url(server.create()))  # also of `quire token`
    monkeypatch.setenv("XDG_STATE_HOME", str(state))
    done = tree.run("index", "--no-embed")
    assert done.returncode == 0, done.stderr
    with running(tree, "--workers", "2") as service:
        body = {"query": "Who is the pilot of the harbour?", "budget": 1000}
        made = service.ask("owner", "POST", "/v1/assemble", body)
        assert made.status_code == 200, made.text
        assert "Wren" in made.json()["text"]
        name = made.json()["receipt"]["hash"]
        assert service.ask("owner", "POST", "/v1/verify", {"receipt": name}).json()["holds"]
        note = {"path": "crm/42", "content": "# Acme\n\nAcme asked for two cranes."}
        put = service.ask("alice", "POST", "/v1/documents", note, Idempotency_Key="one")
        assert put.status_code == 201, put.text
        again = service.ask("alice", "POST", "/v1/documents", note, Idempotency_Key="one")
        assert again.headers["idempotency-replayed"] == "true"
        assert service.ask("bob", "GET", "/v1/document?path=@alice/crm/42").status_code == 404
        job = service.ask("owner", "POST", "/v1/index", {"embed": False})
        assert job.status_code == 202, job.text
    assert [file.suffix for file in (state / "quire" / "services").glob("*.db")] == [".db"]
    assert tree.root.joinpath(".quire").read_text() == "no folder"


def test_a_place_that_cannot_be_written_is_told_when_it_starts(
    plant: Forest, server: postgresql.Server, tmp_path: Path
) -> None:
    tree = plant("harbour")
    tree.fill(FILES)
    (tmp_path / "file").write_text("")
    env = {"QUIRE_STORE": server.url(server.create()), "XDG_STATE_HOME": str(tmp_path / "file")}
    assert tree.run("index", "--no-embed", env=env).returncode == 0
    refused = tree.run("serve", "--port", "0", "--no-token", env=env)
    assert (refused.returncode, "cannot keep receipts" in refused.stderr) == (2, True)
