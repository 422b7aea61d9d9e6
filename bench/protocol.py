"""What does it cost to stand between an agent and its tools?

A server and a proxy are processes of their own, spoken to in lines, as a client does. The proxy is
asked by turns with the server that stands behind it, so that both meet the same moments.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median
from time import perf_counter
from typing import Any

import quire
from bench import cache, stores
from bench.report import Table, times
from quire.core import hashing

REPOSITORY = Path(__file__).parent.parent
STARTS = 5
WARM = 5
COMMITS = 200
QUIRE = [sys.executable, "-m", "quire"]
BEHIND = [
    sys.executable,
    "-c",
    """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    text = {"type": "text", "text": "done"}
    told = {"jsonrpc": "2.0", "id": asked["id"], "result": {"content": [text]}}
    print(json.dumps(told), flush=True)
""",
]
"""The fastest server that there can be: what the proxy adds is not hidden by what the tool does."""
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}

AGAIN = "the same call again"


@dataclass(frozen=True, slots=True)
class _Met:
    seconds: float
    cpu: float
    added: int


def tables(sizes: Sequence[int], asked: int) -> Iterator[Table]:
    """Measure the handshake over stores of all sizes, and the proxy before a warm store."""
    yield _handshake(sizes)
    yield _proxy(asked)


def _handshake(sizes: Sequence[int]) -> Table:
    table = Table(
        "from the start of a process to its answer to `initialize`",
        ("store", "median s", "slowest"),
        notes=[f"{STARTS} processes each; the store is not opened for it"],
    )
    with tempfile.TemporaryDirectory() as folder:
        bare = [_until_done([sys.executable, "-c", "pass"], folder) for _ in range(STARTS)]
        kit = [_until_done([sys.executable, "-c", "import mcp"], folder) for _ in range(STARTS)]
        table.add("a bare `python -c pass`", median(bare), max(bare))
        table.add("`import mcp`, the official kit", median(kit), max(kit))
        named: list[tuple[str, list[str]]] = [("none", [])]
        named += [(f"{size:,} chunks", ["--store", str(stores.ours(size)[0])]) for size in sizes]
        for name, options in named:
            found = [_until_hello([*QUIRE, "mcp", *options], folder) for _ in range(STARTS)]
            table.add(name, median(found), max(found))
    return table


def _proxy(asked: int) -> Table:
    folder, told = _project()
    table = Table(
        f"a call of a tool, directly and through the proxy, {asked} questions that are all new",
        ("way", "p50 ms", "p95 ms", "fastest", "CPU, mean", "tokens added, median"),
        notes=[
            "the tool answers at once, so all of a context is waited for; asked by turns",
            "CPU: of the process that is asked, all threads together",
            told,
        ],
    )
    proxy = [*QUIRE, "mcp-proxy", "--timeout", "60000"]
    with ExitStack() as open_:
        ways = {
            "directly": BEHIND,
            "proxy, nothing known (an empty store)": [*proxy, *_empty(open_), "--", *BEHIND],
            "proxy, words and meaning": [*proxy, "--", *BEHIND],
        }
        talks = {name: open_.enter_context(_talking(way, folder)) for name, way in ways.items()}
        met: dict[str, list[_Met]] = {name: [] for name in (*ways, AGAIN)}
        for number, words in enumerate(_questions(asked + WARM)):
            for name, talk in talks.items():
                one = _called(talk, words)
                if number >= WARM:
                    met[name].append(one)
            if number >= WARM:
                met[AGAIN].append(_called(talk, words))
        for name, found in met.items():
            whole = times([one.seconds for one in found])
            table.add(
                name,
                whole.p50,
                whole.p95,
                min(one.seconds for one in found) * 1000,
                mean(one.cpu for one in found) * 1000,
                int(median(one.added for one in found)),
            )
    return table


def _questions(count: int) -> list[str]:
    """Ask about what is there: words of this repository's own code."""
    words = sorted(
        {
            word
            for file in sorted((REPOSITORY / "src").rglob("*.py"))
            for word in file.read_text("utf-8").split()
            if word.isalpha() and len(word) > 4
        }
    )
    step = max(1, len(words) // count)
    return [
        " ".join(words[(number * step + n * 17) % len(words)] for n in range(6))
        for number in range(count)
    ]


def _project() -> tuple[Path, str]:
    """Give a project of this repository's own sources and commits, indexed with vectors."""
    sources = REPOSITORY / "src"
    texts = [file.read_bytes() for file in sorted(sources.rglob("*.py"))]
    folder = cache.folder() / f"protocol-{hashing.identifier('bench protocol', *texts)[:8]}"
    done = folder / "indexed"
    if not done.exists():
        print(f"making {folder.name} (vectors, some minutes) …", flush=True)
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run(
            [
                "git",
                "clone",
                "--quiet",
                "--no-checkout",
                "--depth",
                str(COMMITS),
                f"file://{REPOSITORY}",
                str(folder),
            ],
            check=True,
        )
        shutil.copytree(sources, folder / "src", ignore=shutil.ignore_patterns("__pycache__"))
        (folder / ".quire").mkdir()
        with quire.open(folder) as opened:
            opened.index()
        done.touch()
    with quire.open(folder) as opened:
        status = opened.status()
    return (
        folder,
        f"{status.chunks:,} chunks of code and commits, {status.vectors:,} vectors, cap 1,000",
    )


def _empty(open_: ExitStack) -> list[str]:
    folder = Path(open_.enter_context(tempfile.TemporaryDirectory()))
    with quire.open(folder, store=folder / "store.db") as opened:
        opened.index()
    return ["--store", str(folder / "store.db")]


def _called(talk: _Talk, words: str) -> _Met:
    busy, start = talk.cpu(), perf_counter()
    result = talk("tools/call", {"name": "look_up", "arguments": {"query": words}})["result"]
    seconds, cpu = perf_counter() - start, talk.cpu() - busy
    added = sum(one["_meta"]["contextUsed"]["tokens"] for one in result["content"][1:])
    return _Met(seconds, cpu, added)


class _Talk:
    """A server that is spoken to in lines."""

    def __init__(self, started: subprocess.Popen[str]) -> None:
        self._started = started
        self._number = 0

    def __call__(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        said, answered = self._started.stdin, self._started.stdout
        assert said is not None, "a pipe"
        assert answered is not None, "a pipe"
        self._number += 1
        message = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        said.write(json.dumps(message) + "\n")
        said.flush()
        told: dict[str, Any] = json.loads(answered.readline())
        return told

    def cpu(self) -> float:
        """Tell the seconds that processors spent on it so far."""
        stat = Path(f"/proc/{self._started.pid}/stat")
        if not stat.exists():  # only Linux tells
            return float("nan")
        after = stat.read_text().rpartition(")")[2].split()
        return (int(after[11]) + int(after[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def _talking(command: Sequence[str], folder: Path) -> Iterator[_Talk]:
    with subprocess.Popen(
        command,
        cwd=folder,
        env=_environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as started:
        try:
            yield _Talk(started)
        finally:
            started.kill()


def _until_hello(command: Sequence[str], folder: str) -> float:
    start = perf_counter()
    with _talking(command, Path(folder)) as talk:
        assert "result" in talk("initialize", HELLO)
        return perf_counter() - start


def _until_done(command: Sequence[str], folder: str) -> float:
    start = perf_counter()
    subprocess.run(command, cwd=folder, env=_environment(), check=True)
    return perf_counter() - start


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(REPOSITORY / "src")}
