"""The command that prints a map of the code."""

from __future__ import annotations

import click

from quire.cli import output
from quire.cli.options import Common, model_option, with_viewer


@click.command("map")
@click.argument("paths", nargs=-1)
@click.option("--budget", type=int, help="Token budget (default: 1024).")
@model_option
@with_viewer
def map_(options: Common, *, paths: tuple[str, ...], budget: int | None, model: str | None) -> None:
    """Show the most used definitions within a token budget.

    Only definitions below PATHS are shown (default: all). They are ranked by how they use each
    other, over all code that the viewer can read.
    """
    from quire.engine import MAP_BUDGET
    from quire.pipeline.request import DEFAULT_MODEL

    with options.open() as quire:
        result = quire.map(
            paths,
            budget=MAP_BUDGET if budget is None else budget,
            model=model or DEFAULT_MODEL,
            viewer=options.viewer,
        )
    if options.as_json:
        output.print_json(result)
        return
    output.print_notes(result.notes)
    output.print_text(result.text)
    output.note(
        f"{result.tokens} of {result.budget} tokens: {result.shown} of {result.definitions} "
        f"definitions in {output.number(result.files, 'file')}"
    )
