"""How is a table put into a TOML text, and taken out, so that all else stays as it is?

A table is added at the end. Whatever is done, the result is read again and must say what was said
before and the table, or not the table, and nothing else: otherwise nothing is written.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from quire.errors import InputError
from quire.integrations.install.edits import Changed, Edit
from quire.integrations.install.edits import Path as Keys

_LINE = re.compile(r"at line (\d+)")
_HEADER = re.compile(r"^[ \t]*\[", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class TomlText:
    """The text of a file, and its name."""

    text: str
    name: str

    def holds(self, keys: Keys, table: Mapping[str, Any]) -> bool:
        """Tell whether the table stands in it as it should."""
        return bool(_at(self._read(self.text), keys) == table)

    def with_(self, keys: Keys, table: Mapping[str, Any]) -> Changed:
        """Put the table in, in place of one of its name."""
        changed = Changed(self.text)
        before = self._read(self.text)
        if _at(before, keys) is not None:
            start, end = self._found(keys)
            changed = changed.then(Edit(start, self.text[start:end], ""))
        newline = "\r\n" if "\r\n" in self.text else "\n"
        lines = [
            f"[{'.'.join(keys)}]",
            *(f"{key} = {_written(value)}" for key, value in table.items()),
        ]
        text = changed.text
        gap = "" if not text.strip() else newline if text.endswith("\n") else newline * 2
        said = gap + newline.join(lines) + newline
        changed = changed.then(Edit(len(text), "", said))
        if self._safely(changed.text) != _changed(before, keys, table):
            raise InputError(
                f"{self.name}: [{'.'.join(keys)}] cannot be added, because {keys[0]} is written in "
                "another way there; nothing was written, add it by hand"
            )
        return changed

    def without(self, keys: Keys) -> str:
        """Take the table out, with what belongs to it."""
        if _at(self._read(self.text), keys) is None:
            return self.text
        start, end = self._found(keys)
        return self.text[:start] + self.text[end:]

    def is_bare(self) -> bool:
        """Tell whether nothing is left in it."""
        return not self.text.strip()

    def _found(self, keys: Keys) -> tuple[int, int]:
        """Find the lines of a table: those without which the text says all but the table."""
        wanted = _changed(self._read(self.text), keys, None)
        for start in self._headers(keys):
            for end in self._ends(start):
                left = self._safely(self.text[:start] + self.text[end:])
                if (
                    left is not None
                    and _at(left, keys) is None
                    and _changed(left, keys, None) == wanted
                ):
                    return start, end
        raise InputError(
            f"{self.name}: {'.'.join(keys)} is not a table of its own, so it cannot be changed; "
            "nothing was written, change it by hand"
        )

    def _headers(self, keys: Keys) -> Iterator[int]:
        for met in _HEADER.finditer(self.text):
            line = self.text[met.start() :].split("\n", 1)[0]
            if all(key in line for key in keys):
                yield met.start()

    def _ends(self, start: int) -> Iterator[int]:
        """Give the places where a table may end: behind its last line, before another header."""
        following = [met.start() for met in _HEADER.finditer(self.text, start + 1)]
        for end in (*following, len(self.text)):
            kept = self.text[start:end].splitlines(keepends=True)
            while len(kept) > 1 and (not kept[-1].strip() or kept[-1].lstrip().startswith("#")):
                kept.pop()
            yield start + sum(map(len, kept))

    def _read(self, text: str) -> dict[str, Any]:
        try:
            return tomllib.loads(text)
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            met = _LINE.search(str(error))
            line = f":{met[1]}" if met else ""
            raise InputError(
                f"{self.name}{line}: {error}; nothing was written, mend the file first"
            ) from error

    def _safely(self, text: str) -> dict[str, Any] | None:
        try:
            return tomllib.loads(text)
        except tomllib.TOMLDecodeError:
            return None


def _at(data: Mapping[str, Any], keys: Keys) -> Any:
    value: Any = data
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _changed(
    data: Mapping[str, Any], keys: Keys, table: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Give what is said once a table is put in, or (None) taken out with what is empty then."""
    first, rest = keys[0], keys[1:]
    if rest:
        inner = _changed(data.get(first) or {}, rest, table)
        kept = {**data, first: inner}
        if not inner and table is None:
            del kept[first]
        return kept
    if table is None:
        return {key: value for key, value in data.items() if key != first}
    return {**data, first: dict(table)}


def _written(value: Any) -> str:
    """Write a text or a list of texts: JSON's strings are strings of TOML too."""
    return json.dumps(value, ensure_ascii=False)
