"""Commands about the store itself: its settings, status and checks, and deleting from it."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from quire.cli import output
from quire.cli.documents import print_facets
from quire.cli.options import Common, as_json_option, common, with_viewer
from quire.cli.results import (
    print_problems,
    print_purge_result,
    print_status,
    print_support_report,
)
from quire.config import FILE, TEMPLATE, Config
from quire.errors import InputError, QuireError, StoreDamagedError
from quire.system import clock, platform

if TYPE_CHECKING:
    from quire.core.types import Problem

SERVER_KEEPS = (
    "the tables hold none of it any more; the log of the server, its replicas and backups do "
    "until they are recycled"
)


@click.command()
@click.argument("folder", default=".")
@as_json_option
def init(*, folder: str, as_json: bool) -> None:
    """Write a quire.toml with the default settings."""
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


@click.command()
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


@click.command()
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


@click.command()
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
