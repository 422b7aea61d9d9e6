"""How much gold evidence does a system's context hold?

The context string alone is looked at, by the benchmark's own metrics. A system is whatever has
`index(documents)` and `context(query, budget)`; Quire is driven as a user drives it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from statistics import fmean
from time import perf_counter
from types import TracebackType
from typing import Any, Self

from bench.evidence import stores
from bench.evidence.given import Benchmark
from bench.report import times
from quire.core import hashing
from quire.core.types import Context, Recipe

SEEN, KEPT_BACK, ALL = "seen", "kept-back", "all"
HALVES = (ALL, SEEN, KEPT_BACK)


@dataclass(frozen=True, slots=True)
class Row:
    """What one context held for one question."""

    task: str
    query: str
    budget: int
    gold: str
    recall: float
    complete: float
    precision: float | None
    filled: float
    over: bool
    seconds: float


@dataclass(frozen=True, slots=True)
class Figure:
    """What a system's contexts held on average."""

    system: str
    task: str
    gold: str
    budget: int
    n: int
    recall: float
    error: float
    """The standard error of the recall."""
    complete: float
    """The share of questions whose evidence is all there."""
    precision: float | None
    filled: float | None
    over: int
    p50: float | None
    """Milliseconds for a context."""
    p95: float | None


class Driven:
    """Quire through its public face, on one corpus after the other."""

    def __init__(self, task: str, *, recipe: Recipe | str, coverage: int) -> None:
        self._task, self._coverage, self._recipe = task, coverage, recipe
        self._open = ExitStack()
        self.store: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._open.close()

    def index(self, corpus: str, documents: Sequence[Any]) -> None:
        """Open the corpus's store; it is made when it is not there."""
        self._open.close()
        self.store = self._open.enter_context(
            stores.opened(self._task, corpus, documents, coverage=self._coverage)
        )

    def context(self, query: str, budget: int) -> str:
        """Assemble one context that may use the whole budget."""
        return self.assemble(query, budget).text

    def assemble(self, query: str, budget: int) -> Context:
        """Assemble one context, with all that is told of it."""
        made: Context = self.store.assemble(
            query, budget=budget, reserve={}, allow_empty=True, recipe=self._recipe
        )
        return made


def half(query: str) -> str:
    """Tell whether a question may be looked at while tuning; half of them may not."""
    return KEPT_BACK if int(hashing.identifier("half", query)[:2], 16) % 2 else SEEN


def chosen(
    benchmark: Benchmark, name: str, sample: int | None, part: str, repositories: Sequence[str]
) -> tuple[Any, list[Any]]:
    """Load a task and choose the questions to ask: a sample as the peers were given, or all."""
    task = benchmark.task(name)
    if repositories:
        task.queries = [
            query
            for query in task.queries
            if query.extra.get("repo", repositories[0]) in repositories
        ]
    queries = task.sample(len(task.queries) if sample is None else sample)
    return task, [query for query in queries if part in (ALL, half(query.id))]


def run(
    benchmark: Benchmark, task: Any, system: Any, queries: Sequence[Any], budgets: Sequence[int]
) -> list[Row]:
    """Ask a system everything, and look at what it says."""
    rows: list[Row] = []
    corpus = None
    for query in queries:
        if query.corpus != corpus:
            corpus = query.corpus
            _index(system, corpus, task.corpus(corpus))
        if hasattr(system, "set_gold"):
            system.set_gold(query.gold)
        for budget in budgets:
            start = perf_counter()
            context = system.context(query.text, budget)
            seconds = perf_counter() - start
            used = benchmark.metrics.tokens(context)
            for gold, wanted in query.gold.items():
                held = benchmark.metrics.score(context, wanted)
                rows.append(
                    Row(
                        task=task.name,
                        query=query.id,
                        budget=budget,
                        gold=gold,
                        recall=held["recall"],
                        complete=held["all"],
                        precision=held.get("precision"),
                        filled=used / budget,
                        over=used > budget,
                        seconds=seconds,
                    )
                )
    return rows


def figures(system: str, rows: Sequence[Row]) -> list[Figure]:
    """Sum up rows by task, gold and budget."""
    groups: dict[tuple[str, str, int], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.task, row.gold, row.budget), []).append(row)
    made = []
    for (task, gold, budget), mine in sorted(groups.items()):
        recall = fmean(row.recall for row in mine)
        spread = sum((row.recall - recall) ** 2 for row in mine)
        precisions = [row.precision for row in mine if row.precision is not None]
        took = times([row.seconds for row in mine])
        made.append(
            Figure(
                system=system,
                task=task,
                gold=gold,
                budget=budget,
                n=len(mine),
                recall=recall,
                error=spread**0.5 / len(mine),
                complete=fmean(row.complete for row in mine),
                precision=fmean(precisions) if precisions else None,
                filled=fmean(row.filled for row in mine),
                over=sum(row.over for row in mine),
                p50=took.p50,
                p95=took.p95,
            )
        )
    return made


def _index(system: Any, corpus: str, documents: Sequence[Any]) -> None:
    if isinstance(system, Driven):
        system.index(corpus, documents)
    else:
        system.index(documents)
