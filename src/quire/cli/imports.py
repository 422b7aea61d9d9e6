"""Commands that import blocks, folders of pages and post-mortems."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from quire.cli import output
from quire.cli.experience import import_postmortems
from quire.cli.options import CONTEXT, Common, in_file, read_file, with_share, with_write_options
from quire.cli.results import print_import_result, print_redacted, print_skipped
from quire.system.clock import now

if TYPE_CHECKING:
    from quire.core.types.blocks import PageImportResult

MAX_LINKS = 5


@click.group("import", context_settings=CONTEXT)
def import_() -> None:
    """Import blocks, folders of pages and post-mortems."""


@click.command("blocks")
@click.argument("file")
@with_write_options
def import_blocks(options: Common, *, file: str, allow_secret: bool) -> None:
    """Import blocks from a FILE of JSON lines.

    FILE `-` reads standard input. Lines have the form of `block export`; only `type` is required.
    All lines are imported, or none. The owner keeps authors and access as they are; anyone else
    becomes the author.
    """
    text = read_file(file)
    with options.open_to_write() as quire, in_file(file):
        result = quire.blocks.import_lines(
            text, at=now(), viewer=options.viewer, allow_secret=allow_secret
        )
    print_import_result(result, "block", as_json=options.as_json)


def _page_command(form: str, summary: str) -> click.Command:
    """Return the command that imports folders of one form."""

    @click.command(
        form,
        help=f"{summary}\n\nImporting again updates pages that changed, removes those that were "
        "deleted and leaves the others alone.",
    )
    @click.argument("folder", metavar="DIR")
    @with_share
    @with_write_options
    def command(
        options: Common, *, folder: str, share: tuple[str, ...], allow_secret: bool
    ) -> None:
        with options.open_to_write() as quire:
            result = quire.blocks.import_pages(
                folder,
                form,
                at=now(),
                share=share,
                viewer=options.viewer,
                allow_secret=allow_secret,
            )
        _print_result(result, as_json=options.as_json)

    return command


for _command in (
    import_blocks,
    _page_command("vault", "Import an Obsidian vault: notes, links, tags, properties."),
    _page_command("notion", "Import a Notion export: pages, databases, relations."),
    _page_command("markdown", "Import a tree of Markdown or reStructuredText pages."),
    import_postmortems,
):
    import_.add_command(_command)


def _print_result(result: PageImportResult, *, as_json: bool) -> None:
    if as_json:
        output.print_json(result)
        return
    output.print_notes(result.notes)
    print_skipped(result.skipped)
    print_redacted(result.redacted)
    for link in result.dangling[:MAX_LINKS]:
        output.note(f"dangling link: {link.reason} on {link.path}")
    if len(result.dangling) > MAX_LINKS:
        output.note(f"and {len(result.dangling) - MAX_LINKS} more; --json lists them all")
    output.say(
        f"{output.number(result.pages, 'page')}, {output.number(result.blocks, 'block')} "
        f"({result.added} added, "
        f"{result.changed} changed, {result.unchanged} unchanged, {result.removed} removed); "
        f"links: {result.resolved} resolved, {len(result.dangling)} dangling; root {result.root}"
    )
