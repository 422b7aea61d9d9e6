"""What is a source asked?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from quire.core.types import NO_FILTER, Filter

OPTIONS: Mapping[str, Mapping[str, int]] = {
    "semantic": {"floor": 0},
    "focus": {"ancestors": 3, "siblings": 2, "children": 5, "page": 200},
    "relations": {"depth": 2, "items": 10},
    "activity": {"edits": 10, "views": 5, "hours": 72},
}
"""What a recipe can say to one source alone, and what holds if it says nothing."""


@dataclass(frozen=True, slots=True)
class Question:
    """What a source is asked, and where the asker stands."""

    query: str
    vector: bytes | None = None
    where: Filter = NO_FILTER
    exact: bool = False
    reach: int = 0
    """How far around a chunk words count for it."""
    focus: str | None = None
    """The record that the asker looks at."""
    include: tuple[str, ...] = ()
    """Records that belong in, whatever is asked."""
    depth: int | None = None
    """How far up and down from the focus is looked."""
    as_of: int | None = None
    """Now."""
    contexts: tuple[tuple[str, int], ...] = ()
    """The records of the contexts that count, and how much each does."""
    options: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """What only one source knows, by the source's name."""

    def option(self, source: str, name: str) -> int:
        """Look up what a recipe says to a source alone; else what is usual."""
        return self.options.get(source, {}).get(name, OPTIONS[source][name])
