"""How is a store kept up to date?

The way in, all of it: follow git (`history`), walk, read, cut, write, embed (`indexing`); once, or
again whenever files change.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

from quire.core.protocols import Embedder
from quire.core.types import ALL, OWNER, Failure, IndexResult, Progress, Skipped
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
from quire.indexing.git_history import follow
from quire.indexing.project import CONFIG, INDEXED_AT, Project
from quire.ingest.paths import relative_paths

Report = Callable[[Progress], None]

EMBEDDED_BY = "embedded_by"
MAY_PASS: tuple[type[QuireError], ...] = (EmbedError, EndpointError, StoreBusyError, StoreFullError)
"""What a watch waits out: it may be over by the next change."""
MAY_BE_MENDED = (*MAY_PASS, ConfigError, StoreError)
"""What it waits out once it runs: settings that were well before are being edited."""
LASTING = (StoreDamagedError, StoreVersionError)


def _silent(_: Progress) -> None:
    """Nobody watches."""


class Keeping(Project):
    """A project whose store follows its files."""

    def index(
        self,
        paths: Sequence[str | os.PathLike[str]] = (),
        *,
        embed: bool = True,
        reembed: bool = False,
        history: int | None = None,
        report: Report = _silent,
    ) -> IndexResult:
        """Bring the store up to date with files and folders; without any, with the whole root.

        `history` limits git's commits for this time (-1: no limit); None: as the settings say.
        """
        if history is not None and history < ALL:
            raise InputError(f"history is {history}: give a number of commits, or -1 for all")
        root = self._directory()
        result = self._index(
            root,
            relative_paths(root, paths),
            embed=embed,
            reembed=reembed,
            history=history,
            report=report,
        )
        rules = self.rules()[CONFIG]
        return replace(result, notes=(*result.notes, *self.notes_on(rules))) if rules else result

    def _index(
        self,
        root: Path,
        under: Sequence[str],
        *,
        embed: bool,
        reembed: bool = False,
        history: int | None = None,
        report: Report = _silent,
    ) -> IndexResult:
        self._settle(root)
        space, settings = self.config.space, self._ingest_settings(root)
        if history is not None:
            settings = replace(settings, history=history)
        past = follow(self.store, space, root, settings=settings, report=report)
        tally = files.index_files(
            self.store, space, root, under, settings=settings, times=past.times, report=report
        )
        made, notes = self._embed(embed=embed, reembed=reembed, report=report)
        with self.store.write(self.config.space) as writer:
            writer.set_note(INDEXED_AT, str(int(time.time())))
        with self._view(OWNER) as view:
            status = view.status()
        return IndexResult(
            indexed=tally.indexed,
            unchanged=tally.unchanged,
            removed=tally.removed,
            skipped=(*past.skipped, *tally.skipped),
            chunks=status.chunks,
            vectors=made,
            missing_vectors=status.missing_vectors,
            state_root=status.roots.state,
            notes=(*past.notes, *notes, *files.notes_on_grammars()),
            commits=past.commits,
        )

    def watch(
        self, paths: Sequence[str | os.PathLike[str]] = (), *, embed: bool = True
    ) -> Iterator[IndexResult | Failure]:
        """Index now, then again whenever files change; gives what is new, until interrupted.

        A run that fails is told as a `Failure`; the next change tries again, with what it missed.
        """
        root = self._directory()
        whole = relative_paths(root, paths)
        late: list[Path] = []
        last: IndexResult | None = None
        skipped: set[Skipped] = set()
        awaited = MAY_PASS
        for changed in chain([[root / part for part in whole]], files.changes(root, whole)):
            under = relative_paths(root, [*late, *changed], must_exist=False)
            try:
                result = self._index(root, under, embed=embed)
            except LASTING:
                raise
            except awaited as error:
                late = [root / part for part in under]
                yield Failure("index", str(error))
            else:
                same = last is not None and result.state_root == last.state_root
                same = same and skipped.issuperset(result.skipped)
                if not same or result.indexed or result.removed:
                    yield result
                late, last = [], result
                skipped.update(result.skipped)
            awaited = MAY_BE_MENDED

    def _embed(self, *, embed: bool, reembed: bool, report: Report) -> tuple[int, list[str]]:
        space, settings = self.config.space, self.config.embed
        wanted = f"{settings.provider} {settings.folder} {settings.url} {settings.model}"
        settled = self.store.note(EMBEDDED_BY, space) == wanted and not self._lacking()
        embedder: Embedder | None = None
        if embed and (reembed or not settled):  # loading a model takes longer than looking
            try:
                embedder = self.embedder()
            except MissingExtraError as error:
                return 0, [f"semantic search is off: {error}"]
        if reembed:  # only now: what cannot be made anew must not be forgotten
            with self.store.write(space) as writer:
                writer.drop_vectors()
        if embedder is None:
            return 0, []
        made = files.embed_missing(self.store, space, embedder, report)
        with self.store.write(space) as writer:
            writer.set_note(EMBEDDED_BY, wanted)
        return made, []

    def _lacking(self) -> bool:
        with self._view(OWNER) as view:
            coverage = view.coverage()
        return coverage.vectors < coverage.chunks
