"""What is asked, and what does the answer rest on?

Questions for an evaluation are lines of JSON: a query, and the paths, lines or excerpts that its
answer needs. What is no question is refused by its line.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quire.errors import InputError

_PLACE = re.compile(r"(?P<path>.+?)(?::(?P<first>\d+)(?:-(?P<last>\d+))?)?")


@dataclass(frozen=True, slots=True)
class Expected:
    """One thing that an answer rests on: a file, some of its lines, or an excerpt."""

    path: str | None = None
    lines: tuple[int, int] | None = None
    excerpt: str | None = None

    def __str__(self) -> str:
        told = self.path or ""
        if self.lines:
            told += f":{self.lines[0]}-{self.lines[1]}"
        if self.excerpt is not None:
            short = " ".join(self.excerpt.split())
            told += f"{' ' if told else ''}“{short[:60]}{'…' if len(short) > 60 else ''}”"
        return told


@dataclass(frozen=True, slots=True)
class Question:
    """A question with all that its answer rests on."""

    query: str
    expected: tuple[Expected, ...]
    name: str
    viewer: str | None = None


def read_questions(text: str, place: str = "the questions") -> list[Question]:
    """Read questions from lines of JSON, or say which line is wrong and what it should be."""
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        where = f"{place}, line {number}"
        try:
            data = json.loads(line)
        except (ValueError, RecursionError) as error:
            told = "nested too deep" if isinstance(error, RecursionError) else error
            raise InputError(f"{where} is not JSON: {told}") from error
        found.append(_question(data, where, str(number)))
    if not found:
        raise InputError(f"there is no question in {place}: write one JSON object a line")
    return found


def _question(data: Any, where: str, number: str) -> Question:
    if not isinstance(data, dict):
        raise InputError(f'{where}: expected {{"query": …, "expect": […]}}')
    query, expected = data.get("query"), data.get("expect")
    if not isinstance(query, str) or not query.strip():
        raise InputError(f'{where}: "query" must be a text that is not empty')
    if isinstance(expected, str | dict):
        expected = [expected]
    if not isinstance(expected, list) or not expected:
        raise InputError(f'{where}: "expect" must name what the answer rests on')
    unknown = sorted(set(data) - {"query", "expect", "id", "viewer"})
    if unknown:
        raise InputError(
            f"{where}: there is no {unknown[0]!r}; there are query, expect, id, viewer"
        )
    viewer = data.get("viewer")
    if viewer is not None and not isinstance(viewer, str):
        raise InputError(f'{where}: "viewer" must be a name')
    items = tuple(_expected(each, where) for each in expected)
    return Question(query, items, str(data.get("id", number)), viewer)


def _expected(data: Any, where: str) -> Expected:
    if isinstance(data, str):
        found = _PLACE.fullmatch(data)
        if found is None:
            raise InputError(f"{where}: {data!r} is no place: write path, path:12 or path:12-30")
        first = int(found["first"]) if found["first"] else None
        last = int(found["last"]) if found["last"] else first
        return Expected(_path(found["path"]), _lines([first, last], where) if first else None)
    if not isinstance(data, dict) or not set(data) <= {"path", "lines", "excerpt"} or not data:
        raise InputError(
            f'{where}: each of "expect" is a place (path:12-30), or has path, lines or excerpt'
        )
    path, lines, excerpt = data.get("path"), data.get("lines"), data.get("excerpt")
    if path is not None and (not isinstance(path, str) or not path):
        raise InputError(f'{where}: "path" must be a text')
    if excerpt is not None and (not isinstance(excerpt, str) or not excerpt.strip()):
        raise InputError(f'{where}: "excerpt" must be a text that is not empty')
    if lines is not None and path is None:
        raise InputError(f'{where}: "lines" need a "path"')
    return Expected(
        None if path is None else _path(path),
        None if lines is None else _lines(lines, where),
        excerpt,
    )


def _lines(value: Any, where: str) -> tuple[int, int]:
    pair = [value, value] if isinstance(value, int) else value
    right = isinstance(pair, list) and len(pair) == 2 and all(type(each) is int for each in pair)
    if not right or not 1 <= pair[0] <= pair[1]:
        raise InputError(f"{where}: {value!r} are no lines: write [first, last], from 1")
    return pair[0], pair[1]


def _path(text: str) -> str:
    return Path(text).as_posix()
