"""Prompts, and the form that their answers must have.

This is all that anything which asks a model (an endpoint, the client of a call) needs to know.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class AnswerForm:
    """The form of an answer: an object that contains one list."""

    name: str
    """The name of the form and of the list."""
    entry: Mapping[str, str]
    """The fields of each entry with their JSON types."""

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
    """A request to a model."""

    task: str
    """The instructions; everything else is data."""
    text: str
    form: AnswerForm
    max_tokens: int
    """Upper limit for the length of the answer."""


def group_by_number(entries: Any, count: int, field: str) -> list[list[Any]]:
    """Return the values of a field in an answer, grouped by the number of the entry, from 1 on.

    Raises LookupError, TypeError or ValueError if the answer has another form or other numbers.
    """
    groups: list[list[Any]] = [[] for _ in range(count)]
    for entry in entries:
        groups[_index(entry["number"], count)].append(entry[field])
    return groups


def malformed_answer(who: str, error: Exception) -> str:
    """Return the reason why an answer in another form is not used."""
    problem = f"({type(error).__name__}: {error!s:.80})"
    return f"{who} gave no answer in the form that was asked for {problem}"


def _index(number: Any, count: int) -> int:
    if type(number) is not int or not 0 < number <= count:
        raise ValueError(f"the number {number!r:.20}")
    return number - 1
