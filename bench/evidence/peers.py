"""What do the others hold?

Their figures stand in the benchmark's `results/peers.md`; the peers that are installed can be run
again, by the benchmark's own adapters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from bench.evidence.given import Benchmark
from bench.evidence.measure import Figure

HEADING = re.compile(r"## (?P<task>\S+): gold = (?P<gold>\S+) \(n = (?P<n>\d+)\)")
ORACLE = "oracle"
"""Knows the gold: what could be reached, not a peer."""


def stored(home: Path) -> list[Figure]:
    """Read the figures that were measured before."""
    file = home / "results" / "peers.md"
    return list(_figures(file.read_text("utf-8"))) if file.exists() else []


def sizes(known: list[Figure]) -> dict[str, int]:
    """Tell how many questions of each task the peers were asked."""
    asked: dict[str, int] = {}
    for figure in known:
        asked[figure.task] = max(figure.n, asked.get(figure.task, 0))
    return asked


def best(known: list[Figure], task: str, gold: str, budget: int) -> Figure | None:
    """Find the peer that holds most."""
    able = [
        one
        for one in known
        if (one.task, one.gold, one.budget) == (task, gold, budget) and one.system != ORACLE
    ]
    return max(able, key=lambda one: (one.recall, one.system), default=None)


def installed(benchmark: Benchmark) -> Iterator[tuple[str, object | str]]:
    """Load each of the benchmark's systems; one that is not installed is a reason instead."""
    systems = benchmark.systems()
    embedder = benchmark.embedder()
    for name in systems.REGISTRY:
        try:
            yield name, systems.load(name, embedder)
        except ImportError as error:
            yield name, f"not installed: {error}"


def _figures(text: str) -> Iterator[Figure]:
    task = gold = ""
    n = 0
    budgets: list[int] = []
    for line in text.splitlines():
        heading = HEADING.match(line)
        if heading:
            task, gold, n = heading["task"], heading["gold"], int(heading["n"])
        elif line.startswith("## "):
            task = ""
        if not task or not line.startswith("| "):
            continue
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[0] == "system":
            budgets = [int(cell) for cell in cells[1:] if cell.isdigit()]
            continue
        error = float(cells[1 + len(budgets)])
        for budget, cell in zip(budgets, cells[1:], strict=False):
            recall, complete, *precision = (float(part) for part in cell.split("/"))
            yield Figure(
                system=cells[0],
                task=task,
                gold=gold,
                budget=budget,
                n=n,
                recall=recall,
                error=error,
                complete=complete,
                precision=precision[0] if precision else None,
                filled=None,
                over=0,
                p50=None,
                p95=None,
            )
