"""What do searches, contexts and copies cost on each engine, beside one file?

All stores hold the same made-up text and vectors. The server is a real one on this machine, asked
over a socket; Qdrant is its engine inside this process; the Ray cluster is on this machine.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import psutil
from tests.store.edge_client import EdgeClient
from tests.store.postgresql import Server, running

from bench import by_turns, stores, synthetic_vectors, vectors, workers
from bench.by_turns import Place
from bench.report import Table, timed
from quire import config
from quire.core.protocols import Store
from quire.core.types import OWNER
from quire.indexing.backup import backup
from quire.indexing.copy_store import copy_store
from quire.store import open_store
from quire.store.postgres.store import PostgresStore
from quire.store.sqlite.store import SqliteStore
from quire.store.vectors.pgvector import PgvectorIndex
from quire.store.vectors.qdrant import QdrantIndex

LARGEST = 100_000
"""More chunks take too long to copy for tables of this kind."""
PER_ASKED = 5
"""So many questions for each of `--asked`: the 95th percentile of few says little."""
SHARDS = (1, 2)
QDRANT = "qdrant://in-process"
NO_SCANS = "".join(
    f"%20-c%20{setting}%3Doff" for setting in ("enable_seqscan", "enable_bitmapscan", "enable_sort")
)
"""So that a server uses a graph where it would rather scan."""
GRAPH_FORCED = "server, pgvector's graph forced"


@dataclass(frozen=True, slots=True)
class Engines:
    """The places of one content; the stores are there once `_moved` has written them."""

    folder: Path
    source: Path
    server: Server
    database: str
    edge: EdgeClient

    @property
    def url(self) -> str:
        return self.server.url(self.database)

    def shards(self) -> dict[str, Path]:
        """Return the folders of shards by their names."""
        return {
            f"{count} shard{'s' * (count > 1)}": self.folder / f"store.{count}.shards"
            for count in SHARDS
        }

    def indexed(self) -> list[Place]:
        """Return the stores whose candidates come from an index outside."""
        return [
            Place("file, Qdrant exact", self.folder / "indexed.db", self._with_qdrant),
            self._pgvector("server, pgvector exact", self.url, exact=True),
            self._pgvector("server, pgvector's graph or a scan", self.url, exact=False),
            self._pgvector(
                GRAPH_FORCED, f"{self.url}&options={NO_SCANS.removeprefix('%20')}", exact=False
            ),
        ]

    def all(self) -> list[Place]:
        """Return all stores, one file first."""
        shards = self.shards().items()
        return [
            Place("one file", self.source),
            Place("server", self.url, processes=self.backends),
            *(Place(name, folder) for name, folder in shards),
            *(
                Place(f"{name} on Ray", f"ray://{folder}", processes=_actors)
                for name, folder in shards
            ),
            *self.indexed(),
        ]

    def backends(self, _: Store) -> list[psutil.Process]:
        """Return the server's processes that answer."""
        children: list[psutil.Process] = psutil.Process(self.server.process()).children()
        return children

    def _with_qdrant(self) -> Store:
        index = QdrantIndex(QDRANT, "", "s", exact=True, client=lambda *_: self.edge)
        return SqliteStore(self.folder / "indexed.db", index=index)

    def _pgvector(self, name: str, asks: str, *, exact: bool) -> Place:
        return Place(
            name,
            self.url,
            lambda: PostgresStore(self.url, index=PgvectorIndex(asks, exact=exact)),
            self.backends,
        )


def tables(sizes: Sequence[int], asked: int) -> Iterator[Table]:
    """Measure all engines at each size."""
    with running() as server:
        for size in sizes:
            if size > LARGEST:
                print(f"no engines at {size:,} chunks: it takes too long to copy them")
                continue
            yield from _engines(server, size, asked)


def _engines(server: Server, size: int, asked: int) -> Iterator[Table]:
    source, _ = stores.ours(size)
    database = server.create()
    server.run("CREATE EXTENSION vector", database=database)
    with tempfile.TemporaryDirectory(prefix="quire-bench-") as name, workers.cluster(2):
        folder = Path(name)
        engines = Engines(folder, source, server, database, EdgeClient(folder / "qdrant"))
        yield _moved(engines, size)
        yield _indexed(engines, size, asked)
        count = min(PER_ASKED * asked, by_turns.MOST_ASKED)
        yield by_turns.asked(f"asking {size:,} chunks by turns", engines.all(), count)


# --- moving --------------------------------------------------------------------------------------


def _moved(engines: Engines, size: int) -> Table:
    table = Table(
        f"moving {size:,} chunks with vectors",
        ("what", "seconds", "cpu", "others'", "chunks/s", "bytes a chunk"),
        notes=["cpu: of this process; others': of the server's processes, or of actors"],
    )
    folder, source = engines.folder, engines.source
    saved = folder / "indexed.db"
    settings = config.load(folder, store=source)
    spent = _clock(lambda: backup(settings, saved, force=True, report=lambda _: None))
    table.add("quire backup", *spent, None, size / spent[0], saved.stat().st_size / size)
    shards = engines.shards()
    last = [*shards.values()][-1]
    steps: list[tuple[str, Path | str, Path | str]] = [
        ("file to file", source, folder / "copy.db"),
        ("file to server", source, engines.url),
        *((f"file to {name}", source, place) for name, place in shards.items()),
        (f"file to {[*shards][-1]} on Ray", source, f"ray://{folder}/ray.{SHARDS[-1]}.shards"),
        ("server to file", engines.url, folder / "back.db"),
        (f"{[*shards][-1]} to file", last, folder / "joined.db"),
        (f"server to {[*shards][-1]}", engines.url, folder / f"other.{SHARDS[-1]}.shards"),
        ("file to server again, nothing to do", source, engines.url),
    ]
    for what, origin, goal in steps:
        with closing(open_store(origin)) as read, closing(open_store(goal)) as written:
            before = _others(engines, written)
            spent = _clock(partial(copy_store, read, written))
            others = _others(engines, written) - before
            with written.view(OWNER) as view:
                table.add(what, *spent, others or None, size / spent[0], view.status().bytes / size)
    return table


def _clock(call: Callable[[], object]) -> tuple[float, float]:
    start, busy = perf_counter(), process_time()
    call()
    return perf_counter() - start, process_time() - busy


def _others(engines: Engines, store: Store) -> float:
    """Return the CPU seconds of the server (processes that have ended, too) and of actors."""
    spent = psutil.Process(engines.server.process()).cpu_times()
    ended = float(spent.children_user + spent.children_system)
    return ended + by_turns.cpu([*engines.backends(store), *_actors(store)])


def _actors(store: Store) -> list[psutil.Process]:
    sharded: Any = store
    numbers: list[int] = getattr(sharded, "processes", list)()
    return [psutil.Process(number) for number in numbers if number != os.getpid()]


# --- indexes of vectors --------------------------------------------------------------------------


def _indexed(engines: Engines, size: int, asked: int) -> Table:
    table = Table(
        f"vectors: top {vectors.TOP} of {size:,} made-up ones, of an index outside the store",
        ("candidates of", "built in s", "p50 ms", "p95", "cpu", f"recall@{vectors.TOP}"),
        notes=[
            "Qdrant is its engine inside this process, without a graph",
            "built in: on top of the line before, where that is the same server",
            "recall: of a scan of the store's own vectors",
        ],
    )
    world = synthetic_vectors.World()
    questions = world.questions(asked)
    own = [Place("one file", engines.source), Place("server", engines.url)]
    for place in (*own, *engines.indexed()):
        with closing(place.opens() if place.opens else open_store(place.location)) as store:
            built, _ = _clock(store.merge)  # which brings the index up to date
            assert store.index_problem() is None
            spent = timed([partial(_nearest, store, one) for one in questions])
            share = vectors.recall(store, world.questions(vectors.RECALL_OVER))
            table.add(
                *(place.name, built if place.opens else None),
                *(spent.p50, spent.p95, spent.cpu, share),
            )
    return table


def _nearest(store: Store, vector: bytes) -> object:
    with store.view(OWNER) as view:
        return view.semantic(vector, vectors.TOP)
