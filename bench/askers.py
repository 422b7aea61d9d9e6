"""How many contexts a second do 1, 8 and 64 askers get of one store, in one process and in several?

Each asker asks the next question as soon as the last one is answered, each question for the first
time, its vector at hand. Contexts per CPU second say what a busy machine blurs least: if threads
wait for each other and do not work twice, it is the same for any number of them.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from bench import assemble, process, stores
from bench.fresh import WARM, Fresh
from bench.question_model import QuestionModel
from bench.report import Table

WAYS = ((1, 1), (1, 8), (1, 64), (2, 8), (4, 16))
"""Processes, and askers in each of them."""
ASKED = 240
"""Questions of all askers together."""


def tables(sizes: Sequence[int]) -> Iterator[Table]:
    """Ask generated stores of each size."""
    for size in sizes:
        stores.ours(size)  # before several processes ask for it
        table = Table(
            f"{size:,} chunks, many askers: `assemble`, the vector at hand",
            (
                "processes",
                "askers in each",
                "contexts/s",
                "of one asker",
                "p50 ms",
                "p99",
                "CPU ms each",
            ),
            notes=[f"{ASKED} questions a row, each for the first time"],
        )
        first = 0.0
        for processes, askers in WAYS:
            seconds, cpu, times = _ask(size, processes, askers)
            rate = ASKED / seconds
            first = first or rate
            p50, p99 = np.percentile(np.array(times) * 1000, [50, 99])
            cells = (rate, rate / first, float(p50), float(p99), 1000 * cpu / ASKED)
            table.add(str(processes), askers, *cells)
        yield table


def _ask(size: int, processes: int, askers: int) -> tuple[float, float, list[float]]:
    """Have all processes ask at the same time; return seconds, CPU seconds and all times."""
    told: list[dict[str, Any]] = []
    ready, done = threading.Barrier(processes), threading.Lock()

    def run(number: int) -> None:
        arguments = ("bench.askers", str(size), str(askers), str(number), str(processes))
        with process.serving(sys.executable, *arguments) as talk:
            talk("warm")
            ready.wait()
            answer = talk("ask")
        with done:
            told.append(answer)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(processes)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(told) == processes, "every process answered"
    seconds = max(each["ended"] for each in told) - min(each["begun"] for each in told)
    times = [each for part in told for each in part["times"]]
    return seconds, sum(each["cpu"] for each in told), times


def _answer(size: int, askers: int, number: int, processes: int) -> None:
    """Ask this process's share of the questions, by so many threads."""
    path, _ = stores.ours(size)
    fresh = Fresh()
    model = QuestionModel(fresh.all)
    with assemble.opened(path, model) as quire:
        sys.stdin.readline()
        for question in fresh.take(WARM):
            assemble.ask(quire, question)
        print("{}", flush=True)
        sys.stdin.readline()
        questions = iter(fresh.take(ASKED)[number::processes])
        lock, times = threading.Lock(), []

        def ask() -> None:
            while True:
                with lock:
                    question = next(questions, None)
                if question is None:
                    return
                start = time.perf_counter()
                assemble.ask(quire, question)
                times.append(time.perf_counter() - start)

        threads = [threading.Thread(target=ask) for _ in range(askers)]
        begun, cpu = time.time(), time.process_time()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        spent = {"begun": begun, "ended": time.time(), "cpu": time.process_time() - cpu}
    print(json.dumps({**spent, "times": times}), flush=True)
    model.close()


if __name__ == "__main__":
    _answer(*map(int, sys.argv[1:]))
