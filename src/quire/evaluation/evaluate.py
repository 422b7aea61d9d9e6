"""How much of what an answer needs is in the contexts, and where is the rest lost?

Questions with what their answers rest on (paths, lines or excerpts) are asked of a store at several
budgets. What is missing is traced to the step that lost it; two recipes are compared question by
question, with an interval for the difference.
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
from xml.sax.saxutils import escape

from quire.core.types import Chunk, Context, Decision, Progress
from quire.engine import Quire
from quire.errors import BudgetTooSmallError
from quire.evaluation.questions import Expected, Question

BUDGETS = (500, 1000, 2000, 4000, 8000)
RESAMPLES = 2000
"""So often the questions are drawn anew for an interval; by a fixed seed."""
LEAST_QUESTIONS = 2

_SENTENCE = re.compile(r"[^\n.!?]+[.!?]*")


@dataclass(frozen=True, slots=True)
class Miss:
    """Something expected that is not (wholly) in a context, and where it was lost."""

    question: str
    expected: str
    held: float
    cause: str
    """`not indexed`, `not retrieved`, `ranked too low`, `duplicate`, `did not fit` or `cut`."""
    detail: str


@dataclass(frozen=True, slots=True)
class Measured:
    """What one recipe held at one budget."""

    recipe: str
    budget: int
    recall: float
    error: float
    """The standard error of the recall."""
    complete: float
    """The share of questions of which everything was held."""
    tokens: float
    """The mean of what the contexts cost."""
    by_question: tuple[float, ...]
    misses: tuple[Miss, ...] = ()


@dataclass(frozen=True, slots=True)
class Compared:
    """How much more of the evidence the second recipe holds than the first."""

    budget: int
    difference: float
    low: float
    high: float
    """Between these lies the difference in 95 of 100 drawings."""
    better: int
    worse: int


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What came of all questions."""

    questions: int
    measured: tuple[Measured, ...]
    compared: tuple[Compared, ...] = ()
    causes: Mapping[str, int] = field(default_factory=dict)


def evaluate(
    quire: Quire,
    questions: Sequence[Question],
    *,
    recipes: Sequence[str] = ("documents",),
    budgets: Sequence[int] = BUDGETS,
    explained: int = 50,
    report: Callable[[Progress], None] | None = None,
    **options: Any,
) -> Evaluation:
    """Ask every question at every budget by every recipe; two recipes are also compared."""
    measured = []
    done, total = 0, len(recipes) * len(budgets) * len(questions)
    for recipe in recipes:
        for budget in sorted(set(budgets)):
            asking = _Asking(quire, {"reserve": {}, **options, "recipe": recipe, "budget": budget})
            rows = []
            for question in questions:
                rows.append(asking.row(question))
                done += 1
                if report is not None:
                    report(Progress("ask", done, total))
            misses = _misses(asking, questions, rows, explained)
            measured.append(_measured(recipe, budget, rows, misses))
    causes = Counter(miss.cause for each in measured for miss in each.misses)
    return Evaluation(
        questions=len(questions),
        measured=tuple(measured),
        compared=tuple(_compared(measured, recipes)) if len(recipes) == 2 else (),
        causes=dict(sorted(causes.items(), key=lambda item: (-item[1], item[0]))),
    )


# --- one question --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Row:
    context: Context | None
    held: tuple[float, ...]

    @property
    def recall(self) -> float:
        return fmean(self.held)


@dataclass(frozen=True, slots=True)
class _Asking:
    """A store, and how it is asked."""

    quire: Quire
    options: Mapping[str, Any]

    def of(self, question: Question) -> dict[str, Any]:
        viewer = {} if question.viewer is None else {"viewer": question.viewer}
        return {**self.options, **viewer}

    def row(self, question: Question) -> _Row:
        try:
            context = self.quire.assemble(question.query, **self.of(question))
        except BudgetTooSmallError:
            return _Row(None, tuple(0.0 for _ in question.expected))
        viewer = self.of(question).get("viewer")
        return _Row(
            context,
            tuple(
                held(
                    context,
                    each,
                    self.quire.documents.chunks(each.path, viewer=viewer) if each.lines else (),
                )
                for each in question.expected
            ),
        )


def held(context: Context, expected: Expected, pieces: Sequence[Chunk] = ()) -> float:
    """Tell how much of something expected a context holds, from 0 to 1.

    A line is held if it stands in a source and its text is shown; `pieces` holds the texts.
    """
    if expected.excerpt is not None:
        return _excerpt_held(context.text, expected.excerpt)
    sources = [source for source in context.sources if source.path == expected.path]
    if expected.lines is None:
        return float(bool(sources))
    first, last = expected.lines
    names = {source.chunk_id for source in sources}
    inside = {
        number
        for piece in pieces
        if piece.id in names
        for number, line in enumerate(piece.text.split("\n"), start=piece.lines[0])
        if first <= number <= min(last, piece.lines[1]) and _is_shown(line.strip(), context.text)
    }
    return len(inside) / (last - first + 1)


def _is_shown(line: str, text: str) -> bool:
    """Tell whether a line stands in a context, as it is or as xml or JSON write it."""
    return (
        line in text or escape(line) in text or json.dumps(line, ensure_ascii=False)[1:-1] in text
    )


def _excerpt_held(text: str, excerpt: str) -> float:
    """Count the characters of the excerpt's sentences that stand in the text, white space aside."""
    plain = " ".join(text.split())
    parts = [" ".join(part.split()) for part in _SENTENCE.findall(excerpt)]
    parts = [part for part in parts if part]
    total = sum(map(len, parts))
    return sum(len(part) for part in parts if part in plain) / total if total else 1.0


# --- where it was lost ---------------------------------------------------------------------------


def _misses(
    asking: _Asking, questions: Sequence[Question], rows: Sequence[_Row], most: int
) -> list[Miss]:
    found: list[Miss] = []
    for question, row in zip(questions, rows, strict=True):
        for expected, share in zip(question.expected, row.held, strict=True):
            if share < 1 and len(found) < most:
                cause, detail = _cause(asking, question, expected, row.context)
                found.append(Miss(question.name, str(expected), round(share, 3), cause, detail))
    return found


_CAUSES = {
    "rank": "ranked too low",
    "depth": "ranked too low",
    "dedup": "duplicate",
    "group": "too many of one document",
}


def _cause(
    asking: _Asking, question: Question, expected: Expected, context: Context | None
) -> tuple[str, str]:
    options = asking.of(question)
    pieces = _pieces(
        asking.quire.documents.chunks(expected.path, viewer=options.get("viewer")), expected
    )
    if not pieces:
        return "not indexed", "nothing of it stands in what this viewer may read"
    if context is None:
        return "did not fit", "not even one piece fits this budget"
    decided = {decision.chunk_id: decision for decision in context.decisions}
    fates = [decided[piece.id] for piece in pieces if piece.id in decided]
    lost = [fate for fate in fates if fate.verdict == "dropped"]
    unmet = [piece for piece in pieces if piece.id not in decided]
    if unmet and not lost:
        line = unmet[0].lines[0] or None
        told = asking.quire.why_not(question.query, unmet[0].path, line, **options)
        own = [one.reason for one in told if one.chunk_id == unmet[0].id]
        return "not retrieved", own[0] if own else "no source found it"
    if not lost:
        return "cut", "the piece is in, but not all of it"
    fate = min(lost, key=_how_far)
    return _CAUSES.get(fate.step, "did not fit"), fate.reason


def _how_far(decision: Decision) -> tuple[int, str]:
    """Order decisions by how far their candidates came."""
    return (("pack", "group", "dedup", "depth", "rank").index(decision.step), decision.chunk_id)


def _pieces(found: list[Chunk], expected: Expected) -> list[Chunk]:
    """Give those pieces that hold something of what is expected."""
    if expected.lines is not None:
        first, last = expected.lines
        found = [one for one in found if one.lines[0] <= last and one.lines[1] >= first]
    if expected.excerpt is not None:
        wanted = " ".join(expected.excerpt.split())
        parts = [" ".join(part.split()) for part in _SENTENCE.findall(expected.excerpt)]
        texts = [(one, " ".join(one.text.split())) for one in found]
        found = [one for one, text in texts if wanted in text or text in wanted] or [
            one for one, text in texts if any(part in text for part in parts if part)
        ]
    return found


# --- all questions -------------------------------------------------------------------------------


def _measured(recipe: str, budget: int, rows: Sequence[_Row], misses: list[Miss]) -> Measured:
    recalls = [row.recall for row in rows]
    spread = stdev(recalls) / len(recalls) ** 0.5 if len(recalls) >= LEAST_QUESTIONS else 0.0
    tokens = [row.context.tokens if row.context is not None else 0 for row in rows]
    return Measured(
        recipe=recipe,
        budget=budget,
        recall=round(fmean(recalls), 4),
        error=round(spread, 4),
        complete=round(fmean(float(min(row.held) >= 1) for row in rows), 4),
        tokens=round(fmean(tokens), 1),
        by_question=tuple(round(recall, 4) for recall in recalls),
        misses=tuple(misses),
    )


def _compared(measured: Sequence[Measured], recipes: Sequence[str]) -> Iterable[Compared]:
    first, second = ([each for each in measured if each.recipe == name] for name in recipes)
    for one, other in zip(first, second, strict=True):
        pairs = zip(one.by_question, other.by_question, strict=True)
        gains = [after - before for before, after in pairs]
        low, high = _interval(gains)
        yield Compared(
            budget=one.budget,
            difference=round(fmean(gains), 4),
            low=low,
            high=high,
            better=sum(gain > 0 for gain in gains),
            worse=sum(gain < 0 for gain in gains),
        )


def _interval(gains: Sequence[float]) -> tuple[float, float]:
    """Draw the questions anew, many times, and see between which bounds the mean mostly lies."""
    random = Random(0)  # noqa: S311 - the same every time, on purpose
    means = sorted(fmean(random.choices(gains, k=len(gains))) for _ in range(RESAMPLES))
    outside = RESAMPLES // 40
    return round(means[outside], 4), round(means[-1 - outside], 4)
