"""What does a JSON text say, and where does each part of it stand?

Python's own reader forgets places. Comments and trailing commas are passed over where the client
does so too.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

from quire.errors import InputError

DEEPEST = 100
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
        """Find a member by its key; of several the last one, as all readers do."""
        found = [part for part in self.parts if part.key == key]
        return found[-1] if found else None


@dataclass(frozen=True, slots=True)
class Part:
    """A member or an item: where it begins, its value, and where the comma behind it stands."""

    key: str
    start: int
    node: Node
    comma: int | None


def is_blank(text: str, *, comments: bool) -> bool:
    """Tell whether a text says nothing."""
    reader = _Reader(text, "", comments=comments)
    return reader.skip(reader.begin) == len(text)


def parse(text: str, name: str, *, comments: bool) -> Node:
    """Read a text, or say on which line it is broken."""
    reader = _Reader(text, name, comments=comments)
    node = reader.value(reader.skip(reader.begin), 0)
    end = reader.skip(node.end)
    if end != len(text):
        reader.refuse(end, "something stands behind the end")
    return node


def after_blanks(text: str, at: int, *, comments: bool) -> int:
    """Pass over blanks and comments."""
    return _Reader(text, "", comments=comments).skip(at)


class _Reader:
    def __init__(self, text: str, name: str, *, comments: bool) -> None:
        self._text = text
        self._name = name
        self._comments = comments
        self.begin = len(BOM) if text.startswith(BOM) else 0

    def refuse(self, at: int, reason: str) -> NoReturn:
        line = self._text.count("\n", 0, at) + 1
        raise InputError(f"{self._name}:{line}: {reason}; nothing was written, mend the file first")

    def skip(self, at: int) -> int:
        """Pass over blanks, and comments where there may be some."""
        while True:
            met = _BLANK.match(self._text, at) or (
                _COMMENT.match(self._text, at) if self._comments else None
            )
            if met is None:
                return at
            at = met.end()

    def value(self, at: int, depth: int) -> Node:
        if depth > DEEPEST:
            self.refuse(at, f"it is nested more than {DEEPEST} levels deep")
        sign = self._text[at : at + 1]
        if sign == "{":
            return self._object(at, depth)
        if sign == "[":
            return self._array(at, depth)
        met = _STRING.match(self._text, at) or _PLAIN.match(self._text, at)
        if met is None:
            self._unexpected(at, "a value")
        try:
            return Node("plain", at, met.end(), json.loads(met[0]))
        except ValueError:
            self.refuse(at, f"{met[0]:.40} is no value")

    def _unexpected(self, at: int, wanted: str) -> NoReturn:
        met = self._text[at : at + 1]
        if met == "/" and not self._comments:
            self.refuse(at, "there are no comments in this file")
        self.refuse(at, f"expected {wanted}, met {repr(met) if met else 'the end'}")

    def _object(self, start: int, depth: int) -> Node:
        parts: list[Part] = []
        at = self.skip(start + 1)
        while self._text[at : at + 1] != "}":
            self._follows(at, parts, "}")
            key = _STRING.match(self._text, at)
            if key is None:
                self._unexpected(at, "a name in quotes")
            colon = self.skip(key.end())
            if self._text[colon : colon + 1] != ":":
                self._unexpected(colon, "a colon")
            node = self.value(self.skip(colon + 1), depth + 1)
            try:
                named = json.loads(key[0])
            except ValueError:
                self.refuse(at, f"{key[0]:.40} is no name")
            at, part = self._part(named, key.start(), node)
            parts.append(part)
        self._ended(at, parts)
        value = {part.key: part.node.value for part in parts}
        return Node("object", start, at + 1, value, tuple(parts))

    def _array(self, start: int, depth: int) -> Node:
        parts: list[Part] = []
        at = self.skip(start + 1)
        while self._text[at : at + 1] != "]":
            self._follows(at, parts, "]")
            at, part = self._part("", at, self.value(at, depth + 1))
            parts.append(part)
        self._ended(at, parts)
        return Node("array", start, at + 1, [part.node.value for part in parts], tuple(parts))

    def _part(self, key: str, start: int, node: Node) -> tuple[int, Part]:
        at = self.skip(node.end)
        if self._text[at : at + 1] != ",":
            return at, Part(key, start, node, None)
        return self.skip(at + 1), Part(key, start, node, at)

    def _follows(self, at: int, parts: list[Part], end: str) -> None:
        if parts and parts[-1].comma is None:
            self._unexpected(at, f"a comma or {end}")

    def _ended(self, at: int, parts: list[Part]) -> None:
        if parts and parts[-1].comma is not None and not self._comments:
            self.refuse(at, "there is a comma behind the last entry")
