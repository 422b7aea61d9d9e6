"""The command `quire trust`: let the settings of a project reach outside it."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from quire.cli import output
from quire.core import serialize
from quire.errors import InputError
from quire.system.clock import now

if TYPE_CHECKING:
    from quire.config import Proposal
    from quire.config.trust import TrustRecord

CHANGED = "its settings have changed since"


@click.command()
@click.argument("path", default=".")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option(
    "--accept-owner",
    is_flag=True,
    help="Also accept files that belong to another user, or that others can write.",
)
@click.option("--list", "list_all", is_flag=True, help="List the projects that are trusted.")
@click.option("--revoke", is_flag=True, help="Trust the project no longer.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON; without --yes, write nothing.")
def trust(
    *, path: str, yes: bool, accept_owner: bool, list_all: bool, revoke: bool, as_json: bool
) -> None:
    """Allow a project's settings to use what is outside it.

    PATH is the project (default: the current directory). A quire.toml can name services to send
    texts and keys to, models to run, and files outside the project. Such settings are ignored
    until you trust the project. Shows them and asks. As soon as the settings change, the project
    is not trusted any more. Exits with 1 if it is not trusted in the end.
    """
    if list_all and revoke:
        raise InputError("list what is trusted, or revoke it", hint="leave out --list or --revoke")
    if list_all:
        _list(as_json=as_json)
        return
    start = Path(path).absolute()
    if revoke:
        _revoke(start, as_json=as_json)
        return
    if not start.exists():
        raise InputError("does not exist", field="path", value=path, place=path)
    _trust(start, yes=yes, accept_owner=accept_owner, as_json=as_json)


def _trust(start: Path, *, yes: bool, accept_owner: bool, as_json: bool) -> None:
    from quire import config
    from quire.config import trust as records

    proposal = config.propose(start)
    trusted = proposal.is_accepted(records.find(proposal.root, os.environ))
    if not as_json:
        _show(proposal, trusted=trusted)
    if proposal.needed and not trusted and (yes or not as_json):
        _refuse_doubts(proposal, yes=yes, accept_owner=accept_owner)
        if yes or _confirm():
            records.save(_record(proposal), os.environ)
            trusted = True
            if not as_json:
                output.note(f"{proposal.root} is trusted until its settings change")
    if as_json:
        output.print_json(_plain(proposal, trusted=trusted))
    sys.exit(0 if trusted or not proposal.needed else 1)


def _record(proposal: Proposal) -> TrustRecord:
    from quire.config.trust import TrustRecord

    return TrustRecord(
        root=str(proposal.root),
        fingerprint=proposal.fingerprint,
        at=now(),
        settings=tuple(setting.name for setting in proposal.settings),
        owners=proposal.owners,
        writable=proposal.writable,
    )


def _refuse_doubts(proposal: Proposal, *, yes: bool, accept_owner: bool) -> None:
    """Refuse to take on files of other users along with everything else."""
    if proposal.doubts and yes and not accept_owner:
        raise InputError(
            " and ".join(proposal.doubts),
            place=str(proposal.file or proposal.root),
            hint="add --accept-owner if you know who wrote it",
        )


def _confirm() -> bool:
    if not sys.stdin.isatty():
        raise InputError("there is nobody to ask", hint="add --yes to trust the project")
    try:
        return click.confirm("Trust this project?", err=True)
    except click.Abort:  # the end of the input means no
        click.echo(err=True)
        return False


def _show(proposal: Proposal, *, trusted: bool) -> None:
    if not proposal.needed:
        output.say(f"{proposal.root}: no setting reaches outside, so there is nothing to trust")
        return
    output.say(f"{proposal.file or proposal.root}{' (trusted)' if trusted else ''}")
    for doubt in proposal.doubts:
        output.say(f"  {doubt}")
    for setting in proposal.settings:
        held = setting.section and setting.key == "key_env" and _is_set(setting.value)
        more = " (it is set)" if held else ""
        output.say(f"  {setting.name} = {_value(setting.value)}: {setting.effect}{more}")


def _is_set(variable: Any) -> bool:
    return bool(os.environ.get(str(variable)))


def _value(value: Any) -> str:
    return serialize.json_line(str(value) if isinstance(value, Path) else value)


def _plain(proposal: Proposal, *, trusted: bool) -> dict[str, Any]:
    return {
        "root": str(proposal.root),
        "file": None if proposal.file is None else str(proposal.file),
        "needed": proposal.needed,
        "trusted": trusted,
        "doubts": list(proposal.doubts),
        "settings": [
            {
                "name": setting.name,
                "value": str(setting.value) if isinstance(setting.value, Path) else setting.value,
                "effect": setting.effect,
            }
            for setting in proposal.settings
        ],
    }


def _list(*, as_json: bool) -> None:
    from quire.config import trust as records

    found = [(record, _holds(record)) for record in records.records(os.environ)]
    if as_json:
        projects = [
            {
                "root": record.root,
                "at": record.at,
                "settings": list(record.settings),
                "trusted": holds,
            }
            for record, holds in found
        ]
        output.print_json({"projects": projects})
        return
    for record, holds in found:
        day = datetime.fromtimestamp(record.at, UTC).date().isoformat()
        state = "" if holds else f"  ({CHANGED})"
        output.say(f"{record.root}  {day}  {', '.join(record.settings)}{state}")
    if not found:
        output.note("no project is trusted")


def _holds(record: TrustRecord) -> bool:
    """Return whether a record still covers what its project has now."""
    from quire import config
    from quire.errors import ConfigError

    root = Path(record.root)
    try:
        return root.is_dir() and config.propose(root).is_accepted(record)
    except ConfigError:
        return False


def _revoke(start: Path, *, as_json: bool) -> None:
    from quire.config import trust as records
    from quire.config.places import nearest_root

    resolved = start.resolve()
    # The directory itself first: a project that is gone can be revoked, too.
    revoked = records.revoke(resolved, os.environ) or (
        resolved.is_dir() and records.revoke(nearest_root(resolved), os.environ)
    )
    if as_json:
        output.print_json({"root": str(resolved), "revoked": revoked})
    elif revoked:
        output.note(f"{resolved} is not trusted any more")
    else:
        output.note(f"{resolved} was not trusted")
    sys.exit(0 if revoked else 1)
