"""Schema of context files: one table, `CONTEXT`, for both the check and the JSON Schema.

Files are checked against the table here, with messages that name the line. The JSON Schema that
editors use (`context.schema.json` in this folder) is generated from the same table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any, TypeAlias

from quire.core.frozen import dataclass
from quire.core.types import APPLY, SKIP
from quire.rules.nodes import Node

MAX_SHOWN = 40
"""Characters of a value or key that a message shows."""


@dataclass(frozen=True, slots=True)
class Text:
    """A text that is not blank."""

    max_length: int


@dataclass(frozen=True, slots=True)
class Integer:
    """A whole number within bounds."""

    minimum: int
    maximum: int


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a few words."""

    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Array:
    """A list of items of one shape."""

    item: Shape
    max_items: int


@dataclass(frozen=True, slots=True)
class Table:
    """A table with these keys, each with its shape and its description."""

    keys: Mapping[str, tuple[Shape, str]]
    required: tuple[str, ...] = ()
    exactly_one: bool = False
    """Exactly one of the keys must be there."""


@dataclass(frozen=True, slots=True)
class TextOrTable:
    """A text, or a table."""

    text: Text
    table: Table


Shape: TypeAlias = Text | Integer | Choice | Array | Table | TextOrTable

LINE = Text(200)
PARAGRAPH = Text(2000)
REFERENCE = Text(300)

METADATA = Table(
    {
        "name": (LINE, "Name of the context."),
        "type": (LINE, "Kind of context, in a word of your own."),
    }
)
INTENT = Table(
    {
        "business_goal": (PARAGRAPH, "What the work is to achieve."),
        "intent_type": (LINE, "Kind of work, in a word of your own."),
    }
)
BEHAVIOR = Table(
    {
        "trigger": (PARAGRAPH, "When to act."),
        "action": (PARAGRAPH, "What to do then."),
    },
    required=("trigger", "action"),
)
CONDITION = TextOrTable(
    PARAGRAPH,
    Table(
        {
            "expr": (PARAGRAPH, "An expression over the situation, which is evaluated."),
            "says": (PARAGRAPH, "A sentence about the situation, which a judge decides."),
        },
        exactly_one=True,
    ),
)
INJECTION = Table(
    {
        "name": (LINE, "Name of the rule; a nearer rule of the same name replaces it."),
        "condition": (CONDITION, "When the rule applies; without a condition it always does."),
        "inject": (
            Array(REFERENCE, 50),
            "Files to inject: relative to this one, or to the root with a leading slash.",
        ),
        "priority": (Integer(-1000, 1000), "The highest comes first; the default is 0."),
        "on_error": (
            Choice((APPLY, SKIP)),
            "What to do when the condition cannot be judged; the default is skip.",
        ),
    },
    required=("name", "inject"),
)
CONTEXT = Table(
    {
        "metadata": (METADATA, "Name and type of the context."),
        "intent_context": (INTENT, "What the work is for."),
        "behavior_rules": (Array(BEHAVIOR, 100), "What to do when something happens."),
        "injection_rules": (Array(INJECTION, 100), "Which contexts to inject, and when."),
        "extends": (REFERENCE, "Another context file that this one builds on."),
        "text": (Text(60_000), "Prose of the context; in Markdown, the body of the file."),
    }
)


def check(shape: Shape, node: Node, place: str = "") -> Iterator[tuple[int, str]]:
    """Yield each line on which a tree differs from a shape, with what was expected there."""
    prefix = f"{place}: " if place else ""
    if isinstance(shape, TextOrTable):
        inner = shape.table if isinstance(node.value, Mapping) else shape.text
        yield from check(inner, node, place)
    elif isinstance(shape, Table):
        if isinstance(node.value, Mapping):
            yield from _check_keys(shape, node.value, node.line, place)
        else:
            yield node.line, f"{prefix}expected a table with {_join(shape.keys)}{_actual(node)}"
    elif isinstance(shape, Array):
        if not isinstance(node.value, tuple):
            yield node.line, f"{prefix}expected a list{_actual(node)}"
        elif len(node.value) > shape.max_items:
            count = len(node.value)
            yield node.line, f"{prefix}{count} entries; at most {shape.max_items} are allowed"
        else:
            for number, item in enumerate(node.value, start=1):
                yield from check(shape.item, item, f"{place} {number}")
    elif (expected := _expected(shape, node.value)) is not None:
        yield node.line, f"{prefix}expected {expected}{_actual(node)}"


def _check_keys(
    shape: Table, table: Mapping[str, Node], line: int, place: str
) -> Iterator[tuple[int, str]]:
    prefix = f"{place}: " if place else ""
    for key, node in table.items():
        if key in shape.keys:
            yield from check(shape.keys[key][0], node, f"{place}.{key}" if place else key)
        else:
            near = get_close_matches(key[:MAX_SHOWN], shape.keys, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"choose from {_join(shape.keys)}"
            yield node.line, f"{prefix}unknown key {key[:MAX_SHOWN]!r}; {hint}"
    for key in shape.required:
        if key not in table:
            yield line, f"{prefix}{key!r} is missing: {shape.keys[key][1]}"
    if shape.exactly_one and len(table) != 1:
        yield line, f"{prefix}expected exactly one of {_join(shape.keys)}"


def _expected(shape: Text | Integer | Choice, value: object) -> str | None:
    """Return what a shape expects; None: the value matches it."""
    if isinstance(shape, Text):
        if not isinstance(value, str):
            return "a text (in quotes, if it looks like a number)"
        if not value.strip():
            return "a text that is not empty"
        if len(value) > shape.max_length:
            return f"at most {shape.max_length} characters"
    elif isinstance(shape, Integer):
        is_integer = isinstance(value, int) and not isinstance(value, bool)
        if not is_integer or not shape.minimum <= value <= shape.maximum:  # type: ignore[operator]  # it is an int
            return f"a whole number from {shape.minimum} to {shape.maximum}"
    elif value not in shape.words:
        return f"one of {_join(shape.words)}"
    return None


def _actual(node: Node) -> str:
    """Return the part of a message that names the value; one that is too long is not shown."""
    value = node.value
    if isinstance(value, str) and len(value) > MAX_SHOWN:
        return f", not {len(value)} characters"
    if isinstance(value, Mapping):
        return ", not a table"
    return ", not a list" if isinstance(value, tuple) else f", not {value!r}"


def _join(words: Iterable[str]) -> str:
    return ", ".join(words)


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a context file, or of the front matter of a Markdown file."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Quire context file",
        **_to_json_schema(CONTEXT),
    }


def _to_json_schema(shape: Shape) -> dict[str, Any]:
    match shape:
        case Text(max_length):
            return {"type": "string", "pattern": r"\S", "maxLength": max_length}
        case Integer(minimum, maximum):
            return {"type": "integer", "minimum": minimum, "maximum": maximum}
        case Choice(words):
            return {"enum": list(words)}
        case Array(item, max_items):
            return {"type": "array", "maxItems": max_items, "items": _to_json_schema(item)}
        case TextOrTable(text, table):
            return {"anyOf": [_to_json_schema(text), _to_json_schema(table)]}
        case Table(keys, required, exactly_one):
            result: dict[str, Any] = {
                "type": "object",
                "properties": {
                    key: {"description": description, **_to_json_schema(inner)}
                    for key, (inner, description) in keys.items()
                },
                "additionalProperties": False,
            }
            if required:
                result["required"] = list(required)
            return result | ({"minProperties": 1, "maxProperties": 1} if exactly_one else {})
