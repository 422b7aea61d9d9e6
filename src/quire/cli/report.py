"""The command that writes the report of a receipt, and what opens one in a browser."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from quire.cli import output
from quire.cli.options import Common, read_file, with_viewer
from quire.cli.receipt_files import read_receipt, read_signature
from quire.cli.receipts import receipt_argument
from quire.errors import InputError, NoStoreError
from quire.system import platform

if TYPE_CHECKING:
    from collections.abc import Mapping

    from quire.core.types import Context
    from quire.engine import Quire


@click.command()
@receipt_argument
@click.option("--output", "-o", "file", metavar="FILE", help="Write the report to this file.")
@click.option("--context", metavar="FILE", help="Also show this context, coloured by source.")
@click.option("--open", "opens", is_flag=True, help="Open the report in the browser.")
@click.option("--no-store", is_flag=True, help="Do not read the texts of pieces from a store.")
@with_viewer
def report(
    options: Common,
    *,
    receipt: str,
    file: str | None,
    context: str | None,
    opens: bool,
    no_store: bool,
) -> None:
    """Draw a RECEIPT as one HTML file.

    Shows the budget, the pipeline, pieces, candidates and the proof. It loads nothing and runs no
    script: attach it to a pull request, or keep it for an audit. If there is a store, it
    shows the texts of the pieces, as far as the viewer may read them.
    """
    from quire.indexing.audit import verify_receipt
    from quire.pipeline.picture import draw
    from quire.report import write_report

    data = read_receipt(receipt)
    picture = draw(data)
    if "parts" in data and "excluded" not in data:
        output.note("note: the receipt does not list what was left out; `assemble --parts` does")
    text = None if context is None else read_file(context)
    signature = read_signature(receipt, None)
    texts: dict[str, str] = {}
    verification = None
    if not no_store:
        try:
            with options.open() as quire:
                verification = quire.verify(data, text, options.viewer, signature=signature)
                texts = _texts(quire, data, options.viewer)
        except NoStoreError:
            if options.store is not None or options.space is not None:
                raise
    if verification is None:
        verification = verify_receipt(data, text, signature=signature)
    page = write_report(picture, text=text, texts=texts, verification=verification)
    _save(page, file, opens=opens, as_json=options.as_json)


def open_explanation(quire: Quire, context: Context, viewer: str | None, *, as_json: bool) -> None:
    """Write the report of a context to a temporary file, and open it in the browser."""
    from quire.pipeline.picture import draw
    from quire.report import write_report

    page = write_report(
        draw(context.receipt),
        text=context.text,
        texts={
            chunk.chunk_id: f"{chunk.text}\n{chunk.summary}".rstrip("\n")
            for chunk in context.chunks
        },
        verification=quire.verify(context.receipt, context.text, viewer),
    )
    _save(page, None, opens=True, as_json=as_json)


def _texts(quire: Quire, receipt: Mapping[str, Any], viewer: str | None) -> dict[str, str]:
    """Return the texts of a receipt's pieces, as far as the viewer may read them."""
    texts = {}
    for source in receipt["sources"]:
        with suppress(InputError):
            texts[source["chunk_id"]] = quire.documents.text(source["chunk_id"], viewer=viewer)
    return texts


def _save(page: str, file: str | None, *, opens: bool, as_json: bool) -> None:
    """Write a report to a file, or to a temporary one; open it where that is asked for."""
    if file == "-":
        if opens:
            raise InputError("standard output cannot be opened", field="opens", hint="name a file")
        output.print_text(page)
        return
    data = page.encode()
    if file is None:
        path = Path(tempfile.mkdtemp(prefix="quire-report-"), "report.html")
        platform.create_new(path, data)
    else:
        path = Path(file)
        try:
            platform.replace_file(path, data)
        except (OSError, ValueError) as error:
            raise InputError(
                f"{file} cannot be written: {error}", field="file", value=file
            ) from error
    shown = _open(path) if opens else False
    if as_json:
        output.print_json({"report": str(path), "bytes": len(data), "opened": shown})
    else:
        output.say(str(path))
    if opens and not shown:
        output.note("note: no browser could be opened; open the file yourself")


def _open(path: Path) -> bool:
    import webbrowser

    return webbrowser.open(path.absolute().as_uri())
