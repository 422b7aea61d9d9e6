"""How fast is a folder indexed by workers, beside one process?"""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter

from bench import synthetic
from bench.report import Table
from quire import engine

PLACES = (("inline", 1), ("processes:2", 2), ("ray", 1), ("ray", 2))
LARGEST = 100_000
EMBEDDED = 400
"""So many chunks are embedded, too: each takes much longer than to read and write it."""


def tables(sizes: Sequence[int]) -> Iterator[Table]:
    """Index so many chunks by words, and some with vectors."""
    with tempfile.TemporaryDirectory(prefix="quire-bench-") as folder:
        for size in sizes:
            if size > LARGEST:
                print(f"no workers at {size:,} chunks: it takes too long to write the files")
                continue
            yield _indexed(Path(folder), size, embed=False)
        yield _indexed(Path(folder), EMBEDDED, embed=True)


@contextmanager
def cluster(workers: int) -> Iterator[None]:
    """Start Ray with so many workers on this machine."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import ray

    ray.init(
        num_cpus=workers, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR
    )
    try:
        yield
    finally:
        ray.shutdown()


def _indexed(folder: Path, chunks: int, *, embed: bool) -> Table:
    table = Table(
        f"indexing {chunks:,} chunks in files{', with vectors' if embed else ' by words'}",
        ("where", "workers", "seconds", "chunks/s", "of one process"),
        notes=[f"{os.cpu_count()} cores; starting processes is in it, starting a cluster is not"],
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
    if place == "ray":
        with cluster(count):
            return _run(root, store, place, embed=embed)
    return _run(root, store, place, embed=embed)


def _run(root: Path, store: Path, place: str, *, embed: bool) -> tuple[float, int, str]:
    with engine.open_quire(root, store=store) as quire:
        start = perf_counter()
        result = quire.index(embed=embed, on=place)
        return perf_counter() - start, result.chunks, result.state_root
