"""What is going on, and does an expression hold then?

What a situation does not say is none, never an error. Values of different types are never equal
and never in an order: such a comparison is false (`!=` is true). A number is no text, and `true` is
no 1. Where a yes or no is wanted, none, false, 0 and whatever is empty are a no.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, assert_never

from quire.core.types import Situation
from quire.errors import InputError
from quire.rules.expressions import (
    Compared,
    Constant,
    Denied,
    Expression,
    Has,
    Items,
    Joined,
    Key,
    Matched,
)

LONGEST = 256 * 1024
DEEPEST = 32
TIMES = ("time", "timestamp")
"""The keys that say when it is: no verdict depends on them."""
INTENT = "intent"
LONGEST_PATH = 4096
"""A longer text is no path, and no pattern matches it."""

_ORDERS: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
    ">": lambda left, right: left > right,
    ">=": lambda left, right: left >= right,
}


def parse(text: str) -> Situation:
    """Read a situation from JSON, or say what is wrong with it."""
    try:
        found = json.loads(text)
    except RecursionError as error:
        raise InputError(f"the situation is nested deeper than {DEEPEST} levels") from error
    except ValueError as error:
        raise InputError(f"the situation is no JSON: {error}") from error
    return checked(found)


def checked(situation: object) -> Situation:
    """Give a situation back if it is one: a table of plain data, of a sensible size."""
    if not isinstance(situation, Mapping):
        raise InputError('the situation must be a JSON object, as in {"tool": "bash"}')
    _check(situation, 0)
    try:
        length = len(canonical(situation))
    except ValueError as error:  # a number of thousands of digits
        raise InputError(f"the situation cannot be written as JSON: {error}") from error
    if length > LONGEST:
        raise InputError(f"the situation is longer than {LONGEST} characters: leave something out")
    return situation


def _check(value: object, depth: int) -> None:
    if depth > DEEPEST:
        raise InputError(f"the situation is nested deeper than {DEEPEST} levels")
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if not isinstance(key, str):
                raise InputError(f"the situation has the key {key!r}: keys are texts")
            _check(inner, depth + 1)
    elif isinstance(value, list | tuple):
        for inner in value:
            _check(inner, depth + 1)
    elif isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"the situation holds {value}, which is no number of JSON")
    elif not isinstance(value, None | bool | int | float | str):
        raise InputError(f"the situation holds a {type(value).__name__}: give plain data")


def lasting(situation: Situation) -> Situation:
    """Leave out when it is: what is judged must not depend on it."""
    return {key: value for key, value in situation.items() if key not in TIMES}


def canonical(situation: Situation) -> str:
    """Write a situation in the one form that stands for it."""
    return json.dumps(situation, sort_keys=True, separators=(",", ":"))


def told(situation: Situation) -> str:
    """Say a situation in words: what is intended first, then every value, in the order of keys."""
    rest = {key: value for key, value in lasting(situation).items() if key != INTENT}
    said = [*_words(situation.get(INTENT)), *_words(rest)]
    return ". ".join(said)


def _words(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key in sorted(value):
            yield from _words(value[key])
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _words(item)
    elif value is not None:
        yield str(value)


def holds(expression: Expression, situation: Situation) -> bool:
    """Tell whether an expression holds in a situation."""
    return bool(_value(expression, situation))


def _value(expression: Expression, situation: Situation) -> Any:  # noqa: PLR0911  # one a kind
    match expression:
        case Constant(value):
            return value
        case Key(parts):
            return _found(parts, situation)
        case Has(key):
            return _found(key.parts, situation) is not None
        case Items(items):
            return [_value(item, situation) for item in items]
        case Denied(inner):
            return not holds(inner, situation)
        case Joined(every, inner):
            held = (holds(one, situation) for one in inner)
            return all(held) if every else any(held)
        case Compared(sign, left, right):
            return _compared(sign, _value(left, situation), _value(right, situation))
        case Matched(left, patterns):
            given = _value(left, situation)
            texts = given if isinstance(given, list | tuple) else [given]
            return any(
                patterns.match(text)
                for text in texts
                if isinstance(text, str) and len(text) <= LONGEST_PATH
            )
        case _:
            assert_never(expression)


def _found(parts: tuple[str, ...], situation: Situation) -> Any:
    found: Any = situation
    for part in parts:
        if isinstance(found, Mapping):
            found = found.get(part)
        elif isinstance(found, list | tuple) and part.isdecimal() and int(part) < len(found):
            found = found[int(part)]
        else:
            return None
    return found


def _compared(sign: str, left: Any, right: Any) -> bool:
    match sign:
        case "==":
            return _equal(left, right)
        case "!=":
            return not _equal(left, right)
        case "in":
            return _inside(left, right)
        case "contains":
            return _inside(right, left)
    kinds = {_kind(left), _kind(right)}
    return kinds in ({"number"}, {"text"}) and _ORDERS[sign](left, right)


def _inside(inner: Any, outer: Any) -> bool:
    if isinstance(outer, list | tuple):
        return any(_equal(inner, item) for item in outer)
    return isinstance(inner, str) and isinstance(outer, str | Mapping) and inner in outer


def _equal(left: Any, right: Any) -> bool:
    kind = _kind(left)
    if kind != _kind(right):
        return False
    if kind == "list":
        return len(left) == len(right) and all(map(_equal, left, right))
    if kind == "table":
        return left.keys() == right.keys() and all(_equal(left[key], right[key]) for key in left)
    return bool(left == right)


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "yes or no"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "text"
    if isinstance(value, list | tuple):
        return "list"
    return "table" if isinstance(value, Mapping) else "none"
