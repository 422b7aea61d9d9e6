"""Indexing: bring a store up to date with the files and the git history of its directory.

One run follows git (`git_history`), walks, reads, splits and writes the files (`files`), then
embeds whatever has no vector yet. A watch repeats it whenever files change.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

from quire.core.protocols import Embedder
from quire.core.types import (
    ALL,
    OWNER,
    Failure,
    IndexResult,
    Problem,
    Progress,
    Skipped,
    Stamp,
)
from quire.errors import (
    ConfigError,
    EmbedError,
    EndpointError,
    InputError,
    MissingExtraError,
    QuireError,
    StoreBusyError,
    StoreDamagedError,
    StoreError,
    StoreFullError,
    StoreVersionError,
)
from quire.indexing import files
from quire.indexing.access import AccessControl
from quire.indexing.git_history import update_history
from quire.indexing.project import CONFIG, INDEXED_AT, Project
from quire.ingest.paths import resolve_paths
from quire.system.clock import now

Report = Callable[[Progress], None]

EMBEDDED_BY = "embedded_by"
"""The note with the embed settings that the vectors were made under."""
TRANSIENT: tuple[type[QuireError], ...] = (
    EmbedError,
    EndpointError,
    StoreBusyError,
    StoreFullError,
)
"""What a watch waits out: it may be over by the next change."""
TRANSIENT_LATER = (*TRANSIENT, ConfigError, StoreError)
"""What a watch waits out after its first run: settings that were valid are being edited."""
PERMANENT = (StoreDamagedError, StoreVersionError)


def ignore_progress(_: Progress) -> None:
    """Ignore progress reports."""


class Indexer:
    """Keeps the store of an open project in step with its files."""

    def __init__(self, project: Project, access: AccessControl) -> None:
        self._project = project
        self._access = access

    def index(
        self,
        paths: Sequence[str | os.PathLike[str]] = (),
        *,
        embed: bool = True,
        reembed: bool = False,
        history: int | None = None,
        report: Report = ignore_progress,
    ) -> IndexResult:
        """Bring the store up to date with files and folders; see `Quire.index`."""
        if history is not None and history < ALL:
            raise InputError(
                f"expected a number of commits, or -1 for all, not {history}",
                field="history",
                value=history,
            )
        root = self._project.existing_root()
        result = self._index(
            root,
            resolve_paths(root, paths),
            embed=embed,
            reembed=reembed,
            history=history,
            report=report,
        )
        rules = self._access.rules()[CONFIG]
        if not rules:
            return result
        return replace(result, notes=(*result.notes, *self._access.notes(rules)))

    def _index(
        self,
        root: Path,
        under: Sequence[str],
        *,
        embed: bool,
        reembed: bool = False,
        history: int | None = None,
        report: Report = ignore_progress,
    ) -> IndexResult:
        project = self._project
        project.settle(root)
        store, space = project.store, project.config.space
        settings = project.ingest_settings(root)
        if history is not None:
            settings = replace(settings, history=history)
        past = update_history(store, space, root, settings=settings, report=report)
        tally = files.index_files(
            store, space, root, under, settings=settings, times=past.times, report=report
        )
        embedded, notes = self._embed(embed=embed, reembed=reembed, report=report)
        with store.write(space) as writer:
            writer.set_note(INDEXED_AT, str(now()))
        status = project.status(OWNER)
        return IndexResult(
            indexed=tally.indexed,
            unchanged=tally.unchanged,
            removed=tally.removed,
            skipped=(*past.skipped, *tally.skipped),
            chunks=status.chunks,
            vectors=embedded,
            missing_vectors=status.missing_vectors,
            state_root=status.roots.state,
            notes=(*project.config.notes, *past.notes, *notes, *files.grammar_notes()),
            commits=past.commits,
        )

    def known_files(self) -> dict[str, Stamp]:
        """Return the recorded states of all files, as far as they can be read."""
        try:
            return self._project.store.stamps(self._project.config.space)
        except StoreDamagedError:
            return {}

    def read_again(self, before: Mapping[str, Stamp], model: str | None) -> list[Problem]:
        """Read the files that a repair took out of the store, and embed what lost its vector.

        Args:
            before: The recorded states of the files before the repair.
            model: The model of the vectors before the repair; None if there were none.
        """
        gone = sorted(before.keys() - self.known_files().keys())
        root = self._project.root()
        there = [path for path in gone if (root / path).is_file()]
        if there:
            self._index(root, there, embed=model is not None)
        elif model is not None and self._lacks_vectors():
            self._embed(embed=True, reembed=False, report=ignore_progress)
        again = self.known_files()
        problems = []
        for path in gone:
            if path not in again:
                problems.append(Problem("text", f"{path}: LOST; its file is gone, too"))
                continue
            same = again[path].digest == before[path].digest
            state = "unchanged" if same else "which has changed since it was indexed"
            detail = f"{path}: read again from its file, {state}"
            problems.append(Problem("text", detail, repaired=True))
        return problems

    def watch(
        self, paths: Sequence[str | os.PathLike[str]] = (), *, embed: bool = True
    ) -> Iterator[IndexResult | Failure]:
        """Index now, then again whenever files change; see `Quire.watch`."""
        root = self._project.existing_root()
        whole = resolve_paths(root, paths)
        late: list[Path] = []
        last: IndexResult | None = None
        skipped: set[Skipped] = set()
        transient = TRANSIENT
        for changed in chain([[root / part for part in whole]], files.watch_changes(root, whole)):
            under = resolve_paths(root, [*late, *changed], must_exist=False)
            try:
                result = self._index(root, under, embed=embed)
            except PERMANENT:
                raise
            except transient as error:
                late = [root / part for part in under]
                yield Failure("index", str(error))
            else:
                same = last is not None and result.state_root == last.state_root
                same = same and skipped.issuperset(result.skipped)
                if not same or result.indexed or result.removed:
                    yield result
                late, last = [], result
                skipped.update(result.skipped)
            transient = TRANSIENT_LATER

    def _embed(self, *, embed: bool, reembed: bool, report: Report) -> tuple[int, list[str]]:
        store, space = self._project.store, self._project.config.space
        settings = self._project.config.embed
        wanted = f"{settings.provider} {settings.folder} {settings.url} {settings.model}"
        settled = store.note(EMBEDDED_BY, space) == wanted and not self._lacks_vectors()
        embedder: Embedder | None = None
        if embed and (reembed or not settled):  # loading a model is slow
            try:
                embedder = self._project.embedder()
            except MissingExtraError as error:
                return 0, [f"semantic search is off: {error}"]
        if reembed:  # only now: vectors that cannot be made again must not be dropped
            with store.write(space) as writer:
                writer.drop_vectors()
        if embedder is None:
            return 0, []
        count = files.embed_missing(store, space, embedder, report)
        with store.write(space) as writer:
            writer.set_note(EMBEDDED_BY, wanted)
        return count, []

    def _lacks_vectors(self) -> bool:
        with self._project.view(OWNER) as view:
            coverage = view.coverage()
        return coverage.vectors < coverage.chunks
