"""The command that records which pieces of a context helped."""

from __future__ import annotations

import click

from quire.cli import output
from quire.cli.options import Common, with_share, with_viewer
from quire.cli.receipt_files import read_receipt
from quire.cli.results import print_feedback
from quire.errors import InputError
from quire.system.clock import now


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
    """Record which pieces of a context helped.

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
            print_feedback([written.value], as_json=options.as_json)
        elif forget is not None:
            quire.feedback.forget(forget, viewer=options.viewer)
            if options.as_json:
                output.print_json({"forgotten": forget})
            else:
                output.say(f"forgot {forget}")
        else:
            items = quire.feedback.list(viewer=options.viewer)
            print_feedback(items, as_json=options.as_json)
