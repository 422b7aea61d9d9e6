"""The schema of receipts: which fields a receipt has, and how those of earlier versions are read.

A receipt that comes from a file may be anything. `read` returns it in today's form, or says where
it differs: every field must be known and of its type. The parts that record a dataclass (the
request, the recipe, the sources, ...) have the fields of that class, so that a field which is added
there with a default needs no change here and older receipts stay readable. `VERSION` is raised when
the fields of the receipt itself change; each version has a function that upgrades it to the next.

The hashes of a receipt are computed over the fields it was written with, never over those that
were filled in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, NamedTuple, Union, get_args, get_origin, get_type_hints

from quire.core.types import (
    RECEIPT_PARTS,
    Chunk,
    Decision,
    Failure,
    Recipe,
    Request,
    Source,
    Verdict,
)
from quire.errors import InputError
from quire.receipts.parts import EXCLUDED, PROOFS, named_by

VERSION = 3
"""The version of the schema: raised by one when the fields of a receipt change."""

Shape = Any
"""A type, a tuple of types, a `Pair`, a list of one shape, an `Object`, or `{EACH: shape}`."""

EACH = "*"
"""Stands for any name."""


class Pair(NamedTuple):
    """The shape of a list of two."""

    first: Shape
    second: Shape


class Object(NamedTuple):
    """The shape of an object: the shapes of its fields, and the defaults of those that have one."""

    shapes: Mapping[str, Shape]
    defaults: Mapping[str, Any]


def read(receipt: Mapping[str, Any]) -> dict[str, Any]:
    """Return a receipt of any version in today's form, or say what is wrong with it."""
    if not isinstance(receipt, Mapping):
        raise InputError(
            f"this is not a receipt but {receipt!r:.40}", hint="pass what `Context.receipt` is"
        )
    data = {name: value for name, value in receipt.items() if name != "created"}
    for version in range(schema_version(data), VERSION):
        data = UPGRADES[version](data)
    try:
        filled: dict[str, Any] = _fill("", data, _receipt_shape())
    except _MismatchError as error:
        raise InputError(f"the receipt is malformed: {error}") from None
    if filled["pipeline"] < 1:
        raise InputError(f"the receipt is malformed: pipeline is {filled['pipeline']}")
    return filled


def check(receipt: Mapping[str, Any]) -> None:
    """Refuse what does not have the fields of a receipt, and say where it differs."""
    read(receipt)


def schema_version(receipt: Mapping[str, Any]) -> int:
    """Return the version that a receipt was written in; refuse one that is not known."""
    version = receipt.get("version")
    if not isinstance(version, int) or isinstance(version, bool):
        raise InputError(
            "the receipt is malformed: version is missing"
            if version is None
            else f"the receipt is malformed: version is {str(version)[:40]!r}"
        )
    if version > VERSION:
        raise InputError(
            f"the receipt was written by a newer Quire: it has version {version}, and this one "
            f"reads versions up to {VERSION}",
            value=version,
            hint="upgrade Quire",
        )
    if version < 1:
        raise InputError(f"the receipt is malformed: version is {version}")
    return version


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a receipt of today's version, as a file holds it."""
    schema = _json_schema(_receipt_shape())
    schema["properties"]["version"] = {"const": VERSION}
    schema["properties"]["created"] = {"type": "string"}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


# --- earlier versions ---------------------------------------------------------------------------


def _upgrade_1(receipt: dict[str, Any]) -> dict[str, Any]:
    """Version 2 records the version of the pipeline; until then there was one."""
    if "pipeline" in receipt:
        raise InputError("the receipt is malformed: pipeline is unknown")
    return {**receipt, "version": 2, "pipeline": 1}


def _upgrade_2(receipt: dict[str, Any]) -> dict[str, Any]:
    """Version 3 names its parts by their hashes; until then all decisions were in one list."""
    for name in (EXCLUDED, "parts"):
        if name in receipt:
            raise InputError(f"the receipt is malformed: {name} is unknown")
    decisions, proofs = receipt.get("decisions"), receipt.get(PROOFS)
    if not isinstance(decisions, list) or not isinstance(proofs, dict):
        raise InputError("the receipt is malformed: it has no decisions, or no proofs")
    excluded = [item for item in decisions if not _is_included(item)]
    return {
        **receipt,
        "version": 3,
        "decisions": [item for item in decisions if _is_included(item)],
        EXCLUDED: excluded,
        "parts": named_by(excluded, proofs),
    }


def _is_included(decision: Any) -> bool:
    """Tell whether a decision is on a piece of the context, or is no decision and refused later."""
    return not isinstance(decision, dict) or decision.get("verdict") != "dropped"


UPGRADES: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {1: _upgrade_1, 2: _upgrade_2}
"""How a receipt of a version becomes one of the next."""


OPTIONAL: Mapping[str, Any] = {"reranker": "", "reranks": {}, "plugins": {}}
"""Fields that stand in a receipt only if there is something to say, and what is meant otherwise."""


# --- shapes -------------------------------------------------------------------------------------


@cache
def _receipt_shape() -> Object:
    chunk = _shape_of(Chunk)
    text_hash = {name: shape for name, shape in chunk.shapes.items() if name != "text"}
    source = _shape_of(Source)
    shapes: dict[str, Shape] = {
        "version": int,
        "pipeline": int,
        "request": _shape_of(Request),
        "request_hash": str,
        "recipe": _shape_of(Recipe),
        "recipe_hash": str,
        "view_root": str,
        "content_root": str,
        "viewer_hash": str,
        "counter": str,
        "embedder": (str, NoneType),
        "query_vector": (str, NoneType),
        "section_vectors": {EACH: str},
        "judge": str,
        # Only a verdict that was reached is recorded: `applies` is never None.
        "verdicts": {EACH: Object({**_shape_of(Verdict).shapes, "applies": bool}, {})},
        "writer": str,
        "summaries": {EACH: str},
        "reranker": str,
        "reranks": {EACH: int},
        "plugins": {EACH: str},
        "sources": [
            Object(
                {**source.shapes, "chunk": Object({**text_hash, "text_hash": str}, chunk.defaults)},
                source.defaults,
            )
        ],
        "decisions": [_shape_of(Decision)],
        "parts": Object(dict.fromkeys(RECEIPT_PARTS, _PART), {}),
        EXCLUDED: [_shape_of(Decision)],
        PROOFS: _PROOFS,
        "failed": [_shape_of(Failure)],
        "tokens": int,
        "content_tokens": int,
        "available": int,
        "truncated": bool,
        "omitted": int,
        "limit_exceeded": int,
        "text_hash": str,
        "hash": str,
    }
    return Object(shapes, {**OPTIONAL, **dict.fromkeys(RECEIPT_PARTS)})


_PART = Object({"count": int, "hash": str}, {})
_PROOFS = Object(
    {
        "classes": [str],
        "tops": {EACH: [Pair(int, str)]},
        "chunks": {
            EACH: Object(
                {
                    "leaf": str,
                    "bucket": [Pair(str, str)],
                    "nodes": [Pair(int, str)],
                    "class": str,
                },
                {},
            )
        },
    },
    {},
)


def _shape_of(kind: type) -> Object:
    """Return the shape of a dataclass as JSON."""
    hints = get_type_hints(kind)
    defaults = {}
    recorded = [item for item in fields(kind) if item.metadata.get("recorded", True)]
    for item in recorded:
        if item.default is not MISSING:
            defaults[item.name] = _as_json(item.default)
        elif item.default_factory is not MISSING:
            defaults[item.name] = _as_json(item.default_factory())
    return Object({item.name: _shape(hints[item.name]) for item in recorded}, defaults)


def _shape(annotation: Any) -> Shape:
    origin, inner = get_origin(annotation), get_args(annotation)
    if isinstance(annotation, type) and is_dataclass(annotation):
        return _shape_of(annotation)
    if origin in (Union, UnionType):
        return tuple(inner)
    if origin is tuple:
        return [_shape(inner[0])] if inner[-1] is Ellipsis else Pair(*map(_shape, inner))
    if origin is not None:
        return {EACH: _shape(inner[-1])}
    return (int, float) if annotation is float else annotation


def _as_json(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_as_json(item) for item in value]
    if is_dataclass(value):
        return {item.name: _as_json(getattr(value, item.name)) for item in fields(value)}
    return value


_JSON_TYPES: Mapping[Any, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    NoneType: "null",
}


def _json_schema(shape: Shape) -> dict[str, Any]:
    if isinstance(shape, Pair):
        return {"type": "array", "prefixItems": [_json_schema(part) for part in shape]}
    if isinstance(shape, list):
        return {"type": "array", "items": _json_schema(shape[0])}
    if isinstance(shape, dict):
        return {"type": "object", "additionalProperties": _json_schema(shape[EACH])}
    if isinstance(shape, Object):
        return {
            "type": "object",
            "properties": {name: _json_schema(each) for name, each in shape.shapes.items()},
            "required": [name for name in shape.shapes if name not in shape.defaults],
            "additionalProperties": False,
        }
    kinds = shape if isinstance(shape, tuple) else (shape,)
    if not all(kind in _JSON_TYPES for kind in kinds):
        return {}  # a value of any type
    names = [_JSON_TYPES[kind] for kind in kinds]
    return {"type": names[0] if len(names) == 1 else names}


class _MismatchError(Exception):
    """A value that does not have its shape."""


def _fill(place: str, value: Any, shape: Shape) -> Any:
    """Return a value with the defaults of fields that it lacks; refuse one of another shape."""
    if isinstance(shape, Pair):
        if not isinstance(value, list) or len(value) != len(shape):
            raise _MismatchError(f"{place} is not a pair")
        return [_fill(f"{place}[{at}]", item, shape[at]) for at, item in enumerate(value)]
    if isinstance(shape, list):
        if not isinstance(value, list):
            raise _MismatchError(f"{place} is not a list")
        return [_fill(f"{place}[{at}]", item, shape[0]) for at, item in enumerate(value)]
    if isinstance(shape, Object | dict):
        if not isinstance(value, dict):
            raise _MismatchError(f"{place or 'it'} is not an object")
        return _fill_object(place, value, shape)
    if not _is_a(value, shape):
        raise _MismatchError(f"{place} is {str(value)[:40]!r}")
    return value


def _fill_object(
    place: str, value: dict[str, Any], shape: Object | dict[str, Shape]
) -> dict[str, Any]:
    if isinstance(shape, dict):
        shapes, whole = dict.fromkeys(value, shape[EACH]), value
    else:
        shapes, whole = dict(shape.shapes), {**shape.defaults, **value}
    if whole.keys() != shapes.keys():
        name = min(whole.keys() ^ shapes.keys())
        problem = "unknown" if name in whole else "missing"
        raise _MismatchError(f"{place}.{name} is {problem}".lstrip("."))
    return {
        name: _fill(f"{place}.{name}".lstrip("."), whole[name], shapes[name])
        if name in value
        else whole[name]
        for name in sorted(shapes)
    }


def _is_a(value: Any, kinds: type | tuple[type, ...]) -> bool:
    if isinstance(value, bool):  # which is an int in Python, and in no receipt
        return kinds is bool or (isinstance(kinds, tuple) and bool in kinds)
    return isinstance(value, kinds)
