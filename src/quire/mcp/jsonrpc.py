"""What does a line of the protocol ask or answer, and how is a text put into it?

A line is never written anew: a text is put between the bytes that were there, so that all else of
it stays as it was, to the byte, whatever it holds.
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
    """A client calls a tool."""

    key: str
    tool: str
    params: dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Value:
    start: int
    end: int
    value: Any


def calls(line: bytes) -> list[Call]:
    """Find the calls of tools in a line from a client."""
    if b"call" not in line:  # a slash may be written in two ways, so it is not looked for
        return []
    return [
        Call(key(message["id"]), str(params.get("name", "")), _given(params))
        for message in _requests(line)
        if message.get("method") == CALL and "id" in message
        for params in [message.get("params")]
        if isinstance(params, dict)
    ]


def cancelled(line: bytes) -> list[str]:
    """Find the calls that a line from a client takes back."""
    if b"cancelled" not in line:
        return []
    return [
        key(params["requestId"])
        for message in _requests(line)
        if message.get("method") == CANCELLED
        for params in [message.get("params")]
        if isinstance(params, dict) and "requestId" in params
    ]


def key(name: Any) -> str:
    """Name a call: 1 and "1" are two."""
    return json.dumps(name)


def with_items(
    line: bytes,
    item: Callable[[str], dict[str, Any] | None],
    without: Callable[[str], None] = lambda _: None,
    *,
    first: bool = False,
) -> bytes:
    """Give a line from a server in which results have one more item: what `item` says for them.

    It is asked for each result that a line holds, by the name of its call. An item goes into the
    result's `content`, at its end or first. An answer without any, such as an error, stays as it
    is, and `without` is told.
    """
    text = line.decode()
    json.loads(text)  # from here on, it is known to be whole
    added = []
    for message in _objects(text):
        members = _members(text, message)
        if "method" in members or "id" not in members:
            continue
        name = key(members["id"].value)
        content = _content(text, members.get("result"))
        if content is None:
            without(name)
            continue
        made = item(name)
        if made is None:
            continue
        comma = "," if content.value else ""
        said = json.dumps(made, separators=(",", ":"))
        at, said = (content.start + 1, said + comma) if first else (content.end - 1, comma + said)
        added.append((at, said))
    for at, said in reversed(added):
        text = text[:at] + said + text[at:]
    return text.encode()


def _content(text: str, result: _Value | None) -> _Value | None:
    if result is None or not isinstance(result.value, dict):
        return None
    content = _members(text, result.start).get("content")
    return content if content is not None and isinstance(content.value, list) else None


def _given(params: dict[str, Any]) -> dict[str, Any]:
    given = params.get("arguments")
    return given if isinstance(given, dict) else {}


def _requests(line: bytes) -> list[dict[str, Any]]:
    """Give the messages of a line, one or a batch; none where it is not understood."""
    try:
        read = json.loads(line)
    except (ValueError, RecursionError):
        return []
    return [one for one in (read if isinstance(read, list) else [read]) if isinstance(one, dict)]


def _objects(text: str) -> Iterator[int]:
    """Tell where the messages of a line begin: one, or those of a batch."""
    start = _past_blank(text, 0)
    if text[start : start + 1] == "{":
        yield start
    elif text[start : start + 1] == "[":
        yield from (item.start for item in _items(text, start) if isinstance(item.value, dict))


def _items(text: str, start: int) -> Iterator[_Value]:
    at = _past_blank(text, start + 1)
    while text[at : at + 1] not in {"]", ""}:
        value, end = _DECODER.raw_decode(text, at)
        yield _Value(at, end, value)
        at = _past_blank(text, end)
        if text[at : at + 1] == ",":
            at = _past_blank(text, at + 1)


def _members(text: str, start: int) -> dict[str, _Value]:
    """Tell where the values of an object stand; it must not name one twice."""
    found: dict[str, _Value] = {}
    at = _past_blank(text, start + 1)
    while text[at : at + 1] == '"':
        name, end = _DECODER.raw_decode(text, at)
        at = _past_blank(text, _past_blank(text, end) + 1)
        value, end = _DECODER.raw_decode(text, at)
        if name in found:
            raise ValueError(f"{name} stands there twice")
        found[name] = _Value(at, end, value)
        at = _past_blank(text, end)
        if text[at : at + 1] == ",":
            at = _past_blank(text, at + 1)
    return found


def _past_blank(text: str, at: int) -> int:
    met = _BLANK.match(text, at)
    return at if met is None else met.end()
