"""How are contexts asked for, and audited, on the command line?"""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from quire.cli import output
from quire.cli.context_options import asking, options_of, receipt_of
from quire.cli.options import asked, common, content_of, is_number, opened, sharing, viewed
from quire.core import serialize
from quire.errors import InputError, NoStoreError
from quire.system.clock import now

if TYPE_CHECKING:
    from quire.core.types import Context

MOVED = (
    "what this viewer may read is not what the receipt was made from: `quire replay` says what "
    "would be different now"
)


@click.command()
@click.argument("query")
@click.option("--receipt", metavar="FILE", help="Write the receipt to this file.")
@asking
def assemble(
    *, query: str, receipt: str | None, store: str | None, space: str | None, **given: Any
) -> None:
    """Assemble one context for QUERY (`-`: standard input) within a token budget.

    The context alone goes to standard output.
    """
    as_json = given.pop("as_json")
    with opened(store, space) as quire:
        context = quire.assemble(asked(query), **options_of(given))
    _keep(receipt, context)
    output.context(context, as_json=as_json)


@click.command()
@click.argument("query")
@asking
def explain(*, query: str, store: str | None, space: str | None, **given: Any) -> None:
    """Tell of each candidate for QUERY whether it is in, at which step it fell, and why."""
    as_json = given.pop("as_json")
    with opened(store, space) as quire:
        context = quire.assemble(asked(query), **options_of({**given, "allow_empty": True}))
    output.explained(context, as_json=as_json)


@click.command("why-not")
@click.argument("query")
@click.argument("place", metavar="PATH[:LINE]")
@asking
def why_not(*, query: str, place: str, store: str | None, space: str | None, **given: Any) -> None:
    """Tell why PATH (or what stands at its LINE) is not in the context, and what lets it in."""
    as_json = given.pop("as_json")
    path, colon, line = place.rpartition(":")
    if not colon or not is_number(line):
        path, line = place, ""
    at = int(line) if line else None
    with opened(store, space) as quire:
        told = quire.why_not(asked(query), quire.documents.path_of(path), at, **options_of(given))
    output.why_not(serialize.to_plain(told), as_json=as_json)
    sys.exit(0 if all(one.inside for one in told) else 1)


@click.command()
@click.argument("receipt")
@click.option("--context", metavar="FILE", help="Also check this context against the receipt.")
@viewed
@common
def verify(
    *,
    receipt: str,
    context: str | None,
    viewer: str | None,
    store: str | None,
    space: str | None,
    as_json: bool,
) -> None:
    """Check a RECEIPT: its hashes, its proofs, its budget, and what the store holds."""
    data = receipt_of(receipt)
    text = None if context is None else content_of(context)
    try:
        with opened(store, space) as quire:
            wrong = quire.verify(data, text, viewer)
            moved = quire.status(viewer).roots.state != data.get("view_root")
        if moved and not wrong:
            output.note(f"note: {MOVED}")
    except NoStoreError:
        if store is not None or space is not None:
            raise
        from quire.indexing.audit import verify_receipt

        wrong = verify_receipt(data, text)
        output.note("note: there is no store here; the receipt was checked by itself")
    output.held(wrong, "the receipt holds", as_json=as_json)
    sys.exit(1 if wrong else 0)


@click.command()
@click.argument("receipt")
@viewed
@common
def replay(
    *, receipt: str, viewer: str | None, store: str | None, space: str | None, as_json: bool
) -> None:
    """Run the request of a RECEIPT again and compare every byte."""
    data = receipt_of(receipt)
    with opened(store, space) as quire:
        _, differing = quire.replay(data, viewer)
    output.held(differing, "the same context, byte for byte", as_json=as_json)
    sys.exit(1 if differing else 0)


@click.command()
@click.argument("old")
@click.argument("new")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def diff(*, old: str, new: str, as_json: bool) -> None:
    """Tell what differs between two receipts."""
    from quire.indexing.audit import diff_receipts

    found = diff_receipts(receipt_of(old), receipt_of(new))
    output.held(found, "nothing differs", as_json=as_json)
    sys.exit(1 if found else 0)


@click.command()
@click.argument("domain")
@click.option("--strategy", metavar="NAME", help="Also tell how this strategy fared.")
@click.option("--budget", type=int, help="At most so many tokens (default: 1500).")
@click.option("--limit", type=int, help="At most so many items of each section (default: 10).")
@click.option("--model", help="Count for this model: gpt-4o, claude-…, llama-3 (default: o200k).")
@click.option("--receipt", metavar="FILE", help="Write the receipt to this file.")
@viewed
@common
def premortem(
    *,
    domain: str,
    strategy: str | None,
    receipt: str | None,
    store: str | None,
    space: str | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Show what went wrong before in DOMAIN: failures, surprises, root causes, principles.

    For the moment when a test fails for the first time, before the search for the cause begins.
    """
    options: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    with opened(store, space) as quire:
        context = quire.agent.premortem(domain, strategy, **options)
    _keep(receipt, context)
    output.context(context, as_json=as_json)


@click.command()
@click.argument("receipt", required=False)
@click.option("--useful", multiple=True, metavar="ID", help="A piece that helped, by id or path.")
@click.option("--useless", multiple=True, metavar="ID", help="One that did not; both repeatable.")
@click.option("--list", "listing", is_flag=True, help="List what was said so far.")
@click.option("--forget", metavar="ID", help="Take back what was said.")
@sharing
@viewed
@common
def feedback(
    *,
    receipt: str | None,
    useful: tuple[str, ...],
    useless: tuple[str, ...],
    listing: bool,
    forget: str | None,
    share: tuple[str, ...],
    viewer: str | None,
    store: str | None,
    space: str | None,
    as_json: bool,
) -> None:
    """Say which pieces of a RECEIPT's context helped, and which did not.

    It moves later rankings a little: one's own, and those of whom it is shared with.
    `--feedback 0` leaves it out of a context.
    """
    if (receipt is not None) + listing + (forget is not None) != 1:
        raise InputError("name a RECEIPT, or give --list, or --forget ID")
    with opened(store, space) as quire:
        if receipt is not None:
            made = quire.feedback.add(
                receipt_of(receipt),
                at=now(),
                useful=useful,
                useless=useless,
                share=share,
                viewer=viewer,
            )
            output.given([made.value], as_json=as_json)
        elif forget is not None:
            quire.feedback.forget(forget, viewer=viewer)
            output.forgotten(forget, as_json=as_json)
        else:
            output.given(quire.feedback.list(viewer=viewer), as_json=as_json)


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


def _keep(receipt: str | None, context: Context) -> None:
    """Write the receipt of a context to a file, with the time of its making."""
    if receipt is not None:
        moment = datetime.now(UTC).isoformat(timespec="seconds")
        text = serialize.json_text({**context.receipt, "created": moment})
        _write(receipt, text + "\n")


def _write(file: str, text: str) -> None:
    try:
        Path(file).write_bytes(text.encode())  # encoded first: a file is written whole or not
    except (OSError, ValueError) as error:
        raise InputError(f"{file} cannot be written: {error}") from error
