"""Add entries to a JSON text, and remove them, without changing anything else.

Entries are written in the style of the text around them: with its indentation, on a line of their
own if the others have one, with a trailing comma if the others have one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from quire.errors import InputError
from quire.integrations.install.edits import Edit, EditedText, Keys, difference
from quire.integrations.install.json_nodes import (
    NOT_WRITTEN,
    Node,
    Part,
    after_blanks,
    is_blank,
    parse,
)

DEFAULT_INDENT = "  "
GROUP = "hooks"
"""The member of a group that lists its hooks."""


@dataclass(frozen=True, slots=True)
class Member:
    """A member of an object, by the keys that lead to it."""

    keys: Keys
    value: Any
    only_if_missing: bool = False
    """Whether an existing value is left alone."""


@dataclass(frozen=True, slots=True)
class Item:
    """An item of a list, and how to recognize the items of Quire."""

    keys: Keys
    value: Any
    is_own: Callable[[Any], bool]


Entry = Member | Item


@dataclass(frozen=True, slots=True)
class JsonText:
    """The text of a file, its name, and whether it may hold comments."""

    text: str
    name: str
    comments: bool

    def holds(self, entries: Sequence[Entry]) -> bool:
        """Return whether it holds all entries as they are, and no others of Quire."""
        if is_blank(self.text, comments=self.comments):
            return False
        top = self._parse(self.text)
        for entry in entries:
            node = _find(top, entry.keys)
            if node is None:
                return False
            if isinstance(entry, Member):
                if not entry.only_if_missing and node.value != entry.value:
                    return False
            elif [item for item in _items(node) if entry.is_own(item)] != [entry.value]:
                return False
        return True

    def add(self, entries: Sequence[Entry]) -> EditedText:
        """Add all entries."""
        edited = EditedText(self.text)
        if is_blank(self.text, comments=self.comments):
            gap = "" if not self.text or self.text.endswith("\n") else "\n"
            edited = edited.apply(Edit(len(self.text), "", f"{gap}{{}}\n"))
        for entry in entries:
            edited = self._add_entry(edited, entry)
        return edited

    def remove(self, entries: Sequence[Entry], created: Sequence[Keys]) -> str:
        """Remove all entries, and the containers created for them that are empty then."""
        text = self.text
        if is_blank(text, comments=self.comments):
            return text
        for entry in entries:
            text = self._remove_entry(text, entry)
        for keys in sorted(created, key=len, reverse=True):
            node = _find(self._parse(text), keys)
            if node is not None and node.kind != "plain" and not node.parts:
                text = self._remove_member(text, keys)
        return text

    def is_empty(self, entries: Sequence[Entry]) -> bool:
        """Return whether nothing is left but members that are added only if they are missing."""
        if is_blank(self.text, comments=self.comments):
            return True
        optional = {
            entry.keys[0]
            for entry in entries
            if isinstance(entry, Member) and entry.only_if_missing
        }
        return set(self._parse(self.text).value) <= optional

    def _parse(self, text: str) -> Node:
        top = parse(text, self.name, comments=self.comments)
        if top.kind != "object":
            raise InputError(
                f"expected an object, not {'an array' if top.kind == 'array' else 'a plain value'}",
                place=self.name,
                hint=NOT_WRITTEN,
            )
        return top

    def _add_entry(self, edited: EditedText, entry: Entry) -> EditedText:
        if isinstance(entry, Item):  # an older item of Quire is replaced
            edited = edited.apply(difference(edited.text, self._remove_entry(edited.text, entry)))
        text = edited.text
        top = self._parse(text)
        node, depth = top, 0
        while depth < len(entry.keys) and (part := node.part(entry.keys[depth])) is not None:
            node, depth = part.node, depth + 1
            if depth < len(entry.keys):
                self._require_kind(text, node, "object", entry.keys[:depth])
            elif isinstance(entry, Item):
                self._require_kind(text, node, "array", entry.keys)
        if depth == len(entry.keys) and isinstance(entry, Member):
            if entry.only_if_missing or node.value == entry.value:
                return edited
            value_text = _format(
                entry.value, _line_indent(text, node.start), _indent_unit(text, top), text
            )
            return edited.apply(Edit(node.start, text[node.start : node.end], value_text))
        missing = entry.keys[depth:]
        value = [entry.value] if isinstance(entry, Item) and missing else entry.value
        for key in reversed(missing[1:]):
            value = {key: value}
        created = [
            entry.keys[: depth + count + 1]
            for count in range(len(missing) - isinstance(entry, Member))
        ]
        for edit in self._insertions(text, top, node, missing[0] if missing else None, value):
            edited = edited.apply(edit)
        return EditedText(edited.text, edited.edits, (*edited.created, *created))

    def _require_kind(self, text: str, node: Node, kind: str, keys: Keys) -> None:
        if node.kind != kind:
            line = text.count("\n", 0, node.start) + 1
            raise InputError(
                f"expected an {kind}",
                field=".".join(keys),
                value=node.value,
                place=f"{self.name}:{line}",
                hint=NOT_WRITTEN,
            )

    def _insertions(
        self, text: str, top: Node, node: Node, key: str | None, value: Any
    ) -> Iterator[Edit]:
        """Yield the edits that append a member (or, without a key, an item) to a container."""
        newline = _newline(text)
        inner = _inner_indent(text, top, node)
        label = "" if key is None else f"{json.dumps(key, ensure_ascii=False)}: "
        last = node.parts[-1] if node.parts else None
        if last is not None and "\n" not in text[node.start : node.end]:
            part_text = f"{label}{json.dumps(value, ensure_ascii=False)}"
            if last.comma is None:
                yield Edit(last.node.end, "", f", {part_text}")
            else:
                yield Edit(last.comma + 1, "", f" {part_text},")
            return
        part_text = f"{newline}{inner}{label}{_format(value, inner, _indent_unit(text, top), text)}"
        if last is None:
            end = after_blanks(text, node.start + 1, comments=self.comments)
            at = node.start + 1 + len(text[node.start + 1 : end].rstrip())
            closing = "" if "\n" in text[at:end] else newline + _line_indent(text, node.start)
            yield Edit(at, "", part_text + closing)
            return
        if last.comma is None:
            yield Edit(last.node.end, "", ",")
            at = self._line_end(text, last.node.end) + 1
        else:
            at = self._line_end(text, last.comma + 1)
            part_text += ","
        yield Edit(at, "", part_text)

    def _line_end(self, text: str, at: int) -> int:
        """Return the end of what follows an entry on its line: blanks and comments."""
        end = after_blanks(text, at, comments=self.comments)
        between = text[at:end]
        # A comment that begins on this line belongs to the entry, up to its end.
        position = at
        while position < end:
            rest = text[position:end]
            if rest[0] in "\r\n":
                break
            if rest.startswith("//"):
                position += len(rest.split("\n", 1)[0].rstrip("\r"))
            elif rest.startswith("/*"):
                position += rest.index("*/") + 2
            else:
                position += 1
        return at + len(between[: position - at].rstrip(" \t"))

    def _remove_entry(self, text: str, entry: Entry) -> str:
        if isinstance(entry, Member):
            exists = _find(self._parse(text), entry.keys) is not None
            if not exists or entry.only_if_missing:
                return text
            return self._remove_member(text, entry.keys)
        while own := list(_find_own(_find(self._parse(text), entry.keys), entry.is_own)):
            text = self._remove_part(text, *own[-1])
        return text

    def _remove_member(self, text: str, keys: Keys) -> str:
        container = _find(self._parse(text), keys[:-1])
        assert container is not None, "the member exists"
        at = max(index for index, part in enumerate(container.parts) if part.key == keys[-1])
        return self._remove_part(text, container, at)

    def _remove_part(self, text: str, container: Node, index: int) -> str:
        """Remove a part with its line, if it has one of its own, and with one comma."""
        part: Part = container.parts[index]
        end = part.node.end if part.comma is None else part.comma + 1
        start = part.start
        before = text[:start].rstrip(" \t")
        after = text[end:].lstrip(" \t")
        has_own_line = before.endswith("\n") and after[:1] in {"\r", "\n"}
        if has_own_line:
            start = len(before) - 1 - before.endswith("\r\n")
        elif part.comma is not None:
            end += len(text[end:]) - len(after)
        else:
            start = len(before)
        if part.comma is None and index:  # the part before it is the last one now
            comma = container.parts[index - 1].comma
            assert comma is not None, "between two parts"
            return text[:comma] + text[comma + 1 : max(start, comma + 1)] + text[end:]
        return text[:start] + text[end:]


def _find(top: Node, keys: Keys) -> Node | None:
    node = top
    for key in keys:
        part = node.part(key) if node.kind == "object" else None
        if part is None:
            return None
        node = part.node
    return node


def _items(node: Node) -> list[Any]:
    return node.value if node.kind == "array" else []


def _find_own(node: Node | None, is_own: Callable[[Any], bool]) -> Iterator[tuple[Node, int]]:
    """Yield the items of Quire in a list, also those in a group with others."""
    if node is None or node.kind != "array":
        return
    for index, part in enumerate(node.parts):
        if is_own(part.node.value):
            yield node, index
        elif (group := part.node.part(GROUP)) is not None:
            yield from _find_own(group.node, is_own)


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _line_indent(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _indent_unit(text: str, top: Node) -> str:
    """Return the indentation of one level, from the first entry with a line of its own."""
    for part in top.parts:
        if "\n" in text[top.start : part.start]:
            return _line_indent(text, part.start) or DEFAULT_INDENT
    return DEFAULT_INDENT


def _inner_indent(text: str, top: Node, node: Node) -> str:
    for part in node.parts:
        if text[text.rfind("\n", 0, part.start) + 1 : part.start].strip(" \t") == "":
            return _line_indent(text, part.start)
    return _line_indent(text, node.start) + _indent_unit(text, top)


def _format(value: Any, indent: str, unit: str, text: str) -> str:
    lines = json.dumps(value, indent=unit, ensure_ascii=False).split("\n")
    return f"{_newline(text)}{indent}".join(lines)
