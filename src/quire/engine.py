"""The engine: a directory becomes a store, a query becomes a context.

The whole flow on one screen. Indexing: follow git, walk, read, split, write, embed (`indexing`).
Assembling: retrieve, rank, fit, render, prove (`pipeline`, `receipts`). Auditing: verify, replay,
why not. `Quire` puts them together; what belongs to one domain is behind an attribute of it, as in
`quire.memories` or `quire.access`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self, Unpack

from quire import config, receipts, rules, tokens
from quire.config import Config
from quire.core.aio import make_async
from quire.core.lru import LRUCache
from quire.core.protocols import Embedder, Store, View
from quire.core.types import (
    NO_FILTER,
    Context,
    Failure,
    Filter,
    Filters,
    IndexResult,
    Options,
    Problem,
    Recipe,
    SearchResult,
    Status,
    Verification,
    Viewer,
)
from quire.errors import InputError
from quire.indexing import audit, keyring
from quire.indexing.access import AccessControl
from quire.indexing.audit import AuditLog
from quire.indexing.documents import Documents
from quire.indexing.indexer import Indexer, Report, ignore_progress
from quire.indexing.project import Project
from quire.ingest.paths import resolve_paths
from quire.memory.authoring import Authoring
from quire.memory.experience_service import Experiences
from quire.memory.feedback_service import FeedbackLog
from quire.memory.principle_service import Principles
from quire.memory.service import Memories
from quire.pipeline import replay, steps
from quire.pipeline.codemap import CodeMap, map_definitions
from quire.pipeline.draft import Draft, start_draft
from quire.pipeline.notes import context_notes, filter_notes
from quire.pipeline.own_words import find_altered_words
from quire.pipeline.query_vectors import QueryVectors
from quire.pipeline.request import DEFAULT_MODEL, ResolvedRequest, resolve, resolve_search
from quire.pipeline.retrieve import Retrieved, retrieve
from quire.pipeline.sections import filter_of
from quire.pipeline.summarize import add_summaries
from quire.pipeline.validate import check_tokens
from quire.pipeline.why_not import WhyNot, chunks_at, source_ranks, why_not
from quire.recipes.agent import AgentContexts
from quire.recipes.situation import ContextRules
from quire.recipes.workspace import WorkspaceContexts
from quire.rules.evaluator import RuleEvaluator
from quire.system import clock
from quire.workspace.service import Blocks

CACHED_CONTEXTS = 64
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

    def __init__(self, settings: Config, *, create: bool = True) -> None:
        project = Project(settings, create=create)
        authoring = Authoring(project)
        self._project = project
        self.documents = Documents(project)
        self.access = AccessControl(project)
        self.memories = Memories(authoring)
        self.experiences = Experiences(authoring)
        self.principles = Principles(authoring)
        self.blocks = Blocks(authoring)
        self.feedback = FeedbackLog(authoring)
        self.audit = project.audit
        self.rules = ContextRules(project, self.assemble)
        self.agent = AgentContexts(project, self.assemble)
        self.workspace = WorkspaceContexts(project, self.assemble)
        self._indexer = Indexer(project, self.access)
        self._vectors = QueryVectors(
            project.embedder, wanted=lambda: project.config.embed.provider != "none"
        )
        self._rule_evaluator = RuleEvaluator(
            lambda: rules.open_judge(project.config.judge, project.embedder),
            lambda: (project.config.judge, project.config.embed),
        )
        self._contexts: LRUCache[tuple[object, ...], Context] = LRUCache(CACHED_CONTEXTS)

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
        report: Report = ignore_progress,
    ) -> IndexResult:
        """Bring the store up to date with files and folders, or with the whole directory.

        Only files that changed are read again; files that are gone are removed.

        Args:
            paths: The files and folders to index; none for the whole directory.
            embed: Whether to embed what has no vector yet.
            reembed: Drop all vectors first.
            history: How many git commits to keep (-1 for all); None for what the settings say.
            report: Called with the progress.
        """
        return self._indexer.index(
            paths, embed=embed, reembed=reembed, history=history, report=report
        )

    def watch(
        self, paths: Sequence[str | os.PathLike[str]] = (), *, embed: bool = True
    ) -> Iterator[IndexResult | Failure]:
        """Index now, then again whenever files change; yield what is new, until interrupted.

        A run that fails yields a `Failure`; the next change tries again, with what it missed.
        """
        return self._indexer.watch(paths, embed=embed)

    def status(self, viewer: Viewer | str | None = None) -> Status:
        """Summarize what the store holds, as far as a viewer may know."""
        return self._project.status(viewer)

    def doctor(self, *, repair: bool = False) -> list[Problem]:
        """Check the file, the roots and the model.

        Args:
            repair: Build again what can be derived, keep what can still be read of a damaged file,
                and read files again whose texts are damaged. What is lost is named.
        """
        files = self._indexer.known_files() if repair else {}
        model = self.store.model(self.config.space)
        problems = self._project.doctor(repair=repair)
        if repair and problems:
            problems += self._indexer.read_again(files, model)
        return problems

    def purge(self, paths: Sequence[str | os.PathLike[str]]) -> list[str]:
        """Delete files from the store for good; return the paths that were deleted."""
        return self._project.purge(paths)

    # --- queries -------------------------------------------------------------------------------

    def search(
        self,
        query: str,
        *,
        k: int = 10,
        where: Filter = NO_FILTER,
        viewer: Viewer | str | None = None,
        exact: bool = False,
        **filters: Unpack[Filters],
    ) -> SearchResult:
        """Find the chunks that answer a query best, by its words and by its meaning.

        Args:
            query: What to look for.
            k: How many hits.
            where: The filters as one value.
            viewer: Who reads; None for the configured viewer, or the owner.
            exact: Compare every vector, however many there are.
            **filters: Only these `paths` (globs, written as in .gitignore), these `kinds`
                (`document`, `code`, `conversation`, `commit`, `memory`, ...), and what was modified
                `since` and `until` a date (`2026-01-31`, or seconds since 1970).
        """
        options = {**filters, "where": where, "viewer": viewer, "exact": exact}
        request = resolve_search(query, k, options)
        with self._project.view(viewer) as view:
            retrieved = retrieve(view, request, self._vectors, self._rule_evaluator)
            # A record has an access list, which is nothing for whoever searches.
            candidates = tuple(
                replace(candidate, record=None)
                for candidate in steps.rank(start_draft(request, retrieved)).candidates
            )
            kinds_found = {candidate.chunk.kind for candidate in candidates}
            notes = filter_notes(view, filter_of(request.request), kinds_found)
            roots = view.roots()
        self.audit.disclose(view.viewer, "search", pieces=[each.chunk.id for each in candidates])
        return SearchResult(
            results=candidates,
            state_root=roots.state,
            failed=retrieved.failed,
            notes=(*self.config.notes, *retrieved.notes, *notes),
            exact=all(hits.exact for hits in retrieved.hits.values()),
        )

    search_async = make_async(search)

    def assemble(self, query: str, **options: Unpack[Options]) -> Context:
        """Assemble one context for a query: within the budget, with sources and a receipt."""
        return self._assemble(self._resolve(query, options))

    assemble_async = make_async(assemble)

    def explain(self, query: str, **options: Unpack[Options]) -> Context:
        """Assemble, even where nothing fits; `decisions` says what became of each candidate."""
        return self._assemble(self._resolve(query, {**options, "allow_empty": True}))

    def _resolve(self, query: str, options: Options) -> ResolvedRequest:
        """Resolve a request as of today; places are paths from the root."""
        base, situation = options.get("base"), options.get("situation")
        if isinstance(base, str) and base:
            options = {**options, "base": rules.resolve_place(self.root(), base)}
        if isinstance(situation, Mapping):
            relative = rules.with_relative_path(self.root(), situation)
            options = {**options, "situation": relative}
        return resolve(query, options, clock.end_of_day())

    def _assemble(self, request: ResolvedRequest, *, fresh: bool = False) -> Context:
        with self._project.view(request.viewer) as view:
            roots = view.roots()
            applied = self.config
            settings = applied.embed, applied.judge, applied.writer, applied.notes
            client = rules.client_identity(self.config.judge)
            key = (roots.state, receipts.viewer_hash(view.viewer), *settings, client, *request.key)
            cached = None if fresh else self._contexts.get(key)
            if cached is not None:
                return self._hand_out(cached, view.viewer, request)
            retrieved = self._retrieve(view, request)
            notes = (
                *applied.notes,
                *retrieved.notes,
                *context_notes(view, request, retrieved),
            )
            context = steps.assemble(start_draft(request, retrieved), retrieved.failed, notes)
            active = retrieved.active_rules
            state = receipts.view_fields(
                roots,
                view.viewer,
                request.counter.name,
                retrieved.coverage.model,
                retrieved.vectors,
            )
            state |= receipts.verdict_fields(active.judge, active.evaluation.verdicts)
            state |= receipts.summary_fields(retrieved.writer, retrieved.summaries)
            ids = [source.chunk_id for source in context.sources]
            proofs = [view.prove(chunk_id) for chunk_id in ids]
            complete = not retrieved.failed and not view.damaged()
        chunks = [retrieved.chunks[chunk_id] for chunk_id in ids]
        receipt = receipts.make(request.request, request.recipe, context, chunks, proofs, **state)
        context = replace(
            context,
            receipt=receipt,
            items=tuple(replace(item, about=receipts.freeze(item.about)) for item in context.items),
        )
        if complete:  # a failure may be over next time, and damage repaired: never cached
            self._contexts.put(key, context)
        return self._hand_out(context, view.viewer, request)

    def _retrieve(self, view: View, request: ResolvedRequest) -> Retrieved:
        """Retrieve what a context is made of, with summaries of what must be cut."""
        retrieved = retrieve(view, request, self._vectors, self._rule_evaluator)
        if request.recorded is not None or request.recipe.fit.cut != tokens.SUMMARIZE:
            return retrieved
        # Packed once only to see what is cut; if nothing fits, packing again says so.
        draft = steps.run(start_draft(replace(request, allow_empty=True), retrieved))
        return add_summaries(retrieved, draft, self._project.text_writer)

    def _hand_out(self, context: Context, viewer: Viewer, request: ResolvedRequest) -> Context:
        self.audit.record(context, viewer, request.recipe.name)
        return context

    def map(
        self,
        paths: Sequence[str | os.PathLike[str]] = (),
        *,
        budget: int = MAP_BUDGET,
        model: str = DEFAULT_MODEL,
        viewer: Viewer | str | None = None,
    ) -> CodeMap:
        """Map the most used definitions below some paths, or of the whole directory."""
        check_tokens("budget", budget)
        under = resolve_paths(self.root(), paths, must_exist=False)
        with self._project.view(viewer) as view:
            result, shown = map_definitions(view, under, budget, tokens.open_counter(model))
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
        with self._project.view(viewer) as view:
            evidence = replay.gather_evidence(view, receipt, self._rule_evaluator)
            return audit.verify_receipt(
                receipt, context, signature=signature, key=key, store=evidence
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

        The vectors of queries are made again and compared. The verdicts of a judge and the
        summaries of a writer are taken from the receipt: asked again, they may answer otherwise.
        The notes of the context name what was taken from the receipt.

        Args:
            receipt: The receipt, as it was written.
            viewer: Who it was made for; None for the configured viewer, or the owner.
            keep_failures: Let the sources fail again that failed then, without asking them.
            ask_models: Ask the judge and the writer again as well.
        """
        request = replay.resolve_receipt(receipt, viewer, keep_failures=keep_failures)
        asked = replace(request, recorded=None) if ask_models else request
        context = self._assemble(asked, fresh=True)
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
        request = self._resolve(query, options)
        return self._assemble(request, fresh=True) == self._assemble(request, fresh=True)

    def why_not(
        self, query: str, path: str, line: int | None = None, **options: Unpack[Options]
    ) -> list[WhyNot]:
        """Explain for each chunk at a path why it is not in the context, and what lets it in."""
        request = self._resolve(query, options)
        with self._project.view(request.viewer) as view:
            shared_only = request.request.shared_only
            wanted = chunks_at(view, path, line, shared_only=shared_only)
            first = self._retrieve(view, request)
            recorded = replay.record(first)

            def run(recipe: Recipe) -> Draft:
                again = replace(request, recipe=recipe, recorded=recorded)
                return start_draft(
                    again, retrieve(view, again, self._vectors, self._rule_evaluator)
                )

            draft = start_draft(request, first)
            return [
                why_not(
                    draft,
                    chunk,
                    run,
                    partial(source_ranks, view, request, first, chunk.id),
                )
                for chunk in wanted
            ]


def open_quire(
    path: str | os.PathLike[str] = ".",
    *,
    store: str | os.PathLike[str] | None = None,
    space: str | None = None,
    viewer: str | None = None,
    create: bool = True,
) -> Quire:
    """Open the store of the project that a directory belongs to, and create it if need be.

    Args:
        path: A directory, or a file, of the project.
        store: The file of the store; None for `.quire/store.db` in the project.
        space: The space in the store; None for the configured one.
        viewer: Who reads unless a call says otherwise; None for the configured one, or the owner.
        create: Whether to create a store, or a space, that does not exist yet.
    """
    start = Path(path).absolute()
    if not start.exists():
        raise InputError(f"{path} does not exist", value=str(path), hint="check the name")
    file = None if store is None else Path(store).absolute()
    settings = config.load(start, store=file, space=space, viewer=viewer)
    if os.path.isdir(settings.store):  # noqa: PTH112 - which never raises, whatever the name is
        raise InputError(
            f"{settings.store} is a folder, not a store", hint="name a file with {store}"
        )
    for place in (settings.root, settings.store):
        printable = os.fsencode(place).decode("utf-8", "backslashreplace")
        if printable != str(place):
            raise InputError(
                f"the name of {printable} is not UTF-8", hint="rename it, or use another {store}"
            )
    return Quire(settings, create=create)
