"""What does a chunk cost, and what would many millions of them? Writes `docs/capacity.md`.

`python -m bench.capacity` measures and writes the page and `bench/capacity.json`; with `--page` it
writes the page again from the figures that are there. Each figure is taken in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import psutil
from tests.store.postgresql import Server, running

from bench import report, stores, synthetic, synthetic_vectors, vectors
from bench.capacity_page import (
    COMPARED,
    DEPTH,
    HUGE,
    LARGE,
    PAGE,
    SEARCHES,
    SMALL,
    Figures,
    page,
)
from bench.fresh import Fresh
from quire.core.protocols import Store
from quire.core.types import OWNER, EmbedSettings, IngestSettings
from quire.embed import open_embedder
from quire.ingest import parse
from quire.store import open_store
from quire.store.index import topk
from quire.store.index import vectors as index_vectors
from quire.store.index.vectors import SCAN_LIMIT

FIGURES = Path(__file__).with_name("capacity.json")
EMBEDDED = 40


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.capacity", description=__doc__)
    parser.add_argument("--page", action="store_true", help="write the page again, measure nothing")
    parser.add_argument("--job", nargs="+", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.job:
        print(json.dumps(JOBS[given.job[0]](*given.job[1:])))
        return
    if not given.page:
        FIGURES.write_text(json.dumps(_measure(), indent=1) + "\n")
    PAGE.write_text(page(json.loads(FIGURES.read_text())))
    print(f"wrote {PAGE}")


def _measure() -> Figures:
    figures: Figures = {"about": report.circumstances(), "embed": _run("embed")}
    figures["read"] = _run("read")
    with tempfile.TemporaryDirectory(prefix="quire-bench-") as folder:
        for size in (SMALL, LARGE):
            place = str(Path(folder, f"store-{size}.db"))
            figures[f"file {size}"] = _run("write", place, str(size)) | _run("search", place)
        with running() as server:
            for size in (SMALL, LARGE):
                url = server.url(server.create())
                before = _cpu_of(server)
                written = _run("write", url, str(size))
                between = _cpu_of(server)
                figures[f"server {size}"] = written | _run("search", url)
                figures[f"server {size}"] |= {
                    "write_server_cpu": between - before,
                    "search_server_cpu": _cpu_of(server) - between,
                }
    path, _ = stores.ours(HUGE)
    figures[f"file {HUGE}"] = _run("search", str(path))
    for size in COMPARED:
        figures[f"compared {size}"] = _run("compare", str(size))
    return figures


def _cpu_of(server: Server) -> float:
    """Return what all processes of a server have spent, also those that have ended."""
    spent = psutil.Process(server.process()).cpu_times()
    living = 0.0
    for process in psutil.Process(server.process()).children():
        try:
            times = process.cpu_times()
        except psutil.Error:
            continue
        living += times.user + times.system
    return float(spent.children_user + spent.children_system + living)


def _run(job: str, *arguments: str) -> Figures:
    print(f"measuring: {job} {' '.join(arguments)} …", flush=True)
    command = [sys.executable, "-m", "bench.capacity", "--job", job, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    result: Figures = json.loads(done.stdout.splitlines()[-1])
    return result


# --- jobs, each in a process of its own ----------------------------------------------------------


def _open(place: str) -> Store:
    return open_store(place if "://" in place else Path(place))


def _write(place: str, chunks: str) -> Figures:
    """Index made-up text by words, then write made-up vectors for it."""
    size = int(chunks)
    for _ in synthetic.documents(SMALL):
        pass  # what is made once is not measured
    with closing(_open(place)) as store:
        made = _spent(lambda: deque(synthetic.documents(size), maxlen=0))
        words = _spent(lambda: stores.put_documents(store, size)) - made
        drawn = _spent(lambda: deque(synthetic_vectors.World().texts(size), maxlen=0))
        embedded = _spent(lambda: stores.put_vectors(store, size)) - made - drawn
        store.shrink()
        with store.view(OWNER) as view:
            written = view.status().bytes
    return {"words_cpu": words, "vectors_cpu": embedded, "bytes": written}


def _search(place: str) -> Figures:
    """Search by words and by vectors, once all is in memory."""
    questions = Fresh().take(2 * SEARCHES)
    nearby = synthetic_vectors.World().questions(len(questions))
    me = psutil.Process()
    before = me.memory_info().rss

    with closing(_open(place)) as store:

        def by_words(start: int) -> None:
            for question in questions[start : start + SEARCHES]:
                with store.view(OWNER) as view:
                    view.lexical(question, DEPTH)

        def by_vectors(start: int) -> None:
            for vector in nearby[start : start + SEARCHES]:
                with store.view(OWNER) as view:
                    view.semantic(vector, DEPTH, exact=False)

        by_words(0)  # which brings columns and vectors into memory
        by_vectors(0)
        words = _spent(lambda: by_words(SEARCHES))
        spent = _spent(lambda: by_vectors(SEARCHES))
        memory = me.memory_info().rss - before
        with store.view(OWNER) as view:
            status = view.status()
        with vectors.limits(scan=min(status.vectors // 2, SCAN_LIMIT)):
            by_vectors(0)
            passes = _spent(lambda: by_vectors(SEARCHES))
    return {
        "search_words_cpu": words / SEARCHES,
        "search_vectors_cpu": spent / SEARCHES,
        "search_passes_cpu": passes / SEARCHES,
        "memory": memory,
        "chunks": status.chunks,
        "vectors": status.vectors,
        "size": status.bytes,
    }


def _compare(count: str) -> Figures:
    """Compare vectors with so many in memory, as a search does: with all, and in two passes."""
    size = int(count)
    world = synthetic_vectors.World()
    matrix = np.empty((size, synthetic_vectors.DIMS), np.int8)
    for at, vector in enumerate(world.texts(size)):
        matrix[at] = np.frombuffer(vector, np.int8)
    codes = np.empty((size, index_vectors.code_words(synthetic_vectors.DIMS)), np.uint64, "F")
    for start in range(0, size, SMALL):
        codes[start : start + SMALL] = index_vectors.sign_codes(matrix[start : start + SMALL])
    slots = np.arange(size, dtype=np.int32)
    questions = world.questions(2 * SEARCHES)

    def compare_all(start: int) -> None:
        for question in questions[start : start + SEARCHES]:
            topk.top_indices(index_vectors.score_slots(matrix, question, slots), DEPTH)

    def in_two_passes(start: int) -> None:
        for question in questions[start : start + SEARCHES]:
            near = slots[index_vectors.select_nearest(codes, question, slots, DEPTH)]
            topk.top_indices(index_vectors.score_slots(matrix, question, near), DEPTH)

    compare_all(0)
    in_two_passes(0)
    return {
        "all_cpu": _spent(lambda: compare_all(SEARCHES)) / SEARCHES,
        "passes_cpu": _spent(lambda: in_two_passes(SEARCHES)) / SEARCHES,
    }


def _read() -> dict[str, Any]:
    """Read and split files of made-up text."""
    files = [
        "".join(chunk.text for chunk in document.chunks).encode()
        for document in synthetic.documents(SMALL // 5)
    ]
    settings = IngestSettings()
    chunks = 0

    def read() -> None:
        nonlocal chunks
        for number, data in enumerate(files):
            content = parse(f"{number}.md", data, settings)
            assert isinstance(content, tuple), "it is read"
            chunks += len(content[0].chunks)

    return {"read_cpu": _spent(read) / chunks}


def _embed() -> dict[str, Any]:
    embedder = open_embedder(EmbedSettings(threads=1))
    assert embedder is not None, "the local model"
    texts = [chunk.text for document in synthetic.documents(EMBEDDED) for chunk in document.chunks][
        :EMBEDDED
    ]
    embedder.embed(texts[:2])
    return {"embed_cpu": _spent(lambda: embedder.embed(texts)) / len(texts)}


def _spent(call: Callable[[], object]) -> float:
    before = process_time()
    call()
    return process_time() - before


JOBS: dict[str, Callable[..., dict[str, Any]]] = {
    "write": _write,
    "search": _search,
    "compare": _compare,
    "embed": _embed,
    "read": _read,
}


if __name__ == "__main__":
    os.environ.setdefault("PYTHONPATH", str(Path(__file__).parents[1]))
    main()
