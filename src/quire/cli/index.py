"""The commands that bring a store up to date with files: index, and watch."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from quire.cli import output
from quire.cli.options import Common, common, parse_limit
from quire.cli.results import print_index_result
from quire.errors import InputError


@click.command()
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


@click.command()
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
    from quire.core.types import Failure

    if daemon + show + stop > 1:
        raise InputError("--daemon, --status and --stop exclude each other")
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


def _refuse_bad_paths(options: Common, paths: Sequence[str]) -> None:
    """Refuse what cannot be indexed before a store is created for it."""
    from quire.indexing.project import refuse_bad_paths

    refuse_bad_paths(_start(options, paths), options.store, paths)


def _start(options: Common, paths: Sequence[str]) -> str:
    """Return where the project is looked for: with --store, at the first path."""
    return paths[0] if options.store is not None and paths else "."
