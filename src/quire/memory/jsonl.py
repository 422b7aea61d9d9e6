"""What does a file of exported memories say?

JSON lines, one memory each, as `Memory.plain` gives them. Only `content` must be there; what is
superseded by what is told by the newer one alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from quire.core import chunking, jsonl
from quire.core.jsonl import get_text, get_time
from quire.core.types import Memory
from quire.errors import InputError
from quire.memory import memories

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
    for number, told in jsonl.read_objects(text, "memory"):
        try:
            yield Line(number, _memory(told, at))
        except InputError as error:
            raise error.within(f"line {number}") from error


def _memory(told: dict[str, Any], at: int) -> Memory:
    jsonl.check_fields(told, FIELDS)
    content = get_text(told, "content")
    if content is None:
        raise InputError("the content is missing")
    importance = told.get("importance", DEFAULT_IMPORTANCE)
    if not isinstance(importance, int | float) or isinstance(importance, bool):
        raise jsonl.unexpected("importance", importance, "a number from 0 to 1")
    created = get_time(told, "created")
    return Memory(
        id=_id(told, "id") or "",
        content=chunking.require_text("content", content),
        category=get_text(told, "category") or DEFAULT_CATEGORY,
        importance=memories.thousandths(importance),
        created=at if created is None else created,
        edited=get_time(told, "edited"),
        author=get_text(told, "author"),
        acl=jsonl.get_texts(told, "share", "names"),
        supersedes=_id(told, "supersedes"),
    )


def _id(told: dict[str, Any], key: str) -> str | None:
    value = get_text(told, key)
    if value is not None and not ID.fullmatch(value):
        raise InputError(f"{key} is {value!r}: an id has 32 digits from 0 to f")
    return value
