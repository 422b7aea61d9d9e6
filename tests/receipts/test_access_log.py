"""The access log records who was handed which context."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from quire.errors import InputError, StoreError

if TYPE_CHECKING:
    from tests.conftest import Forest, Tree

SETTINGS = '[embed]\nprovider = "none"\n[audit]\nfile = "log/given.jsonl"\n'


@pytest.fixture
def watched(plant: Forest) -> Tree:
    tree = plant("watched", {"quire.toml": SETTINGS, "a.md": "# Mast\n\nThe mast is tall.\n"})
    tree.index()
    return tree


def test_each_context_adds_a_line(watched: Tree) -> None:
    with watched.open() as quire:
        first = quire.assemble("mast", viewer="alice")
        again = quire.assemble("mast", viewer="alice")  # from the cache: given all the same
        own = quire.assemble("tall mast")
        log = quire.audit.contexts()
        assert again is first
        assert [line["viewer"] for line in log] == ["alice", "alice", "(owner)"]
        assert [line["receipt"] for line in log] == [
            first.receipt["hash"],
            first.receipt["hash"],
            own.receipt["hash"],
        ]
        assert log[0]["pieces"] == [source.chunk_id for source in first.sources]
        assert quire.audit.contexts("alice") == log[:2]
        assert "mast is tall" not in json.dumps(log)
        # It is no part of the state.
        assert quire.assemble("mast", viewer="alice").receipt == first.receipt


def test_the_log_on_the_command_line(watched: Tree) -> None:
    assert watched.call("access", "log").stderr.endswith("nothing was handed out yet\n")
    watched.call("assemble", "mast", "--viewer", "alice")
    told = json.loads(watched.call("access", "log", "--json", "--to", "alice").stdout)
    assert [line["viewer"] for line in told["given"]] == ["alice"]
    assert "alice  documents  " in watched.call("access", "log").stdout


def test_what_cannot_be_written_down_is_not_given(watched: Tree) -> None:
    (watched.root / "log").write_text("in the way")
    with watched.open() as quire, pytest.raises(StoreError, match="the context is withheld"):
        quire.assemble("mast")


def test_without_a_file_there_is_nothing_to_list(plant: Forest) -> None:
    tree = plant("unwatched", {"quire.toml": '[embed]\nprovider = "none"\n', "a.md": "mast\n"})
    tree.index()
    with tree.open() as quire, pytest.raises(InputError, match=r"\[audit\]"):
        quire.audit.contexts()
