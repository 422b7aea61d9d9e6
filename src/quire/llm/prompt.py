"""What is a model asked, and in which form must it answer?

Whoever asks it (an endpoint, the client of a connection) needs nothing else to know.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Form:
    """The form that an answer must have: an object with one list in it."""

    name: str
    """Of the form, and of the list."""
    entry: Mapping[str, str]
    """The fields of each entry, and the JSON type of each."""

    @property
    def schema(self) -> Mapping[str, Any]:
        """The form as a JSON schema."""
        entry = {
            "type": "object",
            "properties": {name: {"type": kind} for name, kind in self.entry.items()},
            "required": [*self.entry],
            "additionalProperties": False,
        }
        return {
            "type": "object",
            "properties": {self.name: {"type": "array", "items": entry}},
            "required": [self.name],
            "additionalProperties": False,
        }


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model is asked."""

    task: str
    """What it is to do; what follows is data."""
    text: str
    form: Form
    tokens: int
    """An answer has at most so many."""


def numbered(entries: Any, count: int, field: str) -> list[list[Any]]:
    """Give what an answer says for each number from 1 on, however often; refuse other numbers.

    Raises LookupError, TypeError or ValueError for what is in another form.
    """
    given: list[list[Any]] = [[] for _ in range(count)]
    for entry in entries:
        given[_place(entry["number"], count)].append(entry[field])
    return given


def malformed(who: str, error: Exception) -> str:
    """Say that an answer was none, and why."""
    told = f"({type(error).__name__}: {error!s:.80})"
    return f"{who} gave no answer in the form that was asked for {told}"


def _place(number: Any, count: int) -> int:
    if type(number) is not int or not 0 < number <= count:
        raise ValueError(f"the number {number!r:.20}")
    return number - 1
