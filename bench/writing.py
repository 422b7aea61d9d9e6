"""What does a small change cost in a large store, and the first question after it?"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import perf_counter, process_time

from bench import cache, queries, stores, synthetic, synthetic_vectors
from bench.report import Table, times
from quire.core import hashing
from quire.core.types import OWNER
from quire.store import open_store
from quire.store.index.trees import Trees
from quire.store.sql.tree_tables import TreeTables
from quire.store.sqlite.connection import PAGE_CACHE_KIB
from quire.store.sqlite.database import Connection

TOP = 50
CHANGES = 40
EMPTY_VECTOR = bytes(32)


def tables(sizes: Sequence[int]) -> Iterator[Table]:
    """Change copies of the made-up stores."""
    for size in sizes:
        path, _ = stores.ours(size)
        copy = cache.folder() / "changed.db"
        shutil.copyfile(path, copy)
        try:
            yield _small_changes(copy, size)
            yield _merkle(copy, size)
        finally:
            for end in ("", "-wal", "-shm"):
                Path(f"{copy}{end}").unlink(missing_ok=True)


def _small_changes(path: Path, size: int) -> Table:
    """Edit one chunk of one record at a time, give it a vector, and ask after each."""
    store = open_store(path, create=False)
    question = " ".join(queries.shapes(1)["eight terms, two frequent"][0])
    vector = synthetic_vectors.World().questions(1)[0]
    spent: dict[str, list[float]] = {}

    def clock(name: str, start: float) -> None:
        spent.setdefault(name, []).append(perf_counter() - start)

    for warm in range(2):
        with store.view(OWNER) as view:
            view.lexical(question, TOP)
            view.semantic(vector, TOP)
        with store.write() as writer:
            writer.set_note("bench", str(warm))
    vectors = synthetic_vectors.World().texts(CHANGES)
    for change in range(CHANGES):
        number = change * 97 % (size // synthetic.CHUNKS_PER_RECORD)
        document = synthetic.document(number, edition=change + 1)
        start = perf_counter()
        with store.write() as writer:
            writer.put(document.record, document.chunks, document.links)
        clock("one chunk of one record is edited", start)
        start = perf_counter()
        with store.view(OWNER) as view:
            view.lexical(question, TOP)
        clock("first question by words after it", start)
        start = perf_counter()
        with store.write() as writer:
            writer.put_vectors(
                synthetic_vectors.MODEL, {document.chunks[-1].vector_key: next(vectors)}
            )
        clock("its vector is written", start)
        start = perf_counter()
        with store.view(OWNER) as view:
            view.semantic(vector, TOP)
        clock("first question by meaning after it", start)
        start = perf_counter()
        with store.view(OWNER) as view:
            view.lexical(question, TOP)
        clock("the next question by words", start)
    store.close()
    table = Table(f"small changes in a store of {size:,} chunks", ("what", "p50 ms", "p95"))
    for name, seconds in spent.items():
        found = times(seconds)
        table.add(name, found.p50, found.p95)
    table.notes = [f"{CHANGES} changes, each committed and synced; merging included"]
    return table


def _merkle(path: Path, size: int) -> Table:
    """Hash anew what changed, inside a transaction that is rolled back."""
    table = Table(
        f"bringing the Merkle trees of {size:,} chunks up to date", ("leaves", "CPU p50 ms", "p95")
    )
    connection = Connection(str(path))
    connection.limit_page_cache(PAGE_CACHE_KIB)
    space, access = connection.rows(
        "SELECT space, class FROM leaf GROUP BY space, class ORDER BY count(*) DESC LIMIT 1"
    )[0]
    for leaves in (1, 1000):
        seconds = []
        for turn in range(20):
            connection.execute("BEGIN IMMEDIATE")
            trees = Trees(TreeTables(connection, space))
            made = [hashing.digest("bench leaf", turn, leaf) for leaf in range(leaves)]
            start = process_time()
            for leaf in made:
                trees.set(access, leaf[: hashing.ID_BYTES], leaf, EMPTY_VECTOR)
            trees.flush()
            seconds.append(process_time() - start)
            connection.execute("ROLLBACK")
        found = times(seconds)
        table.add(leaves, found.p50, found.p95)
    connection.close()
    return table
