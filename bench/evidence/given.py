"""What is measured on, and by which rule?

Tasks, metrics and peers are the benchmark's own: its modules are imported from the folder in
BENCH_DATA, so that nothing of it stands here and no rule can drift.
"""

from __future__ import annotations

import importlib
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

FOLDERS = ("dev", "held")
PACKED = ".tar.xz"


class NoDataError(Exception):
    """The benchmark's data is not where it was said to be."""


@dataclass(frozen=True, slots=True)
class Benchmark:
    """The benchmark's folder, and what is imported from it."""

    home: Path
    tasks: ModuleType
    metrics: ModuleType

    def task(self, name: str) -> Any:
        """Load a task: its corpora, its questions and their gold."""
        return self.tasks.Task(name)

    def systems(self) -> ModuleType:
        """Load the adapters of the peers."""
        return importlib.import_module("systems")

    def embedder(self) -> Any:
        """Give the embedder that all peers share."""
        return importlib.import_module("embed").Embedder()


def open_benchmark() -> Benchmark:
    """Find the benchmark under BENCH_DATA, and make its modules importable."""
    named = os.environ.get("BENCH_DATA", "")
    homes = [Path(part).absolute() for part in named.split(os.pathsep) if part]
    home = next((place for place in homes if (place / "tasks.py").is_file()), None)
    if home is None:
        raise NoDataError(
            "BENCH_DATA must name the folder of the evidence benchmark (with tasks.py, metrics.py "
            f"and dev/); it is {named or 'not set'}"
        )
    os.environ.setdefault("BENCH_MODELS", str(home / "models"))
    sys.path.insert(0, str(home))
    return Benchmark(home, importlib.import_module("tasks"), importlib.import_module("metrics"))


def names() -> list[str]:
    """Name all tasks that are packed under BENCH_DATA."""
    homes = [Path(part) for part in os.environ.get("BENCH_DATA", "").split(os.pathsep) if part]
    return sorted(
        {
            file.name.removesuffix(PACKED)
            for home in homes
            for folder in FOLDERS
            for file in (home / folder).glob(f"*{PACKED}")
        }
    )
