"""Vectors and watches in the background: real processes, which are killed as well."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import quire
from quire.core.types import IndexResult, Reembedding
from quire.embed.model_files import FORMERLY_SHIPPED
from quire.indexing import background
from quire.indexing.background import VECTORS, WATCH, Job, make_job
from quire.system import runtime
from tests.processes import end_all

if TYPE_CHECKING:
    from tests.conftest import Forest, Tree

LIMIT = 90
"""Seconds that anything may take, however busy the machine is."""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's folder for running processes."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    folder = runtime.folder(os.environ)
    assert folder is not None
    return folder


@pytest.fixture
def tree(plant: Forest, place: Path) -> Iterator[Tree]:
    tree = plant()
    tree.fill({f"notes/{n}.md": f"# Note {n}\n\nThe tide of day {n} is high.\n" for n in range(9)})
    yield tree
    end_all(place.parent)


def job(tree: Tree, kind: str, **more: float) -> Job:
    return make_job(kind, tree.root, tree.store, "main", **more)  # type: ignore[arg-type]


def wait_for(reached: Callable[[], bool]) -> None:
    until = time.monotonic() + LIMIT
    while not reached():
        assert time.monotonic() < until, "it never came"
        time.sleep(0.05)


def missing(tree: Tree) -> int:
    with tree.open() as opened:
        return opened.status().missing_vectors


# --- vectors -------------------------------------------------------------------------------------


def test_words_come_first_and_vectors_follow_in_the_background(tree: Tree) -> None:
    done = tree.run("index", "--background")
    assert done.returncode == 0, done.stderr
    assert "9 chunks have no vector yet" in done.stdout
    assert "9 vectors are being made in the background" in done.stderr
    assert tree.found("tide of day 3"), "words answer at once"
    wait_for(lambda: missing(tree) == 0)
    wait_for(lambda: background.state_of(job(tree, VECTORS)).process is None)
    assert "background" not in json.loads(tree.run("status", "--json").stdout)
    again = tree.run("index", "--background")
    assert "in the background" not in again.stderr, "nothing is left to do"


def test_the_words_are_there_when_the_first_vector_is_made(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that an interrupt in between keeps them all."""

    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("quire.indexing.files.embed_missing", interrupted)
    with tree.open() as opened, pytest.raises(KeyboardInterrupt):
        opened.index()
    assert len(tree.paths()) == 9
    assert missing(tree) == 9


def test_one_works_and_one_waits_at_most(tree: Tree) -> None:
    tree.index()
    lock = job(tree, VECTORS).lock
    assert lock.acquire()
    try:
        assert background.start_vectors(job(tree, VECTORS))
        wait_for(lambda: job(tree, VECTORS).queue.holder() is not None)
        waiting = job(tree, VECTORS).queue.holder()
        assert not background.start_vectors(job(tree, VECTORS))
        assert job(tree, VECTORS).queue.holder() == waiting
        assert background.state_of(job(tree, VECTORS)).process is not None
        assert missing(tree) == 9
    finally:
        lock.release()
    wait_for(lambda: missing(tree) == 0)


def test_a_killed_process_is_followed_by_the_next(tree: Tree) -> None:
    tree.index()
    background.start_vectors(job(tree, VECTORS, delay=60))
    wait_for(lambda: job(tree, VECTORS).queue.holder() is not None)
    process = job(tree, VECTORS).queue.holder()
    assert process is not None
    assert os.getsid(process) != os.getsid(0), "it survives the terminal"
    assert os.getpriority(os.PRIO_PROCESS, process) > os.getpriority(os.PRIO_PROCESS, 0)
    status = tree.run("status")
    assert f"0 of 9 chunks have a vector; process {process} makes the others" in status.stdout
    os.kill(process, signal.SIGKILL)
    wait_for(lambda: job(tree, VECTORS).queue.holder() is None)
    assert "nobody makes the others" in tree.run("status").stdout
    background.start_vectors(job(tree, VECTORS))
    wait_for(lambda: missing(tree) == 0)


def test_a_failure_is_told_by_the_status(tree: Tree) -> None:
    tree.index()
    tree.write("quire.toml", "[embed]\nfolder = 'nowhere'\n")
    tree.trust()
    background.start_vectors(job(tree, VECTORS))
    wait_for(lambda: background.state_of(job(tree, VECTORS)).failure != "")
    assert "the last process failed: " in tree.run("status").stdout


def test_vectors_of_edits_are_made_only_where_others_have_theirs(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Job] = []

    def start(job: Job) -> bool:
        started.append(job)
        return True

    monkeypatch.setattr(background, "start_vectors", start)
    with tree.open() as opened:
        config, root = opened.config, opened.root()
    result = IndexResult(1, 0, 0, (), chunks=9, vectors=0, missing_vectors=1, state_root="")
    monkeypatch.setenv("QUIRE_BACKGROUND", "0")
    assert not background.embed_later(config, root, result)
    monkeypatch.delenv("QUIRE_BACKGROUND")
    assert background.embed_later(config, root, result)
    assert started[0].delay == background.GATHER_SECONDS
    none = IndexResult(9, 0, 0, (), chunks=9, vectors=0, missing_vectors=9, state_root="")
    assert not background.embed_later(config, root, none)


def test_background_is_for_vectors(tree: Tree) -> None:
    done = tree.call("index", "--background", "--no-embed")
    assert done.returncode == 2
    assert "leave out --no-embed" in done.stderr


def reembedding(tree: Tree) -> Reembedding | None:
    with tree.open() as opened:
        return opened.status().reembedding


def test_all_vectors_are_made_again_in_the_background(tree: Tree) -> None:
    tree.index(embed=True)
    with tree.open() as opened:
        before = opened.roots().state
    done = tree.run("index", "--background", "--reembed")
    assert done.returncode == 0, done.stderr
    assert "all vectors are being made again in the background, with quire-en-2" in done.stderr
    assert "the old vectors answer until the last one is made" in done.stderr
    assert missing(tree) == 0
    wait_for(lambda: reembedding(tree) is None)
    with tree.open() as opened:
        assert opened.roots().state == before
    assert missing(tree) == 0


def test_a_store_of_an_older_release_is_embedded_again_in_the_background(tree: Tree) -> None:
    tree.index(embed=True)
    pretend_older(tree)
    lock = job(tree, VECTORS).lock
    assert lock.acquire()
    try:
        done = tree.run("index", "--background")
        assert "all vectors are being made again in the background" in done.stderr
        assert "words alone answer until the last one is made" in done.stderr
        wait_for(lambda: job(tree, VECTORS).queue.holder() is not None)
        process = job(tree, VECTORS).queue.holder()
        status = tree.run("status").stdout
        assert "0 of 9 chunks are embedded again, with quire-en-2; until all are, words" in status
        assert process is not None
        os.kill(process, signal.SIGKILL)
        wait_for(lambda: job(tree, VECTORS).queue.holder() is None)
    finally:
        lock.release()
    assert "nobody makes the others (`quire index` does)" in tree.run("status").stdout
    assert missing(tree) == 0, "the old vectors are still there"
    again = tree.run("index", "--background")
    assert "made again in the background" in again.stderr
    wait_for(lambda: reembedding(tree) is None)
    with tree.open() as opened:
        assert str(opened.status().model).startswith("quire-en-2")


def pretend_older(tree: Tree) -> None:
    """Let the vectors be those of the model of an older release."""
    with tree.open() as opened:
        with opened.store.write() as writer:
            writer.drop_vectors()
        keys = [key for batch in opened.store.missing_vectors() for key, _ in batch]
        with opened.store.write() as writer:
            writer.put_vectors(FORMERLY_SHIPPED[0], dict.fromkeys(keys, bytes(384)))


# --- a watch -------------------------------------------------------------------------------------


def test_a_watch_in_the_background_begins_works_and_ends(tree: Tree) -> None:
    assert tree.run("index", "--no-embed").returncode == 0
    assert tree.run("watch", "--status").returncode == 1
    begun = tree.run("watch", "--daemon", "--no-embed")
    assert begun.returncode == 0, begun.stderr
    process = job(tree, WATCH).lock.holder()
    assert f"process {process} watches {tree.root}" in begun.stdout
    twice = tree.run("watch", "--daemon")
    assert twice.returncode == 2
    assert f"process {process} watches this store already" in twice.stderr
    assert json.loads(tree.run("watch", "--status", "--json").stdout)["process"] == process
    tree.write("notes/new.md", "# New\n\nA heron stands in the tide.\n")
    wait_for(lambda: "notes/new.md" in tree.paths())
    ended = tree.run("watch", "--stop")
    assert (ended.returncode, ended.stdout) == (
        0,
        f"process {process} has stopped watching {tree.root}\n",
    )
    assert job(tree, WATCH).lock.holder() is None
    assert tree.run("watch", "--stop").returncode == 1


def test_a_killed_watch_can_be_started_again(tree: Tree) -> None:
    tree.index()
    first = background.start_watch(job(tree, WATCH, embed=False))
    os.kill(first, signal.SIGKILL)
    wait_for(lambda: job(tree, WATCH).lock.holder() is None)
    assert background.start_watch(job(tree, WATCH, embed=False)) != first


def test_a_watch_ends_with_the_folder_of_its_project(tree: Tree) -> None:
    tree.index()
    background.start_watch(job(tree, WATCH, embed=False))
    tree.root.rename(tree.root.with_name("moved"))
    wait_for(lambda: job(tree, WATCH).lock.holder() is None)


def test_a_watch_that_cannot_begin_says_why(tree: Tree) -> None:
    with pytest.raises(quire.QuireError, match=r"the watch did not begin: .*no store"):
        background.start_watch(job(tree, WATCH))
    assert tree.call("watch", "--daemon", "--stop").returncode == 2


# --- where they meet -----------------------------------------------------------------------------


def test_the_folder_is_the_users_own(tmp_path: Path) -> None:
    session, cache = tmp_path / "session", tmp_path / "cache"
    session.mkdir(mode=0o700)
    variables = {"XDG_RUNTIME_DIR": str(session), "XDG_CACHE_HOME": str(cache)}
    assert runtime.folder(variables) == session / "quire"
    assert (session / "quire").stat().st_mode & 0o777 == 0o700
    (session / "quire").chmod(0o755)
    assert runtime.folder(variables) == session / "quire", "what others could read is restricted"
    assert (session / "quire").stat().st_mode & 0o777 == 0o700
    (session / "quire").rmdir()
    (session / "quire").symlink_to(tmp_path)
    assert runtime.folder(variables) == cache / "quire" / "run", "a link is not followed"
    assert runtime.folder({"XDG_RUNTIME_DIR": "here", "XDG_CACHE_HOME": "there"}) is None
    if os.geteuid() == 0:
        os.chown(session, 12345, 12345)
        (session / "quire").unlink()
        assert runtime.folder(variables) == cache / "quire" / "run", "not in another's folder"


def test_what_lies_in_the_project_is_not_run(tree: Tree) -> None:
    """A module of the project with the name of one of Quire's, or of Python's, stays where it is."""
    for name in ("quire.py", "json.py", "numpy.py"):
        tree.write(name, "open('taken', 'w')\n")
    done = tree.run("index", "--background")
    assert done.returncode == 0, done.stderr
    wait_for(lambda: missing(tree) == 0)
    assert not list(tree.root.rglob("taken"))


def test_a_lock_is_free_when_its_process_is_gone(place: Path) -> None:
    lock = runtime.Lock(place / "some.lock")
    assert lock.holder() is None
    with lock.held() as got:
        assert got
        assert lock.holder() == os.getpid()
        assert not runtime.Lock(lock.path).acquire()
    assert lock.holder() is None
