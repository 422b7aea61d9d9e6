from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from quire.store import open_store
from quire.store.index import access_mask, columns, scoring, search_cache, segments, vectors
from quire.store.sql import derive, store, vector_blocks

from .postgresql import Server, running
from .reference import Limits

# The suite is not in test files; its assertions are rewritten all the same.
for part in (
    "access",
    "export",
    "lifetime",
    "outlines",
    "proofs",
    "records",
    "refusals",
    "search",
    "spaces",
    "upkeep",
    "vectors",
):
    pytest.register_assert_rewrite(f"{__package__}.contract_{part}")

MEMORY = Path("/dev/shm")

SMALL = Limits(scan=3, first_pass=2, per_hit=1)


@pytest.fixture
def quick_path(tmp_path: Path) -> Iterator[Path]:
    """A directory in memory if possible, so that thousands of commits do not wait for a disk."""
    if MEMORY.is_dir() and os.access(MEMORY, os.W_OK):
        with tempfile.TemporaryDirectory(dir=MEMORY, prefix="quire-") as folder:
            yield Path(folder)
    else:
        yield tmp_path


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A PostgreSQL server of this session's own."""
    with running() as started:
        yield started


@pytest.fixture(scope="session")
def shared_database(server: Server) -> str:
    """A database that tests use one after the other."""
    name = server.create()
    open_store(server.url(name)).close()
    return name


@pytest.fixture
def database(server: Server, shared_database: str) -> Iterator[str]:
    """The URL of a store without content."""
    yield server.url(shared_database)
    server.empty(shared_database)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Limits:
    """Every threshold of the store, so low that few documents reach it."""
    monkeypatch.setattr(columns, "BLOCK", 4)
    monkeypatch.setattr(vector_blocks, "BLOCK", 3)
    monkeypatch.setattr(segments, "FANOUT", 2)
    monkeypatch.setattr(segments, "MERGE_BYTES", 16)
    monkeypatch.setattr(access_mask, "CACHE_SIZE", 2)
    monkeypatch.setattr(store, "EMBED_BATCH", 2)
    monkeypatch.setattr(derive, "_SEGMENT_ROWS", 3)
    monkeypatch.setattr(scoring, "PRUNE_FROM", 1)
    monkeypatch.setattr(vectors, "SCAN_LIMIT", SMALL.scan)
    monkeypatch.setattr(vectors, "FIRST_PASS", SMALL.first_pass)
    monkeypatch.setattr(vectors, "FIRST_PASS_PER_HIT", SMALL.per_hit)
    lower_cache_limits(monkeypatch)
    return SMALL


def lower_cache_limits(patch: pytest.MonkeyPatch) -> None:
    """Let the cache of searches keep results of classes with few vectors."""
    patch.setattr(search_cache, "MIN_CELL", 2)
    patch.setattr(search_cache, "MAX_CELLS", 2)
    patch.setattr(search_cache, "MAX_UNKEPT", 0)
    patch.setattr(search_cache, "MARGIN", 0)
    patch.setattr(search_cache, "MAX_ENTRIES", 40)
