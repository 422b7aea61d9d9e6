"""How are the stores made that are measured, ours and the others'?

Each is made once and kept in the cache under a name that changes with what it is made from. They
are written through the same contract that indexing uses, in large batches.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import apsw

from bench import cache, synthetic, synthetic_vectors
from bench.stages import watched
from quire.core import hashing
from quire.core.protocols import Store
from quire.core.types import Chunk
from quire.store import open_store
from quire.store.index import analyzer
from quire.store.sqlite.connection import PAGE_CACHE_KIB
from quire.store.sqlite.schema import MIGRATIONS

RECORDS_PER_COMMIT = 5000
VECTORS_PER_COMMIT = 50_000


def ours(chunks: int) -> tuple[Path, dict[str, Any]]:
    """Give a store of made-up text and vectors, and what making it cost."""
    made_from = hashing.identifier(
        "bench store",
        analyzer.ANALYZER,
        MIGRATIONS,
        synthetic.SEED,
        synthetic.VOCABULARY,
        synthetic_vectors.SEED,
    )

    def make(path: Path) -> dict[str, Any]:
        store = open_store(path)
        costs: dict[str, Any] = {}
        with watched() as stages:
            start = time.perf_counter()
            put_documents(store, chunks)
            costs["text_seconds"] = time.perf_counter() - start
        costs["text_stages"] = stages
        with watched() as stages:
            start = time.perf_counter()
            put_vectors(store, chunks)
            costs["vectors_seconds"] = time.perf_counter() - start
        costs["vectors_stages"] = stages
        store.close()
        return costs

    return kept(f"quire-{chunks}-{made_from[:8]}", make)


def put_documents(
    store: Store, chunks: int, metadata: Callable[[int], dict[str, Any]] | None = None
) -> None:
    """Write made-up text, with the metadata of each record by its number."""
    documents = synthetic.documents(chunks)
    if metadata is not None:
        documents = (
            replace(each, record=replace(each.record, metadata=metadata(number)))
            for number, each in enumerate(documents)
        )
    while batch := list(islice(documents, RECORDS_PER_COMMIT)):
        with store.write() as writer:
            for document in batch:
                writer.put(document.record, document.chunks, document.links)


def put_vectors(store: Store, chunks: int) -> None:
    """Write made-up vectors for made-up text."""
    vectors = synthetic_vectors.World().texts(chunks)
    keys = (
        chunk.vector_key for document in synthetic.documents(chunks) for chunk in document.chunks
    )
    pairs = zip(keys, vectors, strict=False)
    while batch := dict(islice(pairs, VECTORS_PER_COMMIT)):
        with store.write() as writer:
            writer.put_vectors(synthetic_vectors.MODEL, batch)


def fts5(name: str, chunks: Callable[[], Iterator[Chunk]]) -> tuple[Path, dict[str, Any]]:
    """Give an FTS5 table of the same chunks, merged into one segment: its best case."""

    def make(path: Path) -> dict[str, Any]:
        start = time.perf_counter()
        connection = peer(path)
        connection.execute(
            "CREATE VIRTUAL TABLE text USING fts5(words, content='', "
            "tokenize='porter unicode61'); BEGIN"
        )
        connection.executemany(
            "INSERT INTO text (rowid, words) VALUES (?, ?)",
            (
                (number, f"{chunk.path}\n{chunk.title}\n{chunk.text}")
                for number, chunk in enumerate(chunks())
            ),
        )
        connection.execute("INSERT INTO text (text) VALUES ('optimize'); COMMIT")
        connection.close()
        return {"seconds": time.perf_counter() - start}

    return kept(f"fts5-{name}-{synthetic.SEED}", make)


def sqlite_vec(chunks: int) -> tuple[Path, dict[str, Any]]:
    """Give a sqlite-vec table of made-up vectors."""

    def make(path: Path) -> dict[str, Any]:
        vectors = list(synthetic_vectors.World().texts(chunks))
        start = time.perf_counter()
        connection = peer(path)
        with_vec0(connection)
        connection.execute(
            f"CREATE VIRTUAL TABLE vectors USING vec0(one int8[{synthetic_vectors.DIMS}]); BEGIN"
        )
        connection.executemany(
            "INSERT INTO vectors (rowid, one) VALUES (?, vec_int8(?))", enumerate(vectors)
        )
        connection.execute("COMMIT")
        connection.close()
        return {"seconds": time.perf_counter() - start}

    return kept(f"vec0-{chunks}-{synthetic_vectors.SEED}", make)


def peer(path: Path) -> apsw.Connection:
    """Open a database for a peer, set up as ours is."""
    connection = apsw.Connection(str(path))
    connection.pragma("journal_mode", "wal")
    connection.pragma("cache_size", -PAGE_CACHE_KIB)
    connection.pragma("temp_store", "memory")
    return connection


def with_vec0(connection: apsw.Connection) -> None:
    """Load sqlite-vec into a connection."""
    import sqlite_vec

    connection.enable_load_extension(enable=True)
    connection.load_extension(sqlite_vec.loadable_path())


def kept(name: str, make: Callable[[Path], dict[str, Any]]) -> tuple[Path, dict[str, Any]]:
    """Give a store by its name, made if it is not in the cache, and what making it cost."""
    path = cache.folder() / f"{name}.db"
    told = path.with_suffix(".json")
    if not told.exists():
        print(f"making {path.name} …", flush=True)
        with tempfile.TemporaryDirectory(prefix="making-", dir=cache.folder()) as folder:
            made = Path(folder) / path.name  # another process may be making the same one
            costs = make(made)
            costs["bytes"] = made.stat().st_size
            for old in (path, Path(f"{path}-wal"), Path(f"{path}-shm")):
                old.unlink(missing_ok=True)
            made.rename(path)
        told.write_text(json.dumps(costs))
    costs = json.loads(told.read_text())
    return path, dict(costs)
