"""Read results back from the plain data that `serialize` makes of them.

A result over HTTP is the same value as that of an open store, but for what the serializer leaves
out on purpose: of a candidate it is everything that only ranking needs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from quire.core.types import (
    Candidate,
    Chunk,
    Experience,
    Feedback,
    HitCount,
    Memory,
    Principle,
    Roots,
    Status,
    StoredDocument,
    Written,
)
from quire.core.types.blocks import Block
from quire.core.types.records import MetadataValue

Kind = TypeVar("Kind")
THOUSAND = 1000


def from_plain(kind: type[Kind], data: Any) -> Kind:
    """Return the value of a type that plain data was made from."""
    value: Kind = _read(kind, data)
    return value


def written_from_plain(kind: type[Kind], data: Mapping[str, Any]) -> Written[Kind]:
    """Return what was stored, with the notes for its writer."""
    return Written(from_plain(kind, data), tuple(data.get("notes", ())))


def _read(kind: Any, data: Any) -> Any:  # noqa: PLR0911 - one line for each kind of type
    if kind in _FORMS:
        return _FORMS[kind](data)
    if isinstance(kind, type) and is_dataclass(kind):
        return kind(**_members(kind, data))
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return _read_union(arguments, data)
    if origin is tuple:
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            return tuple(_read(arguments[0], item) for item in data)
        return tuple(_read(each, item) for each, item in zip(arguments, data, strict=True))
    if origin in (list, Sequence):
        return [_read(arguments[0], item) for item in data]
    if origin is frozenset:
        return frozenset(_read(arguments[0], item) for item in data)
    if origin is not None and issubclass(origin, Mapping):
        return {name: _read(arguments[1], item) for name, item in data.items()}
    return data


def _read_union(kinds: Sequence[Any], data: Any) -> Any:
    if data is None:
        return None
    present = [kind for kind in kinds if kind is not NoneType]
    if isinstance(data, list):
        present = [kind for kind in present if get_origin(kind) in (tuple, list)] or present
    elif not isinstance(data, dict):
        return data
    return _read(present[0], data)


def _members(kind: type, data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a type that the data has; the others keep their defaults."""
    return {name: _read(hint, data[name]) for name, hint in _hints(kind).items() if name in data}


@cache
def _hints(kind: type) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {each.name: hints[each.name] for each in fields(kind)}


def _time(text: str | None) -> int | None:
    return None if text is None else int(datetime.fromisoformat(text).timestamp())


def _names(values: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if values is None else tuple(values)


# --- types with a form of their own --------------------------------------------------------------


def _candidate(data: Mapping[str, Any]) -> Candidate:
    chunk = Chunk(
        id=data["id"],
        record_id=data["record_id"],
        kind=data["kind"],
        path=data["path"],
        title=data["title"],
        sequence=0,
        start=0,
        end=len(data["text"].encode()),
        lines=(data["lines"][0], data["lines"][1]),
        text=data["text"],
    )
    return Candidate(
        chunk,
        data["score"],
        data["signals"],
        author=data["author"],
        document=data.get("document", ""),
        metadata=_read(Mapping[str, MetadataValue], data.get("metadata", {})),
        likely=data.get("likely", True),
    )


def _status(data: Mapping[str, Any]) -> Status:
    roots = Roots(data["content_root"], data["state_root"])
    return Status(roots=roots, **_members(Status, data))


def _stored_document(data: Mapping[str, Any]) -> StoredDocument:
    times = {name: _time(data[name]) for name in ("modified", "expires")}
    return StoredDocument(**_members(StoredDocument, data) | times)


def _hit_count(data: Mapping[str, Any]) -> HitCount:
    return HitCount(data["hits"], data["total"])


def _memory(data: Mapping[str, Any]) -> Memory:
    times = {name: _time(data[name]) for name in ("created", "edited", "repeated")}
    importance = round(data["importance"] * THOUSAND)
    own = {**times, "importance": importance, "acl": _names(data["share"])}
    return Memory(**_members(Memory, data) | own)


def _experience(data: Mapping[str, Any]) -> Experience:
    times = {name: _time(data[name]) for name in ("started", "updated", "resolved")}
    return Experience(**_members(Experience, data) | times | {"acl": _names(data["share"])})


def _principle(data: Mapping[str, Any]) -> Principle:
    similarity = round(data["similarity"] * THOUSAND)
    return Principle(**_members(Principle, data) | {"similarity": similarity})


def _feedback(data: Mapping[str, Any]) -> Feedback:
    shared = data["share"] is not None
    own = {"at": _time(data["at"]) or 0, "acl": tuple(data["share"] or ()), "shared": shared}
    return Feedback(**_members(Feedback, data) | own)


def _block(data: Mapping[str, Any]) -> Block:
    properties = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in data["properties"].items()
    }
    times = {name: _time(data[name]) for name in ("created", "edited")}
    return Block(**_members(Block, data) | times | {"properties": properties})


_FORMS: Mapping[Any, Callable[[Any], Any]] = {
    Candidate: _candidate,
    Status: _status,
    StoredDocument: _stored_document,
    HitCount: _hit_count,
    Memory: _memory,
    Experience: _experience,
    Principle: _principle,
    Feedback: _feedback,
    Block: _block,
}
