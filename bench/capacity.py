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
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from time import process_time
from typing import Any

import psutil
from tests.store.postgresql import Server, running

from bench import report, stores, synthetic, synthetic_vectors
from bench.fresh import Fresh
from quire.core.protocols import Store
from quire.core.types import OWNER, EmbedSettings, IngestSettings
from quire.embed import open_embedder
from quire.ingest import parse
from quire.store import open_store

FIGURES = Path(__file__).with_name("capacity.json")
TEMPLATE = Path(__file__).with_name("capacity.txt")
"""The page with places for figures."""
PAGE = Path(__file__).parents[1] / "docs" / "capacity.md"
SMALL, LARGE = 10_000, 100_000
MILLIONS = (10, 100, 1000)
SEARCHES = 40
DEPTH = 50
EMBEDDED = 40
ENGINES = ("file", "server")
MIB, GIB = 1 << 20, 1 << 30
DAY = 86_400_000
"""Milliseconds."""


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


def _measure() -> dict[str, Any]:
    figures: dict[str, Any] = {"about": report.circumstances(), "embed": _run("embed")}
    figures["read"] = _run("read")
    path, _ = stores.ours(LARGE)
    figures["file large"] = _run("search", str(path))
    with tempfile.TemporaryDirectory(prefix="quire-bench-") as folder:
        file = str(Path(folder, "store.db"))
        figures["file"] = _run("write", file) | _run("search", file)
        with running() as server:
            url = server.url(server.create())
            for job in ("write", "search"):
                before = _cpu_of(server)
                measured = _run(job, url)
                measured["server_cpu"] = _cpu_of(server) - before
                figures["server"] = figures.get("server", {}) | {
                    f"{job}_server_cpu": measured.pop("server_cpu"),
                    **measured,
                }
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


def _run(job: str, *arguments: str) -> dict[str, Any]:
    print(f"measuring: {job} …", flush=True)
    command = [sys.executable, "-m", "bench.capacity", "--job", job, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


# --- jobs, each in a process of its own ----------------------------------------------------------


def _open(place: str) -> Store:
    return open_store(place if "://" in place else Path(place))


def _write(place: str) -> dict[str, Any]:
    """Index made-up text by words, then write made-up vectors for it."""
    for _ in synthetic.documents(SMALL):
        pass  # making it is not what is measured
    with closing(_open(place)) as store:
        made = _spent(lambda: list(synthetic.documents(SMALL)))
        words = _spent(lambda: stores.put_documents(store, SMALL)) - made
        vectors = _spent(lambda: stores.put_vectors(store, SMALL)) - made
        store.shrink()
        with store.view(OWNER) as view:
            size = view.status().bytes
    return {"words_cpu": words, "vectors_cpu": vectors, "bytes": size}


def _search(place: str) -> dict[str, Any]:
    """Search by words and by vectors, once all is in memory."""
    questions = Fresh().take(2 * SEARCHES)
    vectors = list(synthetic_vectors.World().questions(len(questions)))
    me = psutil.Process()
    before = me.memory_info().rss

    with closing(_open(place)) as store:

        def ask(start: int) -> None:
            for number in range(start, start + SEARCHES):
                with store.view(OWNER) as view:
                    view.lexical(questions[number], DEPTH)
                    view.semantic(vectors[number], DEPTH, exact=False)

        ask(0)  # which brings columns and vectors into memory
        cpu = _spent(lambda: ask(SEARCHES))
        with store.view(OWNER) as view:
            chunks, size = view.status().chunks, view.status().bytes
        memory = me.memory_info().rss - before
    return {"search_cpu": cpu / SEARCHES, "memory": memory, "chunks": chunks, "size": size}


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
    "embed": _embed,
    "read": _read,
}


# --- the page ------------------------------------------------------------------------------------


def page(figures: dict[str, Any]) -> str:
    """Write the page from measured figures."""
    costs = {engine: _costs(figures, engine) for engine in ENGINES}
    file, server, large = costs["file"], costs["server"], figures["file large"]
    growth = _growth(figures)
    about = figures["about"]
    return TEMPLATE.read_text("utf-8").format(
        small=SMALL,
        large=LARGE,
        dims=synthetic_vectors.DIMS,
        depth=DEPTH,
        about=", ".join(
            (
                f"{about['cores']} cores",
                about["machine"],
                f"Python {about['python']}",
                about["date"],
            )
        ),
        measured="\n".join(
            f"| {name} | {file[key]:{form}} | "
            f"{format(server[key], form) if key in server else '-'} |"
            for name, key, form in ROWS
        ),
        large_search=1000 * large["search_cpu"],
        large_memory=large["memory"] / MIB,
        growth=1e6 * growth,
        day_file=DAY / file["words"] / 1e6,
        day_server=DAY / server["words"] / 1e6,
        extrapolated="\n".join(
            _extrapolate(engine, costs[engine] | {"memory": file["memory"]}, millions, growth)
            for millions in MILLIONS
            for engine in ENGINES
        ),
        **file,
    )


def _extrapolate(engine: str, cost: dict[str, float], millions: int, growth: float) -> str:
    """Return a row for so many million chunks."""
    chunks = 1e6 * millions
    cells = (
        engine,
        f"{millions:,} M",
        _size(chunks * cost["disk"]),
        _size(chunks * cost["memory"]),
        _hours(chunks * (cost["read"] + cost["words"])),
        _hours(chunks * (cost["read"] + cost["words"] + cost["vectors"] + cost["embed"])),
        f"{(cost['search'] + growth * (chunks - SMALL)) / 1000:,.1f} s",
    )
    return f"| {' | '.join(cells)} |"


ROWS = (
    ("bytes on disk", "disk", ",.0f"),
    ("bytes in memory", "memory", ",.0f"),
    ("ms of CPU to read and split its file", "read", ".2f"),
    ("ms of CPU to write it with its words", "words", ".2f"),
    ("ms of CPU to write its vector", "vectors", ".2f"),
    ("ms of CPU of a search (not a chunk's)", "search", ".1f"),
)


def _costs(figures: dict[str, Any], engine: str) -> dict[str, float]:
    found = figures[engine]
    writing = found.get("write_server_cpu", 0.0)
    share = found["words_cpu"] / (found["words_cpu"] + found["vectors_cpu"])
    costs = {
        "disk": found["bytes"] / SMALL,
        "read": 1000 * figures["read"]["read_cpu"],
        "words": 1000 * (found["words_cpu"] + writing * share) / SMALL,
        "vectors": 1000 * (found["vectors_cpu"] + writing * (1 - share)) / SMALL,
        "embed": 1000 * figures["embed"]["embed_cpu"],
        "search": 1000
        * (found["search_cpu"] + found.get("search_server_cpu", 0.0) / (2 * SEARCHES)),
    }
    if engine == "file":  # of a small store, most is what any process needs
        large = figures["file large"]
        costs["memory"] = large["memory"] / large["chunks"]
    return costs


def _growth(figures: dict[str, Any]) -> float:
    """Return by how many milliseconds a search grows with each chunk."""
    more = float(figures["file large"]["search_cpu"] - figures["file"]["search_cpu"])
    return max(0.0, 1000 * more / (LARGE - SMALL))


def _size(number: float) -> str:
    tib = number / GIB / 1024
    return f"{tib:,.1f} TiB" if tib >= 1 else f"{number / GIB:,.0f} GiB"


def _hours(milliseconds: float) -> str:
    hours = milliseconds / 3_600_000
    return f"{hours / 24:,.0f} days" if hours >= 100 else f"{hours:,.1f} h"


if __name__ == "__main__":
    os.environ.setdefault("PYTHONPATH", str(Path(__file__).parents[1]))
    main()
