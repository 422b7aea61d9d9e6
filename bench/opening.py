"""How long does a fresh process take to its first answer?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from bench import process, queries, stores
from bench.report import Table

TIMES = 5


def tables(sizes: Sequence[int]) -> Iterator[Table]:
    """Start processes that open a store and ask it once."""
    for size in sizes:
        yield _first_answer(size)


def _first_answer(size: int) -> Table:
    path, _ = stores.ours(size)
    question = " ".join(queries.shapes(1)["eight terms, two frequent"][0])
    table = Table(
        f"opening a store of {size:,} chunks and asking it once",
        ("question", "inside, median s", "slowest", "whole process, median s", "slowest", "MiB"),
        notes=[
            f"{TIMES} processes each, the file in the system's cache; inside: from first import"
        ],
    )
    for job, name in (("words", "words alone"), ("both", "words and meaning, model loaded")):
        told = [process.measured(job, str(path), question) for _ in range(TIMES)]
        inside = [one["inside_seconds"] for one in told]
        wall = [one["wall_seconds"] for one in told]
        peak = max(one["peak_mib"] for one in told)
        table.add(name, median(inside), max(inside), median(wall), max(wall), peak)
    return table
