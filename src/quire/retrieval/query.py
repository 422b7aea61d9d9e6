"""The query that every collector gets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from quire.core.types import NO_FILTER, Chunk, Filter


@dataclass(frozen=True, slots=True)
class Query:
    """The text of a query and the situation of the user who asks."""

    text: str
    vector: bytes | None = None
    where: Filter = NO_FILTER
    exact: bool = False
    """Compare every vector instead of searching approximately."""
    reach: int = 0
    """Distance, in chunks, over which a word also counts for its neighbours."""
    focus: str | None = None
    """Id of the record that the user is viewing."""
    include: tuple[str, ...] = ()
    """Ids of records that are collected whatever the text says."""
    max_depth: int | None = None
    """Levels of the hierarchy that are searched above and below the focus; None: no limit."""
    as_of: int | None = None
    """The current moment, in seconds since 1970."""
    contexts: tuple[tuple[str, int], ...] = ()
    """Ids and scores of the contexts that the rules bring in."""
    leads: tuple[tuple[Chunk, int], ...] = ()
    """The best chunks so far with their scores, for collectors that start from them."""
    options: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Options of single collectors, by the name of the collector."""

    def option(self, collector: str, name: str) -> int:
        """Return an option of a collector."""
        return self.options[collector][name]
