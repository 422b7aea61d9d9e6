"""What is asked for in a workspace, and what is given?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from quire.core.types.candidates import Failure
from quire.core.types.viewer import Viewer


@dataclass(frozen=True, slots=True)
class Focus:
    """What a person looks at; the innermost that is named counts."""

    block_id: str | None = None
    page_id: str | None = None
    database_id: str | None = None

    @property
    def looked_at(self) -> str | None:
        """The id of what is looked at."""
        return self.block_id or self.page_id or self.database_id


@dataclass(frozen=True, slots=True)
class TokenBudget:
    """How many tokens there are, and what each part of the page may take of them."""

    total: int = 4000
    focus: int = 1500
    semantic: int = 1200
    relations: int = 800
    activity: int = 300
    history: int = 500
    system: int = 200

    @property
    def shares(self) -> dict[str, int]:
        """What each part may take."""
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
    """What the asker knows of what is needed."""

    prioritize_types: tuple[str, ...] = ()
    time_range: tuple[int | None, int | None] = (None, None)
    """Seconds since 1970: the first and the last moment."""
    include_blocks: tuple[str, ...] = ()
    exclude_blocks: tuple[str, ...] = ()
    max_depth: int | None = None


@dataclass(frozen=True, slots=True)
class Preferences:
    """What a person likes to see."""

    types: tuple[str, ...] = ()
    """Kinds of blocks."""
    language: str = ""
    """The language that answers should be in."""
    format: str = ""
    """The format of the context."""


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """What is asked for: a question, by someone, who looks at something, within a budget."""

    query: str
    user: Viewer | str
    type: str = "assist"
    """`assist`, `chat`, `search` or `automate`."""
    focus: Focus = field(default_factory=Focus)
    token_budget: TokenBudget | None = None
    """None: as the type of the request has it."""
    conversation_history: tuple[tuple[str, str], ...] = ()
    """Who speaks, and what; the oldest message first."""
    system: str = ""
    """The caller's own instructions."""
    hints: ContextHints = field(default_factory=ContextHints)
    preferences: Preferences = field(default_factory=Preferences)
    model: str = "o200k"
    as_of: int | None = None


@dataclass(frozen=True, slots=True)
class BlockItem:
    """One block in a context."""

    block_id: str
    block_type: str
    content: str
    relevance: float
    """0 to 1."""
    metadata: Mapping[str, object]
    """The page's title, the breadcrumb path, when it was modified."""


@dataclass(frozen=True, slots=True)
class ContextSection:
    """A part of a context."""

    type: str
    """`focus`, `semantic`, `relations` or `activity`."""
    title: str
    items: tuple[BlockItem, ...]
    token_count: int


@dataclass(frozen=True, slots=True)
class PayloadMetadata:
    """What is known of a context."""

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
    """A context by its parts, as a text, and with its receipt."""

    sections: tuple[ContextSection, ...]
    metadata: PayloadMetadata
    serialized: str
    failed: tuple[Failure, ...] = ()
    notes: tuple[str, ...] = ()
    receipt: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Validation:
    """Whether a context is as it should be; if not, what is wrong with it."""

    problems: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    """What its reader should know: what it holds is superseded, a part is empty."""

    @property
    def valid(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems
