"""What is pgvector's own: its version, and the parameters of the store's URL."""

from __future__ import annotations

import threading
import time
from random import Random

import pytest

from quire.core.types import OWNER
from quire.store import open_store
from quire.store.index import vector_index
from quire.store.postgres.store import PostgresStore
from quire.store.vectors import pgvector
from quire.store.vectors.pgvector import PgvectorIndex

from .postgresql import Server
from .test_vector_indexes import vector, write

TABLE = (
    "SELECT oid::regclass::text FROM pg_class "
    "WHERE relnamespace = 'quire_vectors'::regnamespace AND relname LIKE 's%' AND relkind = 'r'"
)
LOCKED = "mode = 'RowExclusiveLock' AND relation::regclass::text LIKE 'quire_vectors.s%'"
GRAPHS = "SELECT count(*)::int FROM pg_indexes WHERE indexdef LIKE '%USING hnsw%'"


@pytest.fixture(scope="module")
def url(server: Server) -> str:
    """The URL of a store with vectors, in a database with the extension."""
    name = server.create()
    server.run("CREATE EXTENSION vector", database=name)
    url = server.url(name)
    store = open_store(url)
    write(store, Random(1), range(20))
    store.close()
    return url


def test_a_version_whose_graph_cannot_be_filtered_is_told(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its searches would end with what passes the filter by chance, or fail."""
    monkeypatch.setattr(pgvector, "MIN_GRAPH_VERSION", (99,))
    monkeypatch.setattr(vector_index, "FEW", 0)
    exact = PostgresStore(url, index=PgvectorIndex(url, exact=True))
    exact.merge()
    assert exact.index_problem() is None, "comparing all needs no graph"
    exact.close()
    store = PostgresStore(url, index=PgvectorIndex(url, exact=False))
    store.merge()
    problem = store.index_problem()
    assert problem is not None
    assert "the database has pgvector 0." in problem
    assert "upgrade it to 0.8 or later" in problem
    query = vector(Random(2))
    with store.view(OWNER) as view:
        assert view.semantic(query, 5) == view.semantic(query, 5, exact=True)
    store.close()


def test_a_graph_takes_as_long_as_it_takes(
    url: str, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit of time of searches does not end it."""
    monkeypatch.setattr(pgvector, "READ_SECONDS", 1)
    database = url.partition("?")[0].rpartition("/")[2]
    exact = PostgresStore(url, index=PgvectorIndex(url, exact=True))
    exact.merge()
    exact.close()
    store = PostgresStore(url, index=PgvectorIndex(url, exact=False))
    problem = store.index_problem()
    assert problem is not None, "there is no graph yet"
    assert "behind" in problem
    (table,) = server.run(TABLE, database=database)[0]
    writing = threading.Thread(
        target=server.run,
        args=(f"BEGIN; LOCK {table} IN ROW EXCLUSIVE MODE", "SELECT pg_sleep(2)", "COMMIT"),
        kwargs={"database": database},
    )
    writing.start()
    while not server.run(f"SELECT 1 FROM pg_locks WHERE {LOCKED}", database=database):
        time.sleep(0.01)
    store.merge()
    writing.join()
    assert store.index_problem() is None
    assert server.run(GRAPHS, database=database) == [(1,)]
    server.run(f"DROP INDEX {table}_hnsw", database=database)
    (found,) = store.check(repair=True)
    assert (found.check, found.repaired) == ("vectors", True)
    assert server.run(GRAPHS, database=database) == [(1,)]
    store.close()


def test_parameters_of_the_url_reach_it(url: str) -> None:
    """Servers that many share are told by such an option which database is meant."""
    index = PgvectorIndex(f"{url}&options=-c%20enable_seqscan%3Doff", exact=True)
    with index._asking() as connection:
        assert connection.execute("SHOW enable_seqscan").fetchone() == ("off",)
        assert connection.execute("SHOW statement_timeout").fetchone() == ("1min",)
    index.close()


@pytest.mark.parametrize(
    ("version", "numbers"), [("0.8.1", (0, 8, 1)), ("0.10", (0, 10)), ("0.8.0-rc", (0, 8))]
)
def test_versions_are_compared_by_their_numbers(version: str, numbers: tuple[int, ...]) -> None:
    assert pgvector._numbers(version) == numbers
