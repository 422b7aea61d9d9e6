"""What may a tool be given, and what does it give back?

JSON Schema, as clients are told it. What is given is held against it before anything is done; what
is given back keeps to it, so that programs can rely on it.
"""

from __future__ import annotations

from typing import Any

from quire.core.types.option_spec import Tool
from quire.core.types.options import FILTERS, OPTIONS
from quire.errors import InputError

Schema = dict[str, Any]


def text(about: str, **more: Any) -> Schema:
    """Describe a text."""
    return {"type": "string", "description": about, **more}


def number(about: str, least: int, most: int) -> Schema:
    """Describe a whole number."""
    return {"type": "integer", "description": about, "minimum": least, "maximum": most}


def texts(about: str) -> Schema:
    """Describe a list of texts."""
    return {"type": "array", "items": {"type": "string"}, "description": about}


def record(properties: Schema, *required: str) -> Schema:
    """Describe an object that has these properties and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def listed(properties: Schema) -> Schema:
    """Describe a list of objects that have all of these properties."""
    return {"type": "array", "items": record(properties, *properties)}


def told(properties: Schema) -> Schema:
    """Describe an answer that has all of these properties."""
    return record(properties, *properties)


def check(schema: Schema, given: dict[str, Any]) -> None:
    """Refuse what a tool cannot be given, and say what is wrong with it."""
    from jsonschema.exceptions import best_match
    from jsonschema.validators import Draft202012Validator

    wrong = best_match(Draft202012Validator(schema).iter_errors(given))
    if wrong is not None:
        place = ".".join(str(part) for part in wrong.absolute_path)
        said = wrong.message if len(wrong.message) < 500 else f"{wrong.message[:500]}…"
        raise InputError(f"{place or 'the arguments'}: {said}; see the tool's input schema")


# --- what is given -----------------------------------------------------------------------------


def argument(name: str) -> Schema:
    """Describe an option of a context as an argument of a tool."""
    option = OPTIONS[name]
    tool = option.tool or Tool()
    bounds = {"minimum": tool.minimum, "maximum": tool.maximum, "enum": list(tool.choices) or None}
    return {
        **option.schema,
        "description": tool.description or option.help,
        **{key: value for key, value in bounds.items() if value is not None},
    }


def argument_name(name: str) -> str:
    """Return what tools call an option of a context."""
    option = OPTIONS.get(name)
    return name if option is None or option.tool is None else option.tool.name or name


def context_options(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the options of a context among the arguments of a tool."""
    return {
        name: arguments[argument_name(name)]
        for name, option in OPTIONS.items()
        if option.tool is not None and argument_name(name) in arguments
    }


def asking() -> Schema:
    """Describe the arguments of a context: the query, and the options that tools take."""
    exposed = [name for name, option in OPTIONS.items() if option.tool is not None]
    return {
        "query": text("The task or the question.", minLength=1),
        **{argument_name(name): argument(name) for name in exposed},
    }


WHERE: Schema = {argument_name(name): argument(name) for name in FILTERS}
MODEL = argument("model")
LIMIT = argument("limit")
SHARE = texts("Who may read it: NAME, @GROUP, public or owner (default: as the viewer's own).")


# --- what is given back ------------------------------------------------------------------------

NOTES: Schema = {
    "failed": {
        **listed({"source": {"type": "string"}, "reason": {"type": "string"}}),
        "description": "What could not be asked; the rest answered.",
    },
    "notes": texts("What there is to know beside it: what was left out, lowered or missing."),
}
LINES: Schema = {
    "type": "array",
    "items": {"type": "integer"},
    "description": "First and last line; 0 where lines mean nothing.",
}
URI = {"type": "string", "description": "The resource that holds its text."}
CONTEXT = told(
    {
        "text": text("The context."),
        "tokens": {"type": "integer"},
        "available": {"type": "integer", "description": "What it could have had."},
        "omitted": {"type": "integer", "description": "How many pieces did not fit."},
        "sources": listed(
            {
                "path": {"type": "string"},
                "lines": LINES,
                "section": {"type": "string"},
                "tokens": {"type": "integer"},
                "uri": URI,
            }
        ),
        "receipt": text("The hash of its receipt, for `verify`."),
        "receipt_uri": text("The resource that is the receipt."),
        "context_uri": text("The resource that is the context."),
        **NOTES,
    }
)
SIGNALS: Schema = {"type": "object", "additionalProperties": {"type": "integer"}}
FOUND = told(
    {
        "results": listed(
            {
                "path": {"type": "string"},
                "lines": LINES,
                "title": {"type": "string"},
                "text": {"type": "string"},
                "score": {"type": "integer"},
                "signals": SIGNALS,
                "uri": URI,
            }
        ),
        "state_root": text("The hash over all that the viewer may read."),
        "exact": {"type": "boolean", "description": "Every vector was compared."},
        **NOTES,
    }
)
EXPLAINED = told(
    {
        "decisions": listed(
            {
                "path": {"type": "string"},
                "lines": LINES,
                "verdict": text("kept, cut, dropped or failed."),
                "step": {"type": "string"},
                "reason": {"type": "string"},
                "tokens": {"type": "integer"},
                "score": {"type": "integer"},
                "signals": SIGNALS,
            }
        ),
        "pieces": listed(
            {
                "path": {"type": "string"},
                "lines": LINES,
                "inside": {"type": "boolean"},
                "step": {"type": "string"},
                "reason": {"type": "string"},
                "lets_in": texts("Settings that together let it in."),
                "checked": {"type": "boolean", "description": "It was tried with them."},
            }
        ),
        "tokens": {"type": "integer"},
        "available": {"type": "integer"},
        **NOTES,
    }
)
MAYBE = {"type": ["string", "null"]}
MEMORY = told(
    {
        "id": {"type": "string"},
        "content": {"type": "string"},
        "category": {"type": "string"},
        "importance": {"type": "number"},
        "created": MAYBE,
        "edited": MAYBE,
        "author": MAYBE,
        "share": {"type": ["array", "null"], "items": {"type": "string"}},
        "supersedes": MAYBE,
        "superseded_by": MAYBE,
        "notes": NOTES["notes"],
    }
)
_SAID = ("hypothesis", "action", "prediction", "result", "surprise", "root_cause", "lesson")
EXPERIENCES = told(
    {
        "experiences": listed(
            {
                **{name: {"type": "string"} for name in ("id", "domain", "strategy", "goal")},
                **{name: {"type": "string"} for name in (*_SAID, "outcome", "tier", "source")},
                "iterations": {"type": "integer"},
                **dict.fromkeys(("started", "updated", "resolved", "author"), MAYBE),
                "share": {"type": ["array", "null"], "items": {"type": "string"}},
            }
        ),
        "notes": NOTES["notes"],
    }
)
VERIFIED = told(
    {
        "holds": {"type": "boolean"},
        "differences": texts("What differs, the first first; empty where it holds."),
        "notes": NOTES["notes"],
    }
)
