"""Exported blocks as JSON lines, one block each, as `serialize.to_plain` returns them.

Only `type` is required.
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
    """Parse all lines; an error names its line."""
    numbers: dict[str, int] = {}
    blocks: list[Block] = []
    for number, block in _parse_lines(text):
        if block.id and numbers.setdefault(block.id, number) != number:
            raise InputError(
                f"already used in line {numbers[block.id]}",
                field="id",
                value=block.id,
                place=f"line {number}",
            )
        blocks.append(block)
    return blocks


def _parse_lines(text: str) -> Iterator[tuple[int, Block]]:
    for number, fields in jsonl.read_objects(text, "block"):
        try:
            yield number, validate.normalize(_parse_block(fields))
        except InputError as error:
            raise error.within(f"line {number}") from error


def _parse_block(fields: dict[str, Any]) -> Block:
    jsonl.check_fields(fields, FIELDS)
    name = get_text(fields, "type")
    if name is None:
        raise InputError("is missing", field="type")
    position = fields.get("position", 0)
    if not isinstance(position, int) or isinstance(position, bool):
        raise jsonl.unexpected("position", position, "a whole number")
    line = fields.get("line", 0)
    if not isinstance(line, int) or isinstance(line, bool):
        raise jsonl.unexpected("line", line, "a whole number")
    return Block(
        id=get_text(fields, "id") or "",
        type=name,
        text=get_text(fields, "text") or "",
        parent=get_text(fields, "parent"),
        position=position,
        properties=_get_table(fields, "properties"),
        relations={
            key: get_texts(_get_table(fields, "relations"), key, "ids") or ()
            for key in _get_table(fields, "relations")
        },
        links=get_texts(fields, "links", "ids") or (),
        mentions=get_texts(fields, "mentions", "names") or (),
        created=get_time(fields, "created"),
        edited=get_time(fields, "edited"),
        author=get_text(fields, "author"),
        access=get_texts(fields, "access", "names"),
        source=get_text(fields, "source") or "",
        file=get_text(fields, "file") or "",
        line=line,
    )


def _get_table(fields: dict[str, Any], key: str) -> dict[str, Any]:
    value = fields.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise jsonl.unexpected(key, value, "an object")
    return value
