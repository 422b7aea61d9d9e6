"""Parse JSON with the place of each part.

Python's own parser forgets places. Comments and trailing commas are accepted where the client
accepts them.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

from quire.errors import InputError

MAX_DEPTH = 100
NOT_WRITTEN = "nothing was written, fix the file first"
_BLANK = re.compile(r"[ \t\r\n]+")
_COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_PLAIN = re.compile(r"-?\d[\d.eE+-]*|true|false|null")
BOM = "\ufeff"


@dataclass(frozen=True, slots=True)
class Node:
    """A value and its place; an object's members and an array's items are its parts."""

    kind: Literal["object", "array", "plain"]
    start: int
    end: int
    value: Any
    parts: tuple[Part, ...] = ()

    def part(self, key: str) -> Part | None:
        """Return the member with a key; of several the last one, as all parsers do."""
        parts = [part for part in self.parts if part.key == key]
        return parts[-1] if parts else None


@dataclass(frozen=True, slots=True)
class Part:
    """A member or an item: where it begins, its value, and the place of the comma after it."""

    key: str
    start: int
    node: Node
    comma: int | None


def is_blank(text: str, *, comments: bool) -> bool:
    """Return whether a text holds nothing but blanks and comments."""
    parser = _Parser(text, "", comments=comments)
    return parser.skip(parser.begin) == len(text)


def parse(text: str, name: str, *, comments: bool) -> Node:
    """Parse a text; an error names the line."""
    parser = _Parser(text, name, comments=comments)
    node = parser.value(parser.skip(parser.begin), 0)
    end = parser.skip(node.end)
    if end != len(text):
        parser.fail(end, "unexpected text after the end")
    return node


def after_blanks(text: str, at: int, *, comments: bool) -> int:
    """Return the place after blanks and comments."""
    return _Parser(text, "", comments=comments).skip(at)


class _Parser:
    def __init__(self, text: str, name: str, *, comments: bool) -> None:
        self._text = text
        self._name = name
        self._comments = comments
        self.begin = len(BOM) if text.startswith(BOM) else 0

    def fail(self, at: int, reason: str) -> NoReturn:
        line = self._text.count("\n", 0, at) + 1
        raise InputError(reason, place=f"{self._name}:{line}", hint=NOT_WRITTEN)

    def skip(self, at: int) -> int:
        """Return the place after blanks, and after comments where they are accepted."""
        while True:
            match = _BLANK.match(self._text, at) or (
                _COMMENT.match(self._text, at) if self._comments else None
            )
            if match is None:
                return at
            at = match.end()

    def value(self, at: int, depth: int) -> Node:
        if depth > MAX_DEPTH:
            self.fail(at, f"nested more than {MAX_DEPTH} levels deep")
        char = self._text[at : at + 1]
        if char == "{":
            return self._object(at, depth)
        if char == "[":
            return self._array(at, depth)
        match = _STRING.match(self._text, at) or _PLAIN.match(self._text, at)
        if match is None:
            self._fail_expecting(at, "a value")
        try:
            return Node("plain", at, match.end(), json.loads(match[0]))
        except ValueError:
            self.fail(at, f"{match[0]:.40} is not a value")

    def _fail_expecting(self, at: int, expected: str) -> NoReturn:
        char = self._text[at : at + 1]
        if char == "/" and not self._comments:
            self.fail(at, "comments are not allowed in this file")
        self.fail(at, f"expected {expected}, not {repr(char) if char else 'the end'}")

    def _object(self, start: int, depth: int) -> Node:
        parts: list[Part] = []
        at = self.skip(start + 1)
        while self._text[at : at + 1] != "}":
            self._check_comma(at, parts, "}")
            key = _STRING.match(self._text, at)
            if key is None:
                self._fail_expecting(at, "a name in quotes")
            colon = self.skip(key.end())
            if self._text[colon : colon + 1] != ":":
                self._fail_expecting(colon, "a colon")
            node = self.value(self.skip(colon + 1), depth + 1)
            try:
                name = json.loads(key[0])
            except ValueError:
                self.fail(at, f"{key[0]:.40} is not a name")
            at, part = self._part(name, key.start(), node)
            parts.append(part)
        self._check_trailing_comma(at, parts)
        value = {part.key: part.node.value for part in parts}
        return Node("object", start, at + 1, value, tuple(parts))

    def _array(self, start: int, depth: int) -> Node:
        parts: list[Part] = []
        at = self.skip(start + 1)
        while self._text[at : at + 1] != "]":
            self._check_comma(at, parts, "]")
            at, part = self._part("", at, self.value(at, depth + 1))
            parts.append(part)
        self._check_trailing_comma(at, parts)
        return Node("array", start, at + 1, [part.node.value for part in parts], tuple(parts))

    def _part(self, key: str, start: int, node: Node) -> tuple[int, Part]:
        at = self.skip(node.end)
        if self._text[at : at + 1] != ",":
            return at, Part(key, start, node, None)
        return self.skip(at + 1), Part(key, start, node, at)

    def _check_comma(self, at: int, parts: list[Part], end: str) -> None:
        if parts and parts[-1].comma is None:
            self._fail_expecting(at, f"a comma or {end}")

    def _check_trailing_comma(self, at: int, parts: list[Part]) -> None:
        if parts and parts[-1].comma is not None and not self._comments:
            self.fail(at, "a comma after the last entry is not allowed")
