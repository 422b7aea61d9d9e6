"""Find the calls of tools in lines of JSON-RPC, and add items to their results.

A line is never serialized again: an item is inserted between its bytes, so that everything else
stays as it was, whatever it holds.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

CALL = "tools/call"
CANCELLED = "notifications/cancelled"

_DECODER = json.JSONDecoder()
_BLANK = re.compile(r"[ \t\r\n]*")


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool by a client."""

    key: str
    tool: str
    params: dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Value:
    start: int
    end: int
    value: Any


def find_calls(line: bytes) -> list[Call]:
    """Return the calls of tools in a line from a client."""
    if b"call" not in line:  # without the slash, which JSON can write in two ways
        return []
    return [
        Call(call_key(message["id"]), str(params.get("name", "")), _arguments(params))
        for message in _requests(line)
        if message.get("method") == CALL and "id" in message
        for params in [message.get("params")]
        if isinstance(params, dict)
    ]


def find_cancelled(line: bytes) -> list[str]:
    """Return the keys of the calls that a line from a client cancels."""
    if b"cancelled" not in line:
        return []
    return [
        call_key(params["requestId"])
        for message in _requests(line)
        if message.get("method") == CANCELLED
        for params in [message.get("params")]
        if isinstance(params, dict) and "requestId" in params
    ]


def call_key(request_id: Any) -> str:
    """Return a key for the id of a request: 1 and "1" are different ids."""
    return json.dumps(request_id)


def add_items(
    line: bytes,
    item_for: Callable[[str], dict[str, Any] | None],
    on_no_content: Callable[[str], None] = lambda _: None,
    *,
    first: bool = False,
) -> bytes:
    """Return a line from a server with one more item in the content of each result.

    Args:
        line: The line, with one message or a batch.
        item_for: Returns the item for a call, by its key; None: nothing is added.
        on_no_content: Called for an answer without content, such as an error.
        first: Whether the item goes before the others.
    """
    text = line.decode()
    json.loads(text)  # from here on, the line is known to be valid JSON
    insertions = []
    for message in _objects(text):
        members = _members(text, message)
        if "method" in members or "id" not in members:
            continue
        key = call_key(members["id"].value)
        content = _content(text, members.get("result"))
        if content is None:
            on_no_content(key)
            continue
        item = item_for(key)
        if item is None:
            continue
        comma = "," if content.value else ""
        item_text = json.dumps(item, separators=(",", ":"))
        if first:
            insertions.append((content.start + 1, item_text + comma))
        else:
            insertions.append((content.end - 1, comma + item_text))
    parts = []
    end = 0
    for at, item_text in insertions:
        parts += [text[end:at], item_text]
        end = at
    return "".join([*parts, text[end:]]).encode()


def _content(text: str, result: _Value | None) -> _Value | None:
    if result is None or not isinstance(result.value, dict):
        return None
    content = _members(text, result.start).get("content")
    return content if content is not None and isinstance(content.value, list) else None


def _arguments(params: dict[str, Any]) -> dict[str, Any]:
    arguments = params.get("arguments")
    return arguments if isinstance(arguments, dict) else {}


def _requests(line: bytes) -> list[dict[str, Any]]:
    """Return the messages of a line, one or a batch; none if it is not valid JSON."""
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        return []
    messages = data if isinstance(data, list) else [data]
    return [message for message in messages if isinstance(message, dict)]


def _objects(text: str) -> Iterator[int]:
    """Yield where the messages of a line begin: one, or those of a batch."""
    start = _skip_blanks(text, 0)
    if text[start : start + 1] == "{":
        yield start
    elif text[start : start + 1] == "[":
        yield from (item.start for item in _items(text, start) if isinstance(item.value, dict))


def _items(text: str, start: int) -> Iterator[_Value]:
    at = _skip_blanks(text, start + 1)
    while text[at : at + 1] not in {"]", ""}:
        value, end = _DECODER.raw_decode(text, at)
        yield _Value(at, end, value)
        at = _skip_blanks(text, end)
        if text[at : at + 1] == ",":
            at = _skip_blanks(text, at + 1)


def _members(text: str, start: int) -> dict[str, _Value]:
    """Return the values of an object with their places; a repeated name is an error."""
    members: dict[str, _Value] = {}
    at = _skip_blanks(text, start + 1)
    while text[at : at + 1] == '"':
        name, end = _DECODER.raw_decode(text, at)
        at = _skip_blanks(text, _skip_blanks(text, end) + 1)
        value, end = _DECODER.raw_decode(text, at)
        if name in members:
            raise ValueError(f"the name {name} is repeated")
        members[name] = _Value(at, end, value)
        at = _skip_blanks(text, end)
        if text[at : at + 1] == ",":
            at = _skip_blanks(text, at + 1)
    return members


def _skip_blanks(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    return at if match is None else match.end()
