"""What does a file of exported blocks say?

JSON lines, one block each, as `serialize.to_plain` gives them. Only `type` must be there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from quire.core import jsonl
from quire.core.jsonl import get_text, get_texts, get_time
from quire.core.serialize import to_plain
from quire.core.types.blocks import Block
from quire.errors import InputError
from quire.workspace import validate

FIELDS = tuple(to_plain(Block("", "page")))


def parse(text: str) -> list[Block]:
    """Read all lines, or say what is wrong with which."""
    met: dict[str, int] = {}
    found: list[Block] = []
    for number, block in _parsed(text):
        if block.id and met.setdefault(block.id, number) != number:
            raise InputError(f"line {number}: the id of line {met[block.id]} once more")
        found.append(block)
    return found


def _parsed(text: str) -> Iterator[tuple[int, Block]]:
    for number, told in jsonl.read_objects(text, "block"):
        try:
            yield number, validate.checked(_block(told))
        except InputError as error:
            raise error.within(f"line {number}") from error


def _block(told: dict[str, Any]) -> Block:
    jsonl.check_fields(told, FIELDS)
    name = get_text(told, "type")
    if name is None:
        raise InputError("the type is missing")
    position = told.get("position", 0)
    if not isinstance(position, int) or isinstance(position, bool):
        raise jsonl.unexpected("position", position, "a whole number")
    return Block(
        id=get_text(told, "id") or "",
        type=name,
        text=get_text(told, "text") or "",
        parent=get_text(told, "parent"),
        position=position,
        properties=_table(told, "properties"),
        relations={
            key: get_texts(_table(told, "relations"), key, "ids") or ()
            for key in _table(told, "relations")
        },
        links=get_texts(told, "links", "ids") or (),
        mentions=get_texts(told, "mentions", "names") or (),
        created=get_time(told, "created"),
        edited=get_time(told, "edited"),
        author=get_text(told, "author"),
        access=get_texts(told, "access", "names"),
        source=get_text(told, "source") or "",
    )


def _table(told: dict[str, Any], key: str) -> dict[str, Any]:
    value = told.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise jsonl.unexpected(key, value, "an object")
    return value
