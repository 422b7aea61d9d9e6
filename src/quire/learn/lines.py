"""What does a file of exported memories say?

JSON lines, one memory each, as `Memory.plain` gives them. Only `content` must be there; what is
superseded by what is told by the newer one alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from quire.errors import InputError
from quire.learn import memories, texts
from quire.values import Memory

ID = re.compile(r"[0-9a-f]{32}")
FIELDS = (
    "id",
    "content",
    "category",
    "importance",
    "created",
    "edited",
    "author",
    "share",
    "supersedes",
    "superseded_by",
)
DEFAULT_CATEGORY = "fact"
DEFAULT_IMPORTANCE = 0.5


@dataclass(frozen=True, slots=True)
class Line:
    """A memory with the number of its line; without an id of its own the id is empty."""

    number: int
    memory: Memory


def parse(text: str, *, at: int) -> list[Line]:
    """Read all lines, or say what is wrong with which; what has no time was made `at` this one."""
    found = list(_parsed(text, at))
    met: dict[str, int] = {}
    for line in found:
        name = line.memory.id
        if name and met.setdefault(name, line.number) != line.number:
            raise InputError(f"line {line.number}: the id of line {met[name]} once more")
    return found


def _parsed(text: str, at: int) -> Iterator[Line]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            told = json.loads(line)
        except (ValueError, RecursionError) as error:
            told = "nested too deep" if isinstance(error, RecursionError) else error
            raise InputError(f"line {number} is no JSON: {told}") from error
        if not isinstance(told, dict):
            raise InputError(f"line {number}: a memory is an object, this is {_kind(told)}")
        try:
            yield Line(number, _memory(told, at))
        except InputError as error:
            raise InputError(f"line {number}: {error}") from error


def _memory(told: dict[str, Any], at: int) -> Memory:
    for key in told:
        if key not in FIELDS:
            raise InputError(f"there is no field {key!r}: there are {', '.join(FIELDS)}")
    content = _text(told, "content")
    if content is None:
        raise InputError("the content is missing")
    importance = told.get("importance", DEFAULT_IMPORTANCE)
    if not isinstance(importance, int | float) or isinstance(importance, bool):
        raise InputError(f"importance is {_kind(importance)}: expected a number from 0 to 1")
    created = _moment(told, "created")
    share = told.get("share")
    if share is not None and not (
        isinstance(share, list) and all(isinstance(name, str) for name in share)
    ):
        raise InputError(f"share is {_kind(share)}: expected a list of names")
    return Memory(
        id=_id(told, "id") or "",
        content=texts.said("content", content),
        category=_text(told, "category") or DEFAULT_CATEGORY,
        importance=memories.thousandths(importance),
        created=at if created is None else created,
        edited=_moment(told, "edited"),
        author=_text(told, "author"),
        acl=None if share is None else tuple(share),
        supersedes=_id(told, "supersedes"),
    )


def _text(told: dict[str, Any], key: str) -> str | None:
    value = told.get(key)
    if value is not None and not isinstance(value, str):
        raise InputError(f"{key} is {_kind(value)}: expected a text")
    return value


def _id(told: dict[str, Any], key: str) -> str | None:
    value = _text(told, key)
    if value is not None and not ID.fullmatch(value):
        raise InputError(f"{key} is {value!r}: an id has 32 digits from 0 to f")
    return value


def _moment(told: dict[str, Any], key: str) -> int | None:
    value = _text(told, key)
    if value is None:
        return None
    try:
        moment = datetime.fromisoformat(value)
        return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
    except (ValueError, OverflowError):
        raise InputError(
            f"{key} is {value!r}: expected a time such as 2026-01-31T12:00:00+00:00"
        ) from None


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false"}
    return "null" if value is None else names.get(type(value), "a number")
