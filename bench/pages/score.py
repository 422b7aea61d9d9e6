"""What today's pages show of what helps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from statistics import fmean
from typing import Any

from bench.pages import systems
from bench.pages.corpora import CORPORA
from bench.pages.judge import Judged
from bench.pages.labels import HELPS, ON_TOPIC, Label
from bench.pages.pieces import hash_of, pieces_of
from bench.pages.questions import Question
from bench.pages.stores import Opened, open_corpus
from bench.report import Table

COLUMNS = (
    *("kind", "recipe", "questions", "pieces", "precision", "at least", "on topic", "recall"),
    *("content", "tokens", "unjudged", "without answer", "pieces there"),
)


@dataclass(frozen=True, slots=True)
class Row:
    """What one page showed for one question."""

    question: str
    kind: str
    corpus: str
    split: str
    recipe: str
    answer: bool
    pieces: int
    helps: int
    on_topic: int
    """Pieces that are at least on topic."""
    unjudged: int
    answers: int
    """Distinct passages that help."""
    shown: int
    """How many of them the page shows."""
    tokens: int
    content_tokens: int


def run(
    questions: Sequence[Question],
    labels: Sequence[Label],
    *,
    recipes: Sequence[str] = (),
    budget: int | None = None,
    embed: bool = True,
    report: Callable[[str], None] = lambda _: None,
) -> list[Row]:
    """Ask each question and compare the page with the labels."""
    rows: list[Row] = []
    places = list(CORPORA)
    ordered = sorted(questions, key=lambda one: (places.index(one.corpus), one.id))
    for corpus, asked in groupby(ordered, key=lambda one: one.corpus):
        report(corpus)
        with open_corpus(CORPORA[corpus], embed=embed) as opened:
            used = recipes or systems.RECIPES[opened.corpus.form]
            for question in asked:
                judged = Judged(opened.texts, current(opened, question, labels))
                for recipe in used:
                    context = systems.ask(opened, question, recipe, budget)
                    rows.append(_row(opened, question, recipe, context, judged))
    return rows


def current(opened: Opened, question: Question, labels: Iterable[Label]) -> list[Label]:
    """Return the labels of a question whose passage still stands where it did."""
    return [
        label
        for label in labels
        if label.question == question.id
        and label.path in opened.texts
        and hash_of(opened.texts, label.span) == label.hash
    ]


def _row(opened: Opened, question: Question, recipe: str, context: Any, judged: Judged) -> Row:
    pieces = pieces_of(opened, context)
    values = [judged.value_of(piece) for piece in pieces]
    cores = judged.cores()
    return Row(
        question=question.id,
        kind=question.kind,
        corpus=question.corpus,
        split=question.split,
        recipe=recipe,
        answer=question.answer,
        pieces=len(pieces),
        helps=sum(value == HELPS for value in values),
        on_topic=sum(value is not None and value >= ON_TOPIC for value in values),
        unjudged=sum(value is None for value in values),
        answers=len(cores),
        shown=sum(judged.shows(pieces, core) for core in cores),
        tokens=context.tokens,
        content_tokens=context.content_tokens,
    )


@dataclass(frozen=True, slots=True)
class Figure:
    """Rows of one kind of question and one recipe, summed up."""

    kind: str
    recipe: str
    questions: int
    """With an answer."""
    pieces: int
    precision: float | None
    """Of the judged pieces of these questions, the share that helps."""
    precision_at_least: float | None
    """The same if no unjudged piece helps."""
    on_topic: float | None
    recall: float | None
    """The mean share of distinct answers shown, over questions with labelled ones."""
    content: float | None
    """The share of tokens that is content."""
    tokens: float
    unjudged: int
    """Pieces of all questions."""
    without_answer: int
    pieces_without_answer: float | None
    """The mean number of pieces for questions that have no answer."""


def figures(rows: Sequence[Row]) -> list[Figure]:
    """Sum up rows by kind and recipe, and over all."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.kind, row.recipe), []).append(row)
    made = [_figure(kind, recipe, group) for (kind, recipe), group in sorted(groups.items())]
    return [*made, _figure("all", "", rows)] if len(made) > 1 else made


def _figure(kind: str, recipe: str, rows: Sequence[Row]) -> Figure:
    asked = [row for row in rows if row.answer]
    other = [row for row in rows if not row.answer]
    pieces = sum(row.pieces for row in asked)
    judged = pieces - sum(row.unjudged for row in asked)
    helps = sum(row.helps for row in asked)
    return Figure(
        kind=kind,
        recipe=recipe,
        questions=len(asked),
        pieces=pieces,
        precision=_share(helps, judged),
        precision_at_least=_share(helps, pieces),
        on_topic=_share(sum(row.on_topic for row in asked), judged),
        recall=_mean(row.shown / row.answers for row in asked if row.answers),
        content=_share(sum(row.content_tokens for row in rows), sum(row.tokens for row in rows)),
        tokens=_mean(row.tokens for row in rows) or 0.0,
        unjudged=sum(row.unjudged for row in rows),
        without_answer=len(other),
        pieces_without_answer=_mean(row.pieces for row in other),
    )


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _mean(values: Iterable[float]) -> float | None:
    listed = list(values)
    return fmean(listed) if listed else None


def table(made: Sequence[Figure]) -> Table:
    """Lay figures out as a table."""
    laid = Table("Does the page help?", COLUMNS)
    for one in made:
        laid.add(
            *(one.kind, one.recipe or None, one.questions, one.pieces),
            *(_text(one.precision), _text(one.precision_at_least), _text(one.on_topic)),
            *(_text(one.recall), _text(one.content), round(one.tokens)),
            *(one.unjudged, one.without_answer),
            None if one.pieces_without_answer is None else f"{one.pieces_without_answer:.1f}",
        )
    return laid


def _text(share: float | None) -> str | None:
    return None if share is None else f"{share:.3f}"


def told(rows: Sequence[Row], made: Sequence[Figure]) -> dict[str, Any]:
    """Return everything as plain data, the same for the same state."""
    return {"figures": [asdict(one) for one in made], "rows": [asdict(row) for row in rows]}
