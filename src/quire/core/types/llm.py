"""What is a language model asked to write?"""

from __future__ import annotations

from dataclasses import dataclass

SUMMARY = "summary"
PRINCIPLE = "principle"


@dataclass(frozen=True, slots=True)
class WriteTask:
    """A text to be written of other texts."""

    task: str
    """`summary` or `principle`."""
    texts: tuple[str, ...]
    about: str
    """The question that it is for, or what the texts have in common."""
    tokens: int
    """About how long it may be."""


@dataclass(frozen=True, slots=True)
class WriteResult:
    """What was written, or why nothing was."""

    text: str
    reason: str = ""
    """Why there is no text."""
