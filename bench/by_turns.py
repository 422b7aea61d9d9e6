"""Ask several stores of the same content the same questions, by turns.

So all of them meet the same moments of a busy machine. What other processes spend on an answer, a
server's or actors', is counted apart from what this one does.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean, median
from time import perf_counter, process_time

import psutil

from bench.assemble import Measured, ask
from bench.fresh import SHAPE, WARM, Fresh
from bench.question_model import QuestionModel
from bench.report import Table, Times, times
from quire.core.protocols import Store
from quire.engine import Quire

MOST_ASKED = 200
NOBODY: Callable[[Store], list[psutil.Process]] = lambda _: []  # noqa: E731 - a default


@dataclass(frozen=True, slots=True)
class Place:
    """A store to be asked."""

    name: str
    location: Path | str
    opens: Callable[[], Store] | None = None
    """How it is opened, if not as its location says."""
    processes: Callable[[Store], Iterable[psutil.Process]] = NOBODY
    """The other processes that answer for it."""


@dataclass(frozen=True, slots=True)
class _Spent:
    """What one question cost, in seconds."""

    wall: float
    own: float
    others: float


def asked(title: str, places: Sequence[Place], count: int) -> Table:
    """Search and assemble so many questions in each store; the first one is what others cost."""
    first = places[0].name
    table = Table(
        title,
        ("what", "of", *("p50 ms", "p95", "cpu", "others'"), *("ratio cpu", "ratio p95")),
        notes=[
            f"{count} questions ({SHAPE}), each for the first time, the vector at hand",
            "cpu: median of this process; others': mean of a server's processes or actors",
            f"ratio: to {first}; cpu: median over single questions, all processes together",
        ],
    )
    fresh = Fresh()
    model = QuestionModel(fresh.all)
    with ExitStack() as stack:
        opened = {place: _open(stack, place, model) for place in places}
        for question in fresh.take(WARM):
            for quire in opened.values():
                quire.search(question, refresh=False)
                ask(quire, question)
        for what, call in (("search", _search), ("assemble", ask)):
            spent: dict[Place, list[_Spent]] = {place: [] for place in places}
            for number, question in enumerate(fresh.take(count, MOST_ASKED)):
                turn = number % len(places)
                for place in (*places[turn:], *places[:turn]):
                    quire = opened[place]
                    store = quire._project.store  # noqa: SLF001 - which has actors
                    spent[place].append(
                        _clock(partial(call, quire, question), [*place.processes(store)])
                    )
            _add(table, what, spent)
    model.close()
    return table


def _add(table: Table, what: str, spent: dict[Place, list[_Spent]]) -> None:
    base = next(iter(spent.values()))
    p95 = _times(base).p95
    for place, each in spent.items():
        summed = _times(each)
        ratios = [
            (one.own + one.others) / (first.own + first.others)
            for one, first in zip(each, base, strict=True)
        ]
        others = 1000 * fmean(one.others for one in each) or None
        ratio = summed.p95 / p95
        table.add(
            *(what, place.name, summed.p50, summed.p95, summed.cpu, others, median(ratios), ratio)
        )


def _times(each: Sequence[_Spent]) -> Times:
    return times([one.wall for one in each], [one.own for one in each])


def _open(stack: ExitStack, place: Place, model: QuestionModel) -> Measured:
    root = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="quire-bench-")))
    quire = stack.enter_context(Measured(place.location, root, model))
    if place.opens is not None:
        project = quire._project  # noqa: SLF001 - there is no setting for an engine in this process
        project.store.close()
        project.store = place.opens()
    return quire


def _search(quire: Quire, question: str) -> object:
    return quire.search(question, k=10, refresh=False)


def _clock(call: Callable[[], object], processes: Sequence[psutil.Process]) -> _Spent:
    others, wall, own = cpu(processes), perf_counter(), process_time()
    call()
    return _Spent(perf_counter() - wall, process_time() - own, cpu(processes) - others)


def cpu(processes: Sequence[psutil.Process]) -> float:
    """Return the CPU seconds of processes, as far as they live."""
    total = 0.0
    for process in processes:
        try:
            spent = process.cpu_times()
        except psutil.Error:
            continue
        total += spent.user + spent.system
    return total
