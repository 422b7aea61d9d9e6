"""Memories, experiences, principles and feedback."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Generic, TypeVar

from quire.core.types.documents import Skipped

Stored = TypeVar("Stored")

OPEN = "open"
"""The outcome of an experience that is not resolved yet."""


@dataclass(frozen=True, slots=True)
class Memory:
    """Something worth remembering: a fact, a preference, a decision, an error."""

    id: str
    content: str
    category: str
    importance: int
    """Thousandths: 0 to 1000."""
    created: int
    """Seconds since 1970, UTC."""
    edited: int | None = None
    author: str | None = None
    """Who wrote it; None: the owner."""
    acl: tuple[str, ...] | None = None
    """Who may read it; None: the access rules of the space decide."""
    supersedes: str | None = None
    superseded_by: str | None = None
    count: int = 1
    """How often its author said it."""
    repeated: int | None = None
    """When they last did, if more than once."""


@dataclass(frozen=True, slots=True)
class Experience:
    """What someone tried, what they expected, and how it ended."""

    id: str
    goal: str
    domain: str
    strategy: str
    hypothesis: str = ""
    action: str = ""
    prediction: str = ""
    outcome: str = OPEN
    """`open`, then `confirmed`, `falsified` or `abandoned`."""
    result: str = ""
    surprise: str = ""
    root_cause: str = ""
    lesson: str = ""
    tier: str = ""
    """`gold`, `silver`, `bronze` or `abandoned`, by its resolution; empty while it is open."""
    iterations: int = 1
    started: int | None = None
    updated: int | None = None
    resolved: int | None = None
    source: str = ""
    """The file that it was imported from."""
    digest: str = ""
    """The hash of that file."""
    author: str | None = None
    acl: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Principle:
    """A principle that several experiences have in common."""

    id: str
    text: str
    axis: str
    """What the experiences have in common: `full`, `strategy`, `surprise` or `root_cause`."""
    cluster_id: str
    """A hash of its members."""
    size: int
    similarity: int
    """Of the experience that gave its text to the center of all members, in thousandths."""
    members: tuple[str, ...]
    """The ids of the experiences."""
    worded_by: str = "lesson"
    """Where the text is from: a member's `lesson` or `root_cause`, all members on the `axis`, or a
    language model, by its name."""

    @property
    def is_written(self) -> bool:
        """Whether a language model wrote the text."""
        return ":" in self.worded_by


@dataclass(frozen=True, slots=True)
class Feedback:
    """A rating of the pieces of a context: which were useful, and which were not."""

    id: str
    useful: tuple[str, ...]
    """The ids of records."""
    useless: tuple[str, ...]
    receipt: str
    """The hash of the receipt that it is about."""
    at: int
    """Seconds since 1970, UTC."""
    author: str | None = None
    """Who gave it; None: the owner."""
    acl: tuple[str, ...] = ()
    """Who may read it."""
    shared: bool = False
    """Whether it counts for everyone who may read it."""


@dataclass(frozen=True, slots=True)
class Written(Generic[Stored]):
    """What was stored, and notes for its writer."""

    value: Stored
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ImportResult:
    """The result of importing a file or a folder."""

    added: int
    changed: int
    unchanged: int
    skipped: tuple[Skipped, ...] = ()
    notes: tuple[str, ...] = ()


def format_time(at: int | None) -> str | None:
    """Format a time as ISO 8601 in UTC; None for one that no calendar has."""
    try:
        return None if at is None else datetime.fromtimestamp(at, UTC).isoformat()
    except (
        OverflowError,
        OSError,
        ValueError,
    ):  # a commit can say anything
        return None
