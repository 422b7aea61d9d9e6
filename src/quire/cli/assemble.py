"""Commands that assemble contexts, and audit them."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from quire.cli import output
from quire.cli.context_options import parse_options, read_receipt, with_context_options
from quire.cli.options import (
    Common,
    as_json_option,
    drop_none,
    is_number,
    model_option,
    read_argument,
    read_file,
    with_share,
    with_viewer,
)
from quire.core.serialize import json_text
from quire.errors import InputError, NoStoreError
from quire.system import platform
from quire.system.clock import now

if TYPE_CHECKING:
    from quire.core.types import Context

STORE_CHANGED = (
    "the viewer no longer reads the state that the receipt was made from; `quire replay` shows "
    "what would be different now"
)

query_argument = click.argument("query")
receipt_argument = click.argument("receipt")
receipt_option = click.option("--receipt", metavar="FILE", help="Write the receipt to this file.")


@click.command()
@query_argument
@receipt_option
@with_context_options
def assemble(options: Common, *, query: str, receipt: str | None, **typed: Any) -> None:
    """Assemble a context for QUERY within a token budget.

    QUERY `-` reads standard input. Standard output carries the context alone.
    """
    with options.open() as quire:
        context = quire.assemble(read_argument(query), **parse_options(typed))
    _save_receipt(receipt, context)
    output.print_context(context, as_json=options.as_json)


@click.command()
@query_argument
@with_context_options
def explain(options: Common, *, query: str, **typed: Any) -> None:
    """Explain for each candidate why it is in the context or not.

    QUERY `-` reads standard input.
    """
    with options.open() as quire:
        context = quire.assemble(
            read_argument(query), **parse_options({**typed, "allow_empty": True})
        )
    output.print_explanation(context, as_json=options.as_json)


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
    output.print_why_not(pieces, as_json=options.as_json)
    sys.exit(0 if all(piece.inside for piece in pieces) else 1)


@click.command()
@receipt_argument
@click.option("--context", metavar="FILE", help="Also check this context against the receipt.")
@with_viewer
def verify(options: Common, *, receipt: str, context: str | None) -> None:
    """Verify a RECEIPT, and a context against it.

    Checks its hashes, proofs and budget, and compares it with the store.
    """
    data = read_receipt(receipt)
    text = None if context is None else read_file(context)
    try:
        with options.open() as quire:
            differences = quire.verify(data, text, options.viewer)
            changed = quire.status(options.viewer).roots.state != data.get("view_root")
        if changed and not differences:
            output.note(f"note: {STORE_CHANGED}")
    except NoStoreError:
        if options.store is not None or options.space is not None:
            raise
        from quire.indexing.audit import verify_receipt

        differences = verify_receipt(data, text)
        output.note("note: there is no store here; only the receipt itself was checked")
    output.print_check(differences, "the receipt holds", as_json=options.as_json)
    sys.exit(1 if differences else 0)


@click.command()
@receipt_argument
@with_viewer
def replay(options: Common, *, receipt: str) -> None:
    """Run the request of a RECEIPT again and compare every byte."""
    data = read_receipt(receipt)
    with options.open() as quire:
        _, differences = quire.replay(data, options.viewer)
    output.print_check(differences, "the same context, byte for byte", as_json=options.as_json)
    sys.exit(1 if differences else 0)


@click.command()
@click.argument("old")
@click.argument("new")
@as_json_option
def diff(*, old: str, new: str, as_json: bool) -> None:
    """Compare two receipts."""
    from quire.indexing.audit import diff_receipts

    differences = diff_receipts(read_receipt(old), read_receipt(new))
    output.print_check(differences, "nothing differs", as_json=as_json)
    sys.exit(1 if differences else 0)


@click.command()
@click.argument("domain")
@click.option("--strategy", metavar="NAME", help="Also show how this strategy went.")
@click.option("--budget", type=int, help="Token budget (default: 1500).")
@click.option("--limit", type=int, help="Maximum number of items in each section (default: 10).")
@model_option
@receipt_option
@with_viewer
def premortem(
    options: Common, *, domain: str, strategy: str | None, receipt: str | None, **typed: Any
) -> None:
    """Show what went wrong before in DOMAIN.

    Lists failures, surprises, root causes and principles. Use it when a test fails for the first
    time, before you search for the cause.
    """
    with options.open() as quire:
        context = quire.agent.premortem(
            domain, strategy, **drop_none(viewer=options.viewer, **typed)
        )
    _save_receipt(receipt, context)
    output.print_context(context, as_json=options.as_json)


@click.command()
@click.argument("receipt", required=False)
@click.option(
    "--useful", multiple=True, metavar="ID", help="Piece that helped, by id or path; repeatable."
)
@click.option("--useless", multiple=True, metavar="ID", help="Piece that did not; repeatable.")
@click.option("--list", "listing", is_flag=True, help="List the feedback so far.")
@click.option("--forget", metavar="ID", help="Remove this feedback.")
@with_share
@with_viewer
def feedback(
    options: Common,
    *,
    receipt: str | None,
    useful: tuple[str, ...],
    useless: tuple[str, ...],
    listing: bool,
    forget: str | None,
    share: tuple[str, ...],
) -> None:
    """Say which pieces of a context helped.

    RECEIPT names the context. Feedback moves later rankings a little: your own, and those of
    everyone you share it with. `assemble --feedback 0` ignores it.
    """
    if (receipt is not None) + listing + (forget is not None) != 1:
        raise InputError("expected a RECEIPT, --list or --forget ID")
    with options.open() as quire:
        if receipt is not None:
            written = quire.feedback.add(
                read_receipt(receipt),
                at=now(),
                useful=useful,
                useless=useless,
                share=share,
                viewer=options.viewer,
            )
            output.print_feedback([written.value], as_json=options.as_json)
        elif forget is not None:
            quire.feedback.forget(forget, viewer=options.viewer)
            if options.as_json:
                output.print_json({"forgotten": forget})
            else:
                output.say(f"forgot {forget}")
        else:
            items = quire.feedback.list(viewer=options.viewer)
            output.print_feedback(items, as_json=options.as_json)


COMMANDS: tuple[click.Command, ...] = (
    assemble,
    premortem,
    explain,
    why_not,
    verify,
    replay,
    diff,
    feedback,
)


def _save_receipt(file: str | None, context: Context) -> None:
    """Write the receipt of a context to a file, with the time of its creation."""
    if file is None:
        return
    created = datetime.fromtimestamp(now(), UTC).isoformat()
    text = json_text({**context.receipt, "created": created}) + "\n"
    try:
        platform.write_private(Path(file), text.encode())
    except (OSError, ValueError) as error:
        raise InputError(
            f"{file} cannot be written: {error}", field="receipt", value=file
        ) from error
