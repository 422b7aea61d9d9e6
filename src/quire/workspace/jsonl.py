"""What does a file of exported blocks say?

JSON lines, one block each, as `serialize.to_plain` gives them. Only `type` must be there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from quire.core import jsonl
from quire.core.jsonl import moment_of, text_of, texts_of
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
    for number, told in jsonl.objects(text, "block"):
        try:
            yield number, validate.checked(_block(told))
        except InputError as error:
            raise InputError(f"line {number}: {error}") from error


def _block(told: dict[str, Any]) -> Block:
    jsonl.check_fields(told, FIELDS)
    name = text_of(told, "type")
    if name is None:
        raise InputError("the type is missing")
    position = told.get("position", 0)
    if not isinstance(position, int) or isinstance(position, bool):
        raise InputError(f"position is {jsonl.kind(position)}: expected a whole number")
    return Block(
        id=text_of(told, "id") or "",
        type=name,
        text=text_of(told, "text") or "",
        parent=text_of(told, "parent"),
        position=position,
        properties=_table(told, "properties"),
        relations={
            key: texts_of(_table(told, "relations"), key, "ids") or ()
            for key in _table(told, "relations")
        },
        links=texts_of(told, "links", "ids") or (),
        mentions=texts_of(told, "mentions", "names") or (),
        created=moment_of(told, "created"),
        edited=moment_of(told, "edited"),
        author=text_of(told, "author"),
        access=texts_of(told, "access", "names"),
        source=text_of(told, "source") or "",
    )


def _table(told: dict[str, Any], key: str) -> dict[str, Any]:
    value = told.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InputError(f"{key} is {jsonl.kind(value)}: expected an object")
    return value
