"""Evaluate a store: the share of the expected evidence that its contexts contain.

Questions name the evidence for their answers (paths, lines or excerpts). A context is assembled for
each question at several budgets. Missing evidence is traced to the step that lost it. Two recipes
are compared question by question, with a confidence interval for the difference.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from statistics import fmean, stdev
from typing import Any
from xml.sax.saxutils import escape  # nosec B406  # it writes XML, and parses none

from quire.core.types import Chunk, Context, Decision, IngestSettings, Progress, Viewer
from quire.engine import Quire
from quire.errors import BudgetTooSmallError
from quire.evaluation.questions import Expected, Question
from quire.ingest.redact import MARK, redact

BUDGETS = (500, 1000, 2000, 4000, 8000)
RESAMPLES = 2000
"""Bootstrap samples for a confidence interval; the seed is fixed."""
MIN_QUESTIONS = 2
"""A standard error needs that many."""

_SENTENCE = re.compile(r"[^\n.!?]+[.!?]*")


@dataclass(frozen=True, slots=True)
class Miss:
    """Evidence that a context does not fully contain, and where it was lost."""

    question: str
    expected: str
    held: float
    """The share of it that the context contains."""
    cause: str
    """`not indexed`, `not retrieved`, `ranked too low`, `duplicate`, `did not fit` or `cut`."""
    detail: str


@dataclass(frozen=True, slots=True)
class RecipeResult:
    """The result of one recipe at one budget."""

    recipe: str
    budget: int
    recall: float
    error: float
    """The standard error of the recall."""
    complete: float
    """The share of questions whose evidence is all in the context."""
    tokens: float
    """The mean size of the contexts."""
    by_question: tuple[float, ...]
    misses: tuple[Miss, ...] = ()


@dataclass(frozen=True, slots=True)
class RecipeComparison:
    """The difference in recall between the second recipe and the first, at one budget."""

    budget: int
    difference: float
    low: float
    high: float
    """The bounds of the 95% confidence interval."""
    better: int
    worse: int


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The results of all questions."""

    questions: int
    measured: tuple[RecipeResult, ...]
    compared: tuple[RecipeComparison, ...] = ()
    causes: Mapping[str, int] = field(default_factory=dict)


def evaluate(
    quire: Quire,
    questions: Sequence[Question],
    *,
    recipes: Sequence[str] = ("documents",),
    budgets: Sequence[int] = BUDGETS,
    max_explained: int = 50,
    report: Callable[[Progress], None] | None = None,
    **options: Any,
) -> Evaluation:
    """Assemble a context for each question, budget and recipe; compare two recipes.

    Args:
        quire: The store.
        questions: The questions with their evidence.
        recipes: The recipes; exactly two are also compared with each other.
        budgets: The token budgets.
        max_explained: How many misses are traced, for each recipe and budget.
        report: Called after each context.
        options: Options of a context, such as `model` or `viewer`.
    """
    results = []
    done, total = 0, len(recipes) * len(budgets) * len(questions)
    for recipe in recipes:
        for budget in sorted(set(budgets)):
            runner = _Runner(quire, {"reserve": {}, **options, "recipe": recipe, "budget": budget})
            rows = []
            for question in questions:
                rows.append(runner.run(question))
                done += 1
                if report is not None:
                    report(Progress("ask", done, total))
            misses = _explain_misses(runner, questions, rows, max_explained)
            results.append(_summarize(recipe, budget, rows, misses))
    causes = Counter(miss.cause for result in results for miss in result.misses)
    return Evaluation(
        questions=len(questions),
        measured=tuple(results),
        compared=tuple(_compare(results, recipes)) if len(recipes) == 2 else (),
        causes=dict(sorted(causes.items(), key=lambda item: (-item[1], item[0]))),
    )


# --- one question --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Row:
    """The context of a question, and the share of each piece of evidence in it."""

    context: Context | None
    shares: tuple[float, ...]

    @property
    def recall(self) -> float:
        return fmean(self.shares)


@dataclass(frozen=True, slots=True)
class _Runner:
    """A store, and the options of its contexts."""

    quire: Quire
    options: Mapping[str, Any]

    def options_for(self, question: Question) -> dict[str, Any]:
        viewer = {} if question.viewer is None else {"viewer": question.viewer}
        return {**self.options, **viewer}

    def run(self, question: Question) -> _Row:
        try:
            context = self.quire.assemble(question.query, **self.options_for(question))
        except BudgetTooSmallError:
            return _Row(None, tuple(0.0 for _ in question.expected))
        viewer = self.options_for(question).get("viewer")
        return _Row(
            context,
            tuple(
                measure_recall(
                    context,
                    expected,
                    self.quire.documents.chunks(expected.path, viewer=viewer)
                    if expected.lines
                    else (),
                )
                for expected in question.expected
            ),
        )


def measure_recall(context: Context, expected: Expected, chunks: Sequence[Chunk] = ()) -> float:
    """Return the share of a piece of evidence that a context contains, from 0 to 1.

    A line counts if one of the context's sources covers it and its text is shown; `chunks` has the
    texts.
    """
    if expected.excerpt is not None:
        return _measure_excerpt(context.text, expected.excerpt)
    sources = [source for source in context.sources if source.path == expected.path]
    if expected.lines is None:
        return float(bool(sources))
    first, last = expected.lines
    chunk_ids = {source.chunk_id for source in sources}
    shown = {
        number
        for chunk in chunks
        if chunk.id in chunk_ids
        for number, line in enumerate(chunk.text.split("\n"), start=chunk.lines[0])
        if first <= number <= min(last, chunk.lines[1]) and _is_shown(line.strip(), context.text)
    }
    return len(shown) / (last - first + 1)


def _is_shown(line: str, text: str) -> bool:
    """Return whether a context contains a line: plain, or escaped for XML or JSON."""
    return (
        line in text or escape(line) in text or json.dumps(line, ensure_ascii=False)[1:-1] in text
    )


def _measure_excerpt(text: str, excerpt: str) -> float:
    """Return the share of an excerpt's sentences in a text, by characters without white space."""
    plain = " ".join(text.split())
    parts = [" ".join(part.split()) for part in _SENTENCE.findall(excerpt)]
    parts = [part for part in parts if part]
    total = sum(map(len, parts))
    return sum(len(part) for part in parts if part in plain) / total if total else 1.0


# --- where it was lost ---------------------------------------------------------------------------


def _explain_misses(
    runner: _Runner, questions: Sequence[Question], rows: Sequence[_Row], limit: int
) -> list[Miss]:
    misses: list[Miss] = []
    for question, row in zip(questions, rows, strict=True):
        for expected, share in zip(question.expected, row.shares, strict=True):
            if share < 1 and len(misses) < limit:
                cause, detail = _find_cause(runner, question, expected, row.context)
                misses.append(Miss(question.name, str(expected), round(share, 3), cause, detail))
    return misses


_CAUSES = {
    "rank": "ranked too low",
    "depth": "ranked too low",
    "relevance": "taken for irrelevant",
    "dedup": "duplicate",
    "group": "too many of one document",
}


_BACKWARDS = ("pack", "group", "dedup", "depth", "relevance", "rank")
"""The steps that drop a candidate, the last first."""


def _find_cause(
    runner: _Runner, question: Question, expected: Expected, context: Context | None
) -> tuple[str, str]:
    options = runner.options_for(question)
    readable = runner.quire.documents.chunks(expected.path, viewer=options.get("viewer"))
    chunks = _select_chunks(readable, expected)
    if not chunks:
        return _find_why_missing(runner, expected, readable, options.get("viewer"))
    if context is None:
        return "did not fit", "not even one piece fits this budget"
    decisions = {decision.chunk_id: decision for decision in context.decisions}
    own = [decisions[chunk.id] for chunk in chunks if chunk.id in decisions]
    dropped = [decision for decision in own if decision.verdict == "dropped"]
    not_retrieved = [chunk for chunk in chunks if chunk.id not in decisions]
    if not_retrieved and not dropped:
        chunk = not_retrieved[0]
        line = chunk.lines[0] or None
        explained = runner.quire.why_not(question.query, chunk.path, line, **options)
        reasons = [item.reason for item in explained if item.chunk_id == chunk.id]
        return "not retrieved", reasons[0] if reasons else "no source found it"
    if not dropped:
        return "cut", "the piece is in, but not all of it"
    last = min(dropped, key=_steps_from_end)
    return _CAUSES.get(last.step, "did not fit"), last.reason


def _find_why_missing(
    runner: _Runner, expected: Expected, readable: Sequence[Chunk], viewer: Viewer | str | None
) -> tuple[str, str]:
    """Return why no piece in the store has the evidence."""
    if _is_redacted(readable, expected):
        detail = "a secret in it was replaced by a mark; `[ingest] allow_secrets` allows it"
        return "redacted", detail
    if expected.path and readable:
        return "not in the file", "the file is indexed, but has no such text or line"
    reason = expected.path and runner.quire.documents.why_not_indexed(expected.path, viewer=viewer)
    return "not indexed", reason or "nothing of it is in what this viewer may read"


def _is_redacted(chunks: Sequence[Chunk], expected: Expected) -> bool:
    """Tell whether evidence is missing because it holds a secret, which was taken out."""
    if expected.excerpt is None:
        return False
    shown = " ".join(redact("", expected.excerpt, IngestSettings()).text.split())
    marked = [" ".join(chunk.text.split()) for chunk in chunks if MARK in chunk.text]
    is_value = " " not in expected.excerpt.strip()  # alone, it does not show what it was given to
    return any((MARK in shown and shown in text) or (is_value and expected.path) for text in marked)


def _steps_from_end(decision: Decision) -> tuple[int, str]:
    """Return a sort key: the candidate that came furthest comes first."""
    return (_BACKWARDS.index(decision.step), decision.chunk_id)


def _select_chunks(chunks: list[Chunk], expected: Expected) -> list[Chunk]:
    """Return the chunks that contain some of the evidence."""
    if expected.lines is not None:
        first, last = expected.lines
        chunks = [chunk for chunk in chunks if chunk.lines[0] <= last and chunk.lines[1] >= first]
    if expected.excerpt is not None:
        excerpt = " ".join(expected.excerpt.split())
        parts = [" ".join(part.split()) for part in _SENTENCE.findall(expected.excerpt)]
        texts = [(chunk, " ".join(chunk.text.split())) for chunk in chunks]
        chunks = [chunk for chunk, text in texts if excerpt in text or text in excerpt] or [
            chunk for chunk, text in texts if any(part in text for part in parts if part)
        ]
    return chunks


# --- all questions -------------------------------------------------------------------------------


def _summarize(recipe: str, budget: int, rows: Sequence[_Row], misses: list[Miss]) -> RecipeResult:
    recalls = [row.recall for row in rows]
    spread = stdev(recalls) / len(recalls) ** 0.5 if len(recalls) >= MIN_QUESTIONS else 0.0
    tokens = [row.context.tokens if row.context is not None else 0 for row in rows]
    return RecipeResult(
        recipe=recipe,
        budget=budget,
        recall=round(fmean(recalls), 4),
        error=round(spread, 4),
        complete=round(fmean(float(min(row.shares) >= 1) for row in rows), 4),
        tokens=round(fmean(tokens), 1),
        by_question=tuple(round(recall, 4) for recall in recalls),
        misses=tuple(misses),
    )


def _compare(results: Sequence[RecipeResult], recipes: Sequence[str]) -> Iterable[RecipeComparison]:
    first, second = ([result for result in results if result.recipe == name] for name in recipes)
    for baseline, other in zip(first, second, strict=True):
        pairs = zip(baseline.by_question, other.by_question, strict=True)
        gains = [after - before for before, after in pairs]
        low, high = _bootstrap_interval(gains)
        yield RecipeComparison(
            budget=baseline.budget,
            difference=round(fmean(gains), 4),
            low=low,
            high=high,
            better=sum(gain > 0 for gain in gains),
            worse=sum(gain < 0 for gain in gains),
        )


def _bootstrap_interval(gains: Sequence[float]) -> tuple[float, float]:
    """Return the 95% confidence interval of the mean, by resampling the questions."""
    sampler = Random(0)  # nosec B311  # noqa: S311 - the same samples every time, on purpose
    means = sorted(fmean(sampler.choices(gains, k=len(gains))) for _ in range(RESAMPLES))
    outside = RESAMPLES // 40
    return round(means[outside], 4), round(means[-1 - outside], 4)
