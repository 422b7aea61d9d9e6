"""What is asked for each part of a page, and who of them did not answer?

A context without sections is one part. What an earlier run did not get is not asked for again: a
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
from quire.retrieval import Collected

NO_KIND = ("",)
"""Kinds that nothing is of."""


@dataclass(frozen=True, slots=True)
class Part:
    """What is asked in one go: all of it, or what belongs into one section."""

    query: str
    depths: Mapping[str, int]
    where: Filter
    section: Section | None = None


def filter_of(request: Request) -> Filter:
    """Return the filter that is part of a request."""
    return Filter(**{name: getattr(request, name) for name in FILTERS})


def parts_of(request: Request, recipe: Recipe) -> list[Part]:
    """Say what is asked: one thing, or one for each section of the page."""
    where = filter_of(request)
    if not recipe.sections:
        return [Part(request.query, {name: recipe.depth(name) for name in recipe.sources}, where)]
    return [
        Part(
            section.query or request.query,
            {
                name: max(section.k, recipe.depth(name))
                for name in section.sources or recipe.sources
            },
            narrowed(where, section),
            section,
        )
        for section in recipe.sections
    ]


def without(parts: Sequence[Part], lost: Collection[str]) -> list[Part]:
    """Ask nobody who failed in the run that is run again: a section, a source, or one in it."""
    names = {part.section.name for part in parts if part.section is not None}
    everywhere = {name for name in lost if name not in names}  # a section may be named like one
    return [
        replace(
            part,
            depths={
                source: depth
                for source, depth in part.depths.items()
                if source not in everywhere and _within(part, source) not in lost
            },
        )
        for part in parts
        if part.section is None or part.section.name not in lost
    ]


def believed(part: Part, answer: Collected, chunks: Mapping[str, Chunk]) -> Collected:
    """Take what was found for a section, unless it names what is not there, or not meant."""
    if part.section is None:
        return answer
    met = [chunks.get(hit.id) for hits in answer.hits.values() for hit in hits.hits]
    kinds = part.where.kinds
    if all(chunk is not None and (not kinds or chunk.kind in kinds) for chunk in met):
        return answer
    return retrieval.failed(part.section.name, "it answered with what it was not asked for")


def failures(parts: Sequence[Part], collected: Sequence[Collected]) -> set[Failure]:
    """Tell who failed: a section, a source everywhere, or a source in some sections."""
    names = {part.section.name for part in parts if part.section is not None}
    times = Counter(failure for each in collected for failure in each.failures)
    told: set[Failure] = set()
    for part, each in zip(parts, collected, strict=True):
        for failure in each.failures:
            name = failure.source
            whole = part.section is not None and name == part.section.name and not each.hits
            everywhere = name not in names and times[failure] == len(parts)
            told.add(
                failure if whole or everywhere else replace(failure, source=_within(part, name))
            )
    return told


def _within(part: Part, source: str) -> str:
    return source if part.section is None else f"{part.section.name}.{source}"


def narrowed(where: Filter, section: Section) -> Filter:
    """Let only that answer which passes a filter and belongs into a section."""
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


def merged(
    parts: Sequence[Part], collected: Sequence[Collected]
) -> tuple[dict[str, Hits], dict[str, str]]:
    """Put together what was found for all parts; a chunk belongs to the first that found it."""
    if len(parts) == 1 and parts[0].section is None:
        return dict(collected[0].hits), {}
    best: dict[str, dict[str, Hit]] = {}
    exact: dict[str, bool] = {}
    sections: dict[str, str] = {}
    for part, each in zip(parts, collected, strict=True):
        for name, hits in each.hits.items():
            met = best.setdefault(name, {})
            exact[name] = exact.get(name, True) and hits.exact
            for hit in hits.hits:
                if hit.id not in met or hit.score > met[hit.id].score:
                    met[hit.id] = hit
                if part.section is not None:
                    sections.setdefault(hit.id, part.section.name)
    found = {
        name: Hits(tuple(sorted(met.values(), key=lambda hit: hit.order)), exact[name])
        for name, met in best.items()
    }
    return found, sections
