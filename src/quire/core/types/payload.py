"""Requests and contexts of a workspace, as specification 3 defines them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from quire.core.frozen import dataclass
from quire.core.types.candidates import Failure
from quire.core.types.viewer import Viewer


@dataclass(frozen=True, slots=True)
class Focus:
    """The record that a user is viewing: the innermost one that is given."""

    block_id: str | None = None
    page_id: str | None = None
    database_id: str | None = None

    @property
    def record_id(self) -> str | None:
        """The id of the record."""
        return self.block_id or self.page_id or self.database_id


@dataclass(frozen=True, slots=True)
class TokenBudget:
    """The token budget, and the share of each part of the page.

    A share that is None is that of the request's type, in proportion to the total.
    """

    total: int = 4000
    focus: int | None = None
    semantic: int | None = None
    relations: int | None = None
    activity: int | None = None
    history: int | None = None
    system: int | None = None

    @property
    def shares(self) -> dict[str, int | None]:
        """The share of each part."""
        return {
            "focus": self.focus,
            "semantic": self.semantic,
            "relations": self.relations,
            "activity": self.activity,
            "history": self.history,
            "system": self.system,
        }


@dataclass(frozen=True, slots=True)
class ContextHints:
    """Hints of the caller about what is relevant."""

    prioritize_types: tuple[str, ...] = ()
    time_range: tuple[int | str | None, int | str | None] = (None, None)
    """The first and the last moment: dates (`2026-01-31`), or seconds since 1970."""
    include_blocks: tuple[str, ...] = ()
    exclude_blocks: tuple[str, ...] = ()
    max_depth: int | None = None


@dataclass(frozen=True, slots=True)
class Preferences:
    """Preferences of a user."""

    types: tuple[str, ...] = ()
    """Types of blocks."""
    language: str = ""
    """The language of the answers."""
    format: str = ""
    """The format of the context."""


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """A query of a user who is viewing something, with a budget."""

    query: str
    user: Viewer | str
    type: str = "assist"
    """`assist`, `chat`, `search` or `automate`."""
    focus: Focus = field(default_factory=Focus)
    token_budget: TokenBudget | None = None
    """None: the default of the request's type."""
    conversation_history: tuple[tuple[str, str], ...] = ()
    """Speaker and text of each message, the oldest first."""
    system: str = ""
    """Instructions of the caller."""
    hints: ContextHints = field(default_factory=ContextHints)
    preferences: Preferences = field(default_factory=Preferences)
    model: str = "o200k"
    as_of: int | str | None = None
    """The moment of the request: a date, or seconds since 1970."""


@dataclass(frozen=True, slots=True)
class BlockItem:
    """One block in a context."""

    block_id: str
    block_type: str
    content: str
    relevance: float
    """How likely it is that it is about what the query asks, from 0 to 1. Where that is not known,
    its score as a share of the highest that there is."""
    metadata: Mapping[str, object]
    """The title of its page, its breadcrumb path and its modification time."""
    similarity: float | None = None
    """How similar it is to the query by its vector, from 0 to 1; None: it has none."""


@dataclass(frozen=True, slots=True)
class ContextSection:
    """A section of a context."""

    type: str
    """`focus`, `semantic`, `relations` or `activity`."""
    title: str
    items: tuple[BlockItem, ...]
    token_count: int


@dataclass(frozen=True, slots=True)
class PayloadMetadata:
    """Facts about a context."""

    total_tokens: int
    budget: int
    focus_block_id: str | None
    focus_page_id: str | None
    collectors_used: tuple[str, ...]
    blocks_included: int
    blocks_considered: int
    model: str


@dataclass(frozen=True, slots=True)
class ContextPayload:
    """A context as sections and as text, with its receipt."""

    sections: tuple[ContextSection, ...]
    metadata: PayloadMetadata
    serialized: str
    failed: tuple[Failure, ...] = ()
    notes: tuple[str, ...] = ()
    receipt: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Validation:
    """The result of checking a context: its problems and warnings."""

    problems: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    """Facts that the reader should know: a memory is superseded, a section is empty."""

    @property
    def valid(self) -> bool:
        """Whether there are no problems."""
        return not self.problems
