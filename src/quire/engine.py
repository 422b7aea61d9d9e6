"""How does a question become an answer, and a directory a store?

The whole flow on one screen: a directory is walked, read, cut, written and embedded; a question is
collected for, ranked and answered. Rooms do the work; this is the only place that knows them all.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self

from quire import collect, config, indexing, rank
from quire.collect.search import LEXICAL, SEMANTIC
from quire.config import Config
from quire.contracts import Embedder, Store, View
from quire.embed import open_embedder
from quire.errors import EmbedError, InputError, MissingExtraError
from quire.store import open_store
from quire.values import (
    NO_FILTER,
    OWNER,
    AccessRule,
    Candidate,
    Coverage,
    Filter,
    IndexResult,
    IngestSettings,
    Problem,
    Progress,
    Proof,
    Record,
    SearchResult,
    Status,
    Viewer,
)

Report = Callable[[Progress], None]

LEAST_DEPTH = 20
"""Each ranking is asked for twice what was asked for, and at least for so much."""
COMMAND = "command"
CONFIG = "config"
INDEXED_AT = "indexed_at"
EMBEDDED_BY = "embedded_by"
ROOT = "root"
"""The note that keeps the directory that a space was indexed from."""


def _silent(_: Progress) -> None:
    """Nobody watches."""


class Quire:
    """An open store with its settings: index, search, and see what is in it."""

    def __init__(self, settings: Config, *, create: bool = True) -> None:
        self.config = settings
        self.store: Store = open_store(settings.store, create=create)
        self._embedder: Embedder | None = None
        if settings.file is not None and self._is_home():
            self._sync_access()  # a right that was taken back must not outlive the next question

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the store and let go of the model."""
        if self._embedder is not None:
            self._embedder.close()
            self._embedder = None
        self.store.close()

    # --- in ----------------------------------------------------------------------------------

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
        if reembed:
            with self.store.write(space) as writer:
                writer.drop_vectors()
        if not embed or settings.provider == "none":
            return 0, []
        wanted = f"{settings.provider} {settings.folder} {settings.url} {settings.model}"
        if self.store.note(EMBEDDED_BY, space) == wanted and not self._lacking():
            return 0, []  # loading a model takes longer than looking
        try:
            embedder = self.embedder()
        except MissingExtraError as error:
            return 0, [f"semantic search is off: {error}"]
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

    def embedder(self) -> Embedder | None:
        """Give the configured embedder, loaded when it is first needed."""
        if self._embedder is None:
            self._embedder = open_embedder(self.config.embed)
        return self._embedder

    # --- out ---------------------------------------------------------------------------------

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
        with self._view(viewer) as view:
            roots, coverage = view.roots(), view.coverage()
            vector, notes = self._query_vector(query, coverage)
            depth = max(LEAST_DEPTH, 2 * k)
            found = collect.search(view, query, vector, depth, where, exact=exact)
            weights = {LEXICAL: settings.lexical, SEMANTIC: settings.semantic}
            fused = rank.fuse(found.found, weights, settings.constant)[:k]
            chunks = view.chunks([one.hit.id for one in fused])
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

    def _query_vector(
        self, query: str, coverage: Coverage
    ) -> tuple[Callable[[], bytes] | None, list[str]]:
        """Say how the question's vector is made, if there is anything to compare it with."""
        if not coverage.vectors:
            off = "semantic search is off: nothing is embedded yet (`quire index` embeds)"
            return None, [off] if coverage.chunks else []
        missing = coverage.chunks - coverage.vectors
        lag = (
            f"{missing} of {coverage.chunks} chunks have no vector yet; "
            "`quire index` goes on with them"
        )

        def made() -> bytes:
            embedder = self.embedder()
            if embedder is None:
                raise EmbedError("[embed] provider is none, but the store holds vectors")
            if embedder.model != coverage.model:
                raise EmbedError(
                    f"the store holds vectors of {coverage.model}, the configured model is "
                    f"{embedder.model}; run `quire index --reembed`, or set [embed] back"
                )
            return embedder.embed_query(query)

        return made, [lag] if missing else []

    def status(self, viewer: Viewer | str | None = None) -> Status:
        """Tell what the store holds, as far as a viewer may know."""
        with self._view(viewer) as view:
            return view.status()

    def indexed_at(self) -> int | None:
        """Tell when `index` last ran to its end, in seconds since 1970."""
        at = self.store.note(INDEXED_AT, self.config.space)
        return None if at is None else int(at)

    def stale(self) -> dict[str, int]:
        """Count the files that are new, changed or gone since the last `index`."""
        root = self.root()
        return indexing.stale(self.store, self.config.space, root, self._ingest_settings(root))

    def records(
        self, where: Filter = NO_FILTER, viewer: Viewer | str | None = None
    ) -> list[Record]:
        """List what was ingested."""
        with self._view(viewer) as view:
            return list(view.listing(where))

    def prove(self, chunk_id: str, viewer: Viewer | str | None = None) -> Proof:
        """Show that a chunk is under the viewer's content root."""
        with self._view(viewer) as view:
            return view.prove(chunk_id)

    # --- upkeep ------------------------------------------------------------------------------

    def purge(self, paths: Sequence[str | os.PathLike[str]]) -> list[str]:
        """Delete files from the store for good; gives the paths that were deleted."""
        under = indexing.places(self.root(), paths, must_exist=False)
        with self._view(OWNER) as view:
            found = [
                record
                for record in view.listing()
                if any(indexing.is_under(record.path, part) for part in under)
            ]
        self.store.purge([record.id for record in found], self.config.space)
        return [record.path for record in found]

    def still_there(self, paths: Sequence[str]) -> list[str]:
        """Tell which of these paths of the space exist on disk."""
        root = self.root()
        return [path for path in paths if os.path.lexists(root / path)]

    def doctor(self, *, repair: bool = False) -> list[Problem]:
        """Check the file, the roots and the model; repair what can be derived again."""
        problems = self.store.check(repair=repair)
        try:
            embedder = self.embedder()
        except (EmbedError, MissingExtraError) as error:
            return [*problems, Problem("model", str(error))]
        held = self.store.model(self.config.space)
        if embedder is not None and held not in {None, embedder.model}:
            detail = f"the store holds vectors of {held}, the configured model is {embedder.model}"
            problems.append(Problem("model", detail))
        return problems

    # --- access ------------------------------------------------------------------------------

    def rules(self) -> dict[str, tuple[AccessRule, ...]]:
        """Tell the access rules: those of quire.toml, then those given by command."""
        return self.store.rules(self.config.space)

    def groups(self) -> dict[str, dict[str, tuple[str, ...]]]:
        """Tell the groups: those of quire.toml, then those given by command."""
        return self.store.groups(self.config.space)

    def set_rules(self, rules: Sequence[AccessRule]) -> None:
        """Replace the access rules that were given by command; effective at once."""
        with self.store.write(self.config.space) as writer:
            writer.set_rules(COMMAND, rules)

    def set_groups(self, groups: Mapping[str, Sequence[str]]) -> None:
        """Replace the groups that were given by command; effective at once."""
        with self.store.write(self.config.space) as writer:
            writer.set_groups(COMMAND, groups)

    def _sync_access(self) -> None:
        """Let the rules of quire.toml take effect, if they are not in force already."""
        space, wanted = self.config.space, self.config
        with self.store.write(space) as writer:
            writer.set_default(wanted.access_default)
            writer.set_rules(CONFIG, wanted.rules)
            writer.set_groups(CONFIG, wanted.groups)

    # --- places ------------------------------------------------------------------------------

    def root(self) -> Path:
        """Tell which directory the space's paths are relative to."""
        held = self.store.note(ROOT, self.config.space)
        if held is None or self.config.own_store or not Path(held).is_dir():
            return self.config.root
        return Path(held)

    def _is_home(self) -> bool:
        """Tell whether the settings at hand are those of the indexed directory itself."""
        return self.store.note(ROOT, self.config.space) == str(self.config.root)

    def _settle(self, root: Path) -> None:
        if self.store.note(ROOT, self.config.space) != str(root):
            with self.store.write(self.config.space) as writer:
                writer.set_note(ROOT, str(root))
        if root != self.config.root:  # the store is about another directory: its settings hold
            self.config = config.load(
                root,
                store=self.config.store,
                space=self.config.space,
                viewer=self.config.viewer,
            )
        self._sync_access()

    def _ingest_settings(self, root: Path) -> IngestSettings:
        """Add to what is ignored: the store must not index itself."""
        settings, store = self.config.ingest, self.config.store
        if not store.is_relative_to(root):
            return settings
        own = store.relative_to(root).as_posix()
        files = tuple(f"/{own}{end}" for end in ("", "-wal", "-shm", "-journal"))
        return replace(settings, ignore=(*settings.ignore, *files))

    def _view(self, viewer: Viewer | str | None = None) -> AbstractContextManager[View]:
        asked = self.config.viewer if viewer is None else viewer
        if asked is None:
            asked = OWNER
        elif isinstance(asked, str):
            if not asked:
                raise InputError("the viewer's name is empty: name someone, or leave it out")
            asked = Viewer(asked)
        return self.store.view(asked, self.config.space)


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
