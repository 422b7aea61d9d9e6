"""JSON lines: one object on each line, with typed access to its fields.

Errors name the number of the line.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from quire.errors import InputError, unknown


def read_objects(text: str, what: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the object of each line that is not blank, with the number of the line."""
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            data = json.loads(line)
        except (ValueError, RecursionError) as error:
            reason = "nested too deep" if isinstance(error, RecursionError) else error
            raise InputError(f"not valid JSON: {reason}", place=f"line {number}") from error
        if not isinstance(data, dict):
            raise InputError(
                f"a {what} is an object, not {json_type(data)}", place=f"line {number}"
            )
        yield number, data


def check_fields(data: dict[str, Any], fields: tuple[str, ...]) -> None:
    """Refuse a field that does not exist."""
    for name in data:
        if name not in fields:
            raise unknown("field", name, fields)


def get_text(data: dict[str, Any], name: str) -> str | None:
    """Return a field that is a text, or None if it is missing."""
    value = data.get(name)
    if value is not None and not isinstance(value, str):
        raise unexpected(name, value, "a text")
    return value


def get_texts(data: dict[str, Any], name: str, what: str) -> tuple[str, ...] | None:
    """Return a field that is a list of texts, or None if it is missing."""
    value = data.get(name)
    if value is None:
        return None
    if not (isinstance(value, list) and all(isinstance(item, str) for item in value)):
        raise unexpected(name, value, f"a list of {what}")
    return tuple(value)


def get_time(data: dict[str, Any], name: str) -> int | None:
    """Return a field that is a time (in UTC by default), or None if it is missing."""
    value = get_text(data, name)
    if value is None:
        return None
    try:
        moment = datetime.fromisoformat(value)
        return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
    except (ValueError, OverflowError):
        raise InputError(
            f"expected a time such as 2026-01-31T12:00:00+00:00, not {value!r}",
            field=name,
            value=value,
        ) from None


def unexpected(name: str, value: Any, expected: str) -> InputError:
    """Return the error for a field of another type than expected."""
    return InputError(f"expected {expected}, not {json_type(value)}", field=name, value=value)


def json_type(value: Any) -> str:
    """Return the type of a value in the words of JSON."""
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false"}
    return "null" if value is None else names.get(type(value), "a number")
