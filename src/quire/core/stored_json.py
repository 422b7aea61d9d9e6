"""JSON of a store, which may have come from anybody: what has another form is not there."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeGuard, TypeVar

from quire.core.types.records import Record
from quire.errors import StoreDamagedError

Given = ParamSpec("Given")
Read = TypeVar("Read")
WRONG_FORM = (ValueError, TypeError, LookupError, AttributeError, RecursionError)
"""What a value of another form than the one that Quire writes leads to where it is read."""


def of_record(
    read: Callable[Concatenate[Record, Given], Read],
) -> Callable[Concatenate[Record, Given], Read]:
    """Return a function that reads a record, so that one of a wrong form is told as damage."""

    @wraps(read)
    def guarded(record: Record, /, *args: Given.args, **options: Given.kwargs) -> Read:
        try:
            return read(record, *args, **options)
        except WRONG_FORM as error:
            raise StoreDamagedError(
                f"record {record.id} is damaged",
                hint="run `quire doctor`, restore a backup, or delete the file and index again",
            ) from error

    return guarded


@of_record
def number(record: Record, name: str) -> int:
    """Return an attribute that is a number; 0 if it is missing."""
    return int(record.attrs.get(name, 0))


def read_object(text: str | None) -> dict[str, Any]:
    """Return the object that a text holds; an empty one if it holds something else."""
    parsed = _parse(text)
    return parsed if isinstance(parsed, dict) else {}


def read_objects(text: str | None) -> list[dict[str, Any]]:
    """Return the objects of the list that a text holds; nothing else of it."""
    parsed = _parse(text)
    return [item for item in parsed if isinstance(item, dict)] if isinstance(parsed, list) else []


def read_texts(text: str | None) -> tuple[str, ...] | None:
    """Return the list of texts that a text holds; None if it holds something else."""
    parsed = _parse(text)
    return tuple(parsed) if is_texts(parsed) else None


def read_number(text: str | None) -> int | None:
    """Return the whole number from 0 on that a text holds; None if it holds something else."""
    is_number = text is not None and text.isascii() and text.isdigit() and len(text) <= 18
    return int(text) if text is not None and is_number else None


def is_texts(value: object) -> TypeGuard[list[str]]:
    """Return whether a value is a list of texts that can be stored and compared."""
    return isinstance(value, list) and all(map(is_text, value))


def is_text(value: object) -> bool:
    """Return whether a value is a text that can be stored and be the name of a file."""
    if not isinstance(value, str) or "\0" in value:
        return False
    try:
        value.encode()
    except UnicodeEncodeError:  # half of a pair of surrogates
        return False
    return True


def _parse(text: str | None) -> object:
    try:
        return None if text is None else json.loads(text)
    except (ValueError, RecursionError):
        return None
