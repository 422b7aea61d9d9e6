"""History can be configured and seen on the command line."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from quire.errors import InputError
from tests.conftest import interruptible

from .conftest import COMMITS

if TYPE_CHECKING:
    from .conftest import Repository

LIMIT = 60.0


@pytest.fixture
def three(repository: Repository) -> Repository:
    for n in range(3):
        repository.commit(f"Number {n}", {"a.md": f"{n}\n"})
    return repository


def test_the_option_and_what_is_told(three: Repository) -> None:
    tree = three.tree
    told = json.loads(tree.call("index", "--no-embed", "--history", "2", "--json").stdout)
    assert told["commits"] == 2
    assert told["notes"][0].startswith("the newest 2 commits are kept; ")
    more = tree.call("index", "--no-embed", "--history", "all").stdout
    assert "4 chunks, 0 new vectors, 1 new commit\n" in more
    assert "commits" not in tree.call("index", "--no-embed").stdout
    tree.call("index", "--no-embed", "--history", "none")
    assert three.commits() == {}


@pytest.mark.parametrize("wrong", ["-1", "some", "", "1.5"])
def test_an_option_that_is_none(three: Repository, wrong: str) -> None:
    told = three.tree.call("index", "--no-embed", "--history", wrong)
    assert told.returncode == 2
    assert told.stderr == f"quire: --history: expected a number, `all` or `none`, not {wrong!r}\n"


def test_a_limit_below_none(three: Repository) -> None:
    with (
        three.tree.open() as opened,
        pytest.raises(
            InputError, match="history: expected a number of commits, or -1 for all, not -2"
        ),
    ):
        opened.index(history=-2)


def test_status(three: Repository) -> None:
    three.index(history=2)
    told = json.loads(three.tree.call("status", "--json").stdout)
    assert (told["head"], told["commits"]) == (three.head(), 2)
    theirs = json.loads(three.tree.call("status", "--viewer", "gast", "--json").stdout)
    assert not {"head", "commits"} & theirs.keys(), "how many are hidden is not told"
    assert f"head             {three.head()}" in three.tree.call("status").stdout
    stale = json.loads(three.tree.call("status", "--fresh", "--json").stdout)["stale"]
    assert stale == {"new": 0, "changed": 0, "gone": 0}, "commits are no files"


def test_settings(three: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = three.tree.write("quire.toml", "[ingest]\nhistory = 1\n")
    three.index()
    assert len(three.commits()) == 1
    settings.write_text('[ingest]\nhistory = "all"\n')
    three.index()
    assert len(three.commits()) == 3
    settings.write_text('[ingest]\nhistory = "some"\n')
    told = three.tree.call("index", "--no-embed")
    assert told.returncode == 2
    assert "history: expected a whole number or \"all\", not 'some'" in told.stderr
    settings.write_text("")
    monkeypatch.setenv("QUIRE_INGEST_HISTORY", "2")
    three.index()
    assert len(three.commits()) == 2
    monkeypatch.setenv("QUIRE_INGEST_HISTORY", "all")
    three.index()
    assert len(three.commits()) == 3


def test_a_purged_commit_is_gone_for_good(three: Repository) -> None:
    sha = three.commit("Unspeakable", {"a.md": "last\n"})
    three.index()
    assert three.tree.call("purge", f".git/commit/{sha}").returncode == 0
    assert sha not in three.commits()
    assert b"Unspeakable" not in three.tree.store.read_bytes()


def test_a_watch_sees_a_commit_with_the_next_change(three: Repository) -> None:
    with subprocess.Popen(
        [three.tree.command, "watch", "--no-embed"],
        cwd=three.root,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=interruptible(),
    ) as watching:
        end = time.monotonic() + LIMIT

        def until(count: int) -> None:
            while not three.tree.store.exists() or len(three.commits()) != count:
                assert watching.poll() is None, watching.communicate()[1]
                assert time.monotonic() < end, f"{count} commits were not seen"
                time.sleep(0.05)

        until(3)
        three.commit("Seen", {"b.md": "B\n"})
        three.tree.write("c.md", "The watch may have looked before the commit was made.\n")
        until(4)
        watching.send_signal(signal.SIGINT)
        watching.communicate(timeout=LIMIT)


def test_two_spaces_have_their_own_history(three: Repository) -> None:
    three.index()
    with three.tree.open(space="other") as opened:
        assert opened.documents.history() is None
        opened.index(embed=False, history=1)
        assert len(opened.documents.list(COMMITS)) == 1
    assert len(three.commits()) == 3
