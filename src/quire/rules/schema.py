"""What may stand in a context file?

One table says it: `CONTEXT`. Files are checked against it here, and the JSON Schema that editors
use (`context.schema.json` beside this file) is made from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, TypeAlias

from quire.core.types import APPLY, SKIP
from quire.rules.nodes import Node

SHOWN = 40


@dataclass(frozen=True, slots=True)
class Text:
    """A text that is not blank."""

    longest: int


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number between two others."""

    least: int
    most: int


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a few words."""

    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Listing:
    """A list of things of one shape."""

    item: Shape
    most: int


@dataclass(frozen=True, slots=True)
class Table:
    """A table with these keys, each with what it is for."""

    keys: Mapping[str, tuple[Shape, str]]
    required: tuple[str, ...] = ()
    one: bool = False
    """Exactly one of the keys."""


@dataclass(frozen=True, slots=True)
class Either:
    """A text, or a table."""

    text: Text
    table: Table


Shape: TypeAlias = Text | Whole | Choice | Listing | Table | Either

LINE = Text(200)
PARAGRAPH = Text(2000)
REFERENCE = Text(300)

METADATA = Table(
    {
        "name": (LINE, "What the context is called."),
        "type": (LINE, "What kind of context it is, in a word of your own."),
    }
)
INTENT = Table(
    {
        "business_goal": (PARAGRAPH, "What is to be achieved."),
        "intent_type": (LINE, "What kind of work it is, in a word of your own."),
    }
)
BEHAVIOR = Table(
    {
        "trigger": (PARAGRAPH, "When to act."),
        "action": (PARAGRAPH, "What to do then."),
    },
    required=("trigger", "action"),
)
CONDITION = Either(
    PARAGRAPH,
    Table(
        {
            "expr": (PARAGRAPH, "An expression over the situation, which is computed."),
            "says": (PARAGRAPH, "A sentence about the situation, which is judged."),
        },
        one=True,
    ),
)
INJECTION = Table(
    {
        "name": (LINE, "What the rule is called; a nearer rule of this name takes its place."),
        "condition": (CONDITION, "When the rule applies; without one it always does."),
        "inject": (
            Listing(REFERENCE, 50),
            "The files to bring in: relative to this one, or to the root with a leading slash.",
        ),
        "priority": (Whole(-1000, 1000), "The highest comes first; 0 if it is not said."),
        "on_error": (
            Choice((APPLY, SKIP)),
            "What happens when the condition cannot be judged; skip if it is not said.",
        ),
    },
    required=("name", "inject"),
)
CONTEXT = Table(
    {
        "metadata": (METADATA, "How the context is named."),
        "intent_context": (INTENT, "What the work is for."),
        "behavior_rules": (Listing(BEHAVIOR, 100), "What to do when something happens."),
        "injection_rules": (Listing(INJECTION, 100), "Which contexts to bring in, and when."),
        "extends": (REFERENCE, "Another context file that this one builds on."),
        "text": (Text(60_000), "What the context says in prose; in Markdown, the body does."),
    }
)


def check(shape: Shape, node: Node, place: str = "") -> Iterator[tuple[int, str]]:
    """Tell on which lines a tree differs from its shape, and what was expected there."""
    named = f"{place}: " if place else ""
    if isinstance(shape, Either):
        inner = shape.table if isinstance(node.value, Mapping) else shape.text
        yield from check(inner, node, place)
    elif isinstance(shape, Table):
        if isinstance(node.value, Mapping):
            yield from _keys(shape, node.value, node.line, place)
        else:
            yield node.line, f"{named}expected a table with {_listed(shape.keys)}{_not(node)}"
    elif isinstance(shape, Listing):
        if not isinstance(node.value, tuple):
            yield node.line, f"{named}expected a list{_not(node)}"
        elif len(node.value) > shape.most:
            yield node.line, f"{named}{len(node.value)} entries; at most {shape.most} are allowed"
        else:
            for at, item in enumerate(node.value, start=1):
                yield from check(shape.item, item, f"{place} {at}")
    elif (wanted := _wanted(shape, node.value)) is not None:
        yield node.line, f"{named}expected {wanted}{_not(node)}"


def _keys(
    shape: Table, value: Mapping[str, Node], line: int, place: str
) -> Iterator[tuple[int, str]]:
    named = f"{place}: " if place else ""
    for key, node in value.items():
        if key in shape.keys:
            yield from check(shape.keys[key][0], node, f"{place}.{key}" if place else key)
        else:
            near = get_close_matches(key[:SHOWN], shape.keys, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {_listed(shape.keys)}"
            yield node.line, f"{named}there is no key {key[:SHOWN]!r}; {hint}"
    for key in shape.required:
        if key not in value:
            yield line, f"{named}{key!r} is missing: {shape.keys[key][1]}"
    if shape.one and len(value) != 1:
        yield line, f"{named}expected exactly one of {_listed(shape.keys)}"


def _wanted(shape: Text | Whole | Choice, value: object) -> str | None:
    """Say what was expected, if it was not this."""
    if isinstance(shape, Text):
        if not isinstance(value, str):
            return "a text (in quotes, if it looks like a number)"
        if not value.strip():
            return "a text that is not empty"
        if len(value) > shape.longest:
            return f"at most {shape.longest} characters"
    elif isinstance(shape, Whole):
        right = isinstance(value, int) and not isinstance(value, bool)
        if not right or not shape.least <= value <= shape.most:  # type: ignore[operator]  # it is an int
            return f"a whole number from {shape.least} to {shape.most}"
    elif value not in shape.words:
        return f"one of {_listed(shape.words)}"
    return None


def _not(node: Node) -> str:
    """Show what stands there instead, if that helps."""
    value = node.value
    if isinstance(value, str) and len(value) > SHOWN:
        return f", not {len(value)} characters"
    if isinstance(value, Mapping):
        return ", not a table"
    return ", not a list" if isinstance(value, tuple) else f", not {value!r}"


def _listed(words: Mapping[str, Any] | tuple[str, ...]) -> str:
    return ", ".join(words)


def schema() -> dict[str, Any]:
    """Give the JSON Schema of a context file, or of a Markdown file's front matter."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Quire context file",
        **_schema(CONTEXT),
    }


def _schema(shape: Shape) -> dict[str, Any]:
    match shape:
        case Text(longest):
            return {"type": "string", "pattern": r"\S", "maxLength": longest}
        case Whole(least, most):
            return {"type": "integer", "minimum": least, "maximum": most}
        case Choice(words):
            return {"enum": list(words)}
        case Listing(item, most):
            return {"type": "array", "maxItems": most, "items": _schema(item)}
        case Either(text, table):
            return {"anyOf": [_schema(text), _schema(table)]}
        case Table(keys, required, one):
            found: dict[str, Any] = {
                "type": "object",
                "properties": {
                    key: {"description": about, **_schema(inner)}
                    for key, (inner, about) in keys.items()
                },
                "additionalProperties": False,
            }
            if required:
                found["required"] = list(required)
            return found | ({"minProperties": 1, "maxProperties": 1} if one else {})
