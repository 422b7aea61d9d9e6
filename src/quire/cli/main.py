"""The command line: the group of all commands, and those about the store itself.

Results go to standard output, everything else to standard error. Exit codes: 0 success, 1 a check
failed or it could not be done, 2 wrong usage, 130 interrupted. Heavy modules are imported late, so
that a command starts fast.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from io import TextIOWrapper
from typing import Any

import click

from quire import __version__
from quire.cli import assemble, output, receipts
from quire.cli.access import access
from quire.cli.blocks import block
from quire.cli.codemap import map_
from quire.cli.context_options import parse_filters, with_filters
from quire.cli.evaluate import evaluation
from quire.cli.experience import experience, values
from quire.cli.imports import import_
from quire.cli.install import install
from quire.cli.mcp import mcp, mcp_proxy
from quire.cli.memory import memory, remember
from quire.cli.options import (
    CONTEXT,
    Common,
    as_json_option,
    common,
    parse_limit,
    read_argument,
    with_viewer,
)
from quire.cli.rules import rules
from quire.cli.trust import trust
from quire.core.types import Failure
from quire.errors import InputError, QuireError
from quire.integrations.hooks.command import hook

INTERRUPTED = 130


class QuireCommand(click.Group):
    """The group of all commands; turns errors into one line and an exit code."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run a command, without a traceback for an error that a user can fix."""
        kwargs["standalone_mode"] = False
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, TextIOWrapper):  # a terminal may lack characters
                stream.reconfigure(errors="backslashreplace")
        try:
            sys.exit(super().main(*args, **kwargs) or 0)
        except QuireError as error:
            flags = _flags(self._command(kwargs.get("args") or (*args, sys.argv[1:])[0]))
            if error.place:  # a value in a file was not typed
                flags.pop(error.field, None)
            output.note(f"quire: {error.describe(lambda name: flags.get(name, name))}")
            sys.exit(error.exit_code)
        except click.ClickException as error:
            error.show()
            sys.exit(2)
        except (KeyboardInterrupt, click.Abort):
            output.note(
                "quire: interrupted; finished work is kept, run the command again to continue"
            )
            sys.stdout.flush()
            # At once: after a second Ctrl-C the threads of a model may still run, and a regular
            # exit of the interpreter would abort with a misleading message.
            os._exit(INTERRUPTED)
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
        """Run a command; a closed pipe on standard output is not an error."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            # Otherwise Python would fail again when it flushes at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0


def _flags(command: click.Command) -> dict[str, str]:
    """Return the flags of a command, by the names of the arguments that they stand for."""
    options = [item for item in command.params if isinstance(item, click.Option)]
    return {option.name: max(option.opts, key=len) for option in options if option.name}


@click.group(cls=QuireCommand, context_settings=CONTEXT)
@click.version_option(__version__, prog_name="quire")
def main() -> None:
    """Index a project and assemble contexts for language models.

    Contexts fit a token budget and contain only what the viewer can read.
    """


@main.command()
@click.argument("folder", default=".")
@as_json_option
def init(*, folder: str, as_json: bool) -> None:
    """Write a quire.toml with the default settings."""
    from pathlib import Path

    from quire.config import FILE, TEMPLATE
    from quire.system import platform

    target = Path(folder, FILE)
    if target.exists() or target.is_symlink():
        raise InputError(f"{target} already exists", hint="edit it, or delete it first")
    if not target.parent.is_dir():
        raise InputError(f"{folder} is not a directory", value=folder)
    platform.create_new(target, TEMPLATE.encode(), platform.SHARED)
    if as_json:
        output.print_json({"wrote": str(target)})
    else:
        output.say(f"wrote {target}")


@main.command()
@click.argument("paths", nargs=-1)
@click.option("--no-embed", is_flag=True, help="Index words only; vectors can be added later.")
@click.option("--reembed", is_flag=True, help="Discard all vectors and compute them again.")
@click.option(
    "--history",
    metavar="N|all|none",
    help="Number of latest commits to keep (default: [ingest] history, or 1000).",
)
@common
def index(
    options: Common,
    *,
    paths: tuple[str, ...],
    no_embed: bool,
    reembed: bool,
    history: str | None,
) -> None:
    """Index files and folders (default: the whole project).

    Reads only files that changed and commits that are new. Files that were deleted or are newly
    ignored are removed from the store. An interrupted run keeps its progress and continues the
    next time.
    """
    from quire.cli.progress import show_progress

    with (
        options.open(create=True, start=_start(options, paths)) as quire,
        show_progress() as report,
    ):
        result = quire.index(
            paths,
            embed=not no_embed,
            reembed=reembed,
            history=parse_limit("history", history),
            report=report,
        )
    output.print_index_result(result, as_json=options.as_json)


@main.command()
@click.argument("paths", nargs=-1)
@click.option("--no-embed", is_flag=True, help="Index words only.")
@common
def watch(options: Common, *, paths: tuple[str, ...], no_embed: bool) -> None:
    """Index now and after every change, until Ctrl-C.

    Temporary failures (an endpoint, settings that are being edited) are reported on standard error
    and retried at the next change.
    """
    with options.open(create=True, start=_start(options, paths)) as quire:
        for result in quire.watch(paths, embed=not no_embed):
            if isinstance(result, Failure):
                output.note(f"FAILED: {result.reason}; trying again at the next change")
            else:
                output.print_index_result(result, as_json=options.as_json)
            sys.stdout.flush()


@main.command()
@click.argument("query")
@click.option("--k", "-k", default=10, show_default=True, help="Number of results.")
@with_filters
@click.option("--exact", is_flag=True, help="Compare all vectors, even in large stores.")
@with_viewer
def search(options: Common, *, query: str, k: int, exact: bool, **filters: Any) -> None:
    """Search by words and by meaning.

    QUERY `-` reads standard input.
    """
    with options.open() as quire:
        result = quire.search(
            read_argument(query), k=k, viewer=options.viewer, exact=exact, **parse_filters(filters)
        )
    output.print_search_result(result, as_json=options.as_json)


@main.command()
@click.option("--fresh", is_flag=True, help="Also count files that changed on disk (owner only).")
@with_viewer
def status(options: Common, *, fresh: bool) -> None:
    """Show what the store contains and how fresh it is."""
    with options.open() as quire:
        is_owner = options.viewer is None and quire.config.viewer is None
        if fresh and not is_owner:
            raise InputError(
                "counts all files of the directory, which only the owner may know",
                field="fresh",
                hint="leave out --fresh, or the viewer",
            )
        result = quire.status(options.viewer)
        indexed_at = quire.documents.indexed_at() if is_owner else None
        history = quire.documents.history() if is_owner else None
        stale = quire.documents.stale() if fresh else None
    output.print_status(result, indexed_at, history, stale, as_json=options.as_json)


@main.command()
@click.option("--repair", is_flag=True, help="Rebuild what is damaged; name what is lost.")
@common
def doctor(options: Common, *, repair: bool) -> None:
    """Check the store file, the model and the roots."""
    with options.open() as quire:
        problems = quire.doctor(repair=repair)
    output.print_problems(problems, as_json=options.as_json)
    sys.exit(1 if any(not problem.repaired for problem in problems) else 0)


@main.command()
@click.argument("paths", nargs=-1, required=True)
@common
def purge(options: Common, *, paths: tuple[str, ...]) -> None:
    """Delete files from the store permanently.

    No byte of them is left in the store file.
    """
    with options.open() as quire:
        purged = quire.purge(paths)
        on_disk = quire.documents.still_there(purged)
    output.print_purge_result(purged, on_disk, as_json=options.as_json)
    sys.exit(0 if purged else 1)


def _start(options: Common, paths: Sequence[str]) -> str:
    """Return where the project is looked for: with --store, at the first path."""
    return paths[0] if options.store is not None and paths else "."


for command in (
    *assemble.COMMANDS,
    *receipts.COMMANDS,
    access,
    map_,
    evaluation,
    remember,
    memory,
    rules,
    experience,
    values,
    import_,
    mcp,
    mcp_proxy,
    hook,
    install,
    trust,
    block,
):
    main.add_command(command)
