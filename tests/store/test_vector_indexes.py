"""Indexes of vectors outside the store: the same hits, in step with the store, for who may read."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from quire.core.protocols import Store
from quire.core.types import NO_FILTER, OWNER, Filter, VectorSettings, Viewer
from quire.errors import ConfigError, VectorIndexError
from quire.store import open_store, vectors
from quire.store.index import vector_index
from quire.store.index.vector_index import slots_of
from quire.store.postgres.store import PostgresStore
from quire.store.sqlite.store import SqliteStore
from quire.store.vectors import pgvector
from quire.store.vectors.pgvector import PgvectorIndex
from quire.store.vectors.qdrant import QdrantIndex, connect
from quire.store.vectors.reconcile import (
    CHANGING,
    Collection,
    collection_of,
    compute_checksums,
)

from .contract_access import TestAccess as _Access
from .contract_search import TestSemantic as _Semantic
from .contract_vectors import TestOldVectors as _OldVectors
from .contract_vectors import TestVectors as _Vectors
from .edge_client import EdgeClient
from .engines import Engine
from .postgresql import Server
from .samples import document, put

MODEL, DIMS = "test", 16
SERVER = os.environ.get("QUIRE_TEST_QDRANT_URL", "")
VIEWERS = (OWNER, Viewer("alice"), Viewer("bob"))
pytestmark = pytest.mark.filterwarnings("ignore:Local mode performs exact")


class Kept:
    """A client of Qdrant's local mode that stays open when a store closes it."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.fails = False

    def __getattr__(self, name: str) -> Any:
        if self.fails and name != "close":
            raise OSError("no route to host")
        return getattr(self._client, name)

    def create_payload_index(self, *_: object, **__: object) -> None:
        """Do nothing, as the local mode does, which warns of it."""

    def close(self) -> None:
        """Stay open: another store asks the same server."""


@pytest.fixture
def client() -> Kept:
    from qdrant_client import QdrantClient

    return Kept(QdrantClient(":memory:"))


Open = Callable[..., Store]


@pytest.fixture(params=["qdrant", "edge", "pgvector", *(["server"] if SERVER else [])])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def opens(
    kind: str,
    quick_path: Path,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> Open:
    """Opens one place with an index of its vectors, as often as it is called."""
    monkeypatch.setattr(vector_index, "FEW", 0)
    if kind == "pgvector":
        url = request.getfixturevalue("vector_database")
        return lambda exact=True: PostgresStore(url, index=PgvectorIndex(url, exact=exact))
    path = quick_path / "store.db"
    if kind == "server":
        url = f"{SERVER}/{quick_path.name}"
        return lambda exact=True: SqliteStore(
            path, index=QdrantIndex(url, "", "", exact=exact, client=connect)
        )
    known: Any = request.getfixturevalue("client")
    if kind == "edge":
        known = EdgeClient(quick_path / "qdrant")
    return lambda exact=True: SqliteStore(
        path,
        index=QdrantIndex("qdrant://memory", "", "s", exact=exact, client=lambda *_: known),
    )


@pytest.fixture(scope="session")
def shared_vectors(server: Server) -> str:
    """A database with the extension, which a superuser created."""
    name = server.create()
    server.run("CREATE EXTENSION vector", database=name)
    open_store(server.url(name)).close()
    return name


@pytest.fixture
def vector_database(server: Server, shared_vectors: str) -> Iterator[str]:
    """The URL of a store without content."""
    yield server.url(shared_vectors)
    server.empty(shared_vectors)
    server.run("DROP SCHEMA IF EXISTS quire_vectors CASCADE", database=shared_vectors)


@pytest.fixture
def engine(opens: Open) -> Engine:
    return Engine(lambda wait=30.0: opens())  # noqa: ARG005 - nobody writes beside these tests


@pytest.fixture
def store(opens: Open) -> Iterator[Store]:
    opened = opens()
    yield opened
    opened.close()


# The parts of the contract that vectors have something to do with.
class TestAccess(_Access): ...


class TestSemantic(_Semantic): ...


class TestVectors(_Vectors): ...


class TestOldVectors(_OldVectors): ...


def vector(random: Random) -> bytes:
    """A vector with few values, so that many products are equal."""
    return np.array([random.randrange(-2, 3) for _ in range(DIMS)], np.int8).tobytes()


def write(store: Store, random: Random, names: range) -> None:
    with store.write() as writer:
        for number in names:
            acl = random.choice(((), ("alice",), ("bob",), ("alice", "bob")))
            text = f"text {random.randrange(40)}"
            put(writer, document(f"d{number}", text, acl=acl or None))
    with store.write() as writer:
        for batch in store.missing_vectors():
            writer.put_vectors(MODEL, {key: vector(random) for key, _ in batch})


def answers(store: Store, random: Random, *, exact: bool = False) -> list[Any]:
    found: list[Any] = []
    for viewer in VIEWERS:
        with store.view(viewer) as view:
            queries = [vector(random) for _ in range(4)]
            found += [
                view.semantic(query, k, where, exact=exact)
                for query in queries
                for k in (1, 5, 40)
                for where in (NO_FILTER, Filter(paths=("d1*",)))
            ]
    return found


@pytest.mark.parametrize("seed", range(6))
def test_exact_hits_are_those_of_a_scan(opens: Open, seed: int) -> None:
    random = Random(seed)
    with_index = opens()
    for start in (0, 60):
        write(with_index, random, range(start, start + 60))
        with with_index.write() as writer:
            writer.remove([f"d{number}" for number in range(start, start + 60, 7)])
        state = random.getstate()
        asked = answers(with_index, random)
        random.setstate(state)
        assert asked == answers(with_index, random, exact=True)
        assert asks_index(with_index) > 0, "the index was asked"
    with_index.close()


def asks_index(store: Any) -> int:
    """Return how many points the index of a store has; it must be of the store's generation."""
    with store.view(OWNER) as view, view._use as snapshot:
        state = snapshot.vector_state
        index = store._index
        collection = collection_of(state)
        assert index.read_generation(collection) == state.generation
        points, checksums = index.read_points(collection)
        assert sorted(points.tolist()) == state.points().tolist()
        vectors = [state.vectors_at(slots_of(points[at : at + 1])) for at in range(points.size)]
        assert checksums.tolist() == [compute_checksums(each)[0] for each in vectors]
        return int(points.size)


def test_what_is_gone_and_what_is_shared_anew_follows(store: Store) -> None:
    random = Random(1)
    write(store, random, range(10))
    with store.write() as writer:
        writer.remove(["d1", "d2"])
        put(writer, document("d3", "text 3", acl=("bob",)))
    assert asks_index(store) > 0
    store.purge(["d4"])
    assert asks_index(store) > 0


def test_another_process_finds_the_index_as_it_is(opens: Open) -> None:
    random, first = Random(2), opens()
    write(first, random, range(30))
    first.close()
    second = opens()
    state = random.getstate()
    asked = answers(second, random)
    random.setstate(state)
    assert asked == answers(second, random, exact=True)
    write(second, random, range(30, 40))
    assert asks_index(second) > 0
    second.close()


@pytest.mark.parametrize("step", ["upsert", "delete", "set_generation", "drop_others"])
def test_a_crash_between_the_two_is_mended_by_the_next_write(
    opens: Open, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    random, first = Random(3), opens()
    write(first, random, range(20))

    def crash(*_: object) -> None:
        raise VectorIndexError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(type(first._index), step, crash)  # type: ignore[attr-defined] # ours
        write(first, random, range(20, 30))
        with first.write() as writer:
            writer.remove([f"d{number}" for number in range(5)])
        state = random.getstate()
        asked = answers(first, random)
        random.setstate(state)
        assert asked == answers(first, random, exact=True), "the store's own vectors answer"
    first.close()
    second = opens()
    assert [(problem.check, problem.repaired) for problem in second.check()] == [("vectors", False)]
    write(second, random, range(30, 31))
    assert asks_index(second) > 0
    assert second.check() == []
    second.close()


def test_a_view_of_an_older_state_is_answered_by_the_store(opens: Open) -> None:
    random, store = Random(4), opens()
    write(store, random, range(20))
    query = vector(random)
    with store.view(OWNER) as view:
        before = view.semantic(query, 10)
        with store.write() as writer:
            writer.remove([f"d{number}" for number in range(10)])
        assert view.semantic(query, 10) == before
        assert view.semantic(query, 10) == view.semantic(query, 10, exact=True)
    store.close()


def test_a_search_beside_a_writer_that_ends_meanwhile_is_answered_by_the_store(
    opens: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    random, store = Random(8), opens()
    write(store, random, range(40))
    index: Any = store._index  # type: ignore[attr-defined] # ours
    with store.view(OWNER) as view, view._use as snapshot:  # type: ignore[attr-defined] # ours
        state = snapshot.vector_state
        collection = collection_of(state)
        search = index.search

        def search_while_written(*arguments: Any) -> Any:
            found = search(*arguments)
            index._known = {}
            index.follow(state)
            return found

        monkeypatch.setattr(index, "search", search_while_written)
        for _ in range(10):
            index.set_generation(collection, CHANGING)
            index.delete(collection, state.points()[::2])  # half written
            query = vector(random)
            assert view.semantic(query, 5) == view.semantic(query, 5, exact=True)
    store.close()


@pytest.mark.parametrize("dims", [DIMS, 2 * DIMS])
def test_a_store_made_again_does_not_find_the_vectors_of_the_former(
    kind: str, opens: Open, request: pytest.FixtureRequest, dims: int
) -> None:
    """Its slots have the numbers of the former one's, and other vectors."""
    random, former = Random(9), opens()
    write(former, random, range(30))
    former.close()
    delete_store(kind, request)
    store = opens()
    write_again(store, random, dims)
    assert asks_index(store) == 50
    with store.view(OWNER) as view:
        for _ in range(20):
            query = vector(random) * (dims // DIMS)
            assert view.semantic(query, 3) == view.semantic(query, 3, exact=True)
    store.close()


@pytest.mark.parametrize("documents", [20, 50])
def test_an_index_of_a_former_store_of_the_same_generation_is_not_believed(
    kind: str,
    opens: Open,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    documents: int,
) -> None:
    monkeypatch.setattr(vector_index, "MIN_CANDIDATES", 4)  # so that not all are named
    random, former = Random(13), opens()
    write_again(former, random, DIMS)
    former.close()
    delete_store(kind, request)
    store = opens()
    with monkeypatch.context() as patch:
        patch.setattr(type(store._index), "follow", lambda *_: None)  # type: ignore[attr-defined] # ours
        write_again(store, random, DIMS, documents)
    with store.view(OWNER) as view:
        for _ in range(20):
            query = vector(random)
            assert view.semantic(query, 1) == view.semantic(query, 1, exact=True)
    store.close()


def delete_store(kind: str, request: pytest.FixtureRequest) -> None:
    """Delete what was stored, and leave the index."""
    if kind == "pgvector":
        request.getfixturevalue("server").empty(request.getfixturevalue("shared_vectors"))
        return
    (request.getfixturevalue("quick_path") / "store.db").unlink()


def write_again(store: Store, random: Random, dims: int, documents: int = 50) -> None:
    """Write different texts with vectors, in as many transactions as `write` does."""
    with store.write() as writer:
        for number in range(documents):
            put(writer, document(f"d{number}", f"text {number}"))
    with store.write() as writer:
        for batch in store.missing_vectors():
            vectors_ = {key: vector(random) * (dims // DIMS) for key, _ in batch}
            writer.put_vectors(MODEL, vectors_)


def test_a_purge_fails_while_vectors_are_left_in_the_index(
    opens: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    random, store = Random(10), opens()
    write(store, random, range(10))

    def crash(*_: object) -> None:
        raise VectorIndexError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(type(store._index), "drop_others", crash)  # type: ignore[attr-defined] # ours
        with pytest.raises(VectorIndexError):
            store.purge([f"d{number}" for number in range(5)])
    store.purge([])
    assert asks_index(store) > 0
    store.close()


def test_after_the_last_text_is_purged_no_vector_is_left_in_the_index(opens: Open) -> None:
    random, store = Random(11), opens()
    write(store, random, range(5))
    with store.view(OWNER) as view, view._use as snapshot:  # type: ignore[attr-defined] # ours
        collection = collection_of(snapshot.vector_state)
    index: Any = store._index  # type: ignore[attr-defined] # ours
    assert index.read_generation(collection) is not None
    store.purge([f"d{number}" for number in range(5)])
    assert index.read_generation(collection) is None
    store.close()


def test_a_graph_that_gives_up_too_early_is_not_asked(
    opens: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    random, store = Random(12), opens(exact=False)
    write(store, random, range(60))
    found = vector_index.Nearest(np.zeros(0, np.int64), np.zeros(0), exhausted=True)
    monkeypatch.setattr(type(store._index), "search", lambda *_: found)  # type: ignore[attr-defined] # ours
    query = vector(random)
    with store.view(OWNER) as view:
        assert view.semantic(query, 10) == view.semantic(query, 10, exact=True)
    store.close()


@pytest.mark.parametrize("kind", ["pgvector"])
def test_a_graph_is_made_for_vectors_that_were_searched_without(
    opens: Open, server: Server, shared_vectors: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pgvector, "MIN_ANALYZE", 20)
    random, store = Random(13), opens()
    write(store, random, range(30))
    store.close()
    tables = "SELECT indexdef FROM pg_indexes WHERE schemaname = 'quire_vectors'"
    assert not any("hnsw" in made for (made,) in server.run(tables, database=shared_vectors))
    again = opens(exact=False)
    again.merge()
    assert any("hnsw" in made for (made,) in server.run(tables, database=shared_vectors))
    counted = "SELECT max(reltuples) FROM pg_class WHERE relname LIKE 's%_e%_d%' AND relkind = 'r'"
    assert server.run(counted, database=shared_vectors)[0][0] > 0, "the planner knows of them"
    assert asks_index(again) > 0
    again.close()


def test_a_graph_says_that_it_is_approximate(opens: Open) -> None:
    random, store = Random(5), opens(exact=False)
    write(store, random, range(300))
    query = vector(random)
    with store.view(OWNER) as view:
        hits = view.semantic(query, 10)
        truth = view.semantic(query, 10, exact=True)
    assert not hits.exact
    assert truth.exact
    assert len({hit.score for hit in hits.hits} & {hit.score for hit in truth.hits}) >= 1
    store.close()


def test_a_server_that_fails_costs_no_answer(
    client: Kept, quick_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_index, "FEW", 0)
    index = QdrantIndex("qdrant://memory", "", "s", exact=True, client=lambda *_: client)
    store = SqliteStore(quick_path / "store.db", index=index)
    random = Random(6)
    client.fails = True
    write(store, random, range(20))
    query = vector(random)
    with store.view(OWNER) as view:
        assert view.semantic(query, 5) == view.semantic(query, 5, exact=True)
    with pytest.raises(VectorIndexError, match="Qdrant does not answer"):
        store.purge(["d1"])
    client.fails = False
    (problem,) = store.check(repair=True)
    assert problem.repaired
    assert asks_index(store) > 0
    store.close()


def test_real_sockets_are_refused_in_words(quick_path: Path) -> None:
    settings = VectorSettings(engine="qdrant://127.0.0.1:9")
    store = open_store(quick_path / "store.db", vectors=settings)
    write(store, Random(7), range(3))
    with store.view(OWNER) as view:
        assert len(view.semantic(bytes(DIMS), 5).hits) == 3
    assert "Qdrant does not answer ([Errno 111] Connection refused)" in str(store.index_problem())
    store.close()


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (401, "Qdrant refuses the key, or wants one; put its key into QUIRE_QDRANT_KEY"),
        (404, "Qdrant does not answer (status 404)"),
        (200, "Qdrant does not answer (JSONDecodeError)"),
    ],
)
def test_a_server_that_refuses_is_told_in_words(
    quick_path: Path, monkeypatch: pytest.MonkeyPatch, status: int, told: str
) -> None:
    class Refusal(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.end_headers()
            self.wfile.write(b"<html>secret</html>")

        do_PUT = do_POST = do_DELETE = do_GET  # noqa: N815 - the names of the methods

        def log_message(self, *_: object) -> None: ...

    monkeypatch.setenv("QUIRE_QDRANT_KEY", "hunter2")
    monkeypatch.setenv("no_proxy", "*")
    with ThreadingHTTPServer(("127.0.0.1", 0), Refusal) as server:
        threading.Thread(target=server.serve_forever).start()
        engine = f"qdrant://127.0.0.1:{server.server_port}"
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # nothing is written beside the error
            store = open_store(quick_path / "s.db", vectors=VectorSettings(engine=engine))
        write(store, Random(7), range(3))
        problem = str(store.index_problem())
        with store.view(OWNER) as view:
            assert len(view.semantic(bytes(DIMS), 5).hits) == 3
        store.close()
        server.shutdown()
    assert told in problem
    assert "hunter2" not in problem


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (VectorSettings(engine="milvus://x"), "unknown engine"),
        (VectorSettings(engine="pgvector"), "is a file"),
        (VectorSettings(engine="qdrant://h", search="fast"), "unknown search"),
    ],
)
def test_wrong_settings_are_refused(quick_path: Path, settings: VectorSettings, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        vectors.open_index(settings, quick_path / "store.db")


class Lying:
    """A server whose answers are nonsense."""

    def __init__(self, ids: list[Any], payload: Any, after: Any = None) -> None:
        self._points = [SimpleNamespace(id=name, payload=payload) for name in ids]
        self._payload = payload
        self._after = after

    def collection_exists(self, _: str) -> bool:
        return True

    def query_points(self, *_: Any, **__: Any) -> Any:
        return SimpleNamespace(points=self._points)

    def retrieve(self, *_: Any, **__: Any) -> Any:
        return [SimpleNamespace(payload=self._payload)]

    def scroll(self, *_: Any, **__: Any) -> Any:
        return self._points, self._after


@pytest.mark.parametrize(
    ("ids", "payload"),
    [
        (["0f0e0d0c-0b0a-0908-0706-050403020100"], {"generation": 5}),
        ([2**64 - 1], {"generation": 5}),
        ([None], {"generation": 5}),
        ([1], {}),
        ([1], None),
        ([1], {"generation": "new"}),
        ([1], {"generation": [5]}),
        ([1], {"generation": float("inf")}),
    ],
)
def test_an_answer_of_nonsense_is_no_answer(ids: list[Any], payload: Any) -> None:
    lying = Lying(ids, payload)
    index = QdrantIndex("qdrant://memory", "", "s", exact=True, client=lambda *_: lying)
    state = vector_index.VectorState(1, 1, 5, DIMS, lambda: None, lambda _: None)  # type: ignore[arg-type,return-value]
    assert index.nearest(state, bytes(DIMS), frozenset({1}), 256) is None


@pytest.mark.parametrize("after", [1, 7, "0f0e0d0c-0b0a-0908-0706-050403020100"])
def test_points_that_are_listed_again_and_again_are_an_error(after: Any) -> None:
    lying = Lying([3, 7], {}, after)
    index = QdrantIndex("qdrant://memory", "", "s", exact=True, client=lambda *_: lying)
    with pytest.raises(VectorIndexError):
        index.read_points(Collection(1, 1, DIMS))


@pytest.mark.parametrize("slot", [-5, 9_999, 2**38])
def test_candidates_that_the_viewer_cannot_have_are_not_looked_up(
    quick_path: Path, monkeypatch: pytest.MonkeyPatch, slot: int
) -> None:
    """A slot that does not exist would be an error of the store, and another's is nobody's."""
    monkeypatch.setattr(vector_index, "FEW", 0)
    lying = SimpleNamespace(
        exact=True,
        nearest=lambda *_: vector_index.Nearest(
            np.array([0, slot], np.int64), np.zeros(2), exhausted=True
        ),
        follow=lambda _: None,
        close=lambda: None,
    )
    store = SqliteStore(quick_path / "store.db", index=lying)
    write(store, Random(1), range(30))
    assert answers(store, Random(2)) == answers(store, Random(2), exact=True)
    store.close()
