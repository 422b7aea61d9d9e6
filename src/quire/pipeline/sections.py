"""The subqueries of a request: one for each section of a recipe, or one for all of it.

A subquery has its own text, filter and sources. What failed in an earlier run is not run again: a
receipt names a section that failed, a source that failed everywhere, or `section.source`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from quire import retrieval
from quire.core.types import Chunk, Failure, Filter, Hit, Hits, Recipe, Request, Section
from quire.core.types.options import FILTERS
from quire.errors import InputError
from quire.retrieval import PARTIAL_SCORE, TASKS, TEXT_COLLECTORS, Collected

NO_KIND = ("",)
"""A filter by kind that nothing passes."""


@dataclass(frozen=True, slots=True)
class Subquery:
    """What is searched for at once: everything, or what belongs to one section."""

    query: str
    depths: Mapping[str, int]
    """How many hits each source returns."""
    where: Filter
    section: Section | None = None


def filter_of(request: Request) -> Filter:
    """Return the filter that is part of a request."""
    by_option = {name: getattr(request, name) for name in FILTERS}
    return Filter(**by_option, alive_at=request.alive_at)


def split(request: Request, recipe: Recipe, text: str) -> list[Subquery]:
    """Split a request into subqueries; `text` is searched for where a section has no query."""
    where = filter_of(request)
    if not recipe.sections:
        return [Subquery(text, {name: recipe.depth(name) for name in recipe.sources}, where)]
    return [
        Subquery(
            section.query or text,
            {
                name: max(recipe.items(section), recipe.depth(name))
                for name in section.sources or recipe.sources
                if section.query or text or name not in TEXT_COLLECTORS
            },
            _section_filter(where, section),
            section,
        )
        for section in recipe.sections
    ]


def without_failed(subqueries: Sequence[Subquery], failed: Collection[str]) -> list[Subquery]:
    """Leave out what failed in a recorded run: a section, a source, or a source of a section."""
    names = {subquery.section.name for subquery in subqueries if subquery.section is not None}
    everywhere = {name for name in failed if name not in names}  # a section may be named like one
    return [
        replace(
            subquery,
            depths={
                source: depth
                for source, depth in subquery.depths.items()
                if source not in everywhere and _qualified(subquery, source) not in failed
            },
        )
        for subquery in subqueries
        if subquery.section is None or subquery.section.name not in failed
    ]


def check_hits(subquery: Subquery, collected: Collected, chunks: Mapping[str, Chunk]) -> Collected:
    """Return the hits of a section, or a failure if they do not exist or are of another kind."""
    if subquery.section is None:
        return collected
    hit_chunks = [chunks.get(hit.id) for hits in collected.hits.values() for hit in hits.hits]
    kinds = subquery.where.kinds
    if all(chunk is not None and (not kinds or chunk.kind in kinds) for chunk in hit_chunks):
        return collected
    return retrieval.failed(subquery.section.name, "it answered with what it was not asked for")


def drop_answered(collected: Collected) -> Collected:
    """Drop what was found by text where the question asks for tasks and these were found."""
    tasks = collected.hits.get(TASKS)
    if tasks is None or not any(hit.score > PARTIAL_SCORE for hit in tasks.hits):
        return collected
    hits = {name: hits for name, hits in collected.hits.items() if name not in TEXT_COLLECTORS}
    return replace(collected, hits=hits)


def failures(subqueries: Sequence[Subquery], collected: Sequence[Collected]) -> set[Failure]:
    """Return what failed: a section, a source everywhere, or a source in some sections."""
    names = {subquery.section.name for subquery in subqueries if subquery.section is not None}
    counts = Counter(failure for answer in collected for failure in answer.failures)
    failed: set[Failure] = set()
    for subquery, answer in zip(subqueries, collected, strict=True):
        for failure in answer.failures:
            name = failure.source
            is_section = (
                subquery.section is not None and name == subquery.section.name and not answer.hits
            )
            is_everywhere = name not in names and counts[failure] == len(subqueries)
            failed.add(
                failure
                if is_section or is_everywhere
                else replace(failure, source=_qualified(subquery, name))
            )
    return failed


def merge(
    subqueries: Sequence[Subquery], collected: Sequence[Collected]
) -> tuple[dict[str, Hits], dict[str, str]]:
    """Merge the hits of all subqueries; a chunk belongs to the first section that found it."""
    if len(subqueries) == 1 and subqueries[0].section is None:
        return dict(collected[0].hits), {}
    best: dict[str, dict[str, Hit]] = {}
    exact: dict[str, bool] = {}
    sections: dict[str, str] = {}
    for subquery, answer in zip(subqueries, collected, strict=True):
        for name, hits in answer.hits.items():
            by_chunk = best.setdefault(name, {})
            exact[name] = exact.get(name, True) and hits.exact
            for hit in hits.hits:
                if hit.id not in by_chunk or hit.score > by_chunk[hit.id].score:
                    by_chunk[hit.id] = hit
                if subquery.section is not None:
                    sections.setdefault(hit.id, subquery.section.name)
    merged = {
        name: Hits(tuple(sorted(by_chunk.values(), key=lambda hit: hit.order)), exact[name])
        for name, by_chunk in best.items()
    }
    return merged, sections


def _qualified(subquery: Subquery, source: str) -> str:
    return source if subquery.section is None else f"{subquery.section.name}.{source}"


def _section_filter(where: Filter, section: Section) -> Filter:
    """Return the filter for what passes the request's and belongs to a section."""
    if where.paths and section.paths:
        raise InputError(
            f"the section {section.name!r} has paths of its own",
            field="paths",
            value=where.paths,
            hint="filter by something else",
        )
    kinds = section.kinds or where.kinds
    if section.kinds and where.kinds:
        kinds = tuple(kind for kind in section.kinds if kind in where.kinds) or NO_KIND
    return replace(where, kinds=kinds, paths=section.paths or where.paths)
