"""Compare the CPU time of two checkouts: `python -m bench.versions OLD [NEW] --sizes 10k,100k`.

A process of each answers the same questions by turns, so that both meet the same moments of a busy
machine. `python -m bench.same_bytes` tells whether their answers are the same.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench import assemble, process, stores
from bench.fresh import MOST, WARM, Fresh
from bench.question_model import QuestionModel
from bench.report import Table

HERE = Path(__file__).parent.parent
TURN = 5
WAYS = ("known", "embedded", "search")
NAMES = {**assemble.WAYS, "search": "search, the question embedded"}
COLUMNS = ("p50", "p95", "wall p50", "collector")


def main() -> None:
    """Compare, and print a table for each size."""
    given = _arguments()
    for size in given.sizes:
        print(
            compared(given.old, given.new, size, given.asked, freeze=given.freeze).text(),
            flush=True,
        )


def compared(old: Path, new: Path, size: int, asked: int, *, freeze: bool = False) -> Table:
    """Ask both checkouts by turns."""
    stores.ours(size)  # before both ask for it
    table = Table(
        f"{size:,} chunks, two checkouts by turns: CPU ms of the process, a question",
        ("what", *(f"{who} {column}" for who in ("old", "new") for column in COLUMNS), "% of old"),
        notes=[
            f"{asked} questions each, {TURN} a turn, each for the first time",
            "% of old: of the CPU, the median over single questions",
        ],
    )
    arguments = ("bench.versions", "--answer", str(size))
    with (
        process.serving(sys.executable, *arguments, sources=old / "src") as ask_old,
        process.serving(
            sys.executable, *arguments, *(["--freeze"] if freeze else []), sources=new / "src"
        ) as ask_new,
    ):
        for way in WAYS:
            spent: list[list[dict[str, float]]] = [[], []]
            fresh = Fresh()
            fresh.take(WARM + WAYS.index(way) * MOST)  # asked for the first time, every one
            for _ in range(0, asked, TURN):
                turn = {"way": way, "questions": fresh.take(TURN)}
                for each, ask in zip(spent, (ask_old, ask_new), strict=True):
                    each.extend(ask(turn))
            columns = [_columns(each) for each in spent]
            pairs = zip(*spent, strict=True)
            ratio = statistics.median(new["cpu"] / old["cpu"] for old, new in pairs)
            table.add(NAMES[way], *columns[0], *columns[1], 100 * ratio)
    return table


def _columns(spent: list[dict[str, float]]) -> tuple[float, float, float, float]:
    cpu = sorted(1000 * each["cpu"] for each in spent)
    wall = sorted(1000 * each["wall"] for each in spent)
    middle, last = len(spent) // 2, min(len(spent) - 1, 19 * len(spent) // 20)
    collected = 1000 * sum(each["collector"] for each in spent) / len(spent)
    return cpu[middle], cpu[last], wall[middle], collected


def _answer(size: int, *, freeze: bool) -> None:
    """Answer lines of JSON: which questions, and what each cost."""
    path, _ = stores.ours(size)
    fresh = Fresh()
    model = QuestionModel(fresh.all)
    pauses = _Pauses()
    with assemble.opened(path, model) as q:
        for question in fresh.take(WARM):
            assemble.ask(q, question)
        if freeze:
            gc.collect()
            gc.freeze()
        gc.callbacks.append(pauses)
        for line in sys.stdin:
            told = json.loads(line)
            model.at_work = told["way"] != "known"
            run: Callable[[str], Any] = (
                (lambda question: q.search(question, k=10))
                if told["way"] == "search"
                else (lambda question: assemble.ask(q, question))
            )
            print(json.dumps([_spent(run, each, pauses) for each in told["questions"]]), flush=True)


def _spent(run: Callable[[str], Any], question: str, pauses: _Pauses) -> dict[str, float]:
    pauses.seconds = 0.0
    wall, cpu = time.perf_counter(), time.process_time()
    run(question)
    return {
        "cpu": time.process_time() - cpu,
        "wall": time.perf_counter() - wall,
        "collector": pauses.seconds,
    }


class _Pauses:
    """Adds up how long the garbage collector runs."""

    seconds = 0.0
    _since = 0.0

    def __call__(self, phase: str, _: dict[str, int]) -> None:
        if phase == "start":
            self._since = time.process_time()
        else:
            self.seconds += time.process_time() - self._since


def _arguments() -> argparse.Namespace:
    from bench.__main__ import _sizes

    parser = argparse.ArgumentParser(prog="python -m bench.versions", description=__doc__)
    parser.add_argument("old", type=Path, help="a checkout, as `git worktree add` makes one")
    parser.add_argument("new", type=Path, nargs="?", default=HERE, help="another; this one")
    parser.add_argument("--sizes", type=_sizes, default=[100_000], help="chunks; 100k")
    parser.add_argument("--asked", type=int, default=60, help="questions of each kind (60)")
    parser.add_argument("--freeze", action="store_true", help="call gc.freeze in the new one")
    return parser.parse_args()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--answer"]:
        _answer(int(sys.argv[2]), freeze="--freeze" in sys.argv)
    else:
        main()
