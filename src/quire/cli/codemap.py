"""How is a map of a tree asked for on the command line?"""

from __future__ import annotations

import click

from quire.cli import output
from quire.cli.options import common, opened, viewed
from quire.core import serialize


@click.command("map")
@click.argument("paths", nargs=-1)
@click.option("--budget", type=int, help="At most so many tokens (default: 1024).")
@click.option("--model", help="Count for this model: gpt-4o, claude-…, llama-3 (default: o200k).")
@viewed
@common
def map_(
    *,
    paths: tuple[str, ...],
    budget: int | None,
    model: str | None,
    viewer: str | None,
    store: str | None,
    space: str | None,
    as_json: bool,
) -> None:
    """Show the most used definitions below PATHS (default: everywhere) within a token budget.

    Ranked by who uses whom over all code that the viewer may read.
    """
    from quire.engine import MAP_BUDGET
    from quire.pipeline.request import DEFAULT_MODEL

    with opened(store, space) as quire:
        found = quire.map(
            paths,
            budget=MAP_BUDGET if budget is None else budget,
            model=model or DEFAULT_MODEL,
            viewer=viewer,
        )
    if as_json:
        click.echo(serialize.json_text(found))
        return
    for each in found.notes:
        output.note(f"note: {each}")
    click.echo(found.text, nl=False)
    output.note(
        f"{found.tokens} of {found.budget} tokens: {found.shown} of {found.definitions} "
        f"definitions in {found.files} files"
    )
