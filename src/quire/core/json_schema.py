"""JSON Schemas of plain values: texts, whole numbers, lists and objects."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]


def text(description: str, **more: Any) -> Schema:
    """Return the schema of a text."""
    return {"type": "string", "description": description, **more}


def number(description: str, minimum: int, maximum: int) -> Schema:
    """Return the schema of a whole number."""
    return {
        "type": "integer",
        "description": description,
        "minimum": minimum,
        "maximum": maximum,
    }


def texts(description: str) -> Schema:
    """Return the schema of a list of texts."""
    return {"type": "array", "items": {"type": "string"}, "description": description}


def record(properties: Schema, *required: str) -> Schema:
    """Return the schema of an object with these properties and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }
