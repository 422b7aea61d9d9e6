"""How is an entry put into a JSON text, and taken out, so that all else stays as it is?

Entries are put in as the text around them is written: with its indentation, on a line of their own
where the others have one, with a comma at the end where the others have one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from quire.errors import InputError
from quire.integrations.install.edits import Changed, Edit, difference
from quire.integrations.install.edits import Path as Keys
from quire.integrations.install.json_nodes import Node, Part, after_blanks, is_blank, parse

USUAL_INDENT = "  "
GROUP = "hooks"
"""The member of a group that lists what is in it."""


@dataclass(frozen=True, slots=True)
class Member:
    """A named entry of an object: what it is to say."""

    keys: Keys
    value: Any
    weak: bool = False
    """Only if nothing stands there yet."""


@dataclass(frozen=True, slots=True)
class Item:
    """An entry of a list, and how those of Quire are told from others."""

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
        """Tell whether all entries stand in it as they should, and no other ones of Quire."""
        if is_blank(self.text, comments=self.comments):
            return False
        top = self._parse(self.text)
        for entry in entries:
            node = _at(top, entry.keys)
            if node is None:
                return False
            if isinstance(entry, Member):
                if not entry.weak and node.value != entry.value:
                    return False
            elif [one for one in _items(node) if entry.is_own(one)] != [entry.value]:
                return False
        return True

    def with_(self, entries: Sequence[Entry]) -> Changed:
        """Put all entries in."""
        changed = Changed(self.text)
        if is_blank(self.text, comments=self.comments):
            gap = "" if not self.text or self.text.endswith("\n") else "\n"
            changed = changed.then(Edit(len(self.text), "", f"{gap}{{}}\n"))
        for entry in entries:
            changed = self._put(changed, entry)
        return changed

    def without(self, entries: Sequence[Entry], made: Sequence[Keys]) -> str:
        """Take all entries out, and of the containers that were made for them the empty ones."""
        text = self.text
        if is_blank(text, comments=self.comments):
            return text
        for entry in entries:
            text = self._taken(text, entry)
        for keys in sorted(made, key=len, reverse=True):
            node = _at(self._parse(text), keys)
            if node is not None and node.kind != "plain" and not node.parts:
                text = self._cut(text, keys)
        return text

    def is_bare(self, entries: Sequence[Entry]) -> bool:
        """Tell whether nothing is left in it but what goes without saying."""
        if is_blank(self.text, comments=self.comments):
            return True
        weak = {entry.keys[0] for entry in entries if isinstance(entry, Member) and entry.weak}
        return set(self._parse(self.text).value) <= weak

    def _parse(self, text: str) -> Node:
        top = parse(text, self.name, comments=self.comments)
        if top.kind != "object":
            raise InputError(f"{self.name}: it holds no object; nothing was written")
        return top

    def _put(self, changed: Changed, entry: Entry) -> Changed:
        if isinstance(entry, Item):  # what stands there from before gives way
            changed = changed.then(difference(changed.text, self._taken(changed.text, entry)))
        text = changed.text
        top = self._parse(text)
        node, depth = top, 0
        while depth < len(entry.keys) and (met := node.part(entry.keys[depth])) is not None:
            node, depth = met.node, depth + 1
            wanted = "array" if isinstance(entry, Item) else "object"
            if depth < len(entry.keys):
                self._must_be(text, node, "object", entry.keys[:depth])
            elif isinstance(entry, Item):
                self._must_be(text, node, wanted, entry.keys)
        if depth == len(entry.keys) and isinstance(entry, Member):
            if entry.weak or node.value == entry.value:
                return changed
            said = _written(entry.value, _line_indent(text, node.start), _unit(text, top), text)
            return changed.then(Edit(node.start, text[node.start : node.end], said))
        missing = entry.keys[depth:]
        value = [entry.value] if isinstance(entry, Item) and missing else entry.value
        for key in reversed(missing[1:]):
            value = {key: value}
        made = [
            entry.keys[: depth + count + 1]
            for count in range(len(missing) - isinstance(entry, Member))
        ]
        for edit in self._inserted(text, top, node, missing[0] if missing else None, value):
            changed = changed.then(edit)
        return Changed(changed.text, changed.edits, (*changed.made, *made))

    def _must_be(self, text: str, node: Node, kind: str, keys: Keys) -> None:
        if node.kind != kind:
            line = text.count("\n", 0, node.start) + 1
            raise InputError(
                f"{self.name}:{line}: {'.'.join(keys)} is no {kind}, so nothing can be put into "
                "it; nothing was written, mend the file first"
            )

    def _inserted(
        self, text: str, top: Node, node: Node, key: str | None, value: Any
    ) -> Iterator[Edit]:
        """Give the edits that put a member (or, without a key, an item) at a container's end."""
        newline = _newline(text)
        inner = _inner_indent(text, top, node)
        label = "" if key is None else f"{json.dumps(key, ensure_ascii=False)}: "
        last = node.parts[-1] if node.parts else None
        if last is not None and "\n" not in text[node.start : node.end]:
            said = f"{label}{json.dumps(value, ensure_ascii=False)}"
            if last.comma is None:
                yield Edit(last.node.end, "", f", {said}")
            else:
                yield Edit(last.comma + 1, "", f" {said},")
            return
        said = f"{newline}{inner}{label}{_written(value, inner, _unit(text, top), text)}"
        if last is None:
            behind = after_blanks(text, node.start + 1, comments=self.comments)
            at = node.start + 1 + len(text[node.start + 1 : behind].rstrip())
            closing = "" if "\n" in text[at:behind] else newline + _line_indent(text, node.start)
            yield Edit(at, "", said + closing)
            return
        if last.comma is None:
            yield Edit(last.node.end, "", ",")
            at = self._line_end(text, last.node.end) + 1
        else:
            at = self._line_end(text, last.comma + 1)
            said += ","
        yield Edit(at, "", said)

    def _line_end(self, text: str, at: int) -> int:
        """Pass over what stands behind an entry on its line: blanks and comments."""
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

    def _taken(self, text: str, entry: Entry) -> str:
        if isinstance(entry, Member):
            there = _at(self._parse(text), entry.keys) is not None
            return self._cut(text, entry.keys) if there and not entry.weak else text
        while own := list(_own(_at(self._parse(text), entry.keys), entry.is_own)):
            text = self._cut_part(text, *own[-1])
        return text

    def _cut(self, text: str, keys: Keys) -> str:
        holder = _at(self._parse(text), keys[:-1])
        assert holder is not None, "what is cut is there"
        at = max(index for index, part in enumerate(holder.parts) if part.key == keys[-1])
        return self._cut_part(text, holder, at)

    def _cut_part(self, text: str, holder: Node, index: int) -> str:
        """Take a part out with its line, if it has one of its own, and with one comma."""
        part: Part = holder.parts[index]
        end = part.node.end if part.comma is None else part.comma + 1
        start = part.start
        before = text[:start].rstrip(" \t")
        behind = text[end:].lstrip(" \t")
        alone = before.endswith("\n") and behind[:1] in {"\r", "\n"}
        if alone:
            start = len(before) - 1 - before.endswith("\r\n")
        elif part.comma is not None:
            end += len(text[end:]) - len(behind)
        else:
            start = len(before)
        if part.comma is None and index:  # the one before has become the last
            comma = holder.parts[index - 1].comma
            assert comma is not None, "between two parts"
            return text[:comma] + text[comma + 1 : max(start, comma + 1)] + text[end:]
        return text[:start] + text[end:]


def _at(top: Node, keys: Keys) -> Node | None:
    node = top
    for key in keys:
        part = node.part(key) if node.kind == "object" else None
        if part is None:
            return None
        node = part.node
    return node


def _items(node: Node) -> list[Any]:
    return node.value if node.kind == "array" else []


def _own(node: Node | None, is_own: Callable[[Any], bool]) -> Iterator[tuple[Node, int]]:
    """Find the items of Quire in a list; also those that stand in a group with others."""
    if node is None or node.kind != "array":
        return
    for index, part in enumerate(node.parts):
        if is_own(part.node.value):
            yield node, index
        elif (inner := part.node.part(GROUP)) is not None:
            yield from _own(inner.node, is_own)


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _line_indent(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _unit(text: str, top: Node) -> str:
    """Tell by how much the text is indented, from its first entry that has a line of its own."""
    for part in top.parts:
        if "\n" in text[top.start : part.start]:
            return _line_indent(text, part.start) or USUAL_INDENT
    return USUAL_INDENT


def _inner_indent(text: str, top: Node, node: Node) -> str:
    for part in node.parts:
        if text[text.rfind("\n", 0, part.start) + 1 : part.start].strip(" \t") == "":
            return _line_indent(text, part.start)
    return _line_indent(text, node.start) + _unit(text, top)


def _written(value: Any, indent: str, unit: str, text: str) -> str:
    lines = json.dumps(value, indent=unit, ensure_ascii=False).split("\n")
    return f"{_newline(text)}{indent}".join(lines)
