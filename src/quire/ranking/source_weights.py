"""How much does a source weigh for this piece and this question?

As much as the recipe says, but for two things that measurement has shown (docs/evidence.md). A
document that is one piece is found by its meaning more surely than a piece of a long one, which
says only a part of what the whole means. And a long question (an issue with its traceback) is
about many things at once: its one vector says little of any, while its words name them.
"""

from __future__ import annotations

from collections.abc import Sequence

from quire.core.types import FusionStats, SourceSpec

WHOLE = "whole"
"""The option of a source: so many percent of its weight it has for a chunk that is its record."""
LONG = "long"
"""The option of a source: it weighs less for a question of more different words than this; of
twice as many, half."""
EVEN = 100
"""Percent of a weight: all of it."""


def weighed(worth: int, source: SourceSpec, bearing: FusionStats, *, whole: bool) -> int:
    """Give what a hit adds to its chunk's score: what it is worth, by the weight of its source."""
    added = source.weight * worth
    if whole:
        added = added * source.options.get(WHOLE, EVEN) // EVEN
    if _is_long(source, bearing):
        added = added * source.options[LONG] // bearing.words
    return added


def signals(sources: Sequence[SourceSpec], bearing: FusionStats, *, whole: bool) -> dict[str, int]:
    """Tell what changes the weight of a source: a whole record, the words of a long question."""
    told = {}
    if whole and any(WHOLE in source.options for source in sources):
        told[WHOLE] = 1
    if any(_is_long(source, bearing) for source in sources):
        told[LONG] = bearing.words
    return told


def _is_long(source: SourceSpec, bearing: FusionStats) -> bool:
    return 0 < source.options.get(LONG, 0) < bearing.words
