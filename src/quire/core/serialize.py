"""Serialize results to plain data and JSON.

The one place that decides how a result looks as JSON: the command line (`--json`), the tools of the
MCP server and exports use it. Which form the result of a type has is in `plain`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

HIDDEN = "\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069"
"""Characters that break a line, steer a terminal or override the direction of writing, as in a
character class."""
_HIDDEN = re.compile(f"[{HIDDEN}]")
_HIDDEN_IN_TEXT = re.compile(rf"(?!\r?\n|\t)[{HIDDEN}]")


def json_text(value: Any) -> str:
    """Serialize a result as indented JSON that cannot steer a terminal."""
    return escape_json(json.dumps(to_plain(value), ensure_ascii=False, indent=2))


def escape_json(text: str) -> str:
    """Escape the hidden characters in JSON, so that it can be shown; it means the same."""
    if text.isprintable():
        return text
    return _HIDDEN.sub(
        lambda match: match[0] if match[0] == "\n" else f"\\u{ord(match[0]):04x}", text
    )


def json_line(value: Any) -> str:
    """Serialize a result as one line of ASCII, which every terminal and encoding can carry."""
    return json.dumps(to_plain(value))


def printable(text: str) -> str:
    """Escape control characters, so that a name cannot steer a terminal or look like two lines."""
    return _HIDDEN.sub(_escape, text)


def printable_text(text: str) -> str:
    """Escape control characters but line ends and tabs, so that a text cannot steer a terminal."""
    return _HIDDEN_IN_TEXT.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode()


def pick(data: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return some members of an object, in the order of the names."""
    return {name: data[name] for name in names}


def to_plain(value: Any) -> Any:
    """Return a value as plain data: dictionaries, lists, texts, numbers, booleans and None."""
    from quire.core import plain  # late: it needs all types, and many commands print no result

    return plain.to_plain(value)


def all_members(value: Any) -> Any:
    """Return a value as plain data, with all fields whatever the type."""
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: all_members(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, Mapping):
        return {key: all_members(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [all_members(item) for item in value]
    return value
