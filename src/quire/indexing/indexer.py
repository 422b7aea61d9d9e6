"""Indexing: bring a store up to date with the files and the git history of its directory.

One run follows git (`git_history`), walks, reads, splits and writes the files (`files`), then
embeds whatever has no vector yet. A watch repeats it whenever files change.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path

from quire.core.paths import is_under
from quire.core.protocols import Embedder, Writer
from quire.core.types import (
    ALL,
    OWNER,
    Failure,
    IndexResult,
    Problem,
    Skipped,
    Stamp,
)
from quire.core.types.blocks import IMPORT_FOLDER
from quire.embed.model_files import is_outdated
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
    StoreInterruptedError,
    StoreVersionError,
)
from quire.indexing import files
from quire.indexing.access import AccessControl
from quire.indexing.git_history import update_history
from quire.indexing.imported_pages import ImportedPages
from quire.indexing.progress import Report, ignore_progress
from quire.indexing.project import CONFIG, EMBEDDED_BY, INDEXED_AT, REEMBED_FOR, Project
from quire.indexing.put_documents import remove_expired
from quire.indexing.workers import INLINE, Workers, WorkerSettings, open_workers
from quire.ingest.paths import resolve_paths
from quire.ingest.plugged import reader_problems
from quire.system import events, retry
from quire.system.clock import now

TRANSIENT: tuple[type[QuireError], ...] = (
    EmbedError,
    EndpointError,
    StoreBusyError,
    StoreFullError,
    StoreInterruptedError,
)
"""What a watch waits out: it may be over by the next change."""
TRANSIENT_LATER = (*TRANSIENT, ConfigError, StoreError)
"""What a watch waits out after its first run: settings that were valid are being edited."""
PERMANENT = (StoreDamagedError, StoreVersionError)


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
        on: str = INLINE,
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
            on=on,
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
        on: str = INLINE,
        report: Report = ignore_progress,
    ) -> IndexResult:
        with events.timed("index") as facts, closing(self._open_workers(on)) as workers:
            result = self._index_now(
                root,
                under,
                embed=embed,
                reembed=reembed,
                history=history,
                workers=workers,
                report=report,
            )
            facts.update(
                indexed=result.indexed,
                unchanged=result.unchanged,
                removed=result.removed,
                skipped=len(result.skipped),
                commits=result.commits,
                chunks=result.chunks,
                vectors=result.vectors,
                missing_vectors=result.missing_vectors,
                state_root=result.state_root,
            )
        return result

    def _index_now(
        self,
        root: Path,
        under: Sequence[str],
        *,
        embed: bool,
        reembed: bool,
        history: int | None,
        workers: Workers,
        report: Report,
    ) -> IndexResult:
        project = self._project
        project.settle(root)
        store, space = project.store, project.config.space
        settings = project.ingest_settings(root)
        if history is not None:
            settings = replace(settings, history=history)
        past = update_history(store, space, root, settings=settings, report=report)
        tally = files.index_files(
            store,
            space,
            root,
            under,
            settings=settings,
            times=past.times,
            workers=workers,
            report=report,
        )
        tally.add(ImportedPages(project).update(under, report))
        expired = remove_expired(project, now())
        embedded, notes = self._embed(embed=embed, reembed=reembed, workers=workers, report=report)
        self._prune_vectors()
        retry.write(store, space, lambda writer: writer.set_note(INDEXED_AT, str(now())))
        status = project.status(OWNER)
        behind = store.index_problem(space)
        return IndexResult(
            indexed=tally.indexed,
            unchanged=tally.unchanged,
            removed=tally.removed + expired,
            skipped=(*past.skipped, *tally.skipped),
            chunks=status.chunks,
            vectors=embedded,
            missing_vectors=status.missing_vectors,
            state_root=status.roots.state,
            notes=(
                *project.config.notes,
                *past.notes,
                *notes,
                *files.grammar_notes(),
                *reader_problems(settings.without),
                *((behind,) if behind else ()),
            ),
            commits=past.commits,
            redacted=(*past.redacted, *tally.redacted),
        )

    def embed_missing(self, report: Report = ignore_progress) -> int:
        """Embed every text without a vector; return how many were embedded."""
        self._project.refresh()
        return self._embed_missing(report)

    def _embed_missing(self, report: Report) -> int:
        with closing(self._open_workers()) as workers:
            count, _ = self._embed(embed=True, reembed=False, workers=workers, report=report)
        return count

    def _open_workers(self, on: str = INLINE) -> Workers:
        project = self._project
        if on != INLINE and project.own.embedder is not None:
            raise InputError(
                "workers cannot use the embedder of this program",
                field="on",
                value=on,
                hint="leave `on` out, or set the embedder by `[embed]` in the settings",
            )
        settings = WorkerSettings(project.config.embed, tuple(project.config.plugins.disable))
        return open_workers(on, settings, project.embedder)

    def _prune_vectors(self) -> None:
        """Delete vectors of texts that are gone if there are too many: the older ones of them."""
        keep = self._project.config.embed.keep
        space = self._project.config.space
        if keep != ALL and self._project.store.old_vectors(space) > keep:
            self._project.store.prune_vectors(keep // 2, space)

    def known_files(self) -> dict[str, Stamp]:
        """Return the recorded states of all files, as far as they can be read."""
        try:
            stamps = self._project.store.stamps(self._project.config.space)
        except StoreDamagedError:
            return {}
        return {path: stamp for path, stamp in stamps.items() if not is_under(path, IMPORT_FOLDER)}

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
            self._embed_missing(ignore_progress)
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

    def _embed(
        self, *, embed: bool, reembed: bool, workers: Workers, report: Report
    ) -> tuple[int, list[str]]:
        project = self._project
        store, space = project.store, project.config.space
        wanted = project.embed_settings_key()
        former = store.model(space)
        if reembed and former is not None:  # whoever goes on with it sees that it was asked for
            if embed:
                self._refuse_broken_model()
            retry.write(store, space, lambda writer: writer.set_note(REEMBED_FOR, wanted))
        again = project.is_reembedding()
        settled = store.note(EMBEDDED_BY, space) == wanted and not self._lacks_vectors()
        settled = settled and not store.note(REEMBED_FOR, space)
        if not embed or (settled and not again):  # loading a model is slow
            return 0, []
        try:
            embedder = project.embedder()
        except MissingExtraError as error:
            return 0, [f"semantic search is off: {error}"]
        if embedder is None:
            if reembed:
                self._forget_vectors()
            return 0, []
        if again:
            return self._embed_again(embedder, wanted, workers, report)
        count = files.embed_missing(store, space, embedder.model, workers, report)

        def settle(writer: Writer) -> None:
            writer.set_note(EMBEDDED_BY, wanted)
            writer.set_note(REEMBED_FOR, "")
            writer.drop_waiting_vectors()

        retry.write(store, space, settle)
        return count, []

    def _refuse_broken_model(self) -> None:
        """Raise if the model cannot be opened, before anything says that it replaces another."""
        with suppress(MissingExtraError):  # then nothing is embedded, and a note says so
            self._project.embedder()

    def _embed_again(
        self, embedder: Embedder, wanted: str, workers: Workers, report: Report
    ) -> tuple[int, list[str]]:
        """Make all vectors anew; the old ones answer until the last one is made."""
        store, space = self._project.store, self._project.config.space
        former = store.model(space)
        old = is_outdated(self._project.config.embed, former)
        notes = [f"everything is embedded again: {former} was the model of an older release"]
        if store.note(REEMBED_FOR, space) != wanted:
            retry.write(store, space, lambda writer: writer.set_note(REEMBED_FOR, wanted))
        count = 0
        while self._project.is_reembedding():  # else another process has finished it
            count += files.embed_waiting(
                store,
                space,
                embedder.model,
                workers,
                report,
                wanted=self._project.is_reembedding,
            )
            if retry.write(store, space, partial(self._switch, model=embedder.model, by=wanted)):
                break
        return count, notes if old else []

    def _switch(self, writer: Writer, model: str, by: str) -> bool:
        """Put the waiting vectors in the place of the others, if all are made; tell whether."""
        # Nobody else may have switched since, for the waiting vectors would be gone.
        if not self._project.is_reembedding() or not writer.switch_vectors(model):
            return False
        writer.set_note(EMBEDDED_BY, by)
        writer.set_note(REEMBED_FOR, "")
        return True

    def _forget_vectors(self) -> None:
        """Delete all vectors: they are to be made again, and there is no model any more."""

        def forget(writer: Writer) -> None:
            writer.drop_vectors()
            writer.drop_waiting_vectors()
            writer.set_note(REEMBED_FOR, "")

        retry.write(self._project.store, self._project.config.space, forget)

    def _lacks_vectors(self) -> bool:
        project = self._project
        coverage = retry.read(project.store, project.config.space, lambda view: view.coverage())
        return coverage.vectors < coverage.chunks
