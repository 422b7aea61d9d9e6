"""Evaluation of expressions over a situation.

A key that the situation lacks is none, never an error. Values of different types are never equal
and have no order: such a comparison is false (`!=` is true). A number is not a text, and `true` is
not 1. Where a truth value is needed, none, false, 0 and anything empty count as false.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, assert_never

from quire.core.types import Situation
from quire.rules.expressions import (
    Comparison,
    Constant,
    Expression,
    GlobMatch,
    Has,
    Key,
    ListLiteral,
    Logical,
    Not,
)

MAX_PATH_LENGTH = 4096
"""No pattern matches a longer text: it is not a path."""

_ORDERINGS: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
    ">": lambda left, right: left > right,
    ">=": lambda left, right: left >= right,
}


def holds(expression: Expression, situation: Situation) -> bool:
    """Return whether an expression is true in a situation."""
    return bool(_evaluate(expression, situation))


def _evaluate(expression: Expression, situation: Situation) -> Any:  # noqa: PLR0911  # one a kind
    match expression:
        case Constant(value):
            return value
        case Key(parts):
            return _look_up(parts, situation)
        case Has(key):
            return _look_up(key.parts, situation) is not None
        case ListLiteral(items):
            return [_evaluate(item, situation) for item in items]
        case Not(operand):
            return not holds(operand, situation)
        case Logical(every, operands):
            truths = (holds(operand, situation) for operand in operands)
            return all(truths) if every else any(truths)
        case Comparison(operator, left, right):
            return _compare(operator, _evaluate(left, situation), _evaluate(right, situation))
        case GlobMatch(left, patterns):
            value = _evaluate(left, situation)
            texts = value if isinstance(value, list | tuple) else [value]
            return any(
                patterns.match(text)
                for text in texts
                if isinstance(text, str) and len(text) <= MAX_PATH_LENGTH
            )
        case _:
            assert_never(expression)


def _look_up(parts: tuple[str, ...], situation: Situation) -> Any:
    value: Any = situation
    for part in parts:
        if isinstance(value, Mapping):
            value = value.get(part)
        elif isinstance(value, list | tuple) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        else:
            return None
    return value


def _compare(operator: str, left: Any, right: Any) -> bool:
    match operator:
        case "==":
            return _equal(left, right)
        case "!=":
            return not _equal(left, right)
        case "in":
            return _contains(right, left)
        case "contains":
            return _contains(left, right)
    types = {_type_of(left), _type_of(right)}
    return types in ({"number"}, {"text"}) and _ORDERINGS[operator](left, right)


def _contains(container: Any, value: Any) -> bool:
    if isinstance(container, list | tuple):
        return any(_equal(value, item) for item in container)
    return isinstance(value, str) and isinstance(container, str | Mapping) and value in container


def _equal(left: Any, right: Any) -> bool:
    type_ = _type_of(left)
    if type_ != _type_of(right):
        return False
    if type_ == "list":
        return len(left) == len(right) and all(map(_equal, left, right))
    if type_ == "table":
        return left.keys() == right.keys() and all(_equal(left[key], right[key]) for key in left)
    return bool(left == right)


def _type_of(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "text"
    if isinstance(value, list | tuple):
        return "list"
    return "table" if isinstance(value, Mapping) else "none"
