"""The commands that move whole stores: backup, restore, copy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from quire.cli import output
from quire.cli.options import as_json_option, log_option, quiet_option
from quire.errors import InputError

if TYPE_CHECKING:
    from quire.indexing.backup import Backup, SavedSpace
    from quire.indexing.copy_store import CopiedSpace

force_option = click.option("--force", is_flag=True, help="Replace what is there.")
store_option = click.option(
    "--store",
    metavar="FILE",
    help="Store: a file, NAME.N.shards or a URL (default: .quire/store.db).",
)
space_option = click.option(
    "--space", "spaces", multiple=True, metavar="NAME", help="Only this space; repeatable."
)


@click.command()
@click.argument("file")
@force_option
@space_option
@store_option
@log_option
@quiet_option
@as_json_option
def backup(
    *, file: str, force: bool, spaces: tuple[str, ...], store: str | None, as_json: bool
) -> None:
    """Write the whole store to a file, while others write.

    FILE is itself a store, with all spaces as they were at one moment (on a server, each as it was
    at one moment); FILE.sha256 is its checksum. Files of the project, settings, tokens and signing
    keys are not in it.
    """
    from quire import config
    from quire.cli.progress import show_progress
    from quire.core import servers
    from quire.indexing import backup as backups

    if servers.is_server(file):
        raise InputError(
            "a backup is one file, and this is the URL of a store",
            hint="name a file, or copy the store with `quire copy`",
        )
    with show_progress("backup") as report:
        settings = config.load(store=store)
        result = backups.backup(settings, Path(file), spaces, force=force, report=report)
    _print_backup(result, "wrote", as_json=as_json)


@click.command()
@click.argument("file")
@force_option
@space_option
@store_option
@log_option
@quiet_option
@as_json_option
def restore(
    *, file: str, force: bool, spaces: tuple[str, ...], store: str | None, as_json: bool
) -> None:
    """Put a backup in the place of the store.

    Checks the checksum, all content and all roots of FILE first; if anything is wrong, nothing
    changes. A store file that exists is replaced with --force, if no other process has it open. On
    a server, or with --space, the spaces are made equal to the backup, and other spaces stay.
    """
    from quire import config
    from quire.cli.progress import show_progress
    from quire.indexing import backup as backups

    with show_progress("check") as report:
        settings = config.load(store=store)
        result = backups.restore(settings, Path(file), spaces, force=force, report=report)
    _print_backup(result, "restored", as_json=as_json)


@click.command()
@click.argument("source")
@click.argument("target")
@space_option
@click.option(
    "--force",
    is_flag=True,
    help="Make a space equal that already holds something else; what is only there is deleted.",
)
@log_option
@quiet_option
@as_json_option
def copy(*, source: str, target: str, spaces: tuple[str, ...], force: bool, as_json: bool) -> None:
    """Copy a store to another place.

    SOURCE and TARGET are named as for --store: a file, a folder NAME.N.shards, a URL. Each space is
    copied as of one moment and ends with the roots of the source, or with an error that names the
    first difference. A copy that was interrupted goes on where it was.
    """
    from quire import config
    from quire.cli.progress import show_progress
    from quire.indexing import backup as backups

    places = config.parse_store(source), config.parse_store(target)
    with show_progress("copy") as report:
        copied = backups.copy_to(*places, spaces, force=force, report=report)
    if as_json:
        output.print_json({"spaces": copied})
        return
    for each in copied:
        resumed = ", after an interruption" if each.resumed else ""
        output.say(
            f"{each.space}: {_contents(each)}; "
            f"{output.number(each.copied, 'record')} written{resumed}"
        )
        output.say(f"  state root {each.roots.state}")
    if not copied:
        output.note("the source has no spaces")


def _print_backup(result: Backup, verb: str, *, as_json: bool) -> None:
    if as_json:
        output.print_json(result)
        return
    output.print_notes(result.notes)
    for each in result.spaces:
        output.say(f"{each.space}: {_contents(each)}; state root {each.roots.state}")
    output.say(f"{verb} {result.file} ({result.bytes} bytes, sha256 {result.sha256})")


def _contents(space: SavedSpace | CopiedSpace) -> str:
    records, chunks = output.number(space.records, "record"), output.number(space.chunks, "chunk")
    return f"{records}, {chunks}, {output.number(space.vectors, 'vector')}"
