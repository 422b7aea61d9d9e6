"""What does a store cost on a server beside one in a file, and what do workers and indexes bring?

Both stores hold the same made-up text. Questions are asked by turns, so that both meet the same
moments of a busy machine. The server is a real one on this machine, asked over a socket; what its
processes spend is counted apart.
"""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from time import perf_counter, process_time

import psutil
from tests.store.edge_client import EdgeClient
from tests.store.postgresql import Server, running

from bench import stores, synthetic, synthetic_vectors, vectors
from bench.assemble import Measured, ask
from bench.fresh import SHAPE, WARM, Fresh
from bench.question_model import QuestionModel
from bench.report import Table, timed, times
from quire import config, engine
from quire.core.protocols import Store
from quire.core.types import OWNER
from quire.engine import Quire
from quire.indexing.backup import backup
from quire.indexing.copy_store import copy_store
from quire.store import open_store
from quire.store.postgres.store import PostgresStore
from quire.store.sqlite.store import SqliteStore
from quire.store.vectors.pgvector import PgvectorIndex
from quire.store.vectors.qdrant import QdrantIndex

LARGEST = 100_000
"""More chunks take too long to copy for a table of this kind."""
MOST_ASKED = 200
WORKED = 3000
"""Chunks that workers read and split."""
EMBEDDED = 200
"""Chunks that workers embed, too."""
QDRANT = "qdrant://in-process"
SCANS = ("enable_seqscan", "enable_bitmapscan", "enable_sort")
PLACES = (("inline", 1), ("processes:2", 2), ("ray", 1), ("ray", 2))


def tables(sizes: Sequence[int], asked: int) -> Iterator[Table]:
    """Measure both engines at each size, then the workers."""
    with tempfile.TemporaryDirectory(prefix="quire-bench-") as folder:
        with running() as server:
            for size in sizes:
                if size > LARGEST:
                    print(f"no engines at {size:,} chunks: it takes too long to copy them")
                    continue
                path, _ = stores.ours(size)
                database = server.create()
                url = server.url(database)
                yield _copies(path, url, size, Path(folder))
                yield _asked(path, url, server, size, min(5 * asked, MOST_ASKED))
                server.run("CREATE EXTENSION vector", database=database)
                yield _indexed(path, server, database, size, asked)
        yield _workers(Path(folder), WORKED, embed=False)
        yield _workers(Path(folder), EMBEDDED, embed=True)


# --- moving --------------------------------------------------------------------------------------


def _copies(path: Path, url: str, size: int, folder: Path) -> Table:
    table = Table(
        f"moving {size:,} chunks with vectors",
        ("what", "seconds", "cpu", "chunks/s", "bytes a chunk"),
        notes=["cpu: of this process, without the server's"],
    )
    settings = config.load(folder, store=path)
    saved = folder / f"backup-{size}.db"
    seconds = _clock(lambda: backup(settings, saved, force=True, report=lambda _: None))
    table.add("quire backup", *seconds, size / seconds[0], saved.stat().st_size / size)
    with closing(open_store(path)) as file, closing(open_store(url)) as server:
        seconds = _clock(lambda: copy_store(file, server))
        server.shrink()
        table.add("file to server", *seconds, size / seconds[0], _bytes(server) / size)
        back = folder / f"back-{size}.db"
        with closing(open_store(back)) as target:
            seconds = _clock(lambda: copy_store(server, target))
            table.add("server to file", *seconds, size / seconds[0], _bytes(target) / size)
        seconds = _clock(lambda: copy_store(file, server))
        table.add("again, nothing to do", *seconds, size / seconds[0], None)
    return table


def _bytes(store: Store) -> int:
    with store.view(OWNER) as view:
        return view.status().bytes


def _clock(call: Callable[[], object]) -> tuple[float, float]:
    start, busy = perf_counter(), process_time()
    call()
    return perf_counter() - start, process_time() - busy


# --- asking --------------------------------------------------------------------------------------


def _asked(path: Path, url: str, server: Server, size: int, asked: int) -> Table:
    table = Table(
        f"asking {size:,} chunks by turns",
        (
            "what",
            *("file p50 ms", "p95", "cpu"),
            *("server p50 ms", "p95", "cpu", "its cpu"),
            *("ratio p50", "ratio p95"),
        ),
        notes=[
            f"{asked} questions ({SHAPE}), each for the first time, the vector at hand",
            "its cpu: the mean of what the server's processes spent on one",
        ],
    )
    fresh = Fresh()
    model = QuestionModel(fresh.all)
    with _opened(path, model) as file, _opened(url, model) as remote:
        for question in fresh.take(WARM):
            for quire in (file, remote):
                quire.search(question, refresh=False)
                ask(quire, question)
        for what, call in (("search", _search), ("assemble", ask)):
            questions = fresh.take(asked, MOST_ASKED)
            measured: list[list[tuple[float, float]]] = [[], []]
            spent = 0.0
            for number, question in enumerate(questions):
                for at in (0, 1) if number % 2 else (1, 0):
                    quire = (file, remote)[at]
                    before = _server_cpu(server) if at else 0.0
                    measured[at].append(_clock(partial(call, quire, question)))
                    spent += _server_cpu(server) - before if at else 0.0
            ours, theirs = (
                times([one for one, _ in each], [cpu for _, cpu in each]) for each in measured
            )
            table.add(
                what,
                *(ours.p50, ours.p95, ours.cpu),
                *(theirs.p50, theirs.p95, theirs.cpu, 1000 * spent / asked),
                *(theirs.p50 / ours.p50, theirs.p95 / ours.p95),
            )
    model.close()
    return table


def _search(quire: Quire, question: str) -> object:
    return quire.search(question, k=10, refresh=False)


@contextmanager
def _opened(place: Path | str, model: QuestionModel) -> Iterator[Measured]:
    with (
        tempfile.TemporaryDirectory(prefix="quire-bench-") as root,
        Measured(place, Path(root), model) as quire,
    ):
        yield quire


def _server_cpu(server: Server) -> float:
    """Return the CPU seconds of the processes that answer, as far as they live."""
    total = 0.0
    for process in psutil.Process(server.process()).children():
        try:
            spent = process.cpu_times()
        except psutil.Error:
            continue
        total += spent.user + spent.system
    return total


# --- indexes of vectors --------------------------------------------------------------------------


def _indexed(path: Path, server: Server, database: str, size: int, asked: int) -> Table:
    url = server.url(database)
    table = Table(
        f"vectors: top {vectors.TOP} of {size:,} made-up ones, of an index outside the store",
        ("store", "candidates of", "built in s", "p50 ms", "p95", f"recall@{vectors.TOP}"),
        notes=[
            "Qdrant is its engine inside this process, without a graph; HNSW is forced here",
            "recall: of a scan of the store's own vectors",
        ],
    )
    world = synthetic_vectors.World()
    questions = world.questions(asked)
    with tempfile.TemporaryDirectory(prefix="quire-bench-") as name:
        folder = Path(name)
        copied = folder / f"indexed-{size}.db"
        backup(config.load(folder, store=path), copied, force=True, report=lambda _: None)
        edge = EdgeClient(folder / f"qdrant-{size}")
        opened: tuple[tuple[str, str, Callable[[], Store]], ...] = (
            ("file", "-", lambda: open_store(copied)),
            (
                *("file", "Qdrant, exact"),
                lambda: SqliteStore(
                    copied, index=QdrantIndex(QDRANT, "", "s", exact=True, client=lambda *_: edge)
                ),
            ),
            ("server", "-", lambda: open_store(url)),
            (
                *("server", "pgvector, exact"),
                lambda: PostgresStore(url, index=PgvectorIndex(url, exact=True)),
            ),
            (
                *("server", "pgvector, HNSW"),
                lambda: PostgresStore(url, index=PgvectorIndex(url, exact=False)),
            ),
        )
        for place, candidates, opens in opened:
            with closing(opens()) as store:
                if candidates.endswith(
                    "HNSW"
                ):  # a server scans so few rows unless it is told otherwise
                    server.run(*(f"ALTER DATABASE {database} SET {way} = off" for way in SCANS))
                seconds, _ = _clock(store.merge)  # which brings the index up to date
                assert store.index_problem() is None
                spent = timed([partial(_nearest, store, one) for one in questions])
                share = vectors.recall(store, world.questions(vectors.RECALL_OVER))
                built = None if candidates == "-" else seconds
                table.add(place, candidates, built, spent.p50, spent.p95, share)
    return table


def _nearest(store: Store, vector: bytes) -> object:
    with store.view(OWNER) as view:
        return view.semantic(vector, vectors.TOP)


# --- workers -------------------------------------------------------------------------------------


def _workers(folder: Path, chunks: int, *, embed: bool) -> Table:
    table = Table(
        f"indexing {chunks:,} chunks in files{', with vectors' if embed else ' by words'}",
        ("where", "workers", "seconds", "chunks/s", "of one process"),
        notes=[f"{os.cpu_count()} cores; starting the workers is in it"],
    )
    root = folder / f"tree-{chunks}"
    for document in synthetic.documents(chunks):
        file = root / document.record.path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(chunk.text for chunk in document.chunks))
    first = 0.0
    states = set()
    for place, count in PLACES:
        seconds, written, state = _index(root, folder / "workers.db", place, count, embed=embed)
        first = first or seconds
        states.add(state)
        table.add(place, count, seconds, written / seconds, first / seconds)
    assert len(states) == 1, "the same store, whoever did the work"
    return table


def _index(
    root: Path, store: Path, place: str, count: int, *, embed: bool
) -> tuple[float, int, str]:
    for path in store.parent.glob(f"{store.name}*"):
        path.unlink()
    with _cluster(place, count), engine.open_quire(root, store=store) as quire:
        start = perf_counter()
        result = quire.index(embed=embed, on=place)
        return perf_counter() - start, result.chunks, result.state_root


@contextmanager
def _cluster(place: str, count: int) -> Iterator[None]:
    """Start Ray with so many workers, if it is to be used."""
    if place != "ray":
        yield
        return
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import ray

    ray.init(
        num_cpus=count, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR
    )
    try:
        yield
    finally:
        ray.shutdown()
