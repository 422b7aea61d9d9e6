"""How are figures shown?"""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import apsw
import numpy as np

Cell = str | int | float | None


@dataclass(slots=True)
class Table:
    """One table of figures, with what must be known of it."""

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[Cell, ...]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, *cells: Cell) -> None:
        assert len(cells) == len(self.columns), self.title
        self.rows.append(cells)

    def text(self) -> str:
        """Show the table in plain columns."""
        shown = [self.columns, *(tuple(map(_shown, row)) for row in self.rows)]
        widths = [max(len(row[at]) for row in shown) for at in range(len(self.columns))]
        lines = [f"== {self.title}"]
        for row in shown:
            cells = (
                cell.ljust(width) if at == 0 else cell.rjust(width)
                for at, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
            lines.append("  ".join(cells).rstrip())
        return "\n".join([*lines, *(f"   {note}" for note in self.notes)])

    def as_json(self) -> dict[str, Any]:
        """Give the table as plain data."""
        return {
            "title": self.title,
            "rows": [dict(zip(self.columns, row, strict=True)) for row in self.rows],
            "notes": self.notes,
        }


def _shown(cell: Cell) -> str:
    if cell is None:
        return "-"
    if isinstance(cell, float):
        return f"{cell:,.0f}" if abs(cell) >= 100 else f"{cell:.3g}" if cell < 1 else f"{cell:.1f}"
    return f"{cell:,}" if isinstance(cell, int) else cell


@dataclass(frozen=True, slots=True)
class Times:
    """How long the same kind of call took, in milliseconds."""

    p50: float
    p95: float
    cpu: float
    """The median of what the CPUs spent on it: that is what a busy machine does not blur."""


def times(seconds: Sequence[float], cpu: Sequence[float] = ()) -> Times:
    """Sum up measured seconds."""
    p50, p95 = np.percentile(np.array(seconds) * 1000, [50, 95])
    return Times(float(p50), float(p95), float(np.median(cpu or (np.nan,)) * 1000))


def timed(calls: Sequence[Callable[[], object]], warm: int = 3) -> Times:
    """Make each call once, after a few that do not count."""
    for call in calls[:warm]:
        call()
    return times(*clocked(calls))


def clocked(calls: Sequence[Callable[[], object]]) -> tuple[list[float], list[float]]:
    """Make each call once; gives the seconds of each, and those that processors spent on it."""
    seconds, cpu = [], []
    for call in calls:
        start, busy = perf_counter(), process_time()
        call()
        seconds.append(perf_counter() - start)
        cpu.append(process_time() - busy)
    return seconds, cpu


def circumstances() -> dict[str, Any]:
    """Tell on what all this was measured."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "commit": _commit(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "sqlite": apsw.sqlite_lib_version(),
        "quire": version("quire-context"),
    }


def _commit() -> str:
    here = Path(__file__).parent
    try:
        name = _git(here, "rev-parse", "--short", "HEAD")
        changed = _git(here, "status", "--porcelain", "--", "../src")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return f"{name} with changes" if changed else name


def _git(where: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=where, capture_output=True, text=True, check=True)
    return done.stdout.strip()
