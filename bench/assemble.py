"""How fast is a context assembled, beside LangChain and LlamaIndex, and where does the time go?"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from bench import process, stores
from bench.fresh import MOST, SHAPE, WARM, Fresh
from bench.question_model import QuestionModel
from bench.report import Table, Times, clocked, timed, times
from bench.stages import Stages, Stopwatch, charged
from quire import config, engine, receipts, runner
from quire.core.types import Context, Recipe
from quire.engine import Quire
from quire.pipeline import recipe
from quire.pipeline import steps as pipeline_steps
from quire.pipeline.query_vectors import QueryVectors
from quire.store.sql.view import SqlView

RECIPE = recipe.load("documents")
AVAILABLE = RECIPE.budget.available
DEPTH = RECIPE.depth("lexical")
"""How many chunks a search gives; the peers' two give as many."""
PER_ASKED = 5
"""So many questions for each of `--asked`: the 95th percentile of few says little."""
WATCHED = 60
MANY = 1000
MANY_ASKED = 20
BUDGETS = (4_000, 32_000)
AGAIN = 500
IN_A_ROW = 200
PEERS_UP_TO = 100_000
PEERS = {
    "langchain": ("LangChain EnsembleRetriever, FAISS", 1),
    "llamaindex": ("LlamaIndex QueryFusionRetriever, FAISS", 1),
    "llamaindex-default": ("LlamaIndex QueryFusionRetriever, its own store", 8),
    "haystack": ("Haystack DocumentJoiner, its in-memory store", 8),
}
"""How a peer is shown, and how many times fewer questions it is asked: seconds each."""
WAYS = {"known": "its vector at hand", "embedded": "the question embedded"}
KINDS = ("mean", "cpu")
RATIOS = ("ratio p50", "ratio p95")
TURN = 5
MOST_OF_PEERS = 60
FILLED = f"{DEPTH} chunks of each search, {AVAILABLE:,} tokens to fill"


class Measured(Quire):
    """A store of made-up vectors, opened with the model that gives such vectors to questions."""

    def __init__(self, path: Path | str, root: Path, model: QuestionModel) -> None:
        super().__init__(config.load(root, store=path), create=False)
        self._project._embedder = model  # noqa: SLF001 - there is no setting for a made-up model

    def close(self) -> None:
        """Close the store; the model is shared with other stores."""
        self._project._embedder = None  # noqa: SLF001
        super().close()

    def meaning(self, question: str) -> None:
        """Make the vector of a question, which is then at hand."""
        with self._project.view() as view:
            make, _ = self._vectors.plan(question, view.coverage())
        assert make is not None, "there are vectors"
        make()

    def forget_meanings(self) -> None:
        """Have no vector of a question at hand."""
        self._vectors = QueryVectors(self.embedder, wanted=lambda: True)


def tables(sizes: Sequence[int], asked: int, *, slow: bool) -> Iterator[Table]:
    """Assemble from made-up stores of each size."""
    for size in sizes:
        fresh = Fresh()
        model = QuestionModel(fresh.all)
        path, _ = stores.ours(size)
        with opened(path, model) as quire:
            yield _alone(quire, model, fresh, size, asked)
            python = peers_python()
            if python is None:
                print("no peers: `make bench` installs them, or BENCH_PEERS names a Python")
            elif size > PEERS_UP_TO and not slow:
                print("no peers: only with --slow at this size, they take long to build")
            else:
                yield _beside_peers(quire, model, fresh, size, asked=asked, python=python)
            yield _by_step(quire, model, fresh, size)
            yield _many(quire, model, fresh, size)
        model.close()
        yield _memory(path, size)


@contextmanager
def opened(path: Path, model: QuestionModel) -> Iterator[Measured]:
    """Open a made-up store as a user's."""
    with (
        tempfile.TemporaryDirectory(prefix="quire-bench-") as root,
        Measured(path, Path(root), model) as quire,
    ):
        yield quire


def ask(quire: Quire, question: str, wanted: Recipe | None = None) -> Context:
    """Assemble, and see that all of it was done."""
    made = quire.assemble(question, recipe=wanted or RECIPE)
    assert made.sources, "something was found"
    assert not made.failed, made.failed
    return made


def _alone(quire: Quire, model: QuestionModel, fresh: Fresh, size: int, asked: int) -> Table:
    table = Table(
        f"assembling from {size:,} chunks, each question for the first time",
        ("question", "p50 ms", "p95", "cpu", "tokens"),
    )
    for question in fresh.take(WARM):
        ask(quire, question)
    many = min(PER_ASKED * asked, MOST)
    for way, name in WAYS.items():
        model.at_work = way == "embedded"
        questions = fresh.take(many, MOST)
        found = timed([partial(ask, quire, question) for question in questions], warm=0)
        used = [ask(quire, question).tokens for question in questions[-WARM:]]
        table.add(name, *_three(found), sum(used) / len(used))
    again = timed([partial(ask, quire, questions[-1])] * AGAIN)
    table.add("the same question again", *_three(again), None)
    table.notes = [f"{many} questions ({SHAPE})", FILLED]
    return table


def _beside_peers(
    quire: Quire, model: QuestionModel, fresh: Fresh, size: int, *, asked: int, python: str
) -> Table:
    """Ask a peer and Quire by turns, so that both meet the same moments of a busy machine."""
    table = Table(
        f"assembling from {size:,} chunks, by turns with a peer",
        ("peer", *("p50 ms", "p95", "cpu"), *("quire p50", "p95", "cpu"), *RATIOS, "tokens"),
        notes=[
            FILLED,
            "ratio: how much faster Quire is; cpu: of all threads, and FAISS uses all cores",
            (
                "the peers rank and join; Quire also leaves out repeats, counts the whole, "
                "decides over every candidate, proves each source and writes a receipt"
            ),
        ],
    )
    for name, (shown, fewer) in PEERS.items():
        few = max(1, min(asked, MOST_OF_PEERS) // fewer)
        told: dict[str, Any] = {}
        with process.serving(
            python, "bench.peers", name, str(size), str(DEPTH), str(AVAILABLE)
        ) as talk:
            talk({"questions": fresh.all[:WARM]})
            for way, said in WAYS.items():
                model.at_work = way == "embedded"
                theirs: dict[str, list[float]] = {"seconds": [], "cpu": [], "tokens": []}
                ours: dict[str, list[float]] = {"seconds": [], "cpu": []}
                questions = fresh.take(few, MOST_OF_PEERS // fewer)
                for at in range(0, few, TURN):
                    turn = questions[at : at + TURN]
                    told = talk({"questions": turn, "at_work": model.at_work})
                    for kind in theirs:
                        theirs[kind] += told[kind]
                    spent = clocked([partial(ask, quire, question) for question in turn])
                    ours["seconds"] += spent[0]
                    ours["cpu"] += spent[1]
                peer = times(theirs["seconds"], theirs["cpu"])
                mine = times(ours["seconds"], ours["cpu"])
                ratios = (peer.p50 / mine.p50, peer.p95 / mine.p95)
                used = sum(theirs["tokens"]) / few
                table.add(f"{shown}, {said}", *_three(peer), *_three(mine), *ratios, used)
        table.notes.append(
            f"{shown}: {few} questions each, {TURN} a turn; built in "
            f"{told['build_seconds']:.0f} s, {told['peak_mib']:,.0f} MiB"
        )
    return table


def peers_python() -> str | None:
    """Tell which Python has the peers installed."""
    named = os.environ.get("BENCH_PEERS")
    usual = Path(__file__).parent.parent / ".venv-peers" / "bin" / "python"
    return named or (str(usual) if usual.exists() else None)


def _by_step(quire: Quire, model: QuestionModel, fresh: Fresh, size: int) -> Table:
    table = Table(
        f"assembling from {size:,} chunks, by step",
        ("step", *(f"{name}: {kind} ms" for name in WAYS.values() for kind in KINDS)),
        notes=[
            f"{WATCHED} questions each; cpu: of the thread that assembles, the mean as well",
            "what is left of `gather` is waiting for the model: it works while words are searched",
        ],
    )
    columns: list[Mapping[str, float]] = []
    for way in WAYS:
        model.at_work = way == "embedded"
        for question in fresh.take(WARM):
            ask(quire, question)
        with steps() as watch:
            for question in fresh.take(WATCHED):
                ask(quire, question)
        columns += [watch.seconds, watch.cpu]
    _add_steps(table, columns, WATCHED)
    return table


def _add_steps(table: Table, columns: Sequence[Mapping[str, float]], asked: int) -> None:
    for step in columns[0]:
        table.add(step, *(1000 * spent.get(step, 0.0) / asked for spent in columns))
    table.add("all", *(1000 * sum(spent.values()) / asked for spent in columns))


@contextmanager
def steps() -> Iterator[Stopwatch]:
    """Charge what happens inside to the steps of assembling."""
    kept = pipeline_steps.STEPS
    functions = SimpleNamespace(**dict(kept))
    pipeline_steps.STEPS = tuple(
        (name, partial(lambda name, draft: getattr(functions, name)(draft), name))
        for name, _ in kept
    )
    watched: Stages = (
        ("decide what is asked", runner, "resolve"),
        ("gather", runner, "retrieve"),
        ("gather: words", SqlView, "lexical"),
        ("gather: meaning", SqlView, "semantic"),
        ("gather: chunks", SqlView, "chunks"),
        *((name, functions, name) for name, _ in kept),
        ("prove", SqlView, "prove_all"),
        ("receipt", receipts, "make"),
    )
    try:
        with charged(watched) as watch:
            yield watch
    finally:
        pipeline_steps.STEPS = kept


def _many(quire: Quire, model: QuestionModel, fresh: Fresh, size: int) -> Table:
    """Assemble with far more candidates than a context can hold."""
    table = Table(
        f"{MANY:,} candidates of {size:,} chunks, by step",
        ("step", *(f"{budget:,} tokens: {kind} ms" for budget in BUDGETS for kind in KINDS)),
        notes=[f"{MANY_ASKED} questions each, their vectors at hand"],
    )
    model.at_work = False
    columns: list[Mapping[str, float]] = []
    for budget in BUDGETS:
        wanted = replace(
            RECIPE,
            sources={name: replace(one, k=MANY) for name, one in RECIPE.sources.items()},
            rank=replace(RECIPE.rank, top=MANY, deeper=0),
            budget=replace(RECIPE.budget, total=budget),
        )
        with steps() as watch:
            for question in fresh.take(MANY_ASKED):
                made = ask(quire, question, wanted)
                assert len(made.decisions) >= MANY, "as many as are measured"
        columns += [watch.seconds, watch.cpu]
    _add_steps(table, columns, MANY_ASKED)
    return table


def _memory(path: Path, size: int) -> Table:
    told = process.measured("assembly-memory", str(path), str(IN_A_ROW))
    table = Table(f"memory of assembling from {size:,} chunks", ("what", "MiB"))
    table.add("one assembly, at its peak (traced)", told["peak_of_one_mib"])
    table.add("of that kept when it is done: context and receipt", told["kept_of_one_mib"])
    table.add(f"the process before {told['asked']} assemblies", told["before_mib"])
    table.add("more after them", told["grown_mib"])
    table.add(f"more after {told['asked']} others", told["grown_again_mib"])
    table.notes = [
        f"the last {engine.CACHED_CONTEXTS} contexts are kept",
        f"a receipt is {told['receipt_kib']:.0f} KiB as JSON",
    ]
    return table


def _three(found: Times) -> tuple[float, float, float]:
    return found.p50, found.p95, found.cpu


def memory(store: str, asked: int) -> dict[str, Any]:
    """Tell what assembling takes in this process."""
    import gc
    import json
    import tracemalloc

    fresh = Fresh()
    model = QuestionModel(fresh.all)
    with opened(Path(store), model) as quire:
        for question in fresh.take(WARM):
            ask(quire, question)
        gc.collect()
        before = process.resident_mib()
        grown = []
        for _ in range(2):
            for question in fresh.take(asked):
                made = ask(quire, question)
            gc.collect()
            grown.append(process.resident_mib())
        receipt = len(json.dumps(made.receipt))
        peaks, kept = [], []
        tracemalloc.start()
        for question in fresh.take(5):
            gc.collect()
            tracemalloc.reset_peak()
            at, _ = tracemalloc.get_traced_memory()
            ask(quire, question)
            after, peak = tracemalloc.get_traced_memory()
            peaks.append(peak - at)
            kept.append(after - at)
        tracemalloc.stop()
    model.close()
    return {
        "asked": asked,
        "peak_of_one_mib": max(peaks) / 2**20,
        "kept_of_one_mib": max(kept) / 2**20,
        "before_mib": before,
        "grown_mib": grown[0] - before,
        "grown_again_mib": grown[1] - grown[0],
        "receipt_kib": receipt / 2**10,
    }
