"""JSON Schemas of what is sent and what comes back.

Requests are described by the one table of options (`core.types.options`), results by the types that
the one serializer (`core.serialize`) writes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from quire.core.json_schema import Schema, number, record, text, texts
from quire.core.types import (
    Context,
    Decision,
    Experience,
    Failure,
    Feedback,
    IndexResult,
    Item,
    Memory,
    Principle,
    Record,
    Source,
    Status,
    Verification,
)
from quire.core.types.blocks import Block, RemovedBlocks
from quire.core.types.context import ContextChunk
from quire.core.types.option_spec import DATE, Option
from quire.core.types.options import FILTERS, OPTIONS
from quire.pipeline import recipe as recipes
from quire.pipeline.validate import CHOICES
from quire.pipeline.why_not import WhyNot

MAX_TEXT = 1_000_000
"""Characters of one text that is sent."""
MAX_INTEGER = 2**53 - 1
"""The largest whole number that every reader of JSON can hold."""
MAX_RESULTS = 100
MAX_PATHS = 256
NOT_SENT = frozenset({"viewer"})
"""Options that are no part of a body: the token says who reads."""
_FLAG = re.compile(r"--([a-z][a-z-]*)")
_TIME: Schema = {"type": ["string", "null"], "format": "date-time"}
_TEXTS_OR_NULL: Schema = {"type": ["array", "null"], "items": {"type": "string"}}
_THOUSANDTHS: Schema = {"type": "number", "minimum": 0, "maximum": 1}
_SIGNALS: Schema = {"type": "object", "additionalProperties": {"type": "integer"}}
_LINES: Schema = {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}


# --- requests ------------------------------------------------------------------------------------


def sent_options() -> tuple[str, ...]:
    """Return the names of the options of a context that a body may have."""
    return tuple(name for name in OPTIONS if name not in NOT_SENT)


def option_schema(name: str) -> Schema:
    """Describe an option of a context as a member of a body."""
    option = OPTIONS[name]
    schema = {**_value_schema(option), "description": _description(option)}
    if name == "recipe":  # by name alone: a path would be one on the server
        return {**schema, "type": "string", "enum": list(recipes.shipped())}
    if option.setting in CHOICES:
        return {**schema, "enum": list(CHOICES[option.setting])}
    return schema


def context_body() -> dict[str, Schema]:
    """Describe the body that asks for a context: the query and the options."""
    return {"query": query_schema(), **{name: option_schema(name) for name in sent_options()}}


def filter_body() -> dict[str, Schema]:
    """Describe the filters of a search."""
    return {name: option_schema(name) for name in FILTERS}


def query_schema() -> Schema:
    """Describe a query."""
    return text("The task or the question.", minLength=1, maxLength=MAX_TEXT)


def body(properties: Mapping[str, Schema], *required: str) -> Schema:
    """Describe a body with these members and no others, beside the viewer to read as."""
    return record({**properties, "viewer": VIEWER}, *required)


def long_text(description: str, **more: Any) -> Schema:
    """Describe a text of bounded length."""
    return text(description, maxLength=MAX_TEXT, **more)


VIEWER: Schema = {
    "description": "Read as this user; for an owner's token with the scope `admin` alone.",
    "anyOf": [
        {"type": "string", "minLength": 1, "maxLength": 200},
        record(
            {
                "name": {"type": "string", "minLength": 1, "maxLength": 200},
                "groups": texts("Groups that they are in."),
                "links": texts("Tokens of links that they present."),
            },
            "name",
        ),
    ],
}
VIEWER_NAME = text(
    "Read as this user; for an owner's token with the scope `admin` alone.",
    minLength=1,
    maxLength=200,
)
SHARE = texts("Who may read it: NAME, @GROUP, public or owner.")
SHARED_ONLY: Schema = {
    "type": "boolean",
    "description": "Leave out what other users wrote for themselves.",
}
ALLOW_SECRET: Schema = {
    "type": "boolean",
    "description": "Accept text that looks like a key or a token.",
}
RECEIPT: Schema = {
    "type": ["object", "string"],
    "description": "A receipt, or the id of one that this service keeps.",
}
PATH = text("Path from the project's root.", maxLength=4096)
PATHS = {**texts("Paths from the project's root; none: all of it."), "maxItems": MAX_PATHS}
LIMIT = number("How many items a page has.", 1, 1000)
CURSOR = text("Where the page begins: `next` of the page before.", maxLength=500)


def _value_schema(option: Option) -> Schema:
    if option.form == DATE:
        return {"type": ["string", "integer", "null"]}
    schema = dict(option.schema)
    if NoneType in get_args(option.type) and isinstance(schema.get("type"), str):
        schema["type"] = [schema["type"], "null"]
    return _bounded(schema)


def _bounded(schema: Schema) -> Schema:
    """Return a schema whose numbers fit wherever they are stored."""
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if "integer" in kinds:
        return {**schema, "minimum": -MAX_INTEGER, "maximum": MAX_INTEGER}
    if isinstance(schema.get("additionalProperties"), dict):
        return {**schema, "additionalProperties": _bounded(schema["additionalProperties"])}
    return schema


def _description(option: Option) -> str:
    described = option.tool.description if option.tool else ""
    if option.name in _DESCRIPTIONS:
        return _DESCRIPTIONS[option.name]
    if not option.value:  # of a flag that switches something off
        return f"false: {option.help[:1].lower()}{option.help[1:]}"
    words = (described or option.help).replace("; repeatable.", ".")
    words = words.replace("{choices}", ", ".join(CHOICES.get(option.setting, ())))
    return _FLAG.sub(lambda match: f"`{_BY_FLAG.get(match[0], match[1])}`", words)


_DESCRIPTIONS = {
    "budget": "Size of the whole window in tokens, `reserve` included (default: the recipe's).",
    "recipe": "Name of a shipped recipe (default: documents).",
    "reserve": "Tokens of the window to keep free, by purpose (default: system 200, query 100, "
    "response 500); {} for nothing.",
    "levels": "Levels of detail: full, signature, outline; more than one to shorten what is too "
    "long.",
    "shares": "Relative share of the budget for sections, by name.",
    "history": "Conversation so far: pairs of role and content.",
    "previous": "Ids of the chunks of an earlier context, for the order stable.",
}
"""Of options that are written otherwise on a command line, or mean more to a tool."""
_BY_FLAG = {option.flag: name for name, option in OPTIONS.items()}


# --- results -------------------------------------------------------------------------------------


def result(**members: Schema) -> Schema:
    """Describe an object that has all of these members."""
    return {"type": "object", "properties": members, "required": list(members)}


def page_of(item: Schema) -> Schema:
    """Describe a page of a list."""
    following = {"type": ["string", "null"], "description": "`cursor` of the next page."}
    return result(items={"type": "array", "items": item}, next=following)


def written(item: Schema) -> Schema:
    """Describe what was written: its members, and notes for its writer."""
    notes = texts("Remarks for whoever wrote it.")
    return {
        **item,
        "properties": {**item["properties"], "notes": notes},
        "required": [*item["required"], "notes"],
    }


def of_type(kind: Any, **changed: Schema) -> Schema:
    """Describe a type as the serializer writes it; `changed` are members in a form of their own."""
    schema = _type_schema(kind)
    schema["properties"].update(changed)
    return schema


def _type_schema(kind: Any) -> Schema:
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        members = {each.name: _type_schema(hints[each.name]) for each in fields(kind)}
        return {"type": "object", "properties": members, "required": list(members)}
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        parts = [_type_schema(part) for part in arguments]
        return {"anyOf": parts}
    if origin in (tuple, list, Sequence, frozenset):
        if origin is tuple and Ellipsis not in arguments:
            return {"type": "array", "minItems": len(arguments), "maxItems": len(arguments)}
        return {"type": "array", "items": _type_schema(arguments[0])}
    if origin is not None and issubclass(origin, Mapping):
        inner = arguments[1] if len(arguments) > 1 else Any
        return {"type": "object", "additionalProperties": _type_schema(inner)}
    return dict(_PLAIN.get(kind, {}))


_PLAIN: Mapping[Any, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    NoneType: {"type": "null"},
}


def _only(schema: Schema, *names: str) -> Schema:
    """Return an object's schema with these members alone."""
    properties = {name: schema["properties"][name] for name in names}
    return {"type": "object", "properties": properties, "required": list(names)}


CANDIDATE = result(
    id={"type": "string"},
    record_id={"type": "string"},
    kind={"type": "string"},
    path={"type": "string"},
    lines=_LINES,
    score={"type": "integer"},
    signals=_SIGNALS,
    title={"type": "string"},
    author={"type": "string"},
    metadata={"type": "object"},
    text={"type": "string"},
)
FAILED: Schema = {"type": "array", "items": of_type(Failure)}
NOTES = texts("What to know although nothing failed.")
SEARCH = result(
    results={"type": "array", "items": CANDIDATE},
    state_root={"type": "string"},
    failed=FAILED,
    notes=NOTES,
    exact={"type": "boolean"},
)
_SOURCE = of_type(Source)
CONTEXT = of_type(
    Context,
    sources={"type": "array", "items": _SOURCE},
    decisions={"type": "array", "items": of_type(Decision)},
    items={"type": "array", "items": of_type(Item)},
    chunks={"type": "array", "items": of_type(ContextChunk)},
    receipt={"type": "object", "description": "The receipt; its `hash` is its id."},
)
STATUS: Schema = {
    "type": "object",
    "properties": {
        "state_root": {"type": "string"},
        "content_root": {"type": "string"},
        **{name: each for name, each in of_type(Status)["properties"].items() if name != "roots"},
        "disk": {"type": "object"},
        "caches": {"type": "object"},
        "reembedding": {"type": "object"},
    },
    "required": ["state_root", "content_root", "records", "chunks", "vectors"],
}
VERIFICATION: Schema = result(holds={"type": "boolean"}, **of_type(Verification)["properties"])
WHY_NOT = of_type(WhyNot)
RECORD = of_type(Record)
INDEX_RESULT = of_type(IndexResult)
MEMORY = _only(
    of_type(
        Memory,
        importance=_THOUSANDTHS,
        created=_TIME,
        edited=_TIME,
        repeated=_TIME,
        share=_TEXTS_OR_NULL,
    ),
    *("id", "content", "category", "importance", "created", "edited", "author", "share"),
    *("supersedes", "superseded_by", "count", "repeated"),
)
EXPERIENCE = _only(
    of_type(Experience, started=_TIME, updated=_TIME, resolved=_TIME, share=_TEXTS_OR_NULL),
    *("id", "domain", "strategy", "goal", "hypothesis", "action", "prediction", "outcome"),
    *("result", "surprise", "root_cause", "lesson", "tier", "iterations", "started", "updated"),
    *("resolved", "source", "author", "share"),
)
PRINCIPLE = of_type(Principle, similarity=_THOUSANDTHS)
FEEDBACK = _only(
    of_type(Feedback, at=_TIME, share=_TEXTS_OR_NULL),
    *("id", "useful", "useless", "receipt", "at", "author", "share"),
)
BLOCK = of_type(Block, created=_TIME, edited=_TIME, properties={"type": "object"})
REMOVED_BLOCKS = of_type(RemovedBlocks, blocks={"type": "array", "items": BLOCK})
PROBLEM: Schema = {
    "type": "object",
    "properties": {
        "type": text("What kind of problem it is."),
        "title": text("The status in words."),
        "status": {"type": "integer"},
        "detail": text("What was wrong, and what to do."),
        "error": text("Name of the error in Python."),
        "message": text("What was wrong."),
        "field": text("The member or setting that it is about."),
        "value": {"description": "The value that was refused."},
        "allowed": texts("What would have been accepted."),
        "hint": text("What to do."),
        "place": text("Where the value stands."),
        "request_id": text("Id of the request, as in the log."),
    },
    "required": ["type", "title", "status", "detail", "error", "request_id"],
}
