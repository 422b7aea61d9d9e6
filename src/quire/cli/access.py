"""How is access given and taken on the command line?"""

from __future__ import annotations

import click

from quire.cli import output
from quire.cli.options import CONTEXT, common, opened
from quire.core import serialize
from quire.core.types import format_time
from quire.errors import InputError


@click.group(context_settings=CONTEXT)
def access() -> None:
    """Say who may read which files; effective at once.

    The last rule that matches a file decides; rules given here come after those of quire.toml.
    A principal is `public`, `owner`, NAME, or @GROUP.
    """


@access.command("list")
@common
def list_rules(store: str | None, space: str | None, as_json: bool) -> None:
    """List the default, then all rules and groups, in the order in which they count."""
    with opened(store, space) as quire:
        rules = [
            (origin, rule) for origin, listed in quire.access.rules().items() for rule in listed
        ]
        notes = quire.access.notes(rule for _, rule in rules)
        if not rules:
            notes.append("there are no rules: the default decides over every file")
        output.rules(
            rules, quire.access.groups(), notes, default=quire.access.default(), as_json=as_json
        )


@access.command()
@click.argument("glob")
@click.argument("principals", nargs=-1, required=True)
@common
def allow(
    glob: str, principals: tuple[str, ...], store: str | None, space: str | None, as_json: bool
) -> None:
    """Let only PRINCIPALS read the files that match GLOB (a pattern as in .gitignore)."""
    with opened(store, space) as quire:
        rule = quire.access.allow(glob, principals)
        rules = [("command", rule) for rule in quire.access.rules()["command"]]
        notes = quire.access.notes([rule])
        output.rules(rules, {}, notes, as_json=as_json)


@access.command()
@click.argument("glob")
@common
def remove(glob: str, store: str | None, space: str | None, as_json: bool) -> None:
    """Take back the rule for GLOB that was given by command."""
    with opened(store, space) as quire:
        quire.access.remove(glob)
        rules = [("command", rule) for rule in quire.access.rules()["command"]]
        notes = [] if rules else ["no rule that was given by command is left"]
        output.rules(rules, {}, notes, as_json=as_json)


@access.command()
@click.argument("name")
@click.argument("users", nargs=-1)
@common
def group(
    name: str, users: tuple[str, ...], store: str | None, space: str | None, as_json: bool
) -> None:
    """Say who is in the group NAME; without USERS the group is dissolved."""
    with opened(store, space) as quire:
        held = quire.access.groups()["command"]
        if not users and name not in held:
            raise InputError(
                f"no group {name!r} was given by command: name who is in it, or see "
                "`quire access list`"
            )
        groups = {**held, name: users}
        quire.access.set_groups({each: members for each, members in groups.items() if members})
        notes = [] if users else [f"the group {name!r} is dissolved"]
        output.rules([], {"command": quire.access.groups()["command"]}, notes, as_json=as_json)


@access.command()
@click.option("--to", metavar="NAME", help="Only what this viewer was given.")
@common
def log(to: str | None, store: str | None, space: str | None, as_json: bool) -> None:
    """List who was given which context, with its receipt ([audit] file in quire.toml)."""
    with opened(store, space) as quire:
        found = quire.audit.contexts(to)
    if as_json:
        click.echo(serialize.json_text({"given": found}))
        return
    for one in found:
        output.say(
            f"{format_time(one['at'])}  {one['viewer']}  {one['recipe']}  "
            f"{len(one['pieces'])} pieces  {one['receipt']}"
        )
    if not found:
        output.note("nothing was given yet")


@access.command()
@click.argument("viewer")
@common
def check(viewer: str, store: str | None, space: str | None, as_json: bool) -> None:
    """List the files that VIEWER may read."""
    with opened(store, space) as quire:
        paths = [record.path for record in quire.access.check(viewer)]
    if as_json:
        click.echo(serialize.json_text({"viewer": viewer, "paths": paths}))
    else:
        for path in paths:
            output.say(path)
