"""The weight of a source, adjusted to the chunk and to the query.

A recipe sets the weight; measurement (docs/evidence.md) has shown five exceptions. A document of
one chunk is found by its vector more reliably than a chunk of a long document, which holds only a
part of the meaning. Source code has other words than those who ask about it, so that its meaning
tells more than its words. A long query (an issue with its traceback) is about many things at once:
its one vector says little about any of them, while its words name them. And while vectors are still
being made, the most similar chunk is only the most similar of those that have one. A model that was
made for English knows the pieces of words of languages that share its letters, but of other scripts
little more than single characters: there, similarity at its full weight ranks worse than words.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Self

from quire.core.languages import has_latin_letters
from quire.core.types import ALL_COVERED, FusionStats, SourceSpec

SINGLE_CHUNK = "whole"
"""Option of a source: percent of its weight for a chunk that is the only one of its record."""
CODE_CHUNK = "code"
"""Option of a source: percent of its weight for a chunk of source code."""
LONG_QUERY = "long"
"""Option of a source: number of different words above which a query is long. The weight falls
with the number of words; at twice as many it is half."""
WEIGHT_OPTIONS = (SINGLE_CHUNK, CODE_CHUNK, LONG_QUERY)
"""The options that every source may have."""
COVERED = "covered"
"""Signal: thousandths of the readable chunks that have a vector, if not all have one."""
SIMILARITY_SOURCES = ("semantic",)
"""Sources whose scores compare vectors."""
LANGUAGE = "language_"
"""Prefix of a signal, before the code of a language: the percent that similarity counts in it."""
FULL_PERCENT = 100
OTHER_SCRIPT_PERCENT = 50
"""What similarity counts for a text in a script that the model was not made for."""


Factors = tuple[tuple[int, int], ...]
"""Numbers that points are multiplied with and divided by, in this order, each time rounded down."""


class Traits(NamedTuple):
    """What of a chunk changes the weight of a source."""

    single: bool = False
    """Whether it is the only chunk of its record."""
    code: bool = False
    """Whether it is source code."""
    language: str = ""
    """The language of its text, if it is not English."""

    @classmethod
    def of(cls, chunk_id: str, stats: FusionStats) -> Self:
        """Return the traits of a chunk."""
        return cls(
            chunk_id in stats.single_chunks,
            chunk_id in stats.code_chunks,
            stats.languages.get(chunk_id, ""),
        )

    @property
    def options(self) -> tuple[str, ...]:
        """The options of a source that hold for such a chunk."""
        marks = ((SINGLE_CHUNK, self.single), (CODE_CHUNK, self.code))
        return tuple(option for option, holds in marks if holds)


def factors(name: str, source: SourceSpec, stats: FusionStats, traits: Traits) -> Factors:
    """Return what the points of a hit are multiplied with: the adjusted weight of its source."""
    found = [(source.weight, 1)]
    if name in SIMILARITY_SOURCES:
        found.append((trust_in_vectors(stats.covered), ALL_COVERED))
        found.append((trust_in_language(traits.language, stats), FULL_PERCENT))
    for option in traits.options:
        # It moves weight from words to vectors, so it counts as far as vectors do.
        moved = source.options.get(option, FULL_PERCENT) - FULL_PERCENT
        parts = FULL_PERCENT * ALL_COVERED + moved * trust_in_vectors(stats.covered)
        found.append((parts, FULL_PERCENT * ALL_COVERED))
    if _is_long_query(source, stats):
        found.append((source.options[LONG_QUERY], stats.query_words))
    return tuple((times, by) for times, by in found if times != by)


def weighted(points: int, weights: Factors) -> int:
    """Return what a hit adds to the score of its chunk: its points times the adjusted weight."""
    for times, by in weights:
        points = points * times // by
    return points


def all_weighted(points: list[int], weights: Factors) -> list[int]:
    """Return what `weighted` returns, for hits that have the same weight."""
    for times, by in weights:
        points = [each * times // by for each in points]
    return points


def trust_in_vectors(covered: int) -> int:
    """Return how much similarity counts, in thousandths, if so many chunks have a vector.

    The best of a few says little about all: until half of the chunks are covered, similarity only
    orders what no word finds.
    """
    return max(1, 2 * covered - ALL_COVERED)


def trust_in_language(language: str, stats: FusionStats) -> int:
    """Return how much similarity counts for a text in a language, in percent."""
    known = not language or not stats.english_model or has_latin_letters(language)
    return FULL_PERCENT if known else OTHER_SCRIPT_PERCENT


def weight_signals(
    sources: Mapping[str, SourceSpec], stats: FusionStats, traits: Traits
) -> dict[str, int]:
    """Return the signals that change the weight of a source, for the receipt."""
    signals = {}
    if traits.language:
        signals[f"{LANGUAGE}{traits.language}"] = trust_in_language(traits.language, stats)
    if stats.covered < ALL_COVERED and any(name in SIMILARITY_SOURCES for name in sources):
        signals[COVERED] = stats.covered
    for option in traits.options:
        if any(option in source.options for source in sources.values()):
            signals[option] = 1
    if any(_is_long_query(source, stats) for source in sources.values()):
        signals[LONG_QUERY] = stats.query_words
    return signals


def _is_long_query(source: SourceSpec, stats: FusionStats) -> bool:
    return 0 < source.options.get(LONG_QUERY, 0) < stats.query_words
