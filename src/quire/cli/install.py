"""The command that installs Quire into a coding assistant."""

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
from quire.cli.mcp import require_server
from quire.cli.options import as_json_option, store_options
from quire.core import servers
from quire.errors import InputError
from quire.integrations.clients import CLIENTS, SERVER_NAME

if TYPE_CHECKING:
    from quire.integrations.install.entries import LaunchOptions
    from quire.integrations.install.plan import FileChange, Scope

TAB = 4


@click.command()
@click.argument("client", type=click.Choice(tuple(CLIENTS)))
@click.option("--user", is_flag=True, help="Change the user's settings, not the project's.")
@click.option("--viewer", metavar="NAME", help="Let the assistant read as this user.")
@click.option("--embed", is_flag=True, help="Let hooks search by meaning too, which is slower.")
@click.option(
    "--command",
    metavar="COMMAND",
    help="How to start Quire (default: quire, or this Python if quire is not on the path).",
)
@click.option("--uninstall", is_flag=True, help="Remove Quire from the settings.")
@click.option("--dry-run", is_flag=True, help="Only show what would change.")
@click.option("--yes", is_flag=True, help="Write without asking.")
@as_json_option
@store_options
def install(
    *,
    client: str,
    user: bool,
    uninstall: bool,
    dry_run: bool,
    yes: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Add Quire to the settings of a coding assistant.

    Adds its MCP server, and hooks if the assistant has them. Shows the changes and asks first.
    Everything else in the files stays as it is, comments included. --uninstall restores the files,
    to the byte if nobody else has changed them. --json needs --yes or --dry-run.
    """
    from quire.integrations.install import plan

    if as_json and not (yes or dry_run):
        raise InputError(
            "--json cannot ask for confirmation",
            hint="add --yes to write, or --dry-run to see what would change",
        )
    _refuse_what_cannot_work(options["viewer"], options["command"], uninstall=uninstall)
    scope = _scope(user=user)
    files = plan.client_files(
        client, CLIENTS[client], _launch_options(scope.root, **options), scope
    )
    record = plan.load_record(scope.record_file)
    make_plan = plan.plan_uninstall if uninstall else plan.plan_install
    changes = make_plan(files, record.files(client))
    needed = [change for change in changes if change.needed]
    if not as_json:
        for change in needed:
            for line in _diff(change):
                output.say(line.expandtabs(TAB))
    write = bool(needed) and not dry_run and (yes or _confirm())
    if write:
        if not uninstall:
            installed = [change.installed for change in changes if change.installed is not None]
            plan.save_record(scope.record_file, record, client, installed)
        plan.apply_changes(changes)
    if uninstall and not dry_run and (write or not needed):
        plan.save_record(scope.record_file, record, client, ())
    _show(client, changes, written=write, as_json=as_json)
    if needed and not write and not dry_run:
        raise click.exceptions.Exit(1)


def _refuse_what_cannot_work(viewer: str | None, command: str | None, *, uninstall: bool) -> None:
    """Refuse what would fail only when the assistant starts it, where few would see why."""
    if viewer is not None:
        from quire.indexing.project import viewer_name

        viewer_name(viewer)
    if command is None and not uninstall:
        require_server()


def _scope(*, user: bool) -> Scope:
    from quire import config
    from quire.integrations.install.plan import Scope

    root = None if user else config.project_root(Path.cwd())
    return Scope(root, Path.home(), os.environ)


def _launch_options(
    root: Path | None, *, command: str | None, store: str | None, **more: Any
) -> LaunchOptions:
    from quire import config
    from quire.integrations.install.entries import LaunchOptions

    try:
        words = _default_command() if command is None else shlex.split(command)
    except ValueError as error:
        raise InputError(str(error), field="command", value=command) from error
    if not words:
        raise InputError("is empty", field="command", value=command, hint="say how to start Quire")
    if store is not None and servers.is_server(store):
        raise InputError(
            "the settings of an assistant must not hold the URL of a server, which may hold a "
            "password",
            field="store",
            hint="write it into your own settings, ~/.config/quire/config.toml, or QUIRE_STORE",
        )
    if store is not None:
        config.parse_store(store)
    project_store = ""
    if root is not None:
        path = config.load(root).store
        project_store = path.relative_to(root).as_posix() if path.is_relative_to(root) else ""
    return LaunchOptions(
        tuple(words),
        store=None if store is None else str(Path(store).absolute()),
        project_store=project_store,
        **more,
    )


def _default_command() -> list[str]:
    if shutil.which(SERVER_NAME):
        return [SERVER_NAME]
    # -P: assistants start it in the project's folder, whose modules must not take Quire's place.
    return [sys.executable, "-P", "-m", SERVER_NAME]


def _confirm() -> bool:
    try:
        return click.confirm("Write this?", err=True)
    except click.Abort:  # the end of the input means no
        click.echo(err=True)
        return False


def _diff(change: FileChange) -> list[str]:
    lines = difflib.unified_diff(
        (change.before or "").splitlines(),
        (change.after or "").splitlines(),
        os.devnull if change.before is None else str(change.path),
        os.devnull if change.after is None else str(change.path),
        lineterm="",
    )
    return list(lines)


def _show(client: str, changes: Sequence[FileChange], *, written: bool, as_json: bool) -> None:
    if as_json:
        files = [
            {"path": str(change.path), "change": _kind(change), "diff": _diff(change)}
            for change in changes
        ]
        output.print_json({"client": client, "written": written, "files": files})
        return
    for change in changes:
        if not change.needed:
            output.note(f"{change.path}: nothing to change")
        elif written:
            output.note(f"{change.path}: {_kind(change)}")
    if not written and any(change.needed for change in changes):
        output.note("nothing was written")


def _kind(change: FileChange) -> str:
    if not change.needed:
        return "unchanged"
    if change.before is None:
        return "created"
    return "removed" if change.after is None else "changed"
