"""What does a structured text say, and on which line?

YAML and TOML become one tree of nodes, each with its line. Nothing is constructed from tags,
nothing is expanded: aliases, anchors and tags are refused, so what comes out is never larger than
what went in. Depth, size and the length of a line are bounded. Plain YAML words are read as YAML
1.2 reads them: `yes`, `on` and `1:30` are texts.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

LONGEST = 64 * 1024
"""Characters of structure; the prose of a Markdown file does not count."""
LONGEST_LINE = 4096
DEEPEST = 12
_SHOWN = 200

Place = tuple[str | int, ...]
Value = None | bool | int | float | str | tuple["Node", ...] | Mapping[str, "Node"]

_WHOLE = re.compile(r"[-+]?[0-9]{1,18}\Z")
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
_TOML_HEADER = re.compile(r"[ \t]*\[(\[?)[ \t]*([^\]]+?)[ \t]*\]")
_TOML_KEY = re.compile(r"[ \t]*([^=#\[\]{}]+?)[ \t]*=")
_TOML_PART = re.compile(r"""[ \t]*(?:"([^"\\]*)"|'([^']*)'|([\w-]+))[ \t]*(?:\.|\Z)""")
_TOML_LINE = re.compile(r"\(at line (\d+)")


@dataclass(frozen=True, slots=True)
class Node:
    """A value with the line on which it, or the key before it, stands."""

    value: Value
    line: int


class Unreadable(Exception):  # noqa: N818  # not an error: it becomes a Mistake
    """A text is no YAML or TOML, or more than is read; says why, and on which line."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line
        self.reason = reason


def from_yaml(text: str) -> Node:
    """Read YAML: one document, without aliases and tags."""
    _bounded(text)
    events = yaml.parse(text, Loader=yaml.SafeLoader)
    try:
        return _document(events)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise Unreadable(
            mark.line + 1 if mark else 0, f"no valid YAML: {error.problem!s:.{_SHOWN}}"
        ) from error
    except yaml.YAMLError as error:
        raise Unreadable(0, f"no valid YAML: {' '.join(str(error).split()):.{_SHOWN}}") from error


def from_toml(text: str) -> Node:
    """Read TOML."""
    _bounded(text)
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        met = _TOML_LINE.search(str(error))
        line = int(met[1]) if met else text.rstrip("\n").count("\n") + 1  # "at end of document"
        told = str(error).partition(" (at ")[0]
        raise Unreadable(line, f"no valid TOML: {told:.{_SHOWN}}") from error
    except RecursionError as error:
        raise Unreadable(0, f"nested deeper than {DEEPEST} levels") from error
    except ValueError as error:  # a number or date that cannot be
        raise Unreadable(0, f"no valid TOML: {error!s:.{_SHOWN}}") from error
    return _plain(data, (), dict(_toml_lines(text)), 1, 0)


def _bounded(text: str) -> None:
    if len(text) > LONGEST:
        raise Unreadable(0, f"{len(text)} characters of structure; at most {LONGEST} are read")
    for number, line in enumerate(text.split("\n"), start=1):
        if len(line) > LONGEST_LINE:
            raise Unreadable(number, f"a line of {len(line)} characters; at most {LONGEST_LINE}")


# --- YAML --------------------------------------------------------------------------------------


def _document(events: Iterator[yaml.Event]) -> Node:
    root = Node({}, 1)
    documents = 0
    for event in events:
        if isinstance(event, yaml.DocumentStartEvent):
            documents += 1
            if documents > 1:
                raise Unreadable(_line(event), "a second document: a context is one")
            root = _node(next(events), events, 0)
    return root


def _node(event: yaml.Event, events: Iterator[yaml.Event], depth: int) -> Node:
    line = _line(event)
    if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
        raise Unreadable(line, "anchors and aliases (`&`, `*`) are not read: write it out")
    if getattr(event, "tag", None) is not None:
        raise Unreadable(line, "tags (`!`) are not read: leave it out")
    if isinstance(event, yaml.ScalarEvent):
        return Node(event.value if event.style else _scalar(event.value), line)
    if depth == DEEPEST:
        raise Unreadable(line, f"nested deeper than {DEEPEST} levels")
    if isinstance(event, yaml.SequenceStartEvent):
        items = []
        while not isinstance(event := next(events), yaml.SequenceEndEvent):
            items.append(_node(event, events, depth + 1))
        return Node(tuple(items), line)
    return Node(_table(events, depth), line)


def _table(events: Iterator[yaml.Event], depth: int) -> Mapping[str, Node]:
    found: dict[str, Node] = {}
    while not isinstance(event := next(events), yaml.MappingEndEvent):
        line = _line(event)
        if not isinstance(event, yaml.ScalarEvent):
            raise Unreadable(line, "a key must be a text")
        _node(event, events, depth)  # refuses what no scalar may have
        if event.value in found:
            first = found[event.value].line
            raise Unreadable(line, f"{event.value!r:.60} stands here again, first on line {first}")
        found[event.value] = Node(_node(next(events), events, depth + 1).value, line)
    return found


def _scalar(text: str) -> bool | int | float | str | None:
    if text in _WORDS:
        return _WORDS[text]
    if _WHOLE.match(text):
        return int(text)
    return float(text) if _DECIMAL.match(text) else text


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 0


# --- TOML --------------------------------------------------------------------------------------


def _plain(
    value: Any,
    place: Place,
    lines: Mapping[Place, int],
    line: int,
    depth: int,
) -> Node:
    if depth > DEEPEST:
        raise Unreadable(line, f"nested deeper than {DEEPEST} levels")
    line = lines.get(place, line)
    if isinstance(value, dict):
        return Node(
            {key: _plain(one, (*place, key), lines, line, depth + 1) for key, one in value.items()},
            line,
        )
    if isinstance(value, list):
        items = (_plain(one, (*place, at), lines, line, depth + 1) for at, one in enumerate(value))
        return Node(tuple(items), line)
    known = isinstance(value, bool | int | float | str)
    return Node(value if known else str(value), line)  # a date is a text here


def _toml_lines(text: str) -> Iterator[tuple[Place, int]]:
    """Tell on which line each header and key stands; tomllib keeps that to itself.

    Only for messages: a key inside an inline table has the line of what it stands in.
    """
    prefix: Place = ()
    counts: dict[Place, int] = {}
    closing = ""
    for number, line in enumerate(text.split("\n"), start=1):
        if closing:
            closing = "" if closing in line else closing
            continue
        if header := _TOML_HEADER.match(line):
            prefix = _headed(_parts(header[2]), counts, array=bool(header[1]))
            yield prefix, number
        elif key := _TOML_KEY.match(line):
            place = prefix
            for part in _parts(key[1]):
                place = (*place, part)
                yield place, number
        for quotes in ('"""', "'''"):
            if line.count(quotes) % 2:
                closing = quotes


def _headed(parts: list[str], counts: dict[Place, int], *, array: bool) -> Place:
    """Give the place that a header opens; counts the entries of each array of tables."""
    place: Place = ()
    for at, part in enumerate(parts, start=1):
        place = (*place, part)
        if array and at == len(parts):
            counts[place] = counts.get(place, -1) + 1
        if place in counts:
            place = (*place, counts[place])
    return place


def _parts(dotted: str) -> list[str]:
    return [a or b or c for a, b, c in _TOML_PART.findall(dotted)]
