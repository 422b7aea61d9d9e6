"""Tasks for a language model that writes, and their results."""

from __future__ import annotations

from quire.core.frozen import dataclass

SUMMARY = "summary"
PRINCIPLE = "principle"


@dataclass(frozen=True, slots=True)
class WriteTask:
    """A text to write from other texts."""

    task: str
    """`summary` or `principle`."""
    texts: tuple[str, ...]
    about: str
    """The query that it answers, or what the texts have in common."""
    tokens: int
    """Approximate length of the result."""


@dataclass(frozen=True, slots=True)
class WriteResult:
    """The written text, or the reason why there is none."""

    text: str
    reason: str = ""
    """The reason why there is no text."""
