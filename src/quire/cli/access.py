"""Commands about access: who can read what, and who was given what."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from quire.cli import output
from quire.cli.options import CONTEXT, Common, common
from quire.cli.results import print_access_rules
from quire.errors import InputError

COMMAND = "command"
"""The origin of rules and groups that were set by a command."""


@click.group(context_settings=CONTEXT)
def access() -> None:
    """Control who can read which files; changes apply at once.

    The last rule that matches a file decides. Rules set here come after those of quire.toml. A
    principal is `public`, `owner`, NAME, or @GROUP.
    """


@access.command("list")
@common
def list_rules(options: Common) -> None:
    """List the default, the rules and the groups."""
    with options.open() as quire:
        rules = [
            (origin, rule) for origin, listed in quire.access.rules().items() for rule in listed
        ]
        notes = quire.access.notes(rule for _, rule in rules)
        if not rules:
            notes.append("there are no rules: the default applies to every file")
        print_access_rules(
            rules,
            quire.access.groups(),
            notes,
            default=quire.access.default(),
            as_json=options.as_json,
        )


@access.command()
@click.argument("glob")
@click.argument("principals", nargs=-1, required=True)
@common
def allow(options: Common, *, glob: str, principals: tuple[str, ...]) -> None:
    """Let only PRINCIPALS read the files that match GLOB.

    GLOB is a pattern as in .gitignore.
    """
    with options.open() as quire:
        rule = quire.access.allow(glob, principals)
        rules = [(COMMAND, rule) for rule in quire.access.rules()[COMMAND]]
        notes = quire.access.notes([rule])
        print_access_rules(rules, {}, notes, as_json=options.as_json)


@access.command()
@click.argument("glob")
@common
def remove(options: Common, *, glob: str) -> None:
    """Remove the rule for GLOB that a command set."""
    with options.open() as quire:
        quire.access.remove(glob)
        rules = [(COMMAND, rule) for rule in quire.access.rules()[COMMAND]]
        notes = [] if rules else ["no rules set by commands are left"]
        print_access_rules(rules, {}, notes, as_json=options.as_json)


@access.command()
@click.argument("name")
@click.argument("users", nargs=-1)
@common
def group(options: Common, *, name: str, users: tuple[str, ...]) -> None:
    """Set the members of the group NAME; without USERS, delete it."""
    with options.open() as quire:
        groups = quire.access.groups()[COMMAND]
        if not users and name not in groups:
            raise InputError(
                f"no command has set a group {name!r}",
                value=name,
                hint="name its members, or see `quire access list`",
            )
        changed = {**groups, name: users}
        quire.access.set_groups({name: members for name, members in changed.items() if members})
        notes = [] if users else [f"the group {name!r} is deleted"]
        groups = quire.access.groups()[COMMAND]
        print_access_rules([], {COMMAND: groups}, notes, as_json=options.as_json)


@access.command()
@click.option("--to", metavar="NAME", help="Only what this viewer was handed.")
@common
def log(options: Common, *, to: str | None) -> None:
    """List which texts were returned, and to whom.

    Contexts with their receipts, search results, and all other texts of the store. They are
    recorded if quire.toml names a `file` in [audit].
    """
    with options.open() as quire:
        entries = quire.audit.entries(to)
    output.print_list(
        "given", entries, _entry_line, "nothing was handed out yet", as_json=options.as_json
    )


@access.command()
@click.argument("viewer")
@common
def check(options: Common, *, viewer: str) -> None:
    """List the files that VIEWER can read."""
    with options.open() as quire:
        paths = [record.path for record in quire.access.check(viewer)]
    if options.as_json:
        output.print_json({"viewer": viewer, "paths": paths})
        return
    for path in paths:
        output.say(path)


def _entry_line(entry: Mapping[str, Any]) -> str:
    from quire.core.types import format_time

    pieces, records = len(entry["pieces"]), len(entry["records"])
    return "  ".join(
        (
            str(format_time(entry["at"])),
            entry["viewer"],
            entry.get("recipe", entry["what"]),
            output.number(pieces, "piece")
            if pieces or "receipt" in entry
            else output.number(records, "record"),
            *([entry["receipt"]] if "receipt" in entry else []),
        )
    )
