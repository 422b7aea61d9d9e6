"""Exported memories as JSON lines, one memory each.

Only `content` is required. Which memory supersedes which is read from the newer one alone.
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
    "count",
    "repeated",
)
DEFAULT_CATEGORY = "fact"
DEFAULT_IMPORTANCE = 0.5
MAX_COUNT = 10**9


@dataclass(frozen=True, slots=True)
class Line:
    """A memory with the number of its line; its id is empty where the line has none."""

    number: int
    memory: Memory


def parse(text: str, *, at: int) -> list[Line]:
    """Parse all lines; memories without a time of their own were created `at` this one."""
    lines = list(_parse_lines(text, at))
    numbers: dict[str, int] = {}
    for line in lines:
        name = line.memory.id
        if name and numbers.setdefault(name, line.number) != line.number:
            raise InputError(
                f"already used in line {numbers[name]}",
                field="id",
                value=name,
                place=f"line {line.number}",
            )
    return lines


def _parse_lines(text: str, at: int) -> Iterator[Line]:
    for number, fields in jsonl.read_objects(text, "memory"):
        try:
            yield Line(number, _parse_memory(fields, at))
        except InputError as error:
            raise error.within(f"line {number}") from error


def _parse_memory(fields: dict[str, Any], at: int) -> Memory:
    jsonl.check_fields(fields, FIELDS)
    content = get_text(fields, "content")
    if content is None:
        raise InputError("is missing", field="content")
    importance = fields.get("importance", DEFAULT_IMPORTANCE)
    if not isinstance(importance, int | float) or isinstance(importance, bool):
        raise jsonl.unexpected("importance", importance, "a number from 0 to 1")
    created = get_time(fields, "created")
    count = fields.get("count", 1)
    if not isinstance(count, int) or isinstance(count, bool) or not 0 < count <= MAX_COUNT:
        raise jsonl.unexpected("count", count, f"a number from 1 to {MAX_COUNT}")
    return Memory(
        id=_parse_id(fields, "id") or "",
        content=chunking.require_text("content", content),
        category=get_text(fields, "category") or DEFAULT_CATEGORY,
        importance=memories.to_thousandths(importance),
        created=at if created is None else created,
        edited=get_time(fields, "edited"),
        author=get_text(fields, "author"),
        # Without the field it is its author's alone; `null` lets the access rules decide.
        acl=jsonl.get_texts(fields, "share", "names") if "share" in fields else (),
        supersedes=_parse_id(fields, "supersedes"),
        count=count,
        repeated=get_time(fields, "repeated"),
    )


def _parse_id(fields: dict[str, Any], key: str) -> str | None:
    value = get_text(fields, key)
    if value is not None and not ID.fullmatch(value):
        raise InputError(f"expected 32 digits from 0 to f, not {value!r}", field=key, value=value)
    return value
