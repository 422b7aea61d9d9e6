"""The engine: a directory becomes a store, a query becomes a context.

`Quire` is all that an open store can do. Indexing: follow git, walk, read, split, write, embed
(`indexing`). Assembling: retrieve, rank, fit, render, prove (`runner`, `pipeline`, `receipts`).
Auditing: verify, replay, why not. What belongs to one domain is behind an attribute, as in
`quire.memories` or `quire.access`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self, Unpack

from quire import config, receipts
from quire.config import Config
from quire.core import servers
from quire.core.aio import make_async
from quire.core.lru import LRUCache
from quire.core.protocols import Counter, Embedder, Judge, Reranker, Store, TextWriter
from quire.core.types import (
    OWNER,
    CacheUse,
    Context,
    Failure,
    Filters,
    IndexResult,
    Options,
    Problem,
    Recipe,
    Roots,
    SearchResult,
    Situation,
    Status,
    Verification,
    Viewer,
    WriteTask,
)
from quire.errors import InputError
from quire.indexing import audit, keyring
from quire.indexing.access import AccessControl
from quire.indexing.audit import AuditLog
from quire.indexing.documents import Documents
from quire.indexing.indexer import Indexer
from quire.indexing.plugins import NO_PARTS, OwnParts, check_parts
from quire.indexing.progress import Report, ignore_progress
from quire.indexing.project import Project
from quire.indexing.put_documents import DocumentWriter
from quire.indexing.workers import INLINE
from quire.ingest.paths import resolve_paths
from quire.memory.authoring import Authoring
from quire.memory.experience_service import Experiences
from quire.memory.feedback_service import FeedbackLog
from quire.memory.memory_service import Memories
from quire.memory.principle_service import Principles
from quire.pipeline import replay
from quire.pipeline.codemap import CodeMap, map_definitions
from quire.pipeline.draft import Draft, start_draft
from quire.pipeline.own_words import find_altered_words
from quire.pipeline.query_vectors import QueryVectors
from quire.pipeline.request import open_counter, resolve_search
from quire.pipeline.retrieve import retrieve
from quire.pipeline.validate import check_tokens, refuse_brought
from quire.pipeline.why_not import SourceRanks, WhyNot, chunks_at, source_ranks, why_not_all
from quire.recipes.agent import AgentContexts
from quire.recipes.inspection import Inspection
from quire.recipes.session import Session, check_format
from quire.recipes.situation import ContextRules
from quire.recipes.workspace import WorkspaceContexts
from quire.rules.evaluator import RuleEvaluator
from quire.rules.verdict_file import VerdictFile
from quire.runner import RequestRunner, context_bytes, without_expired
from quire.workspace.service import Blocks

OwnEmbed = (
    Embedder
    | Callable[[list[str]], Sequence[Sequence[float]]]
    | tuple[str, Callable[[list[str]], Sequence[Sequence[float]]]]
)
OwnRerank = (
    Reranker
    | Callable[[str, list[str]], Sequence[float]]
    | tuple[str, Callable[[str, list[str]], Sequence[float]]]
)
OwnCount = Counter | Callable[[str], int] | tuple[str, Callable[[str], int]]
OwnJudging = Judge | Callable[[str, Situation], bool] | tuple[str, Callable[[str, Situation], bool]]
OwnWriting = TextWriter | Callable[[WriteTask], str] | tuple[str, Callable[[WriteTask], str]]
CACHED_CONTEXTS = 64
CACHED_CONTEXT_BYTES = 64 << 20
"""What all of them together may take: one with 64,000 tokens takes some 6 MiB."""
MAP_BUDGET = 1024


class Quire:
    """An open store: index, search, assemble, audit.

    Close it when done, or use it in a `with` statement. It may be used by several threads.
    """

    documents: Documents
    """The records in the store."""
    memories: Memories
    experiences: Experiences
    principles: Principles
    """What experiences have in common; specification 4 calls them values."""
    blocks: Blocks
    """The pages and blocks of a workspace."""
    access: AccessControl
    """Who may read what."""
    rules: ContextRules
    """Context files and the rules in them."""
    feedback: FeedbackLog
    """Which pieces of contexts helped."""
    audit: AuditLog
    """Which contexts and other texts were handed out, to whom."""
    agent: AgentContexts
    """Pages for agents (specification 4)."""
    workspace: WorkspaceContexts
    """Contexts of a workspace (specification 3)."""
    inspection: Inspection
    """Other budgets, and the time of each step."""

    def __init__(self, settings: Config, *, create: bool = True, own: OwnParts = NO_PARTS) -> None:
        project = self._project = Project(settings, create=create, own=own)
        self._vectors = QueryVectors(
            project.embedder,
            wanted=lambda: project.config.embed.provider != "none",
            former=project,
        )
        self._rule_evaluator = self._open_evaluator(project.verdict_file)
        self._contexts: LRUCache[tuple[object, ...], Context] = LRUCache(
            CACHED_CONTEXTS, CACHED_CONTEXT_BYTES, context_bytes
        )
        self._owns_store = True
        self._attach(project)

    def _attach(self, project: Project) -> None:
        """Make the services of an open project."""
        authoring = Authoring(project)
        self._project = project
        self._runner = RequestRunner(
            project, self._vectors, self._rule_evaluator, self._contexts, self._cache_use
        )
        self.access = AccessControl(project)
        self._indexer = Indexer(project, self.access)
        self.documents = Documents(project, DocumentWriter(authoring, self._indexer.embed_missing))
        self.memories = Memories(authoring)
        self.experiences = Experiences(authoring)
        self.principles = Principles(authoring)
        self.blocks = Blocks(authoring)
        self.feedback = FeedbackLog(authoring)
        self.audit = project.audit
        self.rules = ContextRules(project, self.assemble)
        self.agent = AgentContexts(project, self.assemble)
        self.workspace = WorkspaceContexts(project, self.assemble)
        self.inspection = Inspection(project, self._runner.resolve, self._runner.retrieve)

    def for_viewer(self, viewer: Viewer | str) -> Quire:
        """Return the same open store, read and written as another viewer unless a call says so.

        It shares the store, the models and the caches, and is closed with this one.
        """
        bound = copy(self)
        bound._attach(self._project.for_viewer(viewer))  # noqa: SLF001 - of the same class
        bound._owns_store = False  # noqa: SLF001 - of the same class
        return bound

    def _open_evaluator(
        self, verdict_file: Callable[[], VerdictFile | None] = lambda: None
    ) -> RuleEvaluator:
        project = self._project
        return RuleEvaluator(
            project.open_judge,
            lambda: (project.config.judge, project.config.embed),
            verdict_file,
        )

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
        """Close the store and the models."""
        if not self._owns_store:
            return
        self._project.cache_use.save(self._cache_use())
        self._rule_evaluator.close()
        self._project.close()

    @property
    def config(self) -> Config:
        """The settings; what is set here holds until quire.toml is edited."""
        return self._project.config

    @config.setter
    def config(self, settings: Config) -> None:
        self._project.config = settings

    @property
    def store(self) -> Store:
        """The store beneath."""
        return self._project.store

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know of the settings and the store, such as what is ignored."""
        return (*self._project.notes, *self.config.notes)

    @property
    def viewer(self) -> Viewer:
        """Who reads and writes unless a call says otherwise."""
        return self._project.resolve_viewer(None)

    def root(self) -> Path:
        """Return the directory that the store is about, to which its paths are relative."""
        return self._project.root()

    def embedder(self) -> Embedder | None:
        """Return the configured embedder, loaded by the first caller; None if there is none."""
        return self._project.embedder()

    # --- store ---------------------------------------------------------------------------------

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
        """Bring the store up to date with files and folders, or with the whole directory.

        Only files that changed are read again; files that are gone are removed.

        Args:
            paths: The files and folders to index; none for the whole directory.
            embed: Whether to embed what has no vector yet.
            reembed: Make all vectors again. The old ones answer until the last one is made; without
                `embed`, the next run that embeds makes them.
            history: How many git commits to keep (-1 for all); None for what the settings say.
            on: Where files are read and texts embedded: `inline` in this process, `processes:4` in
                processes of this machine, `ray` or `ray://HOST:PORT` on a Ray cluster.
            report: Called with the progress.
        """
        return self._indexer.index(
            paths, embed=embed, reembed=reembed, history=history, on=on, report=report
        )

    def watch(
        self, paths: Sequence[str | os.PathLike[str]] = (), *, embed: bool = True
    ) -> Iterator[IndexResult | Failure]:
        """Index now, then again whenever files change; yield what is new, until interrupted.

        A run that fails yields a `Failure`; the next change tries again, with what it missed.
        """
        return self._indexer.watch(paths, embed=embed)

    def embed_missing(self, report: Report = ignore_progress) -> int:
        """Embed every text without a vector, and read no file; return how many were embedded."""
        return self._indexer.embed_missing(report)

    def status(self, viewer: Viewer | str | None = None) -> Status:
        """Summarize what the store holds, as far as a viewer may know."""
        status = self._project.status(viewer)
        if not self._project.resolve_viewer(viewer).owner:
            return status
        return replace(status, caches=self._project.cache_use.total(self._cache_use()))

    def roots(self, viewer: Viewer | str | None = None) -> Roots:
        """Return the hashes of everything that a viewer may read, as the store is now."""
        with self._project.view(viewer) as view:
            return view.roots()

    def _cache_use(self) -> CacheUse:
        """Count how often this process found answers in a cache."""
        return CacheUse(
            contexts=self._contexts.count,
            searches=self.store.search_count,
            query_vectors=self._vectors.count,
            verdicts=self._rule_evaluator.count,
        )

    def doctor(self, *, repair: bool = False, prune: bool = False) -> list[Problem]:
        """Check the file, the roots and the model.

        Args:
            prune: Delete the vectors of texts that are gone and the kept verdicts, and give the
                room back. Nothing that is in use is deleted, nor anything that a user wrote.
            repair: Build again what can be derived, keep what can still be read of a damaged file,
                and read files again whose texts are damaged. What is lost is named.
        """
        files = self._indexer.known_files() if repair else {}
        model = self.store.model(self.config.space)
        problems = self._project.doctor(repair=repair)
        if repair and problems:
            problems += self._indexer.read_again(files, model)
        if prune and all(problem.repaired for problem in problems):
            problems.append(self._prune())
        return problems

    def _prune(self) -> Problem:
        before = self.status(OWNER)
        self.documents.remove_expired()
        pruned = self._project.prune()
        self._rule_evaluator.forget()
        after = self.status(OWNER)
        detail = (
            f"{pruned} vectors of texts that are gone were deleted, and the kept verdicts; "
            f"the store has {after.bytes} bytes, before {before.bytes}"
        )
        return Problem("disk", detail, repaired=True)

    def purge(self, paths: Sequence[str | os.PathLike[str]]) -> list[str]:
        """Delete files from the store for good; return the paths that were deleted."""
        self._rule_evaluator.forget()  # the reasons of verdicts may quote what is deleted
        return self._project.purge(paths)

    # --- queries -------------------------------------------------------------------------------

    def search(
        self,
        query: str,
        *,
        k: int = 10,
        viewer: Viewer | str | None = None,
        exact: bool = False,
        refresh: bool = True,
        **filters: Unpack[Filters],
    ) -> SearchResult:
        """Find the chunks that answer a query best, by its words and by its meaning.

        Files of hits that changed on disk are read again first, if the viewer is the owner; else
        the notes name them.

        Args:
            query: What to look for.
            k: How many hits.
            viewer: Who reads; None for the configured viewer, or the owner.
            exact: Compare every vector, however many there are.
            refresh: Whether files that changed may be read again.
            **filters: Only these `paths` (globs, written as in .gitignore), these `kinds`
                (`document`, `code`, `conversation`, `commit`, `memory`, ...), and what was modified
                `since` and `until` a date (`2026-01-31`, or seconds since 1970), and what passes
                `where`: a condition on metadata (`team = "north" and priority >= 3`, or
                `{"team": "north", "priority": {"$gte": 3}}`), or all filters as one `Filter`.
        """
        options = {**filters, "viewer": viewer, "exact": exact, "refresh": refresh}
        request = resolve_search(query, k, options, self._project.own.counter)
        return self._runner.search(request)

    search_async = make_async(search)

    def assemble(self, query: str, **options: Unpack[Options]) -> Context:
        """Assemble one context for a query: within the budget, with sources and a receipt.

        Quoted files that changed on disk are read again first, if the viewer is the owner and
        `refresh` is not False; else the context says which they are.
        """
        return self._runner.assemble(self._runner.resolve(query, options), check=True)

    assemble_async = make_async(assemble)

    def session(
        self,
        *,
        fresh: int | None = None,
        **options: Unpack[Options],
    ) -> Session:
        """Start a session: contexts of a conversation whose beginning stays the same.

        Args:
            fresh: The most tokens that a turn adds; None for an eighth of the budget. The first
                turn may fill half of it.
            **options: The options of all turns, as for `assemble`. `budget` is the most tokens of
                the whole text (8000), of which nothing is reserved.
        """
        check_format(self._runner.resolve("session", options).recipe.render.format)
        return Session(
            self._project,
            self._runner.freshness,
            self._runner.assemble_turn,
            options,
            filter_now=partial(self._runner.filter_now, options),
            fresh=fresh,
        )

    def explain(self, query: str, **options: Unpack[Options]) -> Context:
        """Assemble, even where nothing fits; `decisions` says what became of each candidate."""
        return self._runner.assemble(
            self._runner.resolve(query, {**options, "allow_empty": True}), check=True
        )

    def map(
        self,
        paths: Sequence[str | os.PathLike[str]] = (),
        *,
        budget: int = MAP_BUDGET,
        model: str | None = None,
        viewer: Viewer | str | None = None,
    ) -> CodeMap:
        """Map the most used definitions below some paths, or of the whole directory."""
        check_tokens("budget", budget)
        under = resolve_paths(self.root(), paths, must_exist=False)
        with self._project.view(viewer) as view:
            counter = open_counter(model, self._project.own.counter)
            result, shown = map_definitions(view, under, budget, counter)
        self.audit.disclose(view.viewer, "map", records=shown)
        return result

    # --- audit -------------------------------------------------------------------------------

    def verify(
        self,
        receipt: Mapping[str, Any],
        context: str | None = None,
        viewer: Viewer | str | None = None,
        *,
        signature: Mapping[str, Any] | None = None,
        key: bytes | str | None = None,
    ) -> Verification:
        """Check a receipt against its context, this store and its signature.

        The page is rendered again from the texts in the store and compared to the byte. The result
        says what was checked, what was not and why, and what is wrong.

        Args:
            receipt: The receipt, as it was written.
            context: The text that it is of; None: only its hash is compared.
            viewer: Who it was made for; None for the configured viewer, or the owner.
            signature: The signature that came with it (`sign`), if one did.
            key: The public key that must have signed it, as bytes or hexadecimal digits.
        """
        try:
            receipts.check(receipt)
        except InputError as error:
            return Verification((str(error),))
        if receipts.is_brought(receipt):  # of which no store knows anything
            return audit.verify_receipt(receipt, context, signature=signature, key=key)
        counter = self._project.own.counter
        with self._project.view(viewer) as view:
            evidence = replay.gather_evidence(view, receipt, self._rule_evaluator, counter)
            return audit.verify_receipt(
                receipt,
                context,
                signature=signature,
                key=key,
                store=evidence,
                own_counter=counter,
            )

    @staticmethod
    def sign(receipt: Mapping[str, Any]) -> dict[str, Any]:
        """Sign a receipt with the user's key, which is made on first use; return the signature."""
        receipts.check(receipt)
        return keyring.sign_receipt(receipt)

    def replay(
        self,
        receipt: Mapping[str, Any],
        viewer: Viewer | str | None = None,
        *,
        keep_failures: bool = False,
        ask_models: bool = False,
    ) -> tuple[Context, list[str]]:
        """Run a receipt's request again; return the context and what differs.

        The vectors of queries are made again and compared. The verdicts of a judge, the summaries
        of a writer and the scores of a reranker are taken from the receipt: asked again, they may
        answer otherwise.
        The notes of the context name what was taken from the receipt.

        Args:
            receipt: The receipt, as it was written.
            viewer: Who it was made for; None for the configured viewer, or the owner.
            keep_failures: Let the sources fail again that failed then, without asking them.
            ask_models: Ask the judge, the writer and the reranker again as well.
        """
        request = replay.resolve_receipt(
            receipt,
            viewer,
            keep_failures=keep_failures,
            own_counter=self._project.own.counter,
        )
        refuse_brought(request.recipe)
        asked = replace(request, recorded=None) if ask_models else request
        evaluator = self._open_evaluator() if ask_models else self._rule_evaluator
        try:
            context = self._runner.assemble(asked, fresh=True, evaluator=evaluator)
        finally:
            if ask_models:  # it knew no verdict
                evaluator.close()
        altered = receipts.verify(receipt, request.counter)
        with self._project.view(viewer) as view:
            steered, notes = replay.compare_vectors(request, view.coverage(), self._vectors)
        notes += [] if ask_models else replay.taken_from_receipt(receipt)
        words = find_altered_words(request.recipe, request.request)
        if receipts.read(receipt)["pipeline"] < context.receipt["pipeline"]:
            notes += words  # an older recipe of this name may have had them
            words = []
        differences = [*altered, *words, *steered, *replay.differences(receipt, context)]
        return replace(context, notes=(*context.notes, *notes)), differences

    @staticmethod
    def diff(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
        """Describe what differs between two receipts."""
        return audit.diff_receipts(old, new)

    def verify_determinism(self, query: str, **options: Unpack[Options]) -> bool:
        """Assemble twice, without the cache, and compare every byte, receipts included."""
        request = self._runner.resolve(query, options)
        return self._runner.assemble(request, fresh=True) == self._runner.assemble(
            request, fresh=True
        )

    def why_not(
        self, query: str, path: str, line: int | None = None, **options: Unpack[Options]
    ) -> list[WhyNot]:
        """Explain for each chunk at a path why it is not in the context.

        For the best few of them, settings are tried until one lets it in; with a line there are
        few anyway.
        """
        request = self._runner.resolve(query, options)
        with self._project.view(request.viewer) as view:
            request = without_expired(view, request)
            shared_only = request.request.shared_only
            wanted = chunks_at(view, path, line, shared_only=shared_only)
            if not wanted:
                whole = chunks_at(view, path, None, shared_only=shared_only)
                last = max((chunk.lines[1] for chunk in whole), default=0)
                raise self._nothing_at(path, line, view.viewer, last)
            first = self._runner.retrieve(view, request)
            recorded = replay.record(first)

            def run(recipe: Recipe) -> Draft:
                again = replace(request, recipe=recipe, recorded=recorded)
                return start_draft(
                    again, retrieve(view, again, self._vectors, self._rule_evaluator)
                )

            def ranks(chunk_id: str) -> SourceRanks:
                return partial(source_ranks, view, request, first, chunk_id)

            return why_not_all(start_draft(request, first), wanted, run, ranks)

    def _nothing_at(
        self, path: str, line: int | None, viewer: Viewer, last_line: int
    ) -> InputError:
        place = (path or ".") if line is None else f"{path}:{line}"
        if last_line:
            return InputError(
                f"there is nothing at {place}; its text ends at line {last_line}", value=place
            )
        message = f"there is nothing at {place} that this viewer may read"
        reason = self.documents.why_not_indexed(path, viewer=viewer)
        return InputError(f"{message}: {reason}" if reason else message, value=place)


def open_quire(
    path: str | os.PathLike[str] = ".",
    *,
    store: str | os.PathLike[str] | None = None,
    space: str | None = None,
    viewer: str | None = None,
    create: bool = True,
    embedder: OwnEmbed | None = None,
    reranker: OwnRerank | None = None,
    counter: OwnCount | None = None,
    judge: OwnJudging | None = None,
    writer: OwnWriting | None = None,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
) -> Quire:
    """Open the store of the project that a directory belongs to, and create it if need be.

    Parts of your own are objects, functions, or pairs of a name and a function. Receipts record
    their names. They are not closed with the store.

    Args:
        path: A directory, or a file, of the project.
        store: The file of the store, the folder of one in shards, or the URL of a PostgreSQL
            database; None for `.quire/store.db` in the project.
        space: The space in the store; None for the configured one.
        viewer: Who reads unless a call says otherwise; None for the configured one, or the owner.
        create: Whether to create a store, or a space, that does not exist yet.
        embedder: Your own embedder: a function from texts to vectors, or an `Embedder`.
        reranker: Your own reranker: a function of a query and texts that returns a score for each,
            or a `Reranker`.
        counter: Your own token counter: a function from a text to a number, or a `Counter`.
        judge: Your own judge of rules: a function of a sentence and a situation, or a `Judge`.
        writer: Your own writer of summaries: a function from a `WriteTask` to a text, or a
            `TextWriter`.
        settings: Settings by section, as quire.toml has them; they count before all others.
    """
    start = Path(path).absolute()
    if not start.exists():
        raise InputError(f"{path} does not exist", value=str(path), hint="check the name")
    file = None if store is None else os.fspath(store)
    given = _checked_settings(settings)
    applied = config.load(start, store=file, space=space, viewer=viewer, arguments=given)
    own = check_parts(
        embedder=embedder,
        reranker=reranker,
        counter=counter,
        judge=judge,
        writer=writer,
        timeouts=(applied.embed, applied.judge, applied.writer),
    )
    if own.settings:
        merged = {name: {**given.get(name, {}), **values} for name, values in own.settings.items()}
        given = {**given, **merged}
        applied = config.load(start, store=file, space=space, viewer=viewer, arguments=given)
    is_folder = os.path.isdir(applied.store)  # noqa: PTH112 - which never raises
    if is_folder and not servers.is_sharded(applied.store.name):
        raise InputError(
            f"{applied.store} is a folder, not a store",
            hint=f"name a file with {{store}}, or a folder NAME.N{servers.SHARDED}",
        )
    for place in (applied.root, applied.store):
        printable = os.fsencode(place).decode("utf-8", "backslashreplace")
        if printable != str(place):
            raise InputError(
                f"the name of {printable} is not UTF-8", hint="rename it, or use another {store}"
            )
    return Quire(applied, create=create, own=own)


def _checked_settings(settings: object) -> Mapping[str, Any]:
    if settings is None:
        return {}
    if not isinstance(settings, Mapping) or not all(
        isinstance(section, Mapping) for section in settings.values()
    ):
        raise InputError(
            f"expected tables by section, not {settings!r:.80}",
            field="settings",
            value=settings,
            hint='as in settings={"embed": {"provider": "none"}}',
        )
    return settings
