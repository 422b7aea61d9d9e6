"""The command that evaluates recipes on questions with known evidence."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from quire.cli import output
from quire.cli.options import Common, drop_none, is_number, model_option, read_file, with_viewer
from quire.errors import InputError

if TYPE_CHECKING:
    from quire.evaluation.evaluate import Evaluation

MAX_MISSES = 10


@click.command("eval")
@click.argument("questions")
@click.option(
    "--budgets",
    help="Token budgets of the text alone, nothing is reserved (default: 500,1000,2000,4000,8000).",
)
@click.option("--recipe", help="Recipe to evaluate (default: documents).")
@click.option("--compare", nargs=2, metavar="A B", help="Compare two recipes.")
@model_option
@click.option(
    "--misses",
    type=int,
    default=50,
    show_default=True,
    help="Maximum number of misses to explain.",
)
@with_viewer
def evaluation(
    options: Common,
    *,
    questions: str,
    budgets: str | None,
    recipe: str | None,
    compare: tuple[str, str] | None,
    model: str | None,
    misses: int,
) -> None:
    """Measure how much of the expected evidence contexts contain.

    QUESTIONS is a file of JSON lines, or `-` for standard input. Each line: {"query": "…",
    "expect": ["path", "path:12-30", {"excerpt": "…"}]}. Missing evidence is traced to the step
    that lost it.
    """
    from quire.cli.progress import show_progress
    from quire.evaluation.evaluate import BUDGETS, evaluate
    from quire.evaluation.questions import read_questions

    if recipe is not None and compare:
        raise InputError(
            "--recipe and --compare exclude each other", hint="name both recipes in --compare"
        )
    text = read_file(questions)
    with options.open() as quire, show_progress() as report:
        result = evaluate(
            quire,
            read_questions(text, questions),
            recipes=compare or (recipe or "documents",),
            budgets=BUDGETS if budgets is None else _parse_budgets(budgets),
            max_explained=max(0, misses),
            report=report,
            **drop_none(model=model, viewer=options.viewer),
        )
    if options.as_json:
        output.print_json(result)
    else:
        _print_result(result)


def _print_result(result: Evaluation) -> None:
    output.say(f"{'recipe':<16}{'budget':>8}{'recall':>9}{'±':>8}{'complete':>10}{'tokens':>9}")
    for row in result.measured:
        output.say(
            f"{Path(row.recipe).stem:<16}{row.budget:>8}{row.recall:>9.3f}{row.error:>8.3f}"
            f"{row.complete:>10.3f}{row.tokens:>9.0f}"
        )
    names = list(dict.fromkeys(Path(row.recipe).stem for row in result.measured))
    for difference in result.compared:
        significant = not difference.low <= 0 <= difference.high
        output.say(
            f"{names[-1]} against {names[0]} at {difference.budget}: recall "
            f"{difference.difference:+.3f} ({difference.low:+.3f} to {difference.high:+.3f}), "
            f"better in {difference.better}, worse in {difference.worse} "
            f"of {result.questions}{': significant' if significant else ''}"
        )
    misses = [(row, miss) for row in result.measured for miss in row.misses]
    if misses:
        causes = ", ".join(f"{count} {cause}" for cause, count in result.causes.items())
        output.say(f"lost: {causes}")
    for row, miss in misses[:MAX_MISSES]:
        recipe = f" by {Path(row.recipe).stem}" if len(names) > 1 else ""
        output.say(
            f"  [{miss.question}] {miss.expected} at {row.budget}{recipe}: "
            f"{miss.cause} ({miss.detail})"
        )
    if len(misses) > MAX_MISSES:
        output.note(f"and {len(misses) - MAX_MISSES} more; --json lists all")


def _parse_budgets(text: str) -> list[int]:
    parts = [part.strip() for part in text.split(",")]
    if not all(is_number(part) and int(part) for part in parts):
        raise InputError(
            f"expected whole numbers such as 500,1000, not {text!r}", field="budgets", value=text
        )
    return [int(part) for part in parts]
