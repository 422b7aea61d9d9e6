"""Run requests over an open store: searches, and contexts with their receipts.

A request is resolved, runs over one view of the store (`pipeline`), and its result is recorded in
the audit log. Around that stand the cache of contexts and the check that the quoted files are as
they were indexed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from quire import receipts, rendering, rules, tokens
from quire.config import Config
from quire.core.lru import LRUCache
from quire.core.protocols import View
from quire.core.types import (
    NO_METADATA,
    CacheUse,
    Context,
    Filter,
    Options,
    Roots,
    SearchResult,
    Viewer,
)
from quire.errors import BudgetTooSmallError, PluginError
from quire.indexing.freshness import Freshness, Stale
from quire.indexing.plugins import name_plugins
from quire.indexing.project import Project
from quire.pipeline import steps
from quire.pipeline.draft import start_draft
from quire.pipeline.likely import NOTHING_LIKELY, find_unlikely, is_nothing_likely
from quire.pipeline.notes import context_notes, filter_notes, stale_notes
from quire.pipeline.plugged_format import with_own_format
from quire.pipeline.query_vectors import QueryVectors
from quire.pipeline.rank import rank, rank_all
from quire.pipeline.request import ResolvedRequest, resolve
from quire.pipeline.rerank import add_reranks
from quire.pipeline.result import with_metadata
from quire.pipeline.retrieve import Retrieved, retrieve
from quire.pipeline.sections import filter_of
from quire.pipeline.summarize import add_summaries
from quire.rules.evaluator import RuleEvaluator
from quire.system import clock, events, retry, tracing

CHARACTER_BYTES, SOURCE_BYTES, DECISION_BYTES = 8, 6_000, 1_500
"""What a context takes in memory for each of these, about; measured with 1,000 to 64,000 tokens."""


class RequestRunner:
    """Runs the requests of one reader, with caches that all readers of a store share."""

    def __init__(
        self,
        project: Project,
        vectors: QueryVectors,
        evaluator: RuleEvaluator,
        contexts: LRUCache[tuple[object, ...], Context],
        cache_use: Callable[[], CacheUse],
    ) -> None:
        self._project = project
        self._vectors = vectors
        self._evaluator = evaluator
        self._contexts = contexts
        self._cache_use = cache_use
        self.freshness = Freshness(project)

    def resolve(self, query: str, options: Options) -> ResolvedRequest:
        """Resolve a request as of today; places are paths from the root."""
        base, situation = options.get("base"), options.get("situation")
        if isinstance(base, str) and base:
            options = {**options, "base": rules.resolve_place(self._project.root(), base)}
        if isinstance(situation, Mapping):
            relative = rules.with_relative_path(self._project.root(), situation)
            options = {**options, "situation": relative}
        return resolve(query, options, clock.end_of_day(), self._project.own.counter)

    def search(self, request: ResolvedRequest) -> SearchResult:
        """Find chunks, after the files of the best ones were compared with the disk."""
        with events.timed("search") as facts:
            result = self.freshness.answer(
                lambda stale: retry.again(partial(self._search_now, request, stale)),
                lambda result: [candidate.path for candidate in result.results],
                may_write=self._may_write(request),
            )
            facts["hits"] = len(result.results)
            facts["failed"] = [each.source for each in result.failed]
        self._project.cache_use.note(self._cache_use())
        self._project.audit.disclose(
            self._project.resolve_viewer(request.viewer),
            "search",
            pieces=[each.chunk.id for each in result.results],
        )
        return result

    def _search_now(self, request: ResolvedRequest, stale: Stale) -> SearchResult:
        with self._project.view(request.viewer) as view:
            request = without_expired(view, request)
            retrieved = self.retrieve(view, request)
            # A record has an access list, which is nothing for whoever searches.
            with tracing.span("rank"):
                ranked = rank(start_draft(request, retrieved)).candidates
            chunks = {candidate.chunk.id: candidate.chunk for candidate in ranked}
            unlikely = find_unlikely(view, request, retrieved, chunks)
            records = view.records(sorted({chunk.record_id for chunk in chunks.values()}))
            known = {record.id: record.metadata for record in records}
            candidates = tuple(
                replace(
                    each,
                    record=None,
                    document=rendering.imported_from(each.record),
                    metadata=known.get(each.chunk.record_id, NO_METADATA),
                    likely=each.chunk.id not in unlikely,
                )
                for each in ranked
            )
            names = {each.path: each.document for each in candidates}
            kinds_found = {candidate.chunk.kind for candidate in candidates}
            notes = filter_notes(view, filter_of(request.request), kinds_found)
            notes += [NOTHING_LIKELY] if chunks and unlikely == chunks.keys() else []
            roots = view.roots()
        return SearchResult(
            results=candidates,
            state_root=roots.state,
            failed=retrieved.failed,
            notes=(
                *self._project.config.notes,
                *retrieved.notes,
                *notes,
                *stale_notes(stale, names),
            ),
            exact=all(hits.exact for hits in retrieved.hits.values()),
        )

    def assemble(
        self,
        request: ResolvedRequest,
        *,
        fresh: bool = False,
        check: bool = False,
        evaluator: RuleEvaluator | None = None,
    ) -> Context:
        """Assemble a context and hand it out.

        Args:
            request: What is asked for.
            fresh: Whether to leave out the cache.
            check: Whether the files of its sources are compared with the disk.
            evaluator: Evaluates rules; None for the usual one.
        """
        with events.timed("assemble") as facts:
            assemble_now = partial(
                self._assemble_now, facts=facts, fresh=fresh, evaluator=evaluator
            )

            def assemble(wanted: ResolvedRequest) -> Context:
                return retry.again(partial(assemble_now, wanted))

            if check:
                context = self.freshness.answer(
                    lambda stale: self._assemble_marked(assemble, request, stale),
                    lambda context: [source.path for source in context.sources],
                    may_write=self._may_write(request),
                )
            else:
                context = assemble(request)
            facts.update(events.context_facts(context))
            viewer = self._project.resolve_viewer(request.viewer)
            return self._hand_out(context, viewer, request)

    def assemble_turn(self, query: str, options: Options, stale: Stale) -> Context:
        """Assemble what a turn of a session adds; the session compares the files itself."""
        return self._assemble_marked(self.assemble, self.resolve(query, options), stale)

    @staticmethod
    def _assemble_marked(
        assemble: Callable[[ResolvedRequest], Context], request: ResolvedRequest, stale: Stale
    ) -> Context:
        """Assemble a context that says which of its sources are stale.

        Where the budget has no room for that, its notes alone say it.
        """
        if not stale:
            return assemble(request)
        marked = replace(request, request=replace(request.request, stale=stale))
        try:
            context = assemble(marked)
        except BudgetTooSmallError:
            context = None
        if context is not None and context.sources:
            return context
        context = assemble(request)
        names = {chunk.document_path: chunk.document_name for chunk in context.chunks}
        return replace(context, notes=(*context.notes, *stale_notes(stale, names)))

    def _assemble_now(
        self,
        request: ResolvedRequest,
        *,
        facts: dict[str, events.Fact],
        fresh: bool,
        evaluator: RuleEvaluator | None,
    ) -> Context:
        with self._project.view(request.viewer) as view:
            request = without_expired(view, request)
            roots = view.roots()
            applied = self._project.config
            key = _cache_key(roots, view.viewer, applied, request)
            cached = None if fresh else self._contexts.get(key)
            facts["cached"] = cached is not None
            if cached is not None:
                return cached
            plugins = name_plugins(request.recipe, applied.plugins.disable)
            retrieved = self.retrieve(view, request, evaluator)
            notes = (
                *applied.notes,
                *retrieved.notes,
                *context_notes(view, request, retrieved),
            )
            try:
                context = self._run_steps(request, retrieved, notes)
            except PluginError as error:  # a format that fails must not take the page down
                request, retrieved = with_own_format(request, retrieved, error)
                plugins = name_plugins(request.recipe, applied.plugins.disable)
                context = self._run_steps(request, retrieved, notes)
            records = view.records(sorted({source.record_id for source in context.sources}))
            context = with_metadata(context, records)
            state = _state_fields(roots, view.viewer, request, retrieved)
            state |= {"plugins": plugins} if plugins else {}
            ids = [source.chunk_id for source in context.sources]
            shown = {name: retrieved.chunks[name] for name in ids}
            if is_nothing_likely(view, request, retrieved, shown):
                context = replace(context, notes=(*context.notes, NOTHING_LIKELY))
            proofs = view.prove_all(ids)
            complete = not retrieved.failed and not view.damaged()
        chunks = [retrieved.chunks[chunk_id] for chunk_id in ids]
        written = receipts.WrittenDecisions.of(context.decisions)
        context = replace(context, decisions=written)
        receipt = receipts.make(request.request, request.recipe, context, chunks, proofs, **state)
        context = replace(
            context,
            created=clock.today(),
            receipt=receipt,
            items=tuple(replace(item, about=receipts.freeze(item.about)) for item in context.items),
        )
        if complete:  # a failure may be over next time, and damage repaired: never cached
            self._contexts.put(key, context)
        return context

    @staticmethod
    def _run_steps(request: ResolvedRequest, retrieved: Retrieved, notes: Sequence[str]) -> Context:
        draft = start_draft(request, retrieved)
        return steps.assemble(draft, retrieved.failed, notes, tracing.span)

    def retrieve(
        self, view: View, request: ResolvedRequest, evaluator: RuleEvaluator | None = None
    ) -> Retrieved:
        """Retrieve what a context is made of: reranked, with summaries of what must be cut."""
        with tracing.span("retrieve"):
            retrieved = retrieve(view, request, self._vectors, evaluator or self._evaluator)
        if request.recorded is not None:
            return retrieved
        retrieved = add_reranks(
            retrieved,
            request.request,
            request.recipe,
            lambda found: rank_all(start_draft(request, found)),
            self._project.reranker,
        )
        if request.recipe.fit.cut != tokens.SUMMARIZE:
            return retrieved
        # Packed once only to see what is cut; if nothing fits, packing again says so.
        draft = start_draft(replace(request, allow_empty=True), retrieved)
        draft = steps.run(draft, tracing.span)
        return add_summaries(retrieved, draft, self._project.text_writer)

    def _hand_out(self, context: Context, viewer: Viewer, request: ResolvedRequest) -> Context:
        self._project.cache_use.note(self._cache_use())
        self._project.audit.record(context, viewer, request.recipe.name)
        today = clock.today()
        return context if context.created == today else replace(context, created=today)

    def _may_write(self, request: ResolvedRequest) -> bool:
        return request.refresh and self._project.resolve_viewer(request.viewer).owner

    def filter_now(self, options: Options, view: View) -> Filter:
        """Return the filter of a session's options, without what has expired by now."""
        request = self.resolve("session", options)
        return filter_of(without_expired(view, request).request)


def context_bytes(context: Context) -> int:
    """Estimate what a context takes in memory: its texts, and the proofs and signals of pieces."""
    return (
        CHARACTER_BYTES * len(context.text)
        + SOURCE_BYTES * len(context.sources)
        + DECISION_BYTES * len(context.decisions)
    )


def _cache_key(
    roots: Roots, viewer: Viewer, applied: Config, request: ResolvedRequest
) -> tuple[object, ...]:
    """Return all that a context depends on: the state, who reads, the settings, the request."""
    parts = applied.embed, applied.judge, applied.writer, applied.rerank, applied.plugins
    client = rules.client_identity(applied.judge)
    settings = (*parts, applied.notes, client)
    return (roots.state, receipts.viewer_hash(viewer), *settings, *request.key)


def _state_fields(
    roots: Roots, viewer: Viewer, request: ResolvedRequest, retrieved: Retrieved
) -> dict[str, Any]:
    """Return what a receipt records of the state that was read, and of the models that answered."""
    active = retrieved.active_rules
    return {
        **receipts.view_fields(
            roots,
            viewer,
            request.counter.name,
            retrieved.coverage.model,
            retrieved.vectors,
        ),
        **receipts.verdict_fields(active.judge, active.evaluation.verdicts),
        **receipts.summary_fields(retrieved.writer, retrieved.summaries),
        **receipts.rerank_fields(retrieved.reranker, retrieved.reranks),
    }


def without_expired(view: View, request: ResolvedRequest) -> ResolvedRequest:
    """Leave out what has expired by now, or at the moment that is asked about.

    What is recorded is the last expiry until then, not the time of the request: so the same request
    stays the same until something else expires. A replay has what was recorded.
    """
    asked = request.request
    if asked.alive_at is not None or request.recorded is not None:
        return request
    expiry = view.last_expiry(clock.now() if asked.as_of is None else asked.as_of)
    return request if expiry is None else replace(request, request=replace(asked, alive_at=expiry))
