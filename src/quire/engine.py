"""How does a directory become a store, and a question an answer?

The whole flow on one screen. In: walk, read, cut, write, embed (`indexing`). Out: collect and rank.
Rooms do the work; this is the only place that knows them all.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from quire import collect, config, indexing, rank
from quire.asking import QueryVectors
from quire.collect.search import LEXICAL, SEMANTIC
from quire.config import Config
from quire.contracts import Embedder
from quire.errors import InputError, MissingExtraError
from quire.project import INDEXED_AT, Project
from quire.values import (
    NO_FILTER,
    OWNER,
    Candidate,
    Filter,
    IndexResult,
    Progress,
    SearchResult,
    Viewer,
)

Report = Callable[[Progress], None]

LEAST_DEPTH = 20
"""Each ranking is asked for twice what was asked for, and at least for so much."""
EMBEDDED_BY = "embedded_by"


def _silent(_: Progress) -> None:
    """Nobody watches."""


class Quire(Project):
    """An open store: index, search, and see what is in it."""

    def __init__(self, settings: Config, *, create: bool = True) -> None:
        super().__init__(settings, create=create)
        self._vectors = QueryVectors(self.embedder)

    def index(
        self,
        paths: Sequence[str | os.PathLike[str]] = (),
        *,
        embed: bool = True,
        reembed: bool = False,
        report: Report = _silent,
    ) -> IndexResult:
        """Bring the store up to date with files and folders; without any, with the whole root."""
        root = self.root()
        return self._index(
            root, indexing.places(root, paths), embed=embed, reembed=reembed, report=report
        )

    def _index(
        self, root: Path, under: Sequence[str], *, embed: bool, reembed: bool, report: Report
    ) -> IndexResult:
        self._settle(root)
        tally = indexing.index_files(
            self.store,
            self.config.space,
            root,
            under,
            settings=self._ingest_settings(root),
            report=report,
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
            skipped=tuple(tally.skipped),
            chunks=status.chunks,
            vectors=made,
            missing_vectors=status.missing_vectors,
            state_root=status.roots.state,
            notes=tuple(notes),
        )

    def watch(
        self, paths: Sequence[str | os.PathLike[str]] = (), *, embed: bool = True
    ) -> Iterator[IndexResult]:
        """Index now, then again whenever files change; gives each result, until interrupted."""
        yield self.index(paths, embed=embed)
        root = self.root()
        for changed in indexing.changes(root, indexing.places(root, paths)):
            under = indexing.places(root, changed, must_exist=False)
            yield self._index(root, under, embed=embed, reembed=False, report=_silent)

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
        made = indexing.embed_missing(self.store, space, embedder, report)
        with self.store.write(space) as writer:
            writer.set_note(EMBEDDED_BY, wanted)
        return made, []

    def _lacking(self) -> bool:
        with self._view(OWNER) as view:
            coverage = view.coverage()
        return coverage.vectors < coverage.chunks

    def search(
        self,
        query: str,
        *,
        k: int = 10,
        viewer: Viewer | str | None = None,
        where: Filter = NO_FILTER,
        exact: bool = False,
    ) -> SearchResult:
        """Find the chunks that answer a question best, by its words and by its meaning."""
        if not query.strip():
            raise InputError("the query is empty: say what to look for")
        settings = self.config.search
        weights = {LEXICAL: settings.lexical, SEMANTIC: settings.semantic}
        depths = dict.fromkeys(weights, max(LEAST_DEPTH, 2 * k) if k > 0 else k)
        with self._view(viewer) as view:
            vector, notes = self._vectors.plan(query, view.coverage())
            found = collect.search(view, query, vector, depths, where, exact=exact)
            fused = rank.fuse(found.found, weights, settings.constant)[:k]
            chunks = view.chunks([one.hit.id for one in fused])
            roots = view.roots()
        return SearchResult(
            results=tuple(
                Candidate(chunk, one.hit.score, one.signals)
                for chunk, one in zip(chunks, fused, strict=True)
            ),
            state_root=roots.state,
            failed=found.failed,
            notes=tuple(notes),
            exact=all(hits.exact for hits in found.found.values()),
        )


def open_quire(
    path: str | os.PathLike[str] = ".",
    *,
    store: str | os.PathLike[str] | None = None,
    space: str | None = None,
    viewer: str | None = None,
    create: bool = True,
) -> Quire:
    """Open the store of the project that a directory belongs to; a new one is made if need be."""
    where = Path(path).absolute()
    file = None if store is None else Path(store).absolute()
    return Quire(config.load(where, store=file, space=space, viewer=viewer), create=create)
