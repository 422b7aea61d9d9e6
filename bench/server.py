"""What does the HTTP service cost beside the same store in one's own process?

Clients ask over sockets for a while, most of them for contexts and passages, some to remember
something. Before that, as many threads ask the open store the same, in the same run.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from time import perf_counter
from typing import Any

import quire
from bench import queries, stores
from bench.report import Table

CLIENTS = 64
SECONDS = float(os.environ.get("BENCH_SECONDS", "60"))
BUDGET = 2000
WRITES = 20
"""Of so many requests, one writes."""
READS = 4
"""Of so many others, one asks for a context."""

NOTE = (
    f"one request of {WRITES} remembers something, one of {READS} others assembles {BUDGET} "
    "tokens, the rest search; by words alone, without the model"
)


def tables(sizes: Sequence[int], asked: int) -> Iterator[Table]:
    """Measure the service beside the open store."""
    for size in sizes:
        if size <= 100_000:
            yield _table(size, asked)


def _table(size: int, asked: int) -> Table:
    table = Table(
        f"{CLIENTS} clients for {SECONDS:g} s, {size:,} chunks",
        (
            "",
            "requests/s",
            "p50 ms",
            "p95 ms",
            "p99 ms",
            "errors",
            "% of the open store",
            "MiB, first third",
            "last third",
        ),
        notes=[NOTE],
    )
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "project")
        (root / ".quire").mkdir(parents=True)
        store = root / ".quire" / "store.db"
        shutil.copy(stores.ours(size)[0], store)
        (root / "quire.toml").write_text('[embed]\nprovider = "none"\n')
        words = [" ".join(each) for shape in queries.shapes(asked).values() for each in shape]
        with quire.open(root) as opened:
            opened.search(words[0])
            embedded = _embedded(opened, words)
            table.add("the open store, as many threads", *embedded.cells(embedded))
        for workers in (1, 2):
            name = f"the service, {workers} process{'es' if workers > 1 else ''}"
            table.add(name, *_served(root, words, workers).cells(embedded))
    load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
    table.notes.append(f"memory is sampled every second; load average at the end: {load}")
    return table


def _jobs(words: Sequence[str], client: int) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield what a client asks for, one after the other."""
    count = client
    while True:
        count += 1
        text = f"{words[count % len(words)]} {count % 97}"
        if count % WRITES == 0:
            yield "memories", "/v1/memories", {"content": f"{text} {client} {count}"}
        elif count % READS == 0:
            options = {"query": text, "budget": BUDGET, "refresh": False, "allow_empty": True}
            yield "assemble", "/v1/assemble", options
        else:
            yield "search", "/v1/search", {"query": text, "refresh": False}


@dataclass(frozen=True, slots=True)
class Load:
    """What became of the requests of all clients."""

    times: list[float]
    errors: int
    memory: list[float]
    """MiB, each second."""

    def cells(self, embedded: Load) -> tuple[Any, ...]:
        """Return the cells of a row, beside those of the open store."""
        ranked = sorted(self.times) or [0.0]
        shares = (0.5, 0.95, 0.99)
        parts = [ranked[min(len(ranked) - 1, int(len(ranked) * share))] for share in shares]
        third = max(1, len(self.memory) // 3)
        return (
            len(self.times) / SECONDS,
            *(1000 * part for part in parts),
            self.errors,
            100 * len(self.times) / max(1, len(embedded.times)),
            fmean(self.memory[:third]),
            fmean(self.memory[-third:]),
        )


@contextmanager
def _sampled(pid: int) -> Iterator[list[float]]:
    """Sample the memory of a process and those below it, each second."""
    samples = [_memory(pid)]
    done = threading.Event()

    def sample() -> None:
        while not done.wait(1):
            samples.append(_memory(pid))

    thread = threading.Thread(target=sample)
    thread.start()
    try:
        yield samples
    finally:
        done.set()
        thread.join()


def _embedded(opened: quire.Quire, words: Sequence[str]) -> Load:
    times: list[float] = []
    errors: list[Exception] = []
    calls: dict[str, Callable[[dict[str, Any]], object]] = {
        "memories": lambda body: opened.memories.add(body["content"]),
        "assemble": lambda body: opened.assemble(**body),
        "search": lambda body: opened.search(**body),
    }
    until = perf_counter() + SECONDS

    def run(client: int) -> None:
        for kind, _, body in _jobs(words, client):
            started = perf_counter()
            if started > until:
                return
            try:
                calls[kind](body)
            except Exception as error:  # noqa: BLE001 - counted
                errors.append(error)
            times.append(perf_counter() - started)

    with _sampled(os.getpid()) as memory:
        threads = [threading.Thread(target=run, args=(client,)) for client in range(CLIENTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return Load(times, len(errors), memory)


def _served(root: Path, words: Sequence[str], workers: int) -> Load:
    options = ["--no-token", "--port", "0", "--rate", "0", "--workers", str(workers)]
    process = subprocess.Popen(
        [sys.executable, "-m", "quire", "serve", *options],
        cwd=root,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr
    try:
        found = None
        while found is None:
            line = process.stderr.readline()
            assert line, "the service ended"
            found = re.search(r"listening on http://\S+:(\d+)", line)
        port = int(found[1])
        asyncio.run(_warm(port))
        with _sampled(process.pid) as memory:
            times, errors = asyncio.run(_ask_all(port, words))
        return Load(times, errors, memory)
    finally:
        process.terminate()
        process.wait()
        process.stderr.close()


async def _warm(port: int) -> None:
    for _ in range(600):
        try:
            connection = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.1)
            continue
        for _ in range(8):
            await _exchange(*connection, "/v1/search", {"query": "warm", "refresh": False})
        connection[1].close()
        return


async def _ask_all(port: int, words: Sequence[str]) -> tuple[list[float], int]:
    times: list[float] = []
    errors = 0
    until = perf_counter() + SECONDS

    async def run(client: int) -> None:
        nonlocal errors
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**24)
        for _, path, body in _jobs(words, client):
            started = perf_counter()
            if started > until:
                break
            errors += await _exchange(reader, writer, path, body) >= 300
            times.append(perf_counter() - started)
        writer.close()

    await asyncio.gather(*(run(client) for client in range(CLIENTS)))
    return times, errors


async def _exchange(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: str, body: dict[str, Any]
) -> int:
    """Send a request and read its answer; return the status. Cheaper than any library."""
    data = json.dumps(body).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(data)}\r\n\r\n"
    )
    writer.write(head.encode() + data)
    answer = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = re.search(rb"content-length: (\d+)", answer)
    await reader.readexactly(int(length[1]) if length else 0)
    return int(answer.split(b" ", 2)[1])


def _memory(pid: int) -> float:
    """Return the MiB that a process and those below it have."""
    total = 0
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            status = (folder / "status").read_text()
        except OSError:
            continue
        parent = re.search(r"^PPid:\s+(\d+)", status, re.MULTILINE)
        size = re.search(r"^VmRSS:\s+(\d+)", status, re.MULTILINE)
        if size and (int(folder.name) == pid or (parent and int(parent[1]) == pid)):
            total += int(size[1])
    return total / 1024
