"""PostgreSQL: a disk that is full, a replica that lags behind, and a server that hangs."""

from __future__ import annotations

import time
from itertools import count
from random import Random
from typing import Any

import psutil
import pytest

from quire.core.protocols import Store
from quire.core.types import OWNER
from quire.errors import StoreError, StoreFullError, StoreInterruptedError
from quire.store import open_store
from quire.store.postgres import connection

from .postgresql import Server
from .processes import mounted, remount
from .samples import document, fill


def root(store: Store) -> str:
    with store.view(OWNER) as view:
        return view.roots().state


def names(store: Store) -> list[str]:
    with store.view(OWNER) as view:
        return [record.id for record in view.listing()]


def test_a_full_disk_loses_nothing(server: Server) -> None:
    with mounted(server.folder("small"), "20m") as disk:
        folder = disk / "space"
        folder.mkdir()
        disk.chmod(0o755)
        server.own(folder)
        server.run(f"CREATE TABLESPACE small LOCATION '{folder}'")
        server.run("CREATE DATABASE small OWNER quire_test TABLESPACE small STRATEGY file_copy")
        store = open_store(server.url("small"))
        kept: list[str] = []
        random = Random(1)

        def fill_up() -> None:
            for number in count():
                words = " ".join(random.randbytes(4).hex() for _ in range(2000))
                fill(store, document(f"d{number:05}", words), embed=True)
                kept.append(f"d{number:05}")

        with pytest.raises(StoreFullError, match="the server's disk is full") as full:
            fill_up()
        assert "free some space" in str(full.value)
        assert len(kept) > 3
        assert names(store) == kept, "what was acknowledged is there, and nothing of the rest"
        before = root(store)
        remount(disk, "size=64m")
        assert store.check() == []
        assert root(store) == before
        fill(store, document("more", "alpha"), embed=True)
        assert store.check() == []
        store.close()
        server.run("DROP DATABASE small WITH (FORCE)", "DROP TABLESPACE small")


def test_a_slow_replica_shows_an_earlier_state_whole(server: Server) -> None:
    database = server.create()
    primary = open_store(server.url(database), wait=5)
    fill(primary, document("a", "alpha"), embed=True)
    first = root(primary)
    with server.replica(delay="3s") as url:
        replica = open_store(url(database), create=False)
        assert (names(replica), root(replica)) == (["a"], first)
        fill(primary, document("b", "beta"), embed=True)
        fill(primary, document("c", "gamma"), embed=True)
        assert (names(replica), root(replica)) == (["a"], first), "it lags behind, and is whole"
        with replica.view(OWNER) as view:
            assert not view.lexical("beta", 9).hits
        deadline = time.monotonic() + 60
        while root(replica) != root(primary):
            assert time.monotonic() < deadline
            time.sleep(0.2)
        with replica.view(OWNER) as view:
            assert len(view.lexical("beta", 9).hits) == 1
        with pytest.raises(StoreError, match="this server takes no writes") as refused:
            fill(replica, document("d", "delta"))
        assert "name the primary server" in str(refused.value)
        replica.close()
    fill(primary, document("d", "delta"))
    assert primary.check() == []
    primary.close()


def test_a_server_that_hangs_is_not_waited_for_ever(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its kernel still confirms what is sent, and nobody in it is there to end the query."""
    monkeypatch.setattr(connection, "PATIENCE_SECONDS", 0.3)
    database = server.create()
    store = open_store(server.url(database))
    fill(store, document("a", "alpha"))
    backends = "SELECT pid FROM pg_stat_activity WHERE application_name = 'quire'"
    with store.view(OWNER) as view:
        hanging = [psutil.Process(number) for (number,) in server.run(backends)]
        for process in hanging:
            process.suspend()
        try:
            with pytest.raises(StoreInterruptedError, match="did not answer in time"):
                view.chunks_of("a")
        finally:
            for process in hanging:
                process.resume()
    assert names(store) == ["a"], "over another connection"
    with store.view(OWNER) as view:
        for (number,) in server.run(backends):
            psutil.Process(number).suspend()
        try:
            assert names(store) == ["a"], "beside the one that hangs"
            with pytest.raises(StoreInterruptedError, match="did not answer in time"):
                view.lexical("alpha", 9)
        finally:
            for (number,) in server.run(backends):
                psutil.Process(number).resume()
    store.close()


def test_a_pooler_that_shares_connections_is_told(server: Server) -> None:
    """Another process has prepared a statement of the same name on what it takes for its own."""
    store: Any = open_store(server.url(server.create()))

    def ask() -> None:
        with store._server.read_transaction() as lent:
            lent.raw.execute("PREPARE _pg3_0 AS SELECT 1")
            lent.raw.prepare_threshold = 0
            try:
                lent.rows("SELECT name FROM space")
            finally:
                lent.raw.prepare_threshold = 5

    with pytest.raises(StoreError, match="shares its connections between transactions") as shared:
        ask()
    assert "pool_mode = session" in str(shared.value)
    assert names(store) == []
    store.close()
