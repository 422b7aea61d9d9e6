"""Measure evidence per token, beside the peers: `python -m bench.evidence --help`."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench import report
from bench.evidence import chart, given, losses, measure, peers, stores
from bench.evidence.ablations import ABLATIONS
from bench.evidence.measure import Figure, Row
from bench.report import Table
from quire.core.types import Recipe
from quire.pipeline import recipe as recipes
from quire.pipeline.validate import DEFAULT_RECIPE

OUT = Path(__file__).parent.parent / "out"
QUIRE = chart.OURS
COLUMNS = (
    *("gold", "tokens", "n", "quire", "±", "best peer", "which", "peer's n"),
    *("all", "precision", "filled", "over", "p50 ms", "p95 ms"),
)
SAMPLE = 150
"""Of tasks that the peers' table does not know."""


def main() -> None:
    asked = _arguments()
    try:
        benchmark = given.open_benchmark()
    except given.NoDataError as error:
        sys.exit(str(error))
    about = report.circumstances()
    print(", ".join(f"{name} {value}" for name, value in about.items()), flush=True)
    known = peers.stored(benchmark.home)
    ours: list[Figure] = []
    rerun: list[Figure] = []
    rows: dict[str, list[Row]] = {}
    for name in asked.tasks or _with_questions(benchmark, known):
        sample = peers.sizes(known).get(name, SAMPLE) if asked.sample == "peers" else asked.sample
        task, queries = measure.chosen(benchmark, name, sample, asked.part, asked.repositories)
        if not queries:
            print(f"{name}: no questions")
            continue
        budgets = asked.budgets or task.budgets
        with measure.Driven(name, recipe=_recipe(asked), coverage=asked.coverage) as system:
            if asked.losses:
                found = losses.told(benchmark, task, system, queries, budgets[0])
                print(f"\n{_lost(name, budgets[0], found).text()}", flush=True)
                continue
            rows[name] = measure.run(benchmark, task, system, queries, budgets)
        made = measure.figures(QUIRE, rows[name])
        ours += made
        if asked.peers:
            rerun += _peers(benchmark, task, queries, budgets)
        print(f"\n{_table(name, made, rerun or known).text()}", flush=True)
    if asked.losses:
        return
    told = {
        **about,
        "part": asked.part,
        "recipe": asked.recipe,
        "without": asked.without,
        "coverage": asked.coverage,
        "figures": [asdict(one) for one in (*ours, *rerun)],
    }
    if asked.rows:
        told["rows"] = [asdict(row) for mine in rows.values() for row in mine]
    _keep(told, asked, [*ours, *(rerun or _beside(ours, known))])


def _recipe(asked: argparse.Namespace) -> Recipe:
    recipe = recipes.load(asked.recipe)
    return ABLATIONS[asked.without](recipe) if asked.without else recipe


def _lost(task: str, budget: int, found: Mapping[str, Counter[str]]) -> Table:
    table = Table(f"{task}: parts of the gold at {budget} tokens", ("gold", *losses.ALL_CAUSES))
    for gold, counts in found.items():
        table.add(gold, *(counts[cause] for cause in losses.ALL_CAUSES))
    return table


def _with_questions(benchmark: given.Benchmark, known: Sequence[Figure]) -> list[str]:
    asked = {one.task for one in known}
    return [name for name in given.names() if name in asked or len(benchmark.task(name).queries)]


def _peers(
    benchmark: given.Benchmark, task: Any, queries: Sequence[Any], budgets: Sequence[int]
) -> list[Figure]:
    made: list[Figure] = []
    for name, system in peers.installed(benchmark):
        if isinstance(system, str):
            print(f"{name}: {system}", flush=True)
            continue
        made += measure.figures(name, measure.run(benchmark, task, system, queries, budgets))
    return made


def _table(task: str, ours: Sequence[Figure], others: Sequence[Figure]) -> Table:
    table = Table(
        f"{task}: evidence held",
        COLUMNS,
    )
    for one in ours:
        peer = peers.best(list(others), one.task, one.gold, one.budget)
        table.add(
            one.gold,
            one.budget,
            one.n,
            f"{one.recall:.3f}",
            f"{one.error:.3f}",
            f"{peer.recall:.3f}" if peer else None,
            peer.system if peer else None,
            peer.n if peer else None,
            f"{one.complete:.2f}",
            None if one.precision is None else f"{one.precision:.3f}",
            None if one.filled is None else f"{one.filled:.2f}",
            one.over,
            one.p50,
            one.p95,
        )
    return table


def _beside(ours: Sequence[Figure], known: Sequence[Figure]) -> list[Figure]:
    shown = {(one.task, one.gold) for one in ours}
    return [one for one in known if (one.task, one.gold) in shown and one.system != peers.ORACLE]


def _keep(told: dict[str, Any], asked: argparse.Namespace, drawn: Sequence[Figure]) -> None:
    file = asked.json or OUT / f"evidence-{told['date']}-{told['commit'].replace(' ', '-')}.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(told, indent=1) + "\n", "utf-8")
    print(f"\nall figures: {file}")
    if drawn:
        picture = asked.chart or file.with_suffix(".svg")
        about = f"Share of the gold evidence in the context, by tokens (commit {told['commit']})"
        picture.write_text(chart.drawn(drawn, about), "utf-8")
        print(f"chart: {picture}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.evidence",
        description="Index the corpora under BENCH_DATA with Quire, ask for contexts, and tell "
        "how much of the gold evidence they hold, beside the peers. BENCH_CACHE names a folder "
        "that keeps stores and vectors.",
    )
    parser.add_argument("--tasks", type=_listed, help="names, with commas; all that have questions")
    parser.add_argument("--budgets", type=_numbers, help="tokens, with commas; else the task's own")
    parser.add_argument(
        "--sample",
        type=_sample,
        default="peers",
        help="questions a task: a number, `all`, or as many as the peers were asked (the default)",
    )
    parser.add_argument(
        "--part",
        choices=measure.HALVES,
        default=measure.ALL,
        help="the half of the questions that is looked at while tuning, the one that is not",
    )
    parser.add_argument(
        "--repositories", type=_listed, default=(), help="ask only about these source trees"
    )
    parser.add_argument("--recipe", default=DEFAULT_RECIPE, help="a recipe by name or file")
    parser.add_argument("--without", choices=sorted(ABLATIONS), help="leave one thing out of it")
    parser.add_argument(
        "--losses", action="store_true", help="tell where evidence is lost, at the first budget"
    )
    parser.add_argument(
        "--coverage",
        type=int,
        choices=range(stores.ALL + 1),
        default=stores.ALL,
        metavar="PERCENT",
        help="how many of the texts have vectors; 0: search by words alone",
    )
    parser.add_argument("--peers", action="store_true", help="run the installed peers, too")
    parser.add_argument("--rows", action="store_true", help="keep what each question gave")
    parser.add_argument("--json", type=Path, help="where the figures go")
    parser.add_argument("--chart", type=Path, help="where the chart goes (SVG)")
    return parser.parse_args()


def _listed(text: str) -> list[str]:
    return [part for part in text.split(",") if part]


def _numbers(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r}: write numbers as in 1000,2000") from error


def _sample(text: str) -> int | str | None:
    if text == "all":
        return None
    if text == "peers" or text.isdigit():
        return text if text == "peers" else int(text)
    raise argparse.ArgumentTypeError(f"{text!r}: a number, `all` or `peers`")


if __name__ == "__main__":
    main()
