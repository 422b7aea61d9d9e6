"""What does a store in shards cost beside one file with the same content?

Questions are asked by turns, so that all meet the same moments of a busy machine, and each in CPU
time, which does not depend on it. Shards in files are asked one after the other by this process;
those in a Ray cluster by actors, whose time is counted apart.
"""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

import psutil

from bench import stores
from bench.assemble import Measured, ask
from bench.fresh import SHAPE, WARM, Fresh
from bench.question_model import QuestionModel
from bench.report import Table
from quire.core.types import OWNER
from quire.engine import Quire
from quire.indexing.copy_store import copy_store
from quire.store import open_store

LARGEST = 100_000
MOST_ASKED = 100
COUNTS = (1, 2)


def tables(sizes: Sequence[int], asked: int) -> Iterator[Table]:
    """Measure one file, shards in files and shards in actors at each size."""
    for size in sizes:
        if size > LARGEST:
            print(f"no shards at {size:,} chunks: it takes too long to copy them")
            continue
        with tempfile.TemporaryDirectory(prefix="quire-bench-") as folder, _cluster():
            path, _ = stores.ours(size)
            places = {
                f"{count} shard{'s' * (count > 1)}": Path(folder, f"store.{count}.shards")
                for count in COUNTS
            }
            yield _copies(path, {"one file": Path(folder, "copy.db"), **places}, size)
            remote = {f"{name} on Ray": f"ray://{place}" for name, place in places.items()}
            yield _asked({"one file": path, **places, **remote}, size, min(asked, MOST_ASKED))


def _copies(path: Path, places: dict[str, Path], size: int) -> Table:
    table = Table(
        f"writing {size:,} chunks with vectors, by `quire copy`",
        ("to", "cpu s", "of one file", "bytes a chunk"),
    )
    first = 0.0
    for name, place in places.items():
        with closing(open_store(path)) as source, closing(open_store(place)) as target:
            before = process_time()
            copy_store(source, target)
            spent = process_time() - before
            first = first or spent
            with target.view(OWNER) as view:
                table.add(name, spent, spent / first, view.status().bytes / size)
    return table


def _asked(places: dict[str, Path | str], size: int, asked: int) -> Table:
    table = Table(
        f"asking {size:,} chunks by turns",
        ("what", "of", "p50 ms of cpu", "of one file", "ms of cpu of actors"),
        notes=[
            f"{asked} questions ({SHAPE}), each for the first time, the vector at hand",
            "of one file: the median of the ratios of single questions, all processes together",
        ],
    )
    fresh = Fresh()
    model = QuestionModel(fresh.all)
    with ExitStack() as stack:
        opened = {
            name: stack.enter_context(_opened(place, model)) for name, place in places.items()
        }
        for question in fresh.take(WARM):
            for quire in opened.values():
                quire.search(question, refresh=False)
                ask(quire, question)
        for what, call in (("search", _search), ("assemble", ask)):
            measured: dict[str, list[tuple[float, float]]] = {name: [] for name in opened}
            for number, question in enumerate(fresh.take(asked, MOST_ASKED)):
                names = list(opened)
                for name in names[number % len(names) :] + names[: number % len(names)]:
                    actors = _actors(opened[name])
                    measured[name].append(_clock(partial(call, opened[name], question), actors))
            base = [own for own, _ in measured["one file"]]
            for name, spent in measured.items():
                whole = [own + others for own, others in spent]
                table.add(
                    what,
                    name,
                    1000 * median(own for own, _ in spent),
                    median(one / first for one, first in zip(whole, base, strict=True)),
                    1000 * sum(others for _, others in spent) / len(spent) or None,
                )
    model.close()
    return table


def _search(quire: Quire, question: str) -> object:
    return quire.search(question, k=10, refresh=False)


def _clock(call: Callable[[], object], actors: Sequence[psutil.Process]) -> tuple[float, float]:
    """Return the CPU seconds of a call: those of this process, and those of actors."""
    others, own = _spent(actors), process_time()
    call()
    return process_time() - own, _spent(actors) - others


def _spent(processes: Sequence[psutil.Process]) -> float:
    return sum(sum(process.cpu_times()[:2]) for process in processes)


def _actors(quire: Quire) -> list[psutil.Process]:
    store: Any = quire._project.store  # noqa: SLF001 - which has the shards
    if not quire.config.server:
        return []
    return [psutil.Process(number) for number in store.processes()]


@contextmanager
def _opened(place: Path | str, model: QuestionModel) -> Iterator[Measured]:
    with (
        tempfile.TemporaryDirectory(prefix="quire-bench-") as root,
        Measured(place, Path(root), model) as quire,
    ):
        yield quire


@contextmanager
def _cluster() -> Iterator[None]:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
    try:
        yield
    finally:
        ray.shutdown()
