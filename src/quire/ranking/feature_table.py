"""The feature table: what signals and boosts know beside the candidates, filled by the pipeline."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field

from quire.core.frozen import dataclass
from quire.core.types import Candidate

MAX_SIGNAL = 1000
"""The most that a signal can be: all of it, in thousandths."""


@dataclass(frozen=True, slots=True)
class FeatureTable:
    """What signals know of records and chunks, beside the candidates themselves."""

    as_of: int | None = None
    """The moment at which recency is judged."""
    feedback: Mapping[str, int] = field(default_factory=dict)
    """How useful records were, in thousandths from -1000 to 1000."""
    has_focus: bool = False
    """Whether the user is viewing a record."""
    distances: Mapping[str, int] = field(default_factory=dict)
    """Number of steps from the focus to each record."""
    similarity: Mapping[str, int] = field(default_factory=dict)
    """How similar chunks are to the query, in thousandths."""
    relevance: Mapping[str, int] = field(default_factory=dict)
    """How likely it is that chunks help to answer the query, in thousandths."""
    words: Mapping[str, int] = field(default_factory=dict)
    """The share of the query's words that chunks hold, weighted by rarity, in thousandths."""
    types: Mapping[str, int] = field(default_factory=dict)
    """How well types of blocks answer the intent of the query, in thousandths."""
    included: frozenset[str] = frozenset()
    """The records that must be in."""
    roles: Mapping[str, int] = field(default_factory=dict)
    """What records lose by their role in the project, in thousandths of their score, negative."""
    affinity: Mapping[str, int] = field(default_factory=dict)
    """How lately the user worked on records, in thousandths."""


Signal = Callable[[Candidate, FeatureTable], int]
"""Measures one property of a candidate, in thousandths."""
