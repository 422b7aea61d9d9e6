"""How are blocks and folders of pages taken in on the command line?"""

from __future__ import annotations

import click

from quire.cli import output
from quire.cli.options import common, content_of, in_file, opened, sharing, writing
from quire.core import serialize
from quire.core.types.blocks import PageImportResult
from quire.system.clock import now

LINKS_SHOWN = 5


@click.command("blocks")
@click.argument("file")
@writing
@common
def import_blocks(
    *,
    file: str,
    allow_secret: bool,
    viewer: str | None,
    store: str | None,
    space: str | None,
    as_json: bool,
) -> None:
    """Take in blocks from FILE (`-`: standard input), JSON lines as `block export` prints them.

    Only `type` must be there. All lines are taken in, or none. The owner keeps authors and access
    as they are; anyone else becomes the author.
    """
    text = content_of(file)
    with opened(store, space, create=space is None) as quire, in_file(file):
        result = quire.blocks.import_lines(text, at=now(), viewer=viewer, allow_secret=allow_secret)
    output.imported(result, "blocks", as_json=as_json)


def _importing(form: str, what: str) -> click.Command:
    """Make the command that takes in folders of one form."""

    @click.command(
        form,
        help=f"{what}\n\nRun it again at will: what has not changed is left alone, what has is "
        "written anew, what is gone is taken out.",
    )
    @click.argument("folder", metavar="DIR")
    @sharing
    @writing
    @common
    def command(
        *,
        folder: str,
        share: tuple[str, ...],
        allow_secret: bool,
        viewer: str | None,
        store: str | None,
        space: str | None,
        as_json: bool,
    ) -> None:
        with opened(store, space, create=space is None) as quire:
            result = quire.blocks.import_pages(
                folder, form, at=now(), share=share, viewer=viewer, allow_secret=allow_secret
            )
        _shown(result, as_json=as_json)

    return command


IMPORTS = (
    import_blocks,
    _importing("vault", "Make blocks of an Obsidian vault: notes, links, tags and properties."),
    _importing("notion", "Make blocks of a Notion export: pages, databases and relations."),
    _importing("markdown", "Make blocks of a tree of Markdown or reStructuredText pages."),
)


def _shown(result: PageImportResult, *, as_json: bool) -> None:
    if as_json:
        click.echo(serialize.json_text(result))
        return
    output.notes(result.notes)
    output.left_out(result.skipped)
    for one in result.dangling[:LINKS_SHOWN]:
        output.note(f"leads nowhere: {one.reason} on {one.path}")
    if len(result.dangling) > LINKS_SHOWN:
        output.note(f"and {len(result.dangling) - LINKS_SHOWN} more; --json lists them all")
    output.say(
        f"{result.pages} pages, {result.blocks} blocks ({result.added} added, "
        f"{result.changed} changed, {result.unchanged} unchanged, {result.removed} removed); "
        f"links: {result.resolved} resolved, {len(result.dangling)} dangling; root {result.root}"
    )
