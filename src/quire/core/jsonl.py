"""What does a file of JSON lines say, line by line?

One object on each line. Whatever is wrong is told with the number of its line.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from quire.errors import InputError


def objects(text: str, what: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Give the object of each line that is not blank, with the line's number."""
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            told = json.loads(line)
        except (ValueError, RecursionError) as error:
            told = "nested too deep" if isinstance(error, RecursionError) else error
            raise InputError(f"line {number} is no JSON: {told}") from error
        if not isinstance(told, dict):
            raise InputError(f"line {number}: a {what} is an object, this is {kind(told)}")
        yield number, told


def check_fields(told: dict[str, Any], fields: tuple[str, ...]) -> None:
    """Refuse a field that means nothing."""
    for key in told:
        if key not in fields:
            raise InputError(f"there is no field {key!r}: there are {', '.join(fields)}")


def text_of(told: dict[str, Any], key: str) -> str | None:
    """Read a field that is a text, or is not there."""
    value = told.get(key)
    if value is not None and not isinstance(value, str):
        raise InputError(f"{key} is {kind(value)}: expected a text")
    return value


def texts_of(told: dict[str, Any], key: str, what: str) -> tuple[str, ...] | None:
    """Read a field that is a list of texts, or is not there."""
    value = told.get(key)
    if value is None:
        return None
    if not (isinstance(value, list) and all(isinstance(name, str) for name in value)):
        raise InputError(f"{key} is {kind(value)}: expected a list of {what}")
    return tuple(value)


def moment_of(told: dict[str, Any], key: str) -> int | None:
    """Read a field that is a time (UTC unless it says otherwise), or is not there."""
    value = text_of(told, key)
    if value is None:
        return None
    try:
        moment = datetime.fromisoformat(value)
        return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
    except (ValueError, OverflowError):
        raise InputError(
            f"{key} is {value!r}: expected a time such as 2026-01-31T12:00:00+00:00"
        ) from None


def kind(value: Any) -> str:
    """Say what a value is in the words of JSON."""
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false"}
    return "null" if value is None else names.get(type(value), "a number")
