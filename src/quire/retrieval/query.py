"""The query that every collector gets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from quire.core.frozen import dataclass
from quire.core.types import NO_FILTER, Chunk, Filter


@dataclass(frozen=True, slots=True)
class TaskQuery:
    """Which tasks a question asks for; all of it must hold."""

    overdue: bool = False
    done: bool | None = False
    """Whether they are done; None: either."""
    dated: bool = False
    """Whether they have a due date."""
    due: tuple[int, int] | None = None
    """The moments between which they are due."""
    mine: bool = False
    """Whether they belong to the user."""
    of_focus: bool = False
    """Whether they are on the page that the user is viewing."""
    words: frozenset[str] = frozenset()
    """The words that name their owner, page or topic."""
    guessed: bool = False
    """Whether no word of the question means tasks: if no task has its words, all are meant."""


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
    contexts: tuple[tuple[str, int, bool], ...] = ()
    """Ids and scores of the contexts that apply, and whether a rule brings them in."""
    tasks: TaskQuery | None = None
    """The tasks that the text asks for; None: it asks for none."""
    leads: tuple[tuple[Chunk, int], ...] = ()
    """The best chunks so far with their scores, for collectors that start from them."""
    options: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Options of single collectors, by the name of the collector."""

    def option(self, collector: str, name: str) -> int:
        """Return an option of a collector."""
        return self.options[collector][name]
