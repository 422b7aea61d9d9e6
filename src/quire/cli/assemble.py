"""Commands that assemble contexts, and explain them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import click

from quire.cli.context_options import (
    parse_options,
    read_results,
    with_context_options,
)
from quire.cli.options import (
    Common,
    drop_none,
    is_number,
    model_option,
    read_argument,
    with_viewer,
)
from quire.cli.receipt_files import save_receipt
from quire.cli.report import open_explanation
from quire.cli.results import print_context, print_explanation, print_why_not
from quire.errors import InputError

if TYPE_CHECKING:
    from quire.core.types import Context

query_argument = click.argument("query")


def with_receipt(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options about a receipt file to a command."""
    for option in (
        click.option(
            "--no-sign", "signed", is_flag=True, default=True, flag_value=False,
            help="Do not sign the receipt.",
        ),
        click.option(
            "--parts", is_flag=True,
            help="Also write FILE.parts: a proof of each source, and the decisions on what was "
            "left out. With --json, print the text of each piece as well.",
        ),
        click.option(
            "--receipt", metavar="FILE", help="Write the receipt to this file, and sign it."
        ),
    ):  # fmt: skip
        command = option(command)
    return command


@click.command()
@query_argument
@click.option(
    "--results",
    metavar="FILE",
    help="Assemble the results of your own retriever, without a store: JSON with text, path and "
    "score of each.",
)
@with_receipt
@with_context_options
def assemble(
    options: Common,
    *,
    query: str,
    results: str | None,
    receipt: str | None,
    signed: bool,
    parts: bool,
    **typed: Any,
) -> None:
    """Assemble a context for QUERY within a token budget.

    QUERY `-` reads standard input. Standard output carries the context alone.
    """
    if results is not None:
        context = _assemble_results(options, read_argument(query), results, typed)
    else:
        with options.open() as quire:
            context = quire.assemble(read_argument(query), **parse_options(typed))
    _hand_out(options, context, receipt, signed=signed, parts=parts)


def _hand_out(
    options: Common, context: Context, receipt: str | None, *, signed: bool, parts: bool
) -> None:
    """Write the receipt of a context, and print the context."""
    in_file = parts and (receipt is not None or not options.as_json)
    save_receipt(receipt, context, signed=signed, parts=in_file)
    print_context(context, as_json=options.as_json, parts=parts)


def _assemble_results(options: Common, query: str, file: str, typed: Mapping[str, Any]) -> Context:
    from quire.recipes.assembler import ContextAssembler

    if options.store is not None or options.space is not None:
        raise InputError("cannot be combined with a store", field="results")
    return ContextAssembler().assemble(query, read_results(file), **parse_options(typed))


@click.command()
@query_argument
@click.option("--open", "opens", is_flag=True, help="Show it as a report in the browser.")
@with_context_options
def explain(options: Common, *, query: str, opens: bool, **typed: Any) -> None:
    """Explain for each candidate why it is in the context or not.

    QUERY `-` reads standard input. With --open, writes a report (see `quire report`) to a temporary
    file, prints its path and opens it in the browser.
    """
    with options.open() as quire:
        context = quire.assemble(
            read_argument(query), **parse_options({**typed, "allow_empty": True})
        )
        if opens:
            open_explanation(quire, context, typed["viewer"], as_json=options.as_json)
            return
    print_explanation(context, as_json=options.as_json)


@click.command("why-not")
@query_argument
@click.argument("place", metavar="PATH[:LINE]")
@with_context_options
def why_not(options: Common, *, query: str, place: str, **typed: Any) -> None:
    """Explain why PATH is not in the context for QUERY.

    Names the step that dropped it and, if there is one, a setting that lets it in. With LINE, only
    what stands at that line counts. QUERY `-` reads standard input.
    """
    path, colon, line = place.rpartition(":")
    if not colon or not is_number(line):
        path, line = place, ""
    with options.open() as quire:
        pieces = quire.why_not(
            read_argument(query),
            quire.documents.path_of(path),
            int(line) if line else None,
            **parse_options(typed),
        )
    print_why_not(pieces, as_json=options.as_json)
    sys.exit(0 if all(piece.inside for piece in pieces) else 1)


@click.command()
@click.argument("domain")
@click.option("--strategy", metavar="NAME", help="Also show how this strategy went.")
@click.option("--budget", type=int, help="Token budget (default: 1500).")
@click.option("--limit", type=int, help="Maximum number of items in each section (default: 10).")
@model_option
@with_receipt
@with_viewer
def premortem(
    options: Common,
    *,
    domain: str,
    strategy: str | None,
    receipt: str | None,
    signed: bool,
    parts: bool,
    **typed: Any,
) -> None:
    """Show what went wrong before in DOMAIN.

    Lists failures, surprises, root causes and principles. Use it when a test fails for the first
    time, before you search for the cause.
    """
    with options.open() as quire:
        context = quire.agent.premortem(
            domain, strategy, **drop_none(viewer=options.viewer, **typed)
        )
    _hand_out(options, context, receipt, signed=signed, parts=parts)
