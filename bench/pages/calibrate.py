"""Fit the probability that a candidate is relevant to the labelled pages.

    python -m bench.pages calibrate          show how good a fit to these labels is
    make calibrate                           make the fit a part of the package

Every candidate of a page that has a label is one example: what it has in common with the query,
and whether it is at least on topic. A logistic regression over the half of the questions to tune on
gives the coefficients in `src/quire/ranking/relevance.toml`. The table says how good they are on
questions that they were not fitted to: tenths of the questions are left out in turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.pages import systems
from bench.pages.corpora import CORPORA, RULES
from bench.pages.judge import Judged
from bench.pages.labels import HELPS, ON_TOPIC, Label
from bench.pages.pieces import pieces_of
from bench.pages.questions import Question
from bench.pages.score import current
from bench.pages.stores import Opened, open_corpus
from bench.report import Table
from quire.pipeline import matches as matches_module
from quire.pipeline import recipe as recipes
from quire.pipeline import retrieve
from quire.ranking import relevance
from quire.ranking.relevance import CERTAIN, DEFAULT_KIND, Fit, Match
from quire.retrieval import COLLECTORS, TEXT_COLLECTORS

FILE = Path(relevance.__file__).with_suffix(".toml")
BUDGET = 30_000
"""So large that every candidate is on the page."""
FOLDS = 10
RIDGE = 1.0
"""How strongly coefficients are drawn to zero: there are few questions."""
MIN_EXAMPLES = 40
"""A kind with fewer examples gets no intercept of its own."""
FEATURES = ("words", "named", "length", "similarity", "behind", "agreement")
WORD_FEATURES = ("words", "named", "length")
"""What is known without vectors."""
FLOORS = (0, 100, 200, 300, 400, 500, 600, 700, 800)
NAME = matches_module.compute_matches.__name__
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Example:
    """A candidate with a label."""

    question: str
    split: str
    recipe: str
    match: Match
    label: int
    """2: it helps, 1: it is on topic, 0: neither."""

    @property
    def relevant(self) -> bool:
        """Whether it is at least on topic."""
        return self.label >= ON_TOPIC


def collect(
    questions: Sequence[Question],
    labels: Sequence[Label],
    report: Callable[[str], None] = lambda _: None,
) -> list[Example]:
    """Ask each question without a floor, and return the candidates that have a label."""
    examples: list[Example] = []
    places = list(CORPORA)
    ordered = sorted(questions, key=lambda one: (places.index(one.corpus), one.id))
    for name, asked in groupby(ordered, key=lambda one: one.corpus):
        corpus = CORPORA[name]
        if corpus.form == RULES:
            continue
        report(name)
        with open_corpus(corpus) as opened:
            for question in asked:
                judged = Judged(opened.texts, current(opened, question, labels))
                examples += _examples(opened, question, judged)
    return examples


def _examples(opened: Opened, question: Question, judged: Judged) -> Iterator[Example]:
    recipe = recipes.load(systems.RECIPES[opened.corpus.form][0])
    recipe = replace(
        recipe,
        rank=replace(recipe.rank, floor=0),
        sections=tuple(replace(section, item=0) for section in recipe.sections),
    )
    with _recorded() as matches:
        context = systems.ask(opened, question, recipe, BUDGET)
    by_text = {
        decision.chunk_id
        for decision in context.decisions
        if COLLECTORS.keys() & decision.signals.keys() <= TEXT_COLLECTORS
    }
    shown = [source for source in context.sources if source.path not in opened.corpus.frame]
    for source, piece in zip(shown, pieces_of(opened, context), strict=True):
        value = judged.value_of(piece)
        match = matches.get(source.chunk_id)
        if match is None or match.similarity is None or source.chunk_id not in by_text:
            continue
        if value is not None:
            yield Example(
                question.id,
                question.split,
                recipe.name,
                match,
                value,
            )


@contextmanager
def _recorded() -> Iterator[dict[str, Match]]:
    """Record what the pipeline compares."""
    matches: dict[str, Match] = {}
    original = matches_module.compute_matches

    def record(*args: Any, **options: Any) -> dict[str, Match]:
        found = original(*args, **options)
        matches.update(found)
        return found

    setattr(retrieve, NAME, record)
    try:
        yield matches
    finally:
        setattr(retrieve, NAME, original)


def fit(examples: Sequence[Example], features: Sequence[str] = FEATURES) -> Fit:
    """Fit intercepts and coefficients to examples."""
    counts: dict[str, int] = {}
    for example in examples:
        counts[example.match.kind] = counts.get(example.match.kind, 0) + 1
    kinds = sorted(kind for kind, count in counts.items() if count >= MIN_EXAMPLES)
    rows = np.array([_row(example.match, features, kinds) for example in examples])
    helps = np.array([float(example.relevant) for example in examples])
    weights = _regress(rows, helps)
    scaled = [round(float(weight) * CERTAIN) for weight in weights]
    common = scaled[0]
    intercepts = {kind: common + scaled[1 + at] for at, kind in enumerate(kinds)}
    return Fit(
        {DEFAULT_KIND: common, **intercepts},
        dict(zip(features, scaled[1 + len(kinds) :], strict=True)),
    )


def _row(match: Match, features: Sequence[str], kinds: Sequence[str]) -> list[float]:
    values = match.features
    return [
        1.0,
        *(float(match.kind == kind) for kind in kinds),
        *(values[name] / CERTAIN for name in features),
    ]


def _regress(rows: Floats, helps: Floats) -> Floats:
    """Return the weights of a logistic regression, by Newton's method."""
    weights = np.zeros(rows.shape[1])
    ridge = np.full(rows.shape[1], RIDGE)
    ridge[0] = 0.0
    for _ in range(50):
        expected = 1 / (1 + np.exp(-rows @ weights))
        gradient = rows.T @ (helps - expected) - ridge * weights
        curve = (rows * (expected * (1 - expected))[:, None]).T @ rows + np.diag(ridge)
        step = np.linalg.solve(curve + 1e-9 * np.eye(len(weights)), gradient)
        weights = weights + step
        if float(np.abs(step).max()) < 1e-9:
            break
    return weights


def held_out(
    examples: Sequence[Example], features: Sequence[str] = FEATURES
) -> list[tuple[Example, int]]:
    """Return each example with its probability by a fit to the other questions."""
    ids = sorted({example.question for example in examples})
    folds = {name: at % FOLDS for at, name in enumerate(ids)}
    results: list[tuple[Example, int]] = []
    for fold in range(FOLDS):
        others = [example for example in examples if folds[example.question] != fold]
        made = fit(others, features)
        results += [
            (example, made.probability(example.match))
            for example in examples
            if folds[example.question] == fold
        ]
    return results


def curve(results: Sequence[tuple[Example, int]], name: str) -> list[dict[str, Any]]:
    """Return for each floor what is left of the candidates of a recipe, and how good that is."""
    rows: list[dict[str, Any]] = []
    chosen = [(example, value) for example, value in results if example.recipe == name]
    total = sum(example.label == HELPS for example, _ in chosen)
    for floor in FLOORS:
        kept = [example for example, value in chosen if value >= floor]
        helping = sum(example.label == HELPS for example in kept)
        relevant = sum(example.relevant for example in kept)
        rows.append(
            {
                "recipe": name,
                "floor": floor,
                "kept": len(kept),
                "on topic": relevant / len(kept) if kept else None,
                "help": helping / len(kept) if kept else None,
                "recall": helping / total if total else None,
            }
        )
    return rows


def write(fits: Mapping[str, Fit], file: Path = FILE) -> None:
    """Write the fits as data of the package."""
    lines = ["# Made by `make calibrate`. Thousandths; see `relevance.py`."]
    for name, made in sorted(fits.items()):
        lines += ["", f'["{name}"]']
        for field, table in (("intercepts", made.intercepts), ("coefficients", made.coefficients)):
            items = ", ".join(f"{key} = {value}" for key, value in sorted(table.items()))
            lines.append(f"{field} = {{ {items} }}")
    file.write_text("\n".join(lines) + "\n", "utf-8")


def table(title: str, results: Sequence[tuple[Example, int]]) -> Table:
    """Return the curves of all recipes as a table."""
    columns = ("recipe", "floor", "kept", "on topic", "help", "recall")
    made = Table(title, columns)
    for name in sorted({example.recipe for example, _ in results}):
        for row in curve(results, name):
            made.add(*(row[column] for column in columns))
    return made
