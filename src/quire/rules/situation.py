"""Situations: plain data that says what is going on, validated and written in one form.

A situation comes from outside: from a caller, a hook or a command line. It is bounded in size and
depth before anything reads it. Verdicts of a judge are cached by the situation without its time, so
that the same work a minute later is not judged again.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping

from quire.core.types import Situation
from quire.errors import InputError

MAX_LENGTH = 256 * 1024
MAX_DEPTH = 32
TIME_KEYS = ("time", "timestamp")
"""The keys that say when it is: no verdict depends on them."""
INTENT_KEY = "intent"
FIELD = "situation"


def parse_situation(text: str) -> Situation:
    """Parse a situation from JSON; raise InputError if it is not one."""
    try:
        value = json.loads(text)
    except RecursionError as error:
        raise _too_deep() from error
    except ValueError as error:
        raise InputError(f"not valid JSON: {error}", field=FIELD) from error
    return validate_situation(value)


def validate_situation(situation: object) -> Situation:
    """Return a situation if it is one: a mapping of plain data, of bounded size and depth."""
    if not isinstance(situation, Mapping):
        raise InputError(
            f"expected a JSON object, not {type(situation).__name__}",
            field=FIELD,
            value=situation,
            hint='write it as in {"tool": "bash"}',
        )
    _validate_value(situation, 0)
    try:
        length = len(canonical_json(situation))
    except ValueError as error:  # a number of thousands of digits
        raise InputError(f"cannot be written as JSON: {error}", field=FIELD) from error
    if length > MAX_LENGTH:
        raise InputError(
            f"{length} characters; at most {MAX_LENGTH} are allowed",
            field=FIELD,
            hint="leave something out",
        )
    return situation


def _validate_value(value: object, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise _too_deep()
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if not isinstance(key, str):
                raise InputError(f"keys must be texts, not {key!r}", field=FIELD, value=key)
            _validate_value(inner, depth + 1)
    elif isinstance(value, list | tuple):
        for inner in value:
            _validate_value(inner, depth + 1)
    elif isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"{value} is not a JSON number", field=FIELD, value=value)
    elif not isinstance(value, None | bool | int | float | str):
        raise InputError(
            f"expected plain data, not a value of type {type(value).__name__}",
            field=FIELD,
            value=value,
        )


def _too_deep() -> InputError:
    return InputError(f"nested deeper than {MAX_DEPTH} levels", field=FIELD)


def without_time(situation: Situation) -> Situation:
    """Return a situation without its time, which no verdict may depend on."""
    return {key: value for key, value in situation.items() if key not in TIME_KEYS}


def canonical_json(situation: Situation) -> str:
    """Serialize a situation in its one canonical form."""
    return json.dumps(situation, sort_keys=True, separators=(",", ":"))


def describe_situation(situation: Situation) -> str:
    """Return a situation as text: its intent first, then every value, in the order of keys."""
    rest = {key: value for key, value in without_time(situation).items() if key != INTENT_KEY}
    return ". ".join([*_values(situation.get(INTENT_KEY)), *_values(rest)])


def _values(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key in sorted(value):
            yield from _values(value[key])
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _values(item)
    elif value is not None:
        yield str(value)
