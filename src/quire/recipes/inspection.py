"""What a reader of contexts asks beside the context: other budgets, and the time of each step."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Unpack

from quire import receipts, tokens
from quire.core.lru import LRUCache
from quire.core.protocols import View
from quire.core.types import Failure, Options, Source
from quire.errors import InputError
from quire.indexing.project import Project
from quire.pipeline import steps
from quire.pipeline.draft import CandidateCache, Draft, start_draft
from quire.pipeline.request import ResolvedRequest
from quire.pipeline.result import make_context
from quire.pipeline.retrieve import Retrieved
from quire.system import clock, tracing

MAX_BUDGETS = 64
"""How many budgets one sweep may have."""
KEPT = 8
"""How many questions are kept for the next sweep."""
KEPT_BYTES = 64 << 20
"""What all of them together may take."""
PIECE_BYTES = 24_000
"""What is kept of a question for each of its pieces, about: texts, counts, words, candidates."""
KEPT_DEPTHS = 2
"""How many retrievals of a question are kept, each of another depth."""
DISCLOSED = "sweep"
"""What the audit log calls it."""


@dataclass(frozen=True, slots=True)
class BudgetStep:
    """What a context would hold with a budget."""

    budget: int
    available: int
    tokens: int
    content_tokens: int
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class StepTime:
    """How long a step took, in milliseconds."""

    step: str
    ms: float


class _Found:
    """What was retrieved for a question, and the candidates that the first steps made of it."""

    def __init__(self, retrieved: Retrieved) -> None:
        self.retrieved = retrieved
        self._ranked: Draft | None = None
        self._deduped: LRUCache[int, Draft] = LRUCache(KEPT_DEPTHS)

    def choose(self, draft: Draft) -> Draft:
        """Return a draft with its candidates ranked, and without duplicates.

        The budget only says how many of those that are ranked go on.
        """
        if self._ranked is None:
            self._ranked = steps.run(draft, tracing.span, steps.RANKING)
        limited = steps.limit_depth(_with_candidates(draft, self._ranked))
        count = len(limited.candidates)
        deduped = self._deduped.get(count)
        if deduped is None:
            with tracing.span("dedup"):
                deduped = steps.dedup(limited)
            self._deduped.put(count, deduped)
        return _with_candidates(draft, deduped)


class _Question:
    """What is kept of a question, whatever its budget, in one state of the store."""

    def __init__(self, key: tuple[Hashable, ...] | None = None) -> None:
        self.key = key
        """What it is kept under; None: it is not."""
        self.cache = CandidateCache()
        self.found: LRUCache[tuple[int, ...], _Found] = LRUCache(KEPT_DEPTHS)
        """What was retrieved, by how deep was searched."""

    @property
    def size(self) -> int:
        """How many bytes it takes, about."""
        return PIECE_BYTES * (1 + len(self.cache.pieces))


class Inspection:
    """Sweeps over budgets and times of steps, to see why a context is as it is."""

    def __init__(
        self,
        project: Project,
        resolve: Callable[[str, Options], ResolvedRequest],
        retrieve: Callable[[View, ResolvedRequest], Retrieved],
    ) -> None:
        self._project = project
        self._resolve = resolve
        self._retrieve = retrieve
        self._kept: LRUCache[tuple[Hashable, ...], _Question] = LRUCache(
            KEPT, KEPT_BYTES, lambda question: question.size
        )

    def sweep(
        self, query: str, budgets: Sequence[int], **options: Unpack[Options]
    ) -> list[BudgetStep]:
        """Tell which pieces a context would hold with each of several budgets.

        What was retrieved is used again where the budgets search equally deep, and what was worked
        out of its candidates in any case, so that a further step costs little more than packing.
        The pieces are those of `assemble`, but files that changed on disk are not read again, and
        there is no receipt.
        """
        if not 1 <= len(budgets) <= MAX_BUDGETS:
            raise InputError(
                f"expected 1 to {MAX_BUDGETS} budgets", field="budgets", value=len(budgets)
            )
        asked = [
            self._resolve(query, {**options, "budget": budget, "allow_empty": True})
            for budget in budgets
        ]
        swept: list[BudgetStep] = []
        with self._project.view(asked[0].viewer) as view:
            for budget, request in zip(budgets, asked, strict=True):
                chosen, failed, question = self._chosen(view, request)
                draft = steps.run(chosen, tracing.span, steps.FITTING)
                if question is not None and question.key is not None:
                    self._kept.put(question.key, question)  # it has grown
                context = make_context(draft, failed, ())
                swept.append(
                    BudgetStep(
                        budget,
                        context.available,
                        context.tokens,
                        context.content_tokens,
                        context.sources,
                    )
                )
        shown = sorted({source.chunk_id for step in swept for source in step.sources})
        self._project.audit.disclose(view.viewer, DISCLOSED, pieces=shown)
        return swept

    def times(self, query: str, **options: Unpack[Options]) -> list[StepTime]:
        """Run a request without any cache of contexts, and tell how long each step took."""
        from quire.pipeline.picture import FOUND  # late: few ask for a picture

        request = self._resolve(query, {**options, "allow_empty": True})
        times: list[StepTime] = []

        @contextmanager
        def timed(name: str) -> Iterator[None]:
            started = clock.seconds_passed()
            yield
            times.append(StepTime(name, _since(started)))

        with self._project.view(request.viewer) as view:
            with timed(FOUND):
                draft = start_draft(request, self._retrieve(view, request))
            steps.run(draft, timed)
        return times

    def _chosen(
        self, view: View, request: ResolvedRequest
    ) -> tuple[Draft, tuple[Failure, ...], _Question | None]:
        """Return a draft whose candidates are ranked, without duplicates, and what failed.

        Last what is kept of the question, if anything is. What one with another budget found is
        used again.
        """
        recipe = request.recipe
        if recipe.fit.cut == tokens.SUMMARIZE:  # what is summarized depends on the budget
            found = self._retrieve(view, request)
            return (
                steps.run(start_draft(request, found), tracing.span, steps.CHOOSING),
                found.failed,
                None,
            )
        question = self._question(view, request)
        depths = (
            recipe.top,
            *(recipe.depth(name) for name in recipe.sources),
            *(recipe.items(section) for section in recipe.sections),
        )
        kept = question.found.get(depths)
        if kept is None:
            kept = _Found(self._retrieve(view, request))
            if kept.retrieved.failed or view.damaged():
                question = _Question()  # may be over next time: nothing of it is kept
            question.found.put(depths, kept)
        draft = start_draft(request, kept.retrieved, question.cache)
        return kept.choose(draft), kept.retrieved.failed, question

    def _question(self, view: View, request: ResolvedRequest) -> _Question:
        """Return what is kept of a question, whatever its budget, in this state of the store."""
        settings = self._project.config
        anywhere = replace(request.recipe, budget=replace(request.recipe.budget, total=0))
        key = (
            settings.embed,
            settings.judge,
            view.roots().state,
            receipts.viewer_hash(view.viewer),
            *replace(request, recipe=anywhere).key,
        )
        kept = self._kept.get(key)
        if kept is None:
            kept = _Question(key)
            self._kept.put(key, kept)
        return kept


def _with_candidates(draft: Draft, other: Draft) -> Draft:
    """Return a draft with the candidates of another one, which has another budget."""
    return replace(
        draft,
        candidates=other.candidates,
        decisions=other.decisions,
        repeats=other.repeats,
        restored=other.restored,
    )


def _since(started: float) -> float:
    return round((clock.seconds_passed() - started) * 1000, 1)
