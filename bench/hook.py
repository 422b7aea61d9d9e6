"""How long does an assistant wait for a hook?

Every hook is a process of its own, so what counts is the whole of it, from its start to its end,
beside a Python that does nothing. All kinds take turns: what slows one of them down slows all. Each
hook is run by itself, and with the process that is ready to answer hooks, whose own processor time
is told below the table (read from /proc, so on Linux alone).
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import quire
from bench.report import Table

TIMES = 11
HERE = Path(__file__).parent.parent
BARE = "python -c pass"


def tables() -> Iterator[Table]:
    """Start hooks over this very project, again and again."""
    with TemporaryDirectory() as folder:
        root = Path(folder, "project")
        records, chunks = _filled(root)
        table = Table(
            f"a hook, from its start to its end, over {records:,} records ({chunks:,} chunks)",
            ("hook", "median s", "slowest", "CPU s", "to bare python", "CPU to bare"),
            notes=[f"{TIMES} processes each, in turns; compiled files and the store in the cache"],
        )
        measured, answering = _measured(root, Path(folder))
        table.notes.append(f"the ready process: {answering * 1000:.0f} ms of CPU for each hook")
        bare_wall, bare_cpu = (median(times) for times in zip(*measured[BARE], strict=True))
        for name, times in measured.items():
            wall, cpu = ([time_[at] for time_ in times] for at in (0, 1))
            table.add(
                name,
                median(wall),
                max(wall),
                median(cpu),
                median(wall) / bare_wall,
                median(cpu) / bare_cpu,
            )
    yield table


def _filled(root: Path) -> tuple[int, int]:
    for part in ("docs", "src"):
        shutil.copytree(HERE / part, root / part, ignore=shutil.ignore_patterns("__pycache__"))
    (root / ".quire").mkdir()
    with quire.open(root) as opened:
        opened.index(embed=False)
        opened.memories.add("The staging host is named heron.", at=1, importance=0.9)
        made = opened.experiences.start(
            "Make the tests pass", at=2, domain="debugging", hypothesis="It is the import"
        )
        opened.experiences.resolve(
            made.value.id, "falsified", at=3, result="It was a cache", lesson="Look there first"
        )
        told = opened.status()
    return told.records, told.chunks


def _measured(root: Path, runtime: Path) -> tuple[dict[str, list[tuple[float, float]]], float]:
    hook = [sys.executable, "-m", "quire", "hook", "--timeout", "60"]
    failed = {"tool_input": {"command": "pytest"}, "error": "Exit code 1"}
    other = {"tool_input": {"command": "ls"}, "tool_response": {"stdout": "docs src"}}
    prompt = {"prompt": "how is it made sure that nobody reads what they may not?"}
    kinds: dict[str, tuple[Sequence[str], dict[str, Any], bool]] = {
        BARE: ([sys.executable, "-c", "pass"], {}, False),
        "post-tool, another command": ([*hook, "post-tool"], other, False),
        "session-start": ([*hook, "session-start"], {}, True),
        "prompt, by words": ([*hook, "prompt"], prompt, True),
        "post-tool, the first failure": ([*hook, "post-tool"], failed, True),
    }
    ways = {"": {"QUIRE_BACKGROUND": "0"}, ", ready": {"XDG_RUNTIME_DIR": str(runtime)}}
    found: dict[str, list[tuple[float, float]]] = {
        name + way: [] for name in kinds for way in ways if name != BARE or not way
    }
    before = 0.0
    for turn in range(TIMES + 1):
        for name, (command, more, tells) in kinds.items():
            event = "PostToolUseFailure" if "error" in more else "PostToolUse"
            for way, variables in ways.items():
                if name + way not in found:
                    continue
                session = f"{turn}{way}"
                said = {"session_id": session, "cwd": str(root), "hook_event_name": event, **more}
                took = _run(command, json.dumps(said), root, variables, tells=tells)
                if turn:  # the first one compiles, warms the cache and starts what is ready then
                    found[name + way].append(took)
        if not turn:
            before = _ready_time(runtime)
    asked = TIMES * (len(kinds) - 1)
    return found, (_ready_time(runtime, end=True) - before) / asked


def _ready_time(runtime: Path, *, end: bool = False) -> float:
    """Return the processor time of the ready process; wait until there is one, or end it."""
    until = time.monotonic() + 60
    while not (sockets := [*runtime.glob("quire/*.sock")]) and time.monotonic() < until:
        time.sleep(0.1)
    process = int(sockets[0].with_suffix(".lock").read_text())
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    if end:
        os.kill(process, signal.SIGTERM)
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def _run(
    command: Sequence[str], said: str, root: Path, variables: Mapping[str, str], *, tells: bool
) -> tuple[float, float]:
    environment = {name: text for name, text in os.environ.items() if name != "QUIRE_BACKGROUND"}
    environment |= {"PYTHONPATH": str(HERE / "src"), "PYTHONDONTWRITEBYTECODE": "", **variables}
    start, spent = time.perf_counter(), _children()
    done = subprocess.run(
        command, input=said, capture_output=True, text=True, cwd=root, env=environment, check=True
    )
    wall = time.perf_counter() - start
    if tells is not ("context" in done.stdout.lower()):
        raise SystemExit(f"{' '.join(command)} told {done.stdout!r} {done.stderr}")
    return wall, _children() - spent


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
