"""What the SQLite engine must do beside the contract, so that threads can share a connection."""

from __future__ import annotations

import os
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import apsw
import pytest

from quire.core.types import OWNER
from quire.errors import InputError, StoreDamagedError, StoreError
from quire.store import open_store
from quire.store.sqlite.connection import MAX_IDLE, PAGE_CACHE_KIB
from quire.store.sqlite.database import Connection

from .samples import document, fill


def in_a_thread(job: Any) -> Any:
    """Return what a job returns or raises in another thread."""
    results: list[Any] = []

    def run() -> None:
        try:
            results.append(job())
        except BaseException as error:  # noqa: BLE001 - it is the result
            results.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(60)
    return results[0]


def open_files(path: Path) -> list[str]:
    """Return which files of a store this process has open."""
    files = (os.path.realpath(link) for link in Path("/proc/self/fd").iterdir())
    return sorted(file for file in files if file.startswith(str(path)))


def test_a_stream_that_another_thread_ends_leaves_the_connection_free() -> None:
    connection = Connection(":memory:")
    rows = connection.stream("VALUES (1), (2), (3)")
    assert next(rows) == (1,)
    assert in_a_thread(lambda: connection.rows("VALUES (9)")) == [(9,)], "between two rows"
    assert in_a_thread(lambda: next(rows)) == (2,)
    assert in_a_thread(rows.close) is None
    assert in_a_thread(lambda: connection.rows("VALUES (9)")) == [(9,)]
    assert list(connection.stream("VALUES (1), (2)")) == [(1,), (2,)]
    connection.close()


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files are read from /proc")
def test_a_closed_store_leaves_no_file_open(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    store = open_store(path)
    fill(store, document("a", "alpha"), embed=True)
    with store.view(OWNER) as view, store.view(OWNER), store.write():
        assert view.status().records == 1
        assert open_files(path)
        store.close()
        assert open_files(path), "what is open still reads"
    assert open_files(path) == []
    assert list(tmp_path.iterdir()) == [path], "the log was folded in"


def test_an_error_of_sqlite_is_translated_in_every_thread(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    store = open_store(path)
    fill(store, document("a", "alpha"))
    store.close()
    connection = apsw.Connection(str(path))
    ((page,),) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'record'")
    size = int(connection.pragma("page_size"))
    connection.close()
    data = bytearray(path.read_bytes())
    data[(page - 1) * size : page * size] = b"\xff" * size
    path.write_bytes(data)
    store = open_store(path)
    with store.view(OWNER) as view:
        for call in (lambda: view.chunks_of("a"), lambda: list(view.listing())):
            error = in_a_thread(call)
            assert isinstance(error, StoreDamagedError), error
            assert error.place == str(path)
            assert "quire doctor" in str(error)
    store.close()


def test_a_call_that_fails_because_its_view_has_ended_says_so(tmp_path: Path) -> None:
    store = open_store(tmp_path / "store.db")

    def fail(view: Any, *, ends: bool) -> None:
        with view._use:
            if ends:
                view.close()
            raise apsw.ConnectionClosedError("closed by another thread")

    with store.view(OWNER) as view:
        assert type(in_a_thread(lambda: fail(view, ends=False))) is StoreError
        assert type(in_a_thread(lambda: fail(view, ends=True))) is InputError
    store.close()


def views_at_once(store: Any, count: int) -> None:
    with ExitStack() as stack:
        for _ in range(count):
            view = stack.enter_context(store.view(OWNER))
            assert view.status().records == 1


def test_connections_share_what_they_keep_of_the_file(tmp_path: Path) -> None:
    store: Any = open_store(tmp_path / "store.db")
    fill(store, document("a", "alpha"))
    connections = store._connections
    (alone,) = connections._idle
    assert alone.pragma("cache_size") == -PAGE_CACHE_KIB
    views_at_once(store, 8)
    assert len(connections._idle) == 8
    views_at_once(store, 8)  # each gets its part when it is lent
    kept = [-int(each.pragma("cache_size")) for each in connections._idle]
    assert sum(kept) <= PAGE_CACHE_KIB
    assert min(kept) == PAGE_CACHE_KIB // 8
    store.close()
    assert connections._opened == 0


def test_a_burst_of_readers_leaves_few_connections_open(tmp_path: Path) -> None:
    store: Any = open_store(tmp_path / "store.db")
    fill(store, document("a", "alpha"))
    views_at_once(store, MAX_IDLE + 20)
    assert len(store._connections._idle) == store._connections._opened == MAX_IDLE
    views_at_once(store, 3)
    store.close()
    assert open_files(tmp_path / "store.db") == []


def test_what_is_read_with_the_hits_of_a_search_is_not_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[str] = []
    rows, row = Connection.rows, Connection.row

    def logged(self: Connection, sql: str, bindings: Any = ()) -> list[tuple[Any, ...]]:
        sent.append(sql)
        return rows(self, sql, bindings)

    def logged_one(self: Connection, sql: str, bindings: Any = ()) -> tuple[Any, ...] | None:
        sent.append(sql)
        return row(self, sql, bindings)

    store = open_store(tmp_path / "store.db")
    fill(store, document("a", "one", "two"), document("b", "one"))
    with store.view(OWNER) as view:
        ids = [hit.id for hit in view.lexical("one two", 9).hits]
        monkeypatch.setattr(Connection, "rows", logged)
        monkeypatch.setattr(Connection, "row", logged_one)
        assert len(view.chunks(ids)) == len(ids) == 3
        assert [record.id for record in view.records(["b", "a", "b"])] == ["b", "a", "b"]
        assert not sent
        for name in ids:
            view.prove(name)
        assert not any(" record r " in sql for sql in sent), sent
    store.close()
