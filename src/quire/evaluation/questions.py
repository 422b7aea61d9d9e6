"""Questions for an evaluation, read from JSON lines.

Each line has a query, and the paths, lines or excerpts that its answer needs. An invalid line is
refused with its number.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quire.errors import InputError, unknown

FIELDS = ("query", "expect", "id", "viewer")
_PLACE = re.compile(r"(?P<path>.+?)(?::(?P<first>\d+)(?:-(?P<last>\d+))?)?")
_PLACE_HINT = "write path, path:12 or path:12-30"
_EXCERPT_LENGTH = 60


@dataclass(frozen=True, slots=True)
class Expected:
    """A piece of evidence: a file, some of its lines, or an excerpt."""

    path: str | None = None
    lines: tuple[int, int] | None = None
    excerpt: str | None = None

    def __str__(self) -> str:
        text = self.path or ""
        if self.lines:
            text += f":{self.lines[0]}-{self.lines[1]}"
        if self.excerpt is not None:
            short = " ".join(self.excerpt.split())
            mark = "…" if len(short) > _EXCERPT_LENGTH else ""
            text += f"{' ' if text else ''}“{short[:_EXCERPT_LENGTH]}{mark}”"
        return text


@dataclass(frozen=True, slots=True)
class Question:
    """A question with the evidence for its answer."""

    query: str
    expected: tuple[Expected, ...]
    name: str
    viewer: str | None = None


def read_questions(text: str, place: str = "the questions") -> list[Question]:
    """Read questions from JSON lines; `place` names their file in errors."""
    questions = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            questions.append(_parse_question(line, str(number)))
        except InputError as error:
            raise error.within(f"{place}, line {number}") from error
    if not questions:
        raise InputError("no questions", hint="write one JSON object a line", place=place)
    return questions


def _parse_question(line: str, number: str) -> Question:
    try:
        data = json.loads(line)
    except (ValueError, RecursionError) as error:
        reason = "nested too deep" if isinstance(error, RecursionError) else error
        raise InputError(f"not JSON: {reason}") from error
    if not isinstance(data, dict):
        raise InputError("expected an object", hint='write {"query": …, "expect": […]}')
    query, expected, viewer = data.get("query"), data.get("expect"), data.get("viewer")
    if not isinstance(query, str) or not query.strip():
        raise InputError("must be a non-empty string", field="query", value=query)
    if isinstance(expected, str | dict):
        expected = [expected]
    if not isinstance(expected, list) or not expected:
        raise InputError(
            "must name the evidence for the answer",
            field="expect",
            value=expected,
            hint=_PLACE_HINT,
        )
    extra = sorted(set(data) - set(FIELDS))
    if extra:
        raise unknown("field", extra[0], FIELDS)
    if viewer is not None and not isinstance(viewer, str):
        raise InputError("must be a string", field="viewer", value=viewer)
    items = tuple(_parse_expected(item) for item in expected)
    return Question(query, items, str(data.get("id", number)), viewer)


def _parse_expected(data: Any) -> Expected:
    if isinstance(data, str):
        return _parse_place(data)
    if not isinstance(data, dict) or not set(data) <= {"path", "lines", "excerpt"} or not data:
        raise InputError(
            "expected places, or objects with path, lines or excerpt",
            field="expect",
            value=data,
            hint=_PLACE_HINT,
        )
    path, lines, excerpt = data.get("path"), data.get("lines"), data.get("excerpt")
    if path is not None and (not isinstance(path, str) or not path):
        raise InputError("must be a non-empty string", field="expect.path", value=path)
    if excerpt is not None and (not isinstance(excerpt, str) or not excerpt.strip()):
        raise InputError("must be a non-empty string", field="expect.excerpt", value=excerpt)
    if lines is not None and path is None:
        raise InputError("lines need a path", field="expect.lines", value=lines)
    return Expected(
        None if path is None else _normalize_path(path),
        None if lines is None else _parse_lines(lines),
        excerpt,
    )


def _parse_place(text: str) -> Expected:
    match = _PLACE.fullmatch(text)
    if match is None:
        raise InputError(f"{text!r} is not a place", field="expect", value=text, hint=_PLACE_HINT)
    first = int(match["first"]) if match["first"] else None
    last = int(match["last"]) if match["last"] else first
    lines = _parse_lines([first, last]) if first else None
    return Expected(_normalize_path(match["path"]), lines)


def _parse_lines(value: Any) -> tuple[int, int]:
    pair = [value, value] if isinstance(value, int) else value
    is_pair = isinstance(pair, list) and len(pair) == 2 and all(type(n) is int for n in pair)
    if not is_pair or not 1 <= pair[0] <= pair[1]:
        raise InputError(
            f"{value!r} is not a range of lines",
            field="expect.lines",
            value=value,
            hint="write [first, last], counted from 1",
        )
    return pair[0], pair[1]


def _normalize_path(text: str) -> str:
    return Path(text).as_posix()
