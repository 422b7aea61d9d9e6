"""How does a directory become a store, and a question an answer?

The whole flow on one screen. In: follow git (`history`), walk, read, cut, write, embed (`keeping`).
Out: gather (`asking`), rank, fit, say (`assembling`), prove. Audit: verify, replay, why not
(`auditing`). Rooms do the work; this is where they are put together.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Unpack

from quire import config, receipts, rules, tokens
from quire.config import Config
from quire.core.aio import waiting
from quire.core.lru import LRUCache
from quire.core.protocols import View
from quire.core.types import (
    NO_FILTER,
    Budget,
    Context,
    Filter,
    Recipe,
    Recorded,
    SearchResult,
    Viewer,
)
from quire.errors import InputError
from quire.indexing.indexer import Keeping
from quire.ingest.paths import relative_paths
from quire.memory.experience_service import Learning
from quire.memory.feedback_service import Rating
from quire.memory.service import Remembering
from quire.pipeline import codemap, result, retrieve, steps, summarize
from quire.pipeline import draft as pipeline_draft
from quire.pipeline import notes as pipeline_notes
from quire.pipeline import why_not as pipeline_why_not
from quire.pipeline.codemap import Mapped
from quire.pipeline.request import DEFAULT_MODEL, Options, ResolvedRequest, decide
from quire.pipeline.retrieve import QueryVectors, Retrieved
from quire.pipeline.sections import filter_of
from quire.pipeline.validate import check_budget
from quire.pipeline.why_not import WhyNot
from quire.receipts import Receipt, access_log
from quire.recipes.agent import Advising
from quire.recipes.workspace import Building
from quire.rules.evaluator import RuleEvaluator
from quire.workspace.import_service import Bringing

KEPT_CONTEXTS = 64
MAP_BUDGET = 1024


class Quire(Keeping, Remembering, Learning, Rating, Advising, Bringing, Building):
    """An open store: index, search, assemble, and see what is in it."""

    def __init__(self, settings: Config, *, create: bool = True) -> None:
        super().__init__(settings, create=create)
        self._vectors = QueryVectors(
            self.embedder, wanted=lambda: self.config.embed.provider != "none"
        )
        self._judging = RuleEvaluator(
            lambda: rules.open_judge(self.config.judge, self.embedder),
            lambda: (self.config.judge, self.config.embed),
        )
        self._contexts: LRUCache[tuple[object, ...], Context] = LRUCache(KEPT_CONTEXTS)

    def close(self) -> None:
        """Close the store and let go of models."""
        self._judging.close()
        super().close()

    def _refresh(self) -> None:
        judge = self.config.judge
        super()._refresh()
        if self.config.judge != judge:
            self._judging.close()

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
        if not isinstance(query, str) or not query.strip():
            raise InputError("the query is empty: say what to look for")
        pipeline_notes.check(where)
        asked = decide(query, {"viewer": viewer, "where": where, "exact": exact})
        asked = replace(asked, recipe=retrieve.deepened(asked.recipe, k))
        with self._view(viewer) as view:
            gathered = retrieve.gather(view, asked, self._vectors, self._judging)
            found = steps.ranked(pipeline_draft.start(asked, gathered)).candidates
            notes = pipeline_notes.on_filter(view, where, {each.chunk.kind for each in found})
            roots = view.roots()
        return SearchResult(
            results=found,
            state_root=roots.state,
            failed=gathered.failed,
            notes=(*gathered.notes, *notes),
            exact=all(hits.exact for hits in gathered.found.values()),
        )

    def assemble(self, query: str, **options: Unpack[Options]) -> Context:
        """Assemble one context for a question: within the budget, with sources and a receipt."""
        return self._assemble(_decided(query, options))

    assemble_async = waiting(assemble)

    def _assemble(self, asked: ResolvedRequest, *, fresh: bool = False) -> Context:
        with self._view(asked.viewer) as view:
            roots = view.roots()
            settings = self.config.embed, self.config.judge, self.config.writer
            whom = rules.asked_back(self.config.judge)
            key = (roots.state, receipts.viewer_hash(view.viewer), *settings, whom, *asked.key)
            kept = None if fresh else self._contexts.get(key)
            if kept is not None:
                return self._given(kept, view.viewer, asked)
            gathered = self._gathered(view, asked)
            draft = steps.run(pipeline_draft.start(asked, gathered))
            notes = (*gathered.notes, *pipeline_notes.on_context(view, asked, gathered))
            context = result.told(draft, gathered.failed, notes)
            state = receipts.viewed(
                roots, view.viewer, asked.counter.name, gathered.coverage.model, gathered.vectors
            )
            state |= receipts.judged(gathered.situated.judge, gathered.situated.ruled.verdicts)
            state |= receipts.summarized(gathered.writer, gathered.summaries)
            ids = [source.chunk_id for source in context.sources]
            proofs = [view.prove(chunk_id) for chunk_id in ids]
        chunks = [gathered.chunks[chunk_id] for chunk_id in ids]
        receipt = receipts.make(asked.request, asked.recipe, context, chunks, proofs, **state)
        context = replace(
            context,
            receipt=receipt,
            items=tuple(replace(item, about=receipts.sealed(item.about)) for item in context.items),
        )
        if not gathered.failed:  # a failure may pass: it is recorded, never kept
            self._contexts.put(key, context)
        return self._given(context, view.viewer, asked)

    def _gathered(self, view: View, asked: ResolvedRequest) -> Retrieved:
        """Gather what a context is made of, summaries of what must be cut included."""
        gathered = retrieve.gather(view, asked, self._vectors, self._judging)
        if asked.recorded is not None or asked.recipe.fit.cut != tokens.SUMMARIZE:
            return gathered
        # Packed once only to see what is cut: that nothing fits is told when it is packed again.
        draft = steps.run(pipeline_draft.start(replace(asked, allow_empty=True), gathered))
        return summarize.summarized(gathered, draft, self._text_writer)

    def _given(self, context: Context, viewer: Viewer, asked: ResolvedRequest) -> Context:
        """Write down who is given a context, where that is wanted."""
        if self.config.audit.file:
            access_log.write(self._audit_file(), context, viewer, asked.recipe.name)
        return context

    def given(self, to: str | None = None) -> list[Mapping[str, Any]]:
        """List the contexts that were given, the first first; to one viewer, or to all."""
        if not self.config.audit.file:
            raise InputError("nothing is written down: set `file` in [audit] of quire.toml")
        return list(access_log.read(self._audit_file(), to))

    def _audit_file(self) -> Path:
        return self.config.root / self.config.audit.file

    def map(
        self,
        paths: Sequence[str | os.PathLike[str]] = (),
        *,
        budget: int = MAP_BUDGET,
        model: str = DEFAULT_MODEL,
        viewer: Viewer | str | None = None,
    ) -> Mapped:
        """Map the most used definitions below some paths; without any, of the whole root."""
        check_budget(Budget(budget, reserved={}))
        under = relative_paths(self.root(), paths, must_exist=False)
        with self._view(viewer) as view:
            return codemap.draw(view, under, budget, tokens.open_counter(model))

    # --- audit -------------------------------------------------------------------------------

    def verify(
        self,
        receipt: Mapping[str, Any],
        context: str | None = None,
        viewer: Viewer | str | None = None,
    ) -> list[str]:
        """Check a receipt against its context and this store; an empty list: it holds."""
        try:
            receipts.check(receipt)
            counter = tokens.open_counter(receipt["counter"])
        except InputError as error:
            return [str(error)]
        with self._view(viewer) as view:
            kept, root = view.chunks(receipts.chunk_ids(receipt)), view.roots().state
        return receipts.verify(receipt, counter, context=context, kept=kept, root=root)

    def replay(
        self, receipt: Mapping[str, Any], viewer: Viewer | str | None = None
    ) -> tuple[Context, list[str]]:
        """Run a receipt's request again; gives the context and what differs."""
        asked = pipeline_why_not.asked_in(receipt, viewer)
        context = self._assemble(asked, fresh=True)
        altered = receipts.verify(receipt, asked.counter)
        return context, [*altered, *receipts.differences(receipt, context.receipt)]

    def verify_determinism(self, query: str, **options: Unpack[Options]) -> bool:
        """Assemble twice from the ground up and compare every byte, receipts included."""
        asked = _decided(query, options)
        return self._assemble(asked, fresh=True) == self._assemble(asked, fresh=True)

    def why_not(
        self, query: str, path: str, line: int | None = None, **options: Unpack[Options]
    ) -> list[WhyNot]:
        """Tell for each piece at a place why it is not in the context, and what lets it in."""
        asked = _decided(query, options)
        with self._view(asked.viewer) as view:
            wanted = pipeline_why_not.at(view, path, line)
            first = self._gathered(view, asked)
            met = Recorded(
                first.vectors,
                first.coverage.model,
                first.failed,
                first.situated.judge,
                first.situated.ruled.verdicts,
                first.writer,
                first.summaries,
            )

            def run(recipe: Recipe) -> pipeline_draft.Draft:
                again = replace(asked, recipe=recipe, recorded=met)
                return pipeline_draft.start(
                    again, retrieve.gather(view, again, self._vectors, self._judging)
                )

            draft = pipeline_draft.start(asked, first)
            return [
                pipeline_why_not.why_not(
                    draft,
                    chunk,
                    run,
                    partial(pipeline_why_not.places, view, asked, first, chunk.id),
                )
                for chunk in wanted
            ]


def _decided(query: str, options: Options) -> ResolvedRequest:
    asked = decide(query, options)
    pipeline_notes.check(filter_of(asked.request))
    return asked


def verify_receipt(receipt: Mapping[str, Any], context: str | None = None) -> list[str]:
    """Check a receipt, and its context, without any store; an empty list: it holds."""
    try:
        receipts.check(receipt)
        counter = tokens.open_counter(receipt["counter"])
    except InputError as error:
        return [str(error)]
    return receipts.verify(receipt, counter, context=context)


def parse_receipt(text: str) -> Receipt:
    """Read a receipt, or say why it is none."""
    return receipts.parse(text)


def pieces_of(receipt: Mapping[str, Any]) -> list[str]:
    """Name the pieces of a receipt's context, in their order."""
    receipts.check(receipt)
    return receipts.chunk_ids(receipt)


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Say in sentences what differs between two receipts."""
    receipts.check(old)
    receipts.check(new)
    return receipts.differences(old, new)


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
    if not where.exists():
        raise InputError(f"{path} does not exist: check the name")
    file = None if store is None else Path(store).absolute()
    settings = config.load(where, store=file, space=space, viewer=viewer)
    if os.path.isdir(settings.store):  # noqa: PTH112 - which never raises, whatever the name is
        raise InputError(
            f"{settings.store} is a folder, so it is no store; name a file with --store"
        )
    for place in (settings.root, settings.store):
        told = os.fsencode(place).decode("utf-8", "backslashreplace")
        if told != str(place):
            raise InputError(f"the name of {told} is not UTF-8: rename it, or use another --store")
    return Quire(settings, create=create)
