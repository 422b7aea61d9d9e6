"""YAML and TOML as one tree of nodes, each with its line.

Aliases, anchors and tags are refused: nothing is constructed and nothing expanded, so the tree is
never larger than the text. Depth, size and the length of a line are bounded. Plain scalars are read
as YAML 1.2 reads them: `yes`, `on` and `1:30` are texts.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

MAX_LENGTH = 64 * 1024
"""Characters of structure; the prose of a Markdown file does not count."""
MAX_LINE_LENGTH = 4096
MAX_DEPTH = 12
MAX_SHOWN = 200

Place = tuple[str | int, ...]
Value = None | bool | int | float | str | tuple["Node", ...] | Mapping[str, "Node"]

_INTEGER = re.compile(r"[-+]?[0-9]{1,18}\Z")
_DECIMAL = re.compile(
    r"[-+]?(?:\.[0-9]{1,18}|[0-9]{1,18}(?:\.[0-9]{0,18})?)(?:[eE][-+]?[0-9]{1,2})?\Z"
)
_WORDS: Mapping[str, bool | None] = {
    "": None,
    "~": None,
    "null": None,
    "true": True,
    "false": False,
}
_TOML_HEADER = re.compile(r"[ \t]*+\[(\[?)([^\]]++)\]")
_TOML_KEY = re.compile(r"([^=#\[\]{}]++)=")
_TOML_PART = re.compile(r"""[ \t]*+(?:"([^"\\]*+)"|'([^']*+)'|([\w-]++))[ \t]*+(?:\.|\Z)""")
_TOML_LINE = re.compile(r"\(at line (\d+)")


@dataclass(frozen=True, slots=True)
class Node:
    """A value with its line, or the line of its key."""

    value: Value
    line: int


class StructureError(Exception):
    """A text is not YAML or TOML, or exceeds a limit; says why, and on which line.

    It never leaves this package: a parser turns it into a Mistake.
    """

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line
        self.reason = reason


def parse_yaml(text: str) -> Node:
    """Parse YAML: one document, without aliases and tags."""
    from quire.rules.yaml_nodes import build_tree  # late: most projects have no YAML to read

    _check_length(text)
    return build_tree(text)


def parse_toml(text: str) -> Node:
    """Parse TOML."""
    _check_length(text)
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        match = _TOML_LINE.search(str(error))
        line = int(match[1]) if match else text.rstrip("\n").count("\n") + 1  # "at end of document"
        reason = str(error).partition(" (at ")[0]
        raise StructureError(line, f"not valid TOML: {reason:.{MAX_SHOWN}}") from error
    except RecursionError as error:
        raise StructureError(0, f"nested deeper than {MAX_DEPTH} levels") from error
    except ValueError as error:  # an impossible number or date
        raise StructureError(0, f"not valid TOML: {error!s:.{MAX_SHOWN}}") from error
    return _build_value(data, (), dict(_toml_lines(text)), 1, 0)


def parse_scalar(text: str) -> bool | int | float | str | None:
    """Return what a plain scalar means."""
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.match(text):
        return int(text)
    return float(text) if _DECIMAL.match(text) else text


def _check_length(text: str) -> None:
    if len(text) > MAX_LENGTH:
        raise StructureError(
            0, f"{len(text)} characters of structure; at most {MAX_LENGTH} are allowed"
        )
    for number, line in enumerate(text.split("\n"), start=1):
        if len(line) > MAX_LINE_LENGTH:
            raise StructureError(
                number, f"a line of {len(line)} characters; at most {MAX_LINE_LENGTH}"
            )


# --- TOML --------------------------------------------------------------------------------------


def _build_value(
    value: Any,
    place: Place,
    lines: Mapping[Place, int],
    line: int,
    depth: int,
) -> Node:
    if depth > MAX_DEPTH:
        raise StructureError(line, f"nested deeper than {MAX_DEPTH} levels")
    line = lines.get(place, line)
    if isinstance(value, dict):
        return Node(
            {
                key: _build_value(inner, (*place, key), lines, line, depth + 1)
                for key, inner in value.items()
            },
            line,
        )
    if isinstance(value, list):
        items = (
            _build_value(inner, (*place, index), lines, line, depth + 1)
            for index, inner in enumerate(value)
        )
        return Node(tuple(items), line)
    is_scalar = isinstance(value, bool | int | float | str)
    return Node(value if is_scalar else str(value), line)  # a date becomes a text


def _toml_lines(text: str) -> Iterator[tuple[Place, int]]:
    """Yield the line of each header and key, which tomllib does not report.

    Only for messages: a key inside an inline table has the line of that table.
    """
    prefix: Place = ()
    counts: dict[Place, int] = {}
    closing = ""
    for number, line in enumerate(text.split("\n"), start=1):
        if closing:
            closing = "" if closing in line else closing
            continue
        if header := _TOML_HEADER.match(line):
            prefix = _open_header(_split_key(header[2]), counts, array=bool(header[1]))
            yield prefix, number
        elif key := _TOML_KEY.match(line):
            place = prefix
            for part in _split_key(key[1]):
                place = (*place, part)
                yield place, number
        for quotes in ('"""', "'''"):
            if line.count(quotes) % 2:
                closing = quotes


def _open_header(parts: list[str], counts: dict[Place, int], *, array: bool) -> Place:
    """Return the place that a header opens, and count the entries of each array of tables."""
    place: Place = ()
    for number, part in enumerate(parts, start=1):
        place = (*place, part)
        if array and number == len(parts):
            counts[place] = counts.get(place, -1) + 1
        if place in counts:
            place = (*place, counts[place])
    return place


def _split_key(dotted: str) -> list[str]:
    parts: list[str] = []
    at = 0
    while part := _TOML_PART.match(dotted, at):
        parts.append(part[1] or part[2] or part[3] or "")
        at = part.end()
    return parts
