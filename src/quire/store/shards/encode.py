"""The calls of a writer as bytes, to be made again after a crash.

They are read from a file that somebody else may have written, so nothing in them is run: values are
the types below and no others.
"""

from __future__ import annotations

import json
import zlib
from base64 import b85decode, b85encode
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from quire.core.types import AccessRule, Chunk, Entity, Event, Link, Outline, Record, Reference
from quire.store.damage import damaged

_TYPES: dict[str, Any] = {
    kind.__name__: kind
    for kind in (AccessRule, Chunk, Entity, Event, Link, Outline, Record, Reference)
}
_BYTES, _TUPLE, _MAPPING = "bytes", "tuple", "mapping"
_LEVEL = 1
"""Of compression: these bytes are written with every change and hardly ever read."""


def encode(values: tuple[Any, ...]) -> bytes:
    """Return the arguments of a call as bytes."""
    text = json.dumps(_plain(values), separators=(",", ":"))
    return zlib.compress(text.encode("ascii"), _LEVEL)


def decode(data: bytes) -> tuple[Any, ...]:
    """Return the arguments of a call from their bytes."""
    try:
        values: tuple[Any, ...] = _value(json.loads(zlib.decompress(data)))
    except (ValueError, KeyError, TypeError, RecursionError, zlib.error) as error:
        raise damaged("a write that was not finished cannot be read") from error
    return values


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, bytes):
        return [_BYTES, b85encode(value).decode("ascii")]
    if isinstance(value, Mapping):
        return [_MAPPING, [[_plain(name), _plain(item)] for name, item in value.items()]]
    if isinstance(value, (tuple, list, set, frozenset)):
        return [_TUPLE, [_plain(item) for item in value]]
    return [type(value).__name__, [_plain(getattr(value, each.name)) for each in fields(value)]]


def _value(data: Any) -> Any:
    if not isinstance(data, list):
        return data
    name, content = data
    if name == _BYTES:
        return b85decode(content)
    if name == _MAPPING:
        return {_value(key): _value(item) for key, item in content}
    values = tuple([_value(item) for item in content])
    return values if name == _TUPLE else _TYPES[name](*values)
