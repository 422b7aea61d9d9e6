"""How is a store evaluated on the command line?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from quire.cli import output
from quire.cli.options import asked, common, is_number, opened, viewed
from quire.core import serialize
from quire.errors import InputError

if TYPE_CHECKING:
    from quire.evaluation.evaluate import Evaluation

MISSES_SHOWN = 10


@click.command("eval")
@click.argument("questions")
@click.option("--budgets", help="Budgets in tokens, as in 500,1000,2000,4000,8000 (the default).")
@click.option("--recipe", help="The recipe to evaluate (default: documents).")
@click.option("--compare", nargs=2, metavar="A B", help="Two recipes, question by question.")
@click.option("--model", help="Count for this model (default: o200k).")
@click.option("--misses", type=int, default=50, help="Explain at most so many misses (50).")
@viewed
@common
def evaluation(
    *,
    questions: str,
    budgets: str | None,
    recipe: str | None,
    compare: tuple[str, str] | None,
    model: str | None,
    misses: int,
    viewer: str | None,
    store: str | None,
    space: str | None,
    as_json: bool,
) -> None:
    """Measure how much of the evidence contexts hold, by QUESTIONS (a file of JSON lines, or -).

    Each line: {"query": "…", "expect": ["path", "path:12-30", {"excerpt": "…"}]}. What is missing
    is traced to the step that lost it.
    """
    from quire.cli.progress import shown
    from quire.evaluation.evaluate import BUDGETS, evaluate
    from quire.evaluation.questions import read_questions

    if recipe is not None and compare:
        raise InputError("--recipe and --compare exclude each other: name both in --compare")
    options: dict[str, Any] = {}
    if model is not None:
        options["model"] = model
    if viewer is not None:
        options["viewer"] = viewer
    text = asked("-") if questions == "-" else _read(questions)
    with opened(store, space) as quire, shown() as report:
        found = evaluate(
            quire,
            read_questions(text, questions),
            recipes=compare or (recipe or "documents",),
            budgets=BUDGETS if budgets is None else _budgets(budgets),
            max_explained=max(0, misses),
            report=report,
            **options,
        )
    if as_json:
        click.echo(serialize.json_text(found))
    else:
        _printed(found)


def _printed(found: Evaluation) -> None:
    click.echo(f"{'recipe':<16}{'budget':>8}{'recall':>9}{'±':>8}{'complete':>10}{'tokens':>9}")
    for each in found.measured:
        click.echo(
            f"{Path(each.recipe).stem:<16}{each.budget:>8}{each.recall:>9.3f}{each.error:>8.3f}"
            f"{each.complete:>10.3f}{each.tokens:>9.0f}"
        )
    for one in found.compared:
        sure = "" if one.low <= 0 <= one.high else ": not by chance"
        click.echo(
            f"at {one.budget}: {one.difference:+.3f} ({one.low:+.3f} to {one.high:+.3f}), better "
            f"in {one.better}, worse in {one.worse} of {found.questions}{sure}"
        )
    misses = [(each, miss) for each in found.measured for miss in each.misses]
    if misses:
        click.echo(
            "lost: " + ", ".join(f"{count} {cause}" for cause, count in found.causes.items())
        )
    for each, miss in misses[:MISSES_SHOWN]:
        click.echo(
            f"  [{miss.question}] {miss.expected} at {each.budget}: {miss.cause} ({miss.detail})"
        )
    if len(misses) > MISSES_SHOWN:
        output.note(f"and {len(misses) - MISSES_SHOWN} more; --json lists all")


def _budgets(text: str) -> list[int]:
    parts = [part.strip() for part in text.split(",")]
    if not all(is_number(part) and int(part) for part in parts):
        raise InputError(f"--budgets {text!r}: write whole numbers as in 500,1000")
    return [int(part) for part in parts]


def _read(file: str) -> str:
    try:
        return Path(file).read_text("utf-8")
    except (OSError, ValueError) as error:
        raise InputError(f"{file} cannot be read: {error}") from error
