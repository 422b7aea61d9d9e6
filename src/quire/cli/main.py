"""What can be asked for on a command line?

Results go to standard output, everything else to standard error. Exit codes: 0 done, 1 it did not
hold or could not be done, 2 the caller's mistake, 130 interrupted. Imports are late, so that a
command starts fast.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from io import TextIOWrapper
from typing import Any

import click

from quire import __version__
from quire.cli import output
from quire.cli.access import access
from quire.cli.assemble import COMMANDS
from quire.cli.blocks import block
from quire.cli.codemap import map_
from quire.cli.evaluate import evaluation
from quire.cli.experience import LEARNING, import_
from quire.cli.imports import IMPORTS
from quire.cli.install import install
from quire.cli.mcp import mcp, mcp_proxy
from quire.cli.memory import memory, remember
from quire.cli.options import CONTEXT, asked, common, limit, opened, viewed
from quire.cli.rules import rules
from quire.core import serialize
from quire.core.dates import parse_filter
from quire.core.types import Failure
from quire.errors import InputError, QuireError
from quire.integrations.hooks.command import hook


class Door(click.Group):
    """The group of all commands; turns errors into one clear line and an exit code."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run, and never show a traceback for what a user can mend."""
        kwargs["standalone_mode"] = False
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, TextIOWrapper):  # a terminal may not know every character
                stream.reconfigure(errors="backslashreplace")
        try:
            sys.exit(super().main(*args, **kwargs) or 0)
        except QuireError as error:
            flags = _flags(self._command(kwargs.get("args") or (*args, sys.argv[1:])[0]))
            if error.place:  # what stands in a file was not typed
                flags.pop(error.field, None)
            output.note(f"quire: {error.describe(lambda name: flags.get(name, name))}")
            sys.exit(error.exit_code)
        except click.ClickException as error:
            error.show()
            sys.exit(2)
        except (KeyboardInterrupt, click.Abort):
            output.note("quire: interrupted; what was written is kept, run again to go on")
            sys.stdout.flush()
            # At once: a second Ctrl-C may have left the model's threads running, and taking the
            # interpreter down under them aborts with a message that helps nobody.
            os._exit(130)
        except OSError as error:
            place = f"{error.filename}: " if error.filename else ""
            output.note(f"quire: {place}{error.strerror or error}")
            sys.exit(1)

    def _command(self, arguments: Sequence[str]) -> click.Command:
        """Return the command that arguments name."""
        command: click.Command = self
        for name in arguments:
            if not isinstance(command, click.Group) or name not in command.commands:
                break
            command = command.commands[name]
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; a reader of its output that has had enough is no failure."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            # Python would complain again at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0


def _flags(command: click.Command) -> dict[str, str]:
    """Return the flags of a command, by the names of the arguments that they stand for."""
    options = [item for item in command.params if isinstance(item, click.Option)]
    return {option.name: max(option.opts, key=len) for option in options if option.name}


@click.group(cls=Door, context_settings=CONTEXT)
@click.version_option(__version__, prog_name="quire")
def main() -> None:
    """Index what you know; get contexts that fit, from what the viewer may read."""


@main.command()
@click.argument("folder", default=".")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def init(*, folder: str, as_json: bool) -> None:
    """Write a quire.toml with the default settings, explained."""
    from pathlib import Path

    from quire.config import FILE, TEMPLATE

    target = Path(folder, FILE)
    if target.exists():
        raise InputError(f"{target} is there already; edit it, or delete it first")
    if not target.parent.is_dir():
        raise InputError(f"{folder} is no directory")
    target.write_text(TEMPLATE, "utf-8")
    if as_json:
        click.echo(serialize.json_text({"wrote": str(target)}))
    else:
        output.say(f"wrote {target}")


@main.command()
@click.argument("paths", nargs=-1)
@click.option("--no-embed", is_flag=True, help="Index the words only; vectors can follow later.")
@click.option("--reembed", is_flag=True, help="Forget all vectors and make them anew.")
@click.option(
    "--history",
    metavar="N|all|none",
    help="Keep the newest N commits of git (default: [ingest] history, or 1000).",
)
@common
def index(
    *,
    paths: tuple[str, ...],
    no_embed: bool,
    reembed: bool,
    history: str | None,
    store: str | None,
    space: str | None,
    as_json: bool,
) -> None:
    """Bring the store up to date with files and folders (default: the whole project).

    Only what changed is read again, and of git's history only what is new; what is gone is taken
    out. Interrupted, it keeps what it has and goes on the next time.
    """
    from quire.cli.progress import shown

    start = paths[0] if store is not None and paths else "."
    with (
        opened(store, space, create=True, start=start) as quire,
        shown() as report,
    ):
        result = quire.index(
            paths,
            embed=not no_embed,
            reembed=reembed,
            history=limit("--history", history),
            report=report,
        )
    output.indexed(result, as_json=as_json)


@main.command()
@click.argument("paths", nargs=-1)
@click.option("--no-embed", is_flag=True, help="Index the words only.")
@common
def watch(
    *, paths: tuple[str, ...], no_embed: bool, store: str | None, space: str | None, as_json: bool
) -> None:
    """Keep the store fresh: index now, then again whenever a file changes, until Ctrl-C.

    What fails for a while (an endpoint, settings that are being edited) is told on standard error
    and tried again at the next change.
    """
    start = paths[0] if store is not None and paths else "."
    with opened(store, space, create=True, start=start) as quire:
        for result in quire.watch(paths, embed=not no_embed):
            if isinstance(result, Failure):
                output.note(f"FAILED: {result.reason}; trying again at the next change")
            else:
                output.indexed(result, as_json=as_json)
            sys.stdout.flush()


@main.command()
@click.argument("query")
@click.option("--k", "-k", default=10, show_default=True, help="How many results.")
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    help="Only this kind (document, code, conversation, commit, memory, block.todo); repeatable.",
)
@click.option("--path", "paths", multiple=True, help="Only paths that match this glob; repeatable.")
@click.option("--since", metavar="DATE", help="Only what was modified at or after this date.")
@click.option("--until", metavar="DATE", help="Only what was modified at or before this date.")
@click.option("--exact", is_flag=True, help="Compare every vector, however many there are.")
@viewed
@common
def search(
    *,
    query: str,
    k: int,
    kinds: tuple[str, ...],
    paths: tuple[str, ...],
    since: str | None,
    until: str | None,
    exact: bool,
    viewer: str | None,
    store: str | None,
    space: str | None,
    as_json: bool,
) -> None:
    """Find what answers QUERY best, by its words and by its meaning (`-`: standard input)."""
    where = parse_filter(kinds, paths, since, until)
    with opened(store, space) as quire:
        result = quire.search(asked(query), k=k, viewer=viewer, where=where, exact=exact)
    output.found(result, as_json=as_json)


@main.command()
@click.option("--fresh", is_flag=True, help="Also count what has changed on disk (owner only).")
@viewed
@common
def status(
    *, fresh: bool, viewer: str | None, store: str | None, space: str | None, as_json: bool
) -> None:
    """Tell what is in the store, how fresh and how big it is, and which vectors are missing."""
    with opened(store, space) as quire:
        owner = viewer is None and quire.config.viewer is None
        if fresh and not owner:
            raise InputError(
                "--fresh counts all files of the directory, which only the owner may know: "
                "leave out --fresh, or the viewer"
            )
        told = quire.status(viewer)
        at = quire.documents.indexed_at() if owner else None
        history = quire.documents.history() if owner else None
        stale = quire.documents.stale() if fresh else None
    output.status(told, at, history, stale, as_json=as_json)


@main.command()
@click.option("--repair", is_flag=True, help="Make what is derived anew where it is wrong.")
@common
def doctor(*, repair: bool, store: str | None, space: str | None, as_json: bool) -> None:
    """Check the file, the model's hash and the roots; with --repair, mend what can be derived."""
    with opened(store, space) as quire:
        problems = quire.doctor(repair=repair)
    output.problems(problems, as_json=as_json)
    sys.exit(1 if any(not problem.repaired for problem in problems) else 0)


@main.command()
@click.argument("paths", nargs=-1, required=True)
@common
def purge(*, paths: tuple[str, ...], store: str | None, space: str | None, as_json: bool) -> None:
    """Delete files from the store for good: no byte of them is left in it."""
    with opened(store, space) as quire:
        gone = quire.purge(paths)
        still = quire.documents.still_there(gone)
    output.purged(gone, still, as_json=as_json)
    sys.exit(0 if gone else 1)


for command in (
    *COMMANDS,
    access,
    map_,
    evaluation,
    remember,
    memory,
    rules,
    *LEARNING,
    mcp,
    mcp_proxy,
    hook,
    install,
    block,
):
    main.add_command(command)
for command in IMPORTS:
    import_.add_command(command)
