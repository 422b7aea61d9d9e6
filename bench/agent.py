"""How fast is a page for an agent made, and what does it take?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from bench import process
from bench.agent_store import SIZES, agent_store
from bench.assemble import KINDS, WAYS, Measured, opened, steps
from bench.fresh import WARM, Fresh
from bench.question_model import QuestionModel
from bench.report import Table, timed
from quire.core.types import FormattedContext
from quire.memory import vocabulary
from quire.pipeline import recipe
from quire.recipes import agent

ASKED = 100
WATCHED = 40
IN_A_ROW = 60


def tables(sizes: Mapping[str, int]) -> Iterator[Table]:
    """Make pages from one made-up store."""
    path, _ = agent_store(dict(sizes))
    told = ", ".join(f"{count:,} {what}" for what, count in sizes.items())
    about = f"made-up text and vectors: {told}; five sections, {agent.AGENT_TOKENS:,} tokens"
    fresh = Fresh()
    model = QuestionModel([*fresh.all, *section_questions()])
    with opened(path, model) as quire:
        yield _pages(quire, model, fresh, about)
        yield _by_step(quire, model, fresh, about)
    model.close()
    yield _memory(path, about)


def scaled(down: int) -> dict[str, int]:
    """Give all sizes so many times smaller."""
    return {what: count // down for what, count in SIZES.items()}


def section_questions() -> list[str]:
    """Name all that premortems ask."""
    wanted = recipe.load(agent.PREMORTEM)
    asked = [
        section.query
        for pair in attempts()
        for section in agent.fill_recipe(wanted, *pair).sections
    ]
    return list(dict.fromkeys(asked))


def attempts() -> list[tuple[str, str]]:
    """Give every domain with every strategy, neighbours differing in both."""
    pairs = list(product(vocabulary.DOMAINS, vocabulary.STRATEGIES))
    return [pairs[at * 37 % len(pairs)] for at in range(len(pairs))]


def page(quire: Measured, question: str) -> FormattedContext:
    """Make a page, and see that its sections are on it.

    A value may repeat an experience, and commits are there for questions about history.
    """
    made = quire.agent.assemble_context(question)
    assert not made.failed, made.failed
    assert {"memory", "code", "experience"} <= made.sources_used.keys()
    return made


def premortem(quire: Measured, pair: tuple[str, str]) -> FormattedContext:
    """Make a premortem, and see that it tells of something."""
    made = quire.agent.get_premortem_context(*pair)
    assert not made.failed, made.failed
    assert made.items, "something was found"
    return made


def _pages(quire: Measured, model: QuestionModel, fresh: Fresh, about: str) -> Table:
    table = Table("pages for agents, each for the first time", ("page", "p50 ms", "p95", "cpu"))
    pairs = iter(attempts())
    for way, name in WAYS.items():
        model.at_work = way == "embedded"
        for question in fresh.take(WARM):
            page(quire, question)
        found = timed([partial(page, quire, one) for one in fresh.take(ASKED)], warm=0)
        table.add(f"assemble_context, {name}", found.p50, found.p95, found.cpu)
        for question in [] if model.at_work else section_questions():
            quire.meaning(question)
        make = _anew if model.at_work else premortem
        calls = [partial(make, quire, next(pairs)) for _ in range(ASKED // 2)]
        found = timed(calls, warm=0)
        table.add(f"premortem, {name}", found.p50, found.p95, found.cpu)
    table.notes = [about, f"{ASKED} questions, {ASKED // 2} premortems; cpu: of all threads"]
    return table


def _anew(quire: Measured, pair: tuple[str, str]) -> FormattedContext:
    quire.forget_meanings()
    return premortem(quire, pair)


def _by_step(quire: Measured, model: QuestionModel, fresh: Fresh, about: str) -> Table:
    table = Table(
        "assemble_context, by step",
        ("step", *(f"{kind} ms" for kind in KINDS)),
        notes=[about, "the sections are asked by threads: what they spend adds up"],
    )
    model.at_work = False
    with steps() as watch:
        for question in fresh.take(WATCHED):
            page(quire, question)
    for step in watch.seconds:
        table.add(step, 1000 * watch.seconds[step] / WATCHED, 1000 * watch.cpu[step] / WATCHED)
    return table


def _memory(path: Path, about: str) -> Table:
    told = process.measured("agent-memory", str(path), str(IN_A_ROW))
    table = Table("memory of a page", ("what", "MiB"), notes=[about])
    table.add("one page, at its peak (traced)", told["peak_of_one_mib"])
    table.add("of that kept when it is done", told["kept_of_one_mib"])
    table.add("one premortem, at its peak (traced)", told["peak_of_premortem_mib"])
    table.add(f"the process after {WARM} pages", told["before_mib"])
    table.add(f"more after {IN_A_ROW} pages", told["grown_mib"])
    return table


def memory(store: str, asked: int) -> dict[str, Any]:
    """Tell what pages take in this process."""
    import gc
    import tracemalloc

    fresh = Fresh()
    model = QuestionModel([*fresh.all, *section_questions()])

    def peak(make: Callable[[], object]) -> tuple[float, float]:
        gc.collect()
        tracemalloc.reset_peak()
        at, _ = tracemalloc.get_traced_memory()
        made = make()
        after, most = tracemalloc.get_traced_memory()
        del made
        return (most - at) / 2**20, (after - at) / 2**20

    with opened(Path(store), model) as quire:
        for question in fresh.take(WARM):
            page(quire, question)
        gc.collect()
        before = process.resident_mib()
        for question in fresh.take(asked):
            page(quire, question)
        gc.collect()
        grown = process.resident_mib() - before
        tracemalloc.start()
        ones = [peak(partial(page, quire, question)) for question in fresh.take(5)]
        others = [peak(partial(premortem, quire, pair)) for pair in attempts()[:5]]
        tracemalloc.stop()
    model.close()
    return {
        "peak_of_one_mib": max(most for most, _ in ones),
        "kept_of_one_mib": max(kept for _, kept in ones),
        "peak_of_premortem_mib": max(most for most, _ in others),
        "before_mib": before,
        "grown_mib": grown,
    }
