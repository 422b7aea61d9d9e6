"""The command line: the group of all commands, and those about the store itself.

Results go to standard output, everything else to standard error. Exit codes: 0 success, 1 a check
failed or it could not be done, 2 wrong usage, 130 interrupted. Heavy modules are imported late, so
that a command starts fast.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any

import click

from quire import __version__
from quire.cli import assemble, output, receipts
from quire.cli.access import access
from quire.cli.backup import backup, copy, restore
from quire.cli.blocks import block
from quire.cli.codemap import map_
from quire.cli.context_options import parse_filters, with_filters
from quire.cli.documents import add, document, print_facets, sync
from quire.cli.evaluate import evaluation
from quire.cli.experience import experience, values
from quire.cli.imports import import_
from quire.cli.install import install
from quire.cli.mcp import mcp, mcp_proxy
from quire.cli.memory import memory, remember
from quire.cli.model import model
from quire.cli.options import (
    CONTEXT,
    Common,
    as_json_option,
    common,
    parse_limit,
    read_argument,
    with_viewer,
)
from quire.cli.pack import pack
from quire.cli.plugins import plugins
from quire.cli.report import report
from quire.cli.results import (
    print_index_result,
    print_problems,
    print_purge_result,
    print_search_result,
    print_status,
    print_support_report,
)
from quire.cli.rules import rules
from quire.cli.serve import serve, token
from quire.cli.trust import trust
from quire.config import Config
from quire.errors import InputError, QuireError, StoreDamagedError
from quire.integrations.hooks.command import hook
from quire.system import clock

if TYPE_CHECKING:
    from quire.core.types import Problem

INTERRUPTED = 130
SERVER_KEEPS = (
    "the tables hold none of it any more; the log of the server, its replicas and backups do "
    "until they are recycled"
)


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
            output.warn(f"quire: {error.describe(lambda name: flags.get(name, name))}")
            sys.exit(error.exit_code)
        except click.ClickException as error:
            error.show()
            sys.exit(2)
        except (KeyboardInterrupt, click.Abort):
            output.warn(
                "quire: interrupted; finished work is kept, run the command again to continue"
            )
            sys.stdout.flush()
            # At once: after a second Ctrl-C the threads of a model may still run, and a regular
            # exit of the interpreter would abort with a misleading message.
            os._exit(INTERRUPTED)
        except OSError as error:
            place = f"{error.filename}: " if error.filename else ""
            output.warn(f"quire: {place}{error.strerror or error}")
            sys.exit(1)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; refuse a value that is given twice, of which one would be lost."""
        command, rest = self._find(args)
        with suppress(click.UsageError):  # which is told when the command itself is parsed
            # With a parent: a command keeps the flags of its help from the first context.
            context = click.Context(command, parent=ctx, resilient_parsing=True)
            parser = command.make_parser(context)
            _, _, order = parser.parse_args([*rest])
            _refuse_repeated(order)
        return super().resolve_command(ctx, args)

    def _command(self, arguments: Sequence[str]) -> click.Command:
        """Return the command that arguments name."""
        return self._find(arguments)[0]

    def _find(self, arguments: Sequence[str]) -> tuple[click.Command, Sequence[str]]:
        """Return the command that arguments name, and those that it is given."""
        command: click.Command = self
        for place, name in enumerate(arguments):
            if not isinstance(command, click.Group) or name not in command.commands:
                return command, arguments[place:]
            command = command.commands[name]
        return command, ()

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; a closed pipe on standard output is not an error."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            # Otherwise Python would fail again when it flushes at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0


def _refuse_repeated(given: Sequence[click.Parameter]) -> None:
    """Refuse an option with one value that is given more than once."""
    for option in given:
        is_single = isinstance(option, click.Option) and not (option.multiple or option.is_flag)
        if is_single and given.count(option) > 1:
            flag = max(option.opts, key=len)
            raise InputError(f"{flag} is given twice", hint="leave out all but one")


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
@click.option(
    "--reembed",
    is_flag=True,
    help="Compute all vectors again; the old ones answer until the last one is made.",
)
@click.option(
    "--background",
    is_flag=True,
    help="Return when the words are indexed; another process makes the vectors.",
)
@click.option(
    "--history",
    metavar="N|all|none",
    help="Number of latest commits to keep (default: [ingest] history, or 1000).",
)
@click.option(
    "--on",
    metavar="PLACE",
    default="inline",
    help="Where files are read and embedded: inline (this process), processes:N, ray, "
    "ray://HOST:PORT.",
)
@common
def index(
    options: Common,
    *,
    paths: tuple[str, ...],
    no_embed: bool,
    reembed: bool,
    background: bool,
    history: str | None,
    on: str,
) -> None:
    """Index files and folders (default: the whole project).

    Reads only files that changed and commits that are new. Files that were deleted or are newly
    ignored are removed from the store. An interrupted run keeps its progress and continues the
    next time. All words are indexed before the first vector is made.
    """
    from quire.cli import jobs
    from quire.cli.progress import show_progress

    if background and no_embed:
        raise InputError("makes vectors", field="background", hint="leave out --no-embed")
    commits = parse_limit("history", history)
    _refuse_bad_paths(options, paths)
    with (
        options.open(create=True, start=_start(options, paths)) as quire,
        show_progress() as report,
    ):
        result = quire.index(
            paths,
            embed=not no_embed and not background,
            reembed=reembed,
            history=commits,
            on=on,
            report=report,
        )
        if background:
            result = jobs.start_vectors(quire, result)
    print_index_result(result, as_json=options.as_json)


@main.command()
@click.argument("paths", nargs=-1)
@click.option("--no-embed", is_flag=True, help="Index words only.")
@click.option("--daemon", is_flag=True, help="Do it in the background, one process per store.")
@click.option("--status", "show", is_flag=True, help="Show whether that runs; exit code 1 if not.")
@click.option("--stop", is_flag=True, help="End it.")
@common
def watch(
    options: Common,
    *,
    paths: tuple[str, ...],
    no_embed: bool,
    daemon: bool,
    show: bool,
    stop: bool,
) -> None:
    """Index now and after every change, until Ctrl-C.

    Temporary failures (an endpoint, settings that are being edited) are reported on standard error
    and retried at the next change. A watch in the background ends with --stop, or when the
    project's folder or the store is deleted; it does not survive a restart of the machine.
    """
    from quire.cli import jobs

    if daemon + show + stop > 1:
        raise InputError("--daemon, --status and --stop exclude each other")
    from quire.core.types import Failure

    _refuse_bad_paths(options, () if show or stop else paths)
    if daemon:
        with options.open(create=True, start=_start(options, paths)) as quire:
            jobs.start_watch(quire, paths, embed=not no_embed, as_json=options.as_json)
        return
    if show or stop:
        with options.open(start=_start(options, paths)) as quire:
            sys.exit(jobs.end_watch(quire, stop=stop, as_json=options.as_json))
    with options.open(create=True, start=_start(options, paths)) as quire:
        for result in quire.watch(paths, embed=not no_embed):
            if isinstance(result, Failure):
                output.warn(f"FAILED: {result.reason}; trying again at the next change")
            else:
                print_index_result(result, as_json=options.as_json)
            sys.stdout.flush()


@main.command()
@click.argument("query")
@click.option("--k", "-k", default=10, show_default=True, help="Number of results.")
@with_filters
@click.option("--exact", is_flag=True, help="Compare all vectors, even in large stores.")
@click.option("--no-refresh", is_flag=True, help="Do not read files again that changed on disk.")
@with_viewer
def search(
    options: Common, *, query: str, k: int, exact: bool, no_refresh: bool, **filters: Any
) -> None:
    """Search by words and by meaning.

    QUERY `-` reads standard input.
    """
    with options.open() as quire:
        result = quire.search(
            read_argument(query),
            k=k,
            viewer=options.viewer,
            exact=exact,
            refresh=not no_refresh,
            **parse_filters(filters),
        )
    print_search_result(result, as_json=options.as_json)


@main.command()
@click.option("--fresh", is_flag=True, help="Also count files that changed on disk (owner only).")
@click.option("--facets", is_flag=True, help="Also count the values of metadata, by key.")
@with_viewer
def status(options: Common, *, fresh: bool, facets: bool) -> None:
    """Show what the store contains and how fresh it is."""
    from quire.cli import jobs

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
        working = jobs.describe_vectors(quire, result) if is_owner else None
        if facets:
            result = replace(result, facets=quire.documents.facets(viewer=options.viewer))
    print_status(result, indexed_at, history, stale, working, as_json=options.as_json)
    if facets and not options.as_json:
        print_facets(result.facets or ())


@main.command()
@click.option("--repair", is_flag=True, help="Rebuild what is damaged; name what is lost.")
@click.option(
    "--prune",
    is_flag=True,
    help="Delete vectors of texts that are gone, caches, and receipts of the service over the "
    "limit.",
)
@click.option(
    "--report",
    is_flag=True,
    help="Print what a bug report needs: versions, settings by name, counts; no content.",
)
@common
def doctor(options: Common, *, repair: bool, prune: bool, report: bool) -> None:
    """Check the store file, the model and the roots."""
    if report:
        if repair or prune:
            raise InputError(
                "changes nothing, and takes no other option of this command",
                field="report",
                hint="leave out --repair and --prune",
            )
        _print_support_report(options)
        return
    try:
        with options.open() as quire:
            problems = quire.doctor(repair=repair, prune=prune)
            if prune and all(problem.repaired for problem in problems):
                _prune_receipts(quire.config)
    except StoreDamagedError as error:
        if "quire doctor" not in error.hint:
            raise
        # It must not advise to run this very command.
        raise StoreDamagedError(
            error.message,
            place=error.place,
            hint="too little of it is left to be opened: restore a backup, or delete the file and "
            "index again (memories and blocks that were only in it are lost)",
        ) from error
    print_problems(problems, as_json=options.as_json)
    sys.exit(1 if any(not problem.repaired for problem in problems) else 0)


def _prune_receipts(settings: Config) -> None:
    """Delete receipts of the HTTP service that are over the limits."""
    from quire.server.journal import Journal, journal_file

    path = journal_file(settings, os.environ)
    if path.exists():
        journal = Journal(path, settings.audit.receipt_bytes)
        journal.prune(clock.now())
        journal.close()


def _print_support_report(options: Common) -> None:
    """Print what a bug report needs, also of a store that cannot be opened."""
    from quire import config
    from quire.core.types import OWNER
    from quire.indexing.support_report import make_report

    output.silence()  # notes may name paths
    settings = status = None
    problems: Sequence[Problem] = ()
    error = ""
    try:
        settings = config.load()
        with options.open() as quire:
            settings = quire.config
            status = quire.status(OWNER)
            problems = quire.doctor()
    except QuireError as raised:
        error = type(raised).__name__
    print_support_report(make_report(settings, status, problems, error), as_json=options.as_json)


@main.command()
@click.argument("paths", nargs=-1, required=True)
@common
def purge(options: Common, *, paths: tuple[str, ...]) -> None:
    """Delete files from the store permanently.

    No byte of them is left in the store file. In a PostgreSQL store, none is left in its tables;
    the server's write-ahead log, replicas and backups hold them until they are recycled.
    """
    with options.open() as quire:
        purged = quire.purge(paths)
        if purged and quire.config.server:
            output.note(SERVER_KEEPS)
        on_disk = quire.documents.still_there(purged)
    print_purge_result(purged, on_disk, as_json=options.as_json)
    sys.exit(0 if purged else 1)


def _refuse_bad_paths(options: Common, paths: Sequence[str]) -> None:
    """Refuse what cannot be indexed before a store is created for it."""
    from quire.indexing.project import refuse_bad_paths

    refuse_bad_paths(_start(options, paths), options.store, paths)


def _start(options: Common, paths: Sequence[str]) -> str:
    """Return where the project is looked for: with --store, at the first path."""
    return paths[0] if options.store is not None and paths else "."


for command in (
    *assemble.COMMANDS,
    *receipts.COMMANDS,
    report,
    backup,
    restore,
    copy,
    access,
    map_,
    pack,
    evaluation,
    add,
    document,
    sync,
    remember,
    memory,
    model,
    plugins,
    rules,
    experience,
    values,
    import_,
    mcp,
    mcp_proxy,
    serve,
    token,
    hook,
    install,
    trust,
    block,
):
    main.add_command(command)
