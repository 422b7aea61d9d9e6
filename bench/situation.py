"""What does a tool's call cost more when it is told the rules that hold for it?

Five folders, one in the other, with ten rules each: expressions and sentences, which the local
model judges. The first call pays for the judge; what is measured is what comes after.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import quire
from bench.report import Table, times

DEPTH = 5
RULES = 10
TOPICS = ("payments", "privacy", "release", "schema", "tests", "network", "cache", "docs")


def tables(asked: int) -> Iterator[Table]:
    """Call a wrapped tool with verdicts that are known, and with situations that are new."""
    with tempfile.TemporaryDirectory() as folder:
        place = _made(Path(folder))
        with quire.open(folder) as opened:
            opened.index()
            yield _called(opened, place, 5 * asked)


def _made(root: Path) -> str:
    folder = root
    for depth in range(DEPTH):
        folder = folder / f"level{depth}"
        folder.mkdir()
        rules = [
            {
                "name": f"rule{depth}-{number}",
                "condition": f"the work is about {TOPICS[number % len(TOPICS)]}"
                if number % 2
                else f"params.size > {number * 10} and tool == 'edit'",
                "inject": [f"/guides/{TOPICS[number % len(TOPICS)]}.md"],
            }
            for number in range(RULES)
        ]
        told: dict[str, Any] = {
            "metadata": {"name": f"Level {depth}", "type": "module"},
            "behavior_rules": [{"trigger": f"on change {depth}", "action": "write a test"}],
            "injection_rules": rules,
        }
        (folder / "here.context.yaml").write_text(json.dumps(told))
    guides = root / "guides"
    guides.mkdir()
    for topic in TOPICS:
        (guides / f"{topic}.md").write_text(f"# {topic}\n\n" + f"What holds for {topic}. " * 20)
    return str((folder / "code.py").relative_to(root))


def _edit(given: dict[str, Any]) -> dict[str, Any]:
    return {"got": given["_context"]}


def _called(engine: quire.Quire, place: str, calls: int) -> Table:
    table = Table(
        f"a tool's call through the wrapper: {DEPTH * RULES} rules, {DEPTH} levels of inheritance",
        ("verdicts", "calls", "p50 ms", "p95 ms", "CPU ms", "tokens"),
    )
    aware: Any = quire.context_aware({"edit": _edit}, engine)
    aware["edit"]({"path": place, "size": 1})  # opens the judge
    for name in ("known", "asked for"):
        for warm in range(2):
            aware["edit"]({"path": place, "size": warm, "turn": 0})
        wall, cpu, tokens = [], [], 0
        for number in range(calls if name == "known" else 20):
            # Known: the situation was judged before; the context itself is not at hand.
            given = {
                "path": place,
                "size": number % 2 if name == "known" else number + 9,
                "turn": 0,
            }
            engine.memories.add(f"call {name} {number}", at=1_700_000_000 + number)
            begun, worked = perf_counter(), process_time()
            result = aware["edit"](given)
            wall.append(perf_counter() - begun)
            cpu.append(process_time() - worked)
            tokens = result["got"].tokens
        found = times(wall, cpu)
        table.add(name, len(wall), found.p50, found.p95, found.cpu, tokens)
    table.notes.append("before each call something is written, so that no context is at hand")
    return table
