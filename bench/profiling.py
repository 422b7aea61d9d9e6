"""Where do the milliseconds go: CPU by step, objects made, and the garbage collector?

Each kind of answer is asked for by questions that nobody has asked before, over the same generated
store. The CPU of the steps is that of the thread that answers; the whole is that of the process.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import assemble, stores
from bench.fresh import WARM, Fresh
from bench.question_model import QuestionModel
from bench.report import Table
from quire.engine import Quire
from quire.integrations.clients import CLIENTS, PROMPT
from quire.integrations.hooks import pages
from quire.integrations.hooks.payloads import HookEvent

ASKED = 40
Run = Callable[[str], object]


@dataclass(slots=True)
class Pauses:
    """Counts what the garbage collector does while it is registered."""

    seconds: float = 0.0
    longest: float = 0.0
    full: int = 0
    _since: float = 0.0

    def __call__(self, phase: str, about: dict[str, Any]) -> None:
        if phase == "start":
            self._since = time.process_time()
            return
        spent = time.process_time() - self._since
        self.seconds += spent
        self.longest = max(self.longest, spent)
        self.full += about["generation"] == 2


def tables(sizes: Sequence[int]) -> Iterator[Table]:
    """Profile each kind of answer over generated stores of each size."""
    for size in sizes:
        fresh = Fresh()
        model = QuestionModel(fresh.all)
        model.at_work = True
        path, _ = stores.ours(size)
        with assemble.opened(path, model) as quire:
            yield from _profiled(kinds(quire, path), fresh, size)
        model.close()


def kinds(quire: Quire, path: Path) -> dict[str, Run]:
    """Name what is asked for, and how."""
    client, options = CLIENTS["claude-code"], pages.HookOptions(store=str(path), embed=False)

    def hook(question: str) -> object:
        event = HookEvent(folder=str(quire.root()), prompt=f"Explain the use of {question}")
        return pages.build(client, PROMPT, event, options)

    return {
        "assemble": lambda question: assemble.ask(quire, question),
        "search": lambda question: quire.search(question, k=10),
        "agent page": lambda question: quire.assemble(question, recipe="agent"),
        "workspace page": lambda question: quire.assemble(question, recipe="workspace"),
        "hook": hook,
    }


def _profiled(runs: dict[str, Run], fresh: Fresh, size: int) -> Iterator[Table]:
    whole = Table(
        f"{size:,} chunks, one answer: CPU, objects and the garbage collector",
        ("answer", "CPU p50 ms", "p95", "blocks made", "collector ms", "longest", "full, of 100"),
        notes=[
            f"{ASKED} questions each, embedded by the model; the hook opens the store, by words",
            "blocks made: memory blocks that were taken and not given back by the end of an answer",
        ],
    )
    spent: dict[str, dict[str, float]] = {}
    for name, run in runs.items():
        for question in fresh.take(WARM):
            run(question)
        questions = fresh.take(ASKED)
        pauses, cpu, blocks = Pauses(), [], 0
        gc.callbacks.append(pauses)
        try:
            with assemble.steps() as watch:
                for question in questions:
                    held, begun = sys.getallocatedblocks(), time.process_time()
                    run(question)
                    cpu.append(1000 * (time.process_time() - begun))
                    blocks += max(0, sys.getallocatedblocks() - held)
        finally:
            gc.callbacks.remove(pauses)
        cpu.sort()
        spent[name] = {step: 1000 * each / ASKED for step, each in watch.cpu.items()}
        whole.add(
            name,
            cpu[ASKED // 2],
            cpu[19 * ASKED // 20],
            blocks // ASKED,
            1000 * pauses.seconds / ASKED,
            1000 * pauses.longest,
            100 * pauses.full / ASKED,
        )
    yield whole
    steps = Table(f"{size:,} chunks, one answer: CPU ms by step", ("step", *spent))
    for step in dict.fromkeys(step for each in spent.values() for step in each):
        steps.add(step, *(each.get(step) for each in spent.values()))
    steps.notes = ["means; of the thread that answers, without the threads of sections and models"]
    yield steps
