"""How does one command bring Quire into an assistant?"""

from __future__ import annotations

import difflib
import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from quire.cli import output
from quire.cli.options import stored
from quire.core import serialize
from quire.errors import InputError
from quire.integrations.clients import CLIENTS, NAME

if TYPE_CHECKING:
    from quire.integrations.install.entries import Calling
    from quire.integrations.install.plan import Change, Scope

TAB = 4


@click.command()
@click.argument("client", type=click.Choice(tuple(CLIENTS)))
@click.option("--user", is_flag=True, help="The user's own settings, in place of the project's.")
@click.option("--viewer", metavar="NAME", help="The assistant reads as this user (default: owner).")
@click.option("--embed", is_flag=True, help="Let hooks search by meaning too, which takes longer.")
@click.option(
    "--command",
    metavar="COMMAND",
    help="How Quire is started (default: quire, or this very Python if quire is not on the path).",
)
@click.option("--uninstall", is_flag=True, help="Take everything out again.")
@click.option("--dry-run", is_flag=True, help="Only show what would change.")
@click.option("--yes", is_flag=True, help="Write without asking.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON; needs --yes or --dry-run.")
@stored
def install(
    *,
    client: str,
    user: bool,
    uninstall: bool,
    dry_run: bool,
    yes: bool,
    as_json: bool,
    **calling: Any,
) -> None:
    """Write Quire into the settings of a coding assistant: its server, and hooks if it has some.

    Shows what changes and asks first. All else in the files stays as it is, comments included;
    --uninstall gives back what was there, to the byte if nobody else changed it.
    """
    from quire.integrations.install import plan

    if as_json and not (yes or dry_run):
        raise InputError("--json cannot ask: give --yes, or --dry-run to see what would change")
    if calling["viewer"] is not None:  # hooks would only ever say so on standard error
        from quire.indexing.project import viewer_name

        viewer_name(calling["viewer"])
    scope = _scope(user=user)
    wanted = plan.files(client, CLIENTS[client], _calling(scope.root, **calling), scope)
    record = plan.load_record(scope.record)
    changes = (plan.uninstall if uninstall else plan.install)(wanted, record.done(client))
    needed = [change for change in changes if change.needed]
    if not as_json:
        for change in needed:
            for line in _diff(change.path, change.before, change.after):
                output.say(line.expandtabs(TAB))
    write = bool(needed) and not dry_run and (yes or _agreed())
    if write:
        if not uninstall:
            done = [change.done for change in changes if change.done is not None]
            plan.keep_record(scope.record, record, client, done)
        plan.carry_out(changes)
    if uninstall and not dry_run and (write or not needed):
        plan.keep_record(scope.record, record, client, ())
    _told(client, changes, written=write, as_json=as_json)
    if needed and not write and not dry_run:
        raise click.exceptions.Exit(1)


def _scope(*, user: bool) -> Scope:
    from quire import config
    from quire.integrations.install.plan import Scope

    root = None if user else config.project_root(Path.cwd())
    return Scope(root, Path.home(), os.environ)


def _calling(root: Path | None, *, command: str | None, store: str | None, **more: Any) -> Calling:
    from quire import config
    from quire.integrations.install.entries import Calling

    try:
        words = _usual() if command is None else shlex.split(command)
    except ValueError as error:
        raise InputError(f"--command is {command!r}: {error}") from error
    if not words:
        raise InputError("--command is empty: say how Quire is started")
    own = ""
    if root is not None:
        place = config.load(root).store
        own = place.relative_to(root).as_posix() if place.is_relative_to(root) else ""
    named = None if store is None else str(Path(store).absolute())
    return Calling(tuple(words), store=named, own=own, **more)


def _usual() -> list[str]:
    return [NAME] if shutil.which(NAME) else [sys.executable, "-m", NAME]


def _agreed() -> bool:
    try:
        return click.confirm("Write this?", err=True)
    except click.Abort:  # the end of the input is no yes
        click.echo(err=True)
        return False


def _diff(path: Path, before: str | None, after: str | None) -> list[str]:
    lines = difflib.unified_diff(
        (before or "").splitlines(),
        (after or "").splitlines(),
        os.devnull if before is None else str(path),
        os.devnull if after is None else str(path),
        lineterm="",
    )
    return list(lines)


def _told(client: str, changes: Sequence[Change], *, written: bool, as_json: bool) -> None:
    if as_json:
        told = [
            {
                "path": str(change.path),
                "change": _what(change),
                "diff": _diff(change.path, change.before, change.after),
            }
            for change in changes
        ]
        click.echo(serialize.json_text({"client": client, "written": written, "files": told}))
        return
    for change in changes:
        if not change.needed:
            output.note(f"{change.path}: nothing to change")
        elif written:
            output.note(f"{change.path}: {_what(change)}")
    if not written and any(change.needed for change in changes):
        output.note("nothing was written")


def _what(change: Change) -> str:
    if not change.needed:
        return "unchanged"
    if change.before is None:
        return "created"
    return "removed" if change.after is None else "changed"
