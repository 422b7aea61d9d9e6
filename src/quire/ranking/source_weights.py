"""The weight of a source, adjusted to the chunk and to the query.

A recipe sets the weight; measurement (docs/evidence.md) has shown two exceptions. A document of one
chunk is found by its vector more reliably than a chunk of a long document, which holds only a part
of the meaning. And a long query (an issue with its traceback) is about many things at once: its one
vector says little about any of them, while its words name them.
"""

from __future__ import annotations

from collections.abc import Sequence

from quire.core.types import FusionStats, SourceSpec

SINGLE_CHUNK = "whole"
"""Option of a source: percent of its weight for a chunk that is the only one of its record."""
LONG_QUERY = "long"
"""Option of a source: number of different words above which a query is long. The weight falls
with the number of words; at twice as many it is half."""
WEIGHT_OPTIONS = (SINGLE_CHUNK, LONG_QUERY)
"""The options that every source may have."""
FULL_PERCENT = 100


def weighted(points: int, source: SourceSpec, stats: FusionStats, *, single_chunk: bool) -> int:
    """Return what a hit adds to the score of its chunk: its points times the adjusted weight."""
    added = source.weight * points
    if single_chunk:
        added = added * source.options.get(SINGLE_CHUNK, FULL_PERCENT) // FULL_PERCENT
    if _is_long_query(source, stats):
        added = added * source.options[LONG_QUERY] // stats.query_words
    return added


def weight_signals(
    sources: Sequence[SourceSpec], stats: FusionStats, *, single_chunk: bool
) -> dict[str, int]:
    """Return the signals that change the weight of a source, for the receipt."""
    signals = {}
    if single_chunk and any(SINGLE_CHUNK in source.options for source in sources):
        signals[SINGLE_CHUNK] = 1
    if any(_is_long_query(source, stats) for source in sources):
        signals[LONG_QUERY] = stats.query_words
    return signals


def _is_long_query(source: SourceSpec, stats: FusionStats) -> bool:
    return 0 < source.options.get(LONG_QUERY, 0) < stats.query_words
