"""Ask a reranker about the best candidates.

The candidates are ranked once without it to see which are the best. The receipt records its scores,
so that a replay needs no reranker. One that fails becomes a `Failure`: the ranking stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from quire.core.types import Candidate, Failure, Recipe, Request
from quire.errors import PluginError
from quire.pipeline import sections
from quire.pipeline.retrieve import Retrieved
from quire.ranking import OwnReranker
from quire.system import events

RERANKER = "reranker"
TOP = 50
WEIGHT = 100
TIMEOUT = 10_000
OPTIONS: Mapping[str, int] = {"top": TOP, "weight": WEIGHT, "timeout": TIMEOUT}
"""The options of `[rank] rerank`, with their defaults."""


def rerank_option(recipe: Recipe, name: str) -> int:
    """Return an option of `[rank] rerank`."""
    return recipe.rank.rerank.get(name, OPTIONS[name])


def add_reranks(
    retrieved: Retrieved,
    request: Request,
    recipe: Recipe,
    rank: Callable[[Retrieved], Sequence[Candidate]],
    open_reranker: Callable[[], OwnReranker | None],
) -> Retrieved:
    """Add what a reranker gives the best candidates, if there is one.

    `rank` returns all candidates, the best first.
    """
    top = rerank_option(recipe, "top")
    if not top:
        return retrieved
    try:
        reranker = open_reranker()
        if reranker is None:
            return retrieved
        scores: dict[str, int] = {}
        for query, best in _best(request, recipe, retrieved, rank(retrieved), top):
            texts = [_text(candidate) for candidate in best]
            with events.source(RERANKER):
                given = reranker.score(query, texts, rerank_option(recipe, "timeout") / 1000)
            scores |= {
                candidate.chunk.id: score for candidate, score in zip(best, given, strict=True)
            }
    except PluginError as error:
        failed = {*retrieved.failed, Failure(RERANKER, str(error))}
        return replace(
            retrieved,
            failed=tuple(sorted(failed, key=lambda failure: (failure.source, failure.reason))),
        )
    return replace(retrieved, reranker=reranker.name, reranks=scores) if scores else retrieved


def _best(
    request: Request,
    recipe: Recipe,
    retrieved: Retrieved,
    candidates: Sequence[Candidate],
    top: int,
) -> list[tuple[str, Sequence[Candidate]]]:
    """Return the query and the best candidates of each section that has several."""
    queries = {
        "" if part.section is None else part.section.name: part.query
        for part in sections.split(request, recipe, retrieved.parsed.text)
    }
    groups: dict[str, list[Candidate]] = {name: [] for name in queries}
    for candidate in candidates:
        name = "" if candidate.section is None else candidate.section.name
        if len(groups.setdefault(name, [])) < top:
            groups[name].append(candidate)
    return [
        (queries.get(name) or request.query, group)
        for name, group in groups.items()
        if len(group) > 1
    ]


def _text(candidate: Candidate) -> str:
    """Return the text that a reranker reads: as it is embedded, with its headings."""
    title = candidate.chunk.title
    return f"{title}\n{candidate.chunk.text}" if title else candidate.chunk.text
