"""JSON Schemas of the tools, and the check of arguments against them.

Clients receive them in the list of tools. Arguments are checked before a tool runs; results keep to
their schema, so that programs can rely on them. Only what several tools share stands here.
"""

from __future__ import annotations

from typing import Any

from quire.core.json_schema import Schema, text, texts
from quire.core.types.option_spec import Tool
from quire.core.types.options import FILTERS, OPTIONS
from quire.errors import InputError

MAX_PROBLEM_LENGTH = 500


def objects(properties: Schema) -> Schema:
    """Return the schema of a list of objects in a result, which have all of these properties.

    Clients send the schemas to a model with each request, so they say what a reader needs and no
    more.
    """
    return {"type": "array", "items": {"type": "object", "properties": properties}}


def answer(properties: Schema) -> Schema:
    """Return the schema of a result that has all of these properties."""
    return {"type": "object", "properties": properties, "required": [*properties]}


def check(schema: Schema, arguments: dict[str, Any]) -> None:
    """Check arguments against a schema; raise an error that names the first problem."""
    from jsonschema.exceptions import best_match
    from jsonschema.validators import Draft202012Validator

    try:
        problem = best_match(Draft202012Validator(schema).iter_errors(arguments))
    except RecursionError:  # the value is quoted in the message, however deep it is
        raise InputError("nested too deep", place="the arguments") from None
    if problem is not None:
        place = ".".join(str(part) for part in problem.absolute_path)
        message = problem.message
        if len(message) >= MAX_PROBLEM_LENGTH:
            message = f"{message[:MAX_PROBLEM_LENGTH]}…"
        raise InputError(
            message, place=place or "the arguments", hint="see the tool's input schema"
        )


# --- arguments that several tools take -----------------------------------------------------------


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


def context_arguments() -> Schema:
    """Describe the arguments of a context: the query, and the options that tools take."""
    exposed = [name for name, option in OPTIONS.items() if option.tool is not None]
    return {
        "query": text("The task or the question.", minLength=1),
        **{argument_name(name): argument(name) for name in exposed},
    }


def repeated_arguments() -> Schema:
    """Return the arguments of a context without what another tool says of them already."""
    return {name: undescribed(schema) for name, schema in context_arguments().items()}


def undescribed(schema: Schema) -> Schema:
    """Return a schema without its own description."""
    return {key: value for key, value in schema.items() if key != "description"}


FILTER_ARGUMENTS: Schema = {
    argument_name(name): argument(name) for name, option in FILTERS.items() if option.tool
}
MODEL = argument("model")
LIMIT = argument("limit")


# --- parts of results ----------------------------------------------------------------------------

NOTES: Schema = {
    "failed": {
        **objects({"source": {"type": "string"}, "reason": {"type": "string"}}),
        "description": "Sources that failed; the others answered.",
    },
    "notes": texts("Remarks: what was left out, lowered or missing."),
}
LINES: Schema = {
    "type": "array",
    "items": {"type": "integer"},
    "description": "First and last line; 0 if the source has no lines.",
}
