"""Change settings in the text of a quire.toml, and keep everything else of it."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping

from quire.errors import ConfigError

_HEADER = re.compile(r"^[ \t]*\[[ \t]*([\w-]+)[ \t]*\][ \t]*(#.*)?$")
_KEY = re.compile(r"^[ \t]*([\w-]+)[ \t]*=")


def set_keys(text: str, section: str, values: Mapping[str, str | None]) -> str:
    """Return the text with keys of a section set, or removed where the value is None.

    Comments, order and all other settings stay. A text that writes these keys in a way that cannot
    be changed line by line, such as dotted keys, is refused.
    """
    wanted = tomllib.loads(text)
    table = wanted.setdefault(section, {})
    for key, value in values.items():
        table.pop(key, None)
        if value is not None:
            table[key] = value
    changed = _change_lines(text, section, values)
    try:
        same = tomllib.loads(changed) == wanted
    except tomllib.TOMLDecodeError:
        same = False
    if not same:
        told = ", ".join(f"{key} = {_quote(value)}" for key, value in values.items() if value)
        raise ConfigError(
            f"[{section}] is written in a way that cannot be changed here",
            hint=f"write it by hand: [{section}] with {told}",
        )
    return changed


def _change_lines(text: str, section: str, values: Mapping[str, str | None]) -> str:
    lines = text.replace("\n", "\n\0").split("\0")  # TOML has no other end of a line, and no NUL
    made = [f"{name} = {_quote(value)}\n" for name, value in values.items() if value is not None]
    at = next(
        (number for number, line in enumerate(lines) if _name(_HEADER, line) == section), None
    )
    if at is None:
        gap = "" if not text or text.endswith("\n\n") else "\n" if text.endswith("\n") else "\n\n"
        return "".join([text, gap, f"[{section}]\n", *made])
    end = next(
        (n for n in range(at + 1, len(lines)) if lines[n].lstrip(" \t").startswith("[")), len(lines)
    )
    kept = [line for line in lines[at + 1 : end] if _name(_KEY, line) not in values]
    first = lines[at] if lines[at].endswith("\n") else lines[at] + "\n"
    return "".join([*lines[:at], first, *made, *kept, *lines[end:]])


def _name(pattern: re.Pattern[str], line: str) -> str | None:
    found = pattern.match(line)
    return found.group(1) if found else None


def _quote(value: str) -> str:
    """Write a TOML string: it takes the escapes of JSON, and one character more must have one."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
