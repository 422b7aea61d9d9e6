"""Counters for models whose vocabulary is not available.

They count by another vocabulary and add a margin, or take the text's length alone. None of them is
exact, and each says so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from quire.core.protocols import Counter


@dataclass(frozen=True, slots=True)
class MarginCounter:
    """A counter that adds a margin to another counter's count, rounded up."""

    counter: Counter
    percent: int
    note: str
    exact: bool = False

    @property
    def name(self) -> str:
        """The name that opens a counter with the same counts."""
        return f"{self.counter.name}+{self.percent}%"

    def count(self, text: str) -> int:
        """Return the number of tokens of a text."""
        return self.add_margin(self.counter.count(text))

    def add_margin(self, count: int) -> int:
        """Return a count with the margin added."""
        return -(-count * (100 + self.percent) // 100)


@dataclass(frozen=True, slots=True)
class LengthCounter:
    """A counter that takes four bytes or characters for a token."""

    name: str
    measure: Callable[[str], int]
    note: str
    exact: bool = False

    def count(self, text: str) -> int:
        """Return the number of tokens of a text."""
        return self.measure(text)


def _bytes_up(text: str) -> int:
    # Half of a broken surrogate pair takes three bytes, as U+FFFD does in its place.
    return -(-len(text.encode("utf-8", "surrogatepass")) // 4)


def _characters_up(text: str) -> int:
    return -(-len(text) // 4)


def _characters_down(text: str) -> int:
    return len(text) // 4


LENGTH_COUNTERS = (
    LengthCounter("approx", _bytes_up, "a rule of thumb: UTF-8 bytes / 4, rounded up"),
    LengthCounter("approx-chars", _characters_up, "a rule of thumb: characters / 4, rounded up"),
    LengthCounter("approx-floor", _characters_down, "a rule of thumb: characters / 4, down"),
)
