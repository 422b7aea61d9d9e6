"""Totals: the statistics of a whole space, for a snapshot that holds a part of it.

A search of one store counts its own readable rows. Where a space is split over several stores, each
counts its rows, the sums are the totals, and each scores its rows by them: so a row has the score
that it has in one store with the same content.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from quire.store.index.snapshot import IndexSnapshot


@dataclass(frozen=True, slots=True)
class Totals:
    """What the readable rows of all parts come to."""

    chunks: int
    words: int
    """The sum of their lengths."""
    languages: Mapping[str, int]
    """The number of chunks of each language but English."""
    holding: Mapping[str, int] = field(default_factory=dict)
    """The number of chunks that hold a word of the query, in any of its forms."""


def chunk_count(snapshot: IndexSnapshot, totals: Totals | None) -> int:
    """Return how many readable chunks there are in the whole."""
    return snapshot.access.chunks if totals is None else totals.chunks


def holding(totals: Totals | None, word: str, found: int) -> int:
    """Return how many readable chunks hold a word in the whole, of which `found` are here."""
    return found if totals is None else totals.holding.get(word, 0)


def norms(snapshot: IndexSnapshot, totals: Totals | None) -> npt.NDArray[np.int32]:
    """Return the length normalization of each row by the average length in the whole."""
    own = snapshot.access
    if totals is None or (totals.chunks, totals.words) == (own.chunks, own.words):
        return own.norms
    return snapshot.norms_for(totals.chunks, totals.words)
