"""Add a table to a TOML text, and remove it, without changing anything else.

A table is added at the end. The result is parsed again and must differ from the text before by the
table alone; otherwise nothing is written.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from quire.errors import InputError
from quire.integrations.install.edits import Edit, EditedText, Keys
from quire.integrations.install.json_nodes import NOT_WRITTEN

_LINE = re.compile(r"at line (\d+)")
_HEADER = re.compile(r"^[ \t]*\[", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class TomlText:
    """The text of a file, and its name."""

    text: str
    name: str

    def holds(self, keys: Keys, table: Mapping[str, Any]) -> bool:
        """Return whether it holds the table as it is."""
        return bool(_get(self._parse(self.text), keys) == table)

    def add(self, keys: Keys, table: Mapping[str, Any]) -> EditedText:
        """Add the table, in place of one with the same name."""
        edited = EditedText(self.text)
        before = self._parse(self.text)
        if _get(before, keys) is not None:
            start, end = self._find_table(keys)
            edited = edited.apply(Edit(start, self.text[start:end], ""))
        newline = "\r\n" if "\r\n" in self.text else "\n"
        lines = [
            f"[{'.'.join(keys)}]",
            *(f"{key} = {_format(value)}" for key, value in table.items()),
        ]
        text = edited.text
        gap = "" if not text.strip() else newline if text.endswith("\n") else newline * 2
        edited = edited.apply(Edit(len(text), "", gap + newline.join(lines) + newline))
        if self._try_parse(edited.text) != _with_table(before, keys, table):
            raise InputError(
                f"[{'.'.join(keys)}] cannot be added, because {keys[0]} is not written as tables",
                place=self.name,
                hint="nothing was written, add it by hand",
            )
        return edited

    def remove(self, keys: Keys) -> str:
        """Remove the table and its sub-tables."""
        if _get(self._parse(self.text), keys) is None:
            return self.text
        start, end = self._find_table(keys)
        return self.text[:start] + self.text[end:]

    def is_empty(self) -> bool:
        """Return whether nothing is left in it."""
        return not self.text.strip()

    def _find_table(self, keys: Keys) -> tuple[int, int]:
        """Return the span of a table: without it, the text says everything but the table."""
        expected = _with_table(self._parse(self.text), keys, None)
        for start in self._headers(keys):
            for end in self._ends(start):
                rest = self._try_parse(self.text[:start] + self.text[end:])
                if (
                    rest is not None
                    and _get(rest, keys) is None
                    and _with_table(rest, keys, None) == expected
                ):
                    return start, end
        raise InputError(
            f"{'.'.join(keys)} is not a table of its own, so it cannot be changed",
            place=self.name,
            hint="nothing was written, change it by hand",
        )

    def _headers(self, keys: Keys) -> Iterator[int]:
        for match in _HEADER.finditer(self.text):
            line = self.text[match.start() :].split("\n", 1)[0]
            if all(key in line for key in keys):
                yield match.start()

    def _ends(self, start: int) -> Iterator[int]:
        """Yield the places where a table may end: after its last line, before another header."""
        headers = [match.start() for match in _HEADER.finditer(self.text, start + 1)]
        for end in (*headers, len(self.text)):
            lines = self.text[start:end].splitlines(keepends=True)
            while len(lines) > 1 and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
                lines.pop()
            yield start + sum(map(len, lines))

    def _parse(self, text: str) -> dict[str, Any]:
        try:
            return tomllib.loads(text)
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            match = _LINE.search(str(error))
            line = f":{match[1]}" if match else ""
            raise InputError(str(error), place=f"{self.name}{line}", hint=NOT_WRITTEN) from error

    def _try_parse(self, text: str) -> dict[str, Any] | None:
        try:
            return tomllib.loads(text)
        except tomllib.TOMLDecodeError:
            return None


def _get(data: Mapping[str, Any], keys: Keys) -> Any:
    value: Any = data
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _with_table(
    data: Mapping[str, Any], keys: Keys, table: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Return the data with a table; or (None) without it and without parents left empty."""
    first, rest = keys[0], keys[1:]
    if rest:
        inner = _with_table(data.get(first) or {}, rest, table)
        result = {**data, first: inner}
        if not inner and table is None:
            del result[first]
        return result
    if table is None:
        return {key: value for key, value in data.items() if key != first}
    return {**data, first: dict(table)}


def _format(value: Any) -> str:
    """Write a text or a list of texts: strings of JSON are strings of TOML too."""
    return json.dumps(value, ensure_ascii=False)
