"""A server that is killed, and connections that are cut, while commands run."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

import quire
from quire.core.protocols import Writer
from quire.core.types import OWNER
from quire.errors import QuireError, StoreInterruptedError
from quire.store import open_store
from quire.system import retry
from tests.conftest import COMMAND, TIME_LIMIT, Tree
from tests.store.postgresql import Server, running
from tests.store.samples import document

FILES = {
    f"{number:03}.md": f"# {number}\n\n" + f"The pilot of ship {number} boards at dawn.\n\n" * 6
    for number in range(400)
}
WORDS_ONLY = '[embed]\nprovider = "none"\n'
CUT = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'quire'"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running() as started:
        yield started


@pytest.fixture
def database(server: Server) -> str:
    return server.create()


@pytest.fixture
def project(tree: Tree) -> Tree:
    tree.fill({**FILES, "quire.toml": WORDS_ONLY})
    return tree


def state(place: str | Path) -> str:
    with closing(open_store(place, create=False)) as store, store.view(OWNER) as view:
        return view.roots().state


@contextmanager
def command(project: Tree, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    started = subprocess.Popen(
        [COMMAND, *arguments],
        cwd=project.root,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield started
    finally:
        started.kill()
        started.communicate(timeout=TIME_LIMIT)


def count(server: Server, database: str) -> int:
    try:
        ((records,),) = server.run("SELECT count(*) FROM quire.record", database=database)
    except psycopg.errors.UndefinedTable:
        return 0
    return int(records)


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + TIME_LIMIT
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def interrupt(project: Tree, server: Server, database: str, fault: Callable[[], None]) -> str:
    """Let a fault happen while a store is indexed; return what the command said, if it failed."""
    with command(project, "index", "--store", server.url(database)) as indexing:
        wait_for(lambda: count(server, database) > 0 or indexing.poll() is not None)
        assert indexing.poll() is None, "it was faster than the fault"
        fault()
        _, said = indexing.communicate(timeout=TIME_LIMIT)
    assert "Traceback" not in said
    return "" if indexing.returncode == 0 else said


def test_a_server_that_restarts_while_files_are_indexed(
    project: Tree, server: Server, database: str
) -> None:
    project.call("index")

    def restart() -> None:
        server.kill()
        time.sleep(1)
        server.start()

    assert interrupt(project, server, database, restart) == "", "it goes on by itself"
    assert state(server.url(database)) == state(project.store)
    with closing(open_store(server.url(database))) as store:
        assert store.check() == []


def test_a_server_that_stays_away_while_files_are_indexed(
    project: Tree, server: Server, database: str
) -> None:
    project.call("index")
    said = interrupt(project, server, database, server.kill)
    assert "no PostgreSQL server answers there" in said or "connection" in said
    server.start()
    kept = count(server, database)
    assert kept > 0, "what was acknowledged is kept"
    done = project.run("index", "--store", server.url(database))
    assert done.returncode == 0, done.stderr
    assert state(server.url(database)) == state(project.store)


def test_connections_that_are_cut_while_files_are_indexed(
    project: Tree, server: Server, database: str
) -> None:
    project.call("index")

    def cut() -> None:
        for _ in range(3):
            server.run(CUT)
            time.sleep(0.05)

    assert interrupt(project, server, database, cut) == ""
    assert state(server.url(database)) == state(project.store)


def test_a_server_that_restarts_while_contexts_are_assembled(
    project: Tree, server: Server, database: str
) -> None:
    url = server.url(database)
    arguments = ("assemble", "pilot of ship 17", "--budget", "2000", "--store", url)
    assert project.run("index", "--store", url).returncode == 0
    wanted = project.run(*arguments)
    assert "ship 17" in wanted.stdout
    for delay in (0.0, 0.2):
        with command(project, *arguments) as assembling:
            wait_for(
                lambda: (
                    bool(server.run(CUT.replace("pg_terminate_backend(pid)", "pid")))
                    or assembling.poll() is not None
                )
            )
            time.sleep(delay)
            server.kill()
            time.sleep(0.5)
            server.start()
            page, said = assembling.communicate(timeout=TIME_LIMIT)
        assert "Traceback" not in said
        if assembling.returncode == 0:
            assert page == wanted.stdout
        else:
            assert page == ""
            assert "server" in said
    again = project.run(*arguments)
    assert (again.stdout, again.returncode) == (wanted.stdout, 0)


def test_a_context_is_whole_or_an_error(
    project: Tree, server: Server, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if the connection is cut in the middle of a search."""
    monkeypatch.setattr(retry, "DELAYS", ())
    url = server.url(database)
    with quire.open(project.root, store=url) as opened:
        opened.index()
        whole = opened.assemble("pilot of ship 17", budget=2000, refresh=False)
        assert not whole.failed
        view: Any = type(_view_of(opened))
        search = view.lexical

        def cut(*args: object, **options: object) -> object:
            monkeypatch.setattr(view, "lexical", search)
            server.run(CUT)
            return search(*args, **options)

        monkeypatch.setattr(view, "lexical", cut)
        with pytest.raises(StoreInterruptedError):
            opened.assemble("pilot of ship 18", budget=2000, refresh=False)
        monkeypatch.setattr(view, "lexical", cut)
        monkeypatch.setattr(retry, "DELAYS", (0.0,))
        again = opened.assemble("pilot of ship 18", budget=2000, refresh=False)
        assert not again.failed
        assert "ship 18" in again.text


def _view_of(opened: quire.Quire) -> object:
    with opened.store.view(OWNER) as view:
        return view


def test_a_deadlock_is_tried_again_as_a_whole(server: Server, database: str) -> None:
    with closing(open_store(server.url(database))) as store:
        for space in ("one", "two"):
            with store.write(space) as writer:
                writer.set_note("a", "0")
        attempts: list[int] = []

        def change(writer: Writer) -> str:
            attempts.append(1)
            writer.put(document("x", "alpha").record, document("x", "alpha").chunks)
            if len(attempts) == 1:
                _deadlock(server, database, lambda: writer.set_note("b", "1"))
            return "done"

        assert retry.write(store, "one", change) == "done"
        assert len(attempts) == 2
        with store.view(OWNER, "one") as view:
            assert [record.id for record in view.listing()] == ["x"]
        assert store.check() == []


def _deadlock(server: Server, database: str, write: Callable[[], object]) -> None:
    """Wait in one transaction for another one, which waits for the first."""
    uri = server.url(database, "postgres")
    with psycopg.connect(uri) as other:
        other.execute("SET deadlock_timeout = '60s'")  # so that it is not the one that is ended
        other.execute("LOCK TABLE quire.note IN ACCESS EXCLUSIVE MODE")
        waiting = threading.Thread(
            target=lambda: other.execute("LOCK TABLE quire.record IN ACCESS EXCLUSIVE MODE")
        )
        waiting.start()
        time.sleep(0.3)
        try:
            write()
        finally:  # the server frees the lock as soon as it ends the transaction that failed
            waiting.join()
            other.rollback()


def test_an_error_that_is_none_of_the_servers_is_not_tried_again(
    server: Server, database: str
) -> None:
    attempts: list[int] = []

    def change(_: Writer) -> None:
        attempts.append(1)
        raise QuireError("no")

    with closing(open_store(server.url(database))) as store, pytest.raises(QuireError, match="no"):
        retry.write(store, "main", change)
    assert len(attempts) == 1
