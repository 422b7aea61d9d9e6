"""Find the pieces of a context in its text, so that a reader sees which line comes from where.

A format may escape a text, indent it, or show a part of it, so lines are compared and not whole
texts. A line that no piece has, such as a marker, belongs to none. The spans joined are the text,
to the byte.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

_MIN_LETTERS = 3
"""A line with fewer letters and digits says nothing about where it comes from."""
_MIN_PART = 16
"""A part of a line must be this long to be looked for in a piece."""
_MIN_START = 32
"""The beginning of a line that is looked for where the line as a whole is not found."""
_MARKS = re.compile(r"[`*_]")
_PREFIX = re.compile(r"^(?:[>|#*+-]+|[0-9]+[.:|])\s+")
# Begins where a run of such characters begins, so that each run is looked at once.
_CUT = re.compile(r"(?<![\s….\[\]])\s*+(?:\[?(?:…|\.\.\.)\]?)++$")


@dataclass(frozen=True, slots=True)
class Span:
    """Successive lines of a context that come from the same piece, or from none."""

    text: str
    piece: int | None
    """The number of the piece."""


def find_spans(text: str, pieces: Sequence[str]) -> tuple[Span, ...]:
    """Split the text of a context where one piece ends and another begins.

    Args:
        text: The text of the context.
        pieces: The texts of its pieces, in the order in which it shows them.
    """
    owners: dict[str, list[int]] = {}
    for number, piece in enumerate(pieces):
        for line in dict.fromkeys(_forms_of(piece)):
            owners.setdefault(line, []).append(number)
    lines = text.splitlines(keepends=True)
    found = _assign(lines, owners, pieces)
    spans: list[Span] = []
    for line, owner in zip(lines, _fill_gaps(lines, found), strict=True):
        if spans and spans[-1].piece == owner:
            spans[-1] = Span(spans[-1].text + line, owner)
        else:
            spans.append(Span(line, owner))
    return tuple(spans)


def _assign(
    lines: Sequence[str], owners: dict[str, list[int]], pieces: Sequence[str]
) -> list[int | None]:
    """Return the piece of each line: the one before it if that has it too, else the next."""
    found: list[int | None] = []
    current: int | None = None
    last = 0
    for line in lines:
        if not line.strip():
            found.append(None)
            continue
        among = _owners_of(line, owners, pieces)
        if current is not None and current in among:
            piece: int | None = current
        elif among and _is_telling(line):
            piece = next((number for number in among if number >= last), among[0])
        else:
            piece = None
        found.append(piece)
        current = piece
        last = last if piece is None else piece
    return found


def _owners_of(line: str, owners: dict[str, list[int]], pieces: Sequence[str]) -> Sequence[int]:
    forms = _forms(line)
    for form in forms:
        if form in owners:
            return owners[form]
    for form in forms:
        if len(form) >= _MIN_PART:
            among = [number for number, piece in enumerate(pieces) if form in piece]
            if among:
                return among
    start = _flat(forms[-1])[:_MIN_START] if forms else ""
    if len(start) == _MIN_START:  # a summary: the lines of a paragraph joined, without its marks
        return [number for number, piece in enumerate(pieces) if start in _flat(piece)]
    return ()


@lru_cache(maxsize=256)
def _flat(text: str) -> str:
    """Return a text on one line, without the marks of emphasis and code."""
    return " ".join(_MARKS.sub("", text).split())


def _forms_of(piece: str) -> list[str]:
    return [line.strip() for line in piece.splitlines() if line.strip()]


def _forms(line: str) -> list[str]:
    """Return the line as it stands, unescaped, without what marks a list, and without a cut."""
    bare = line.strip()
    forms = [bare, html.unescape(bare)]
    forms += [_PREFIX.sub("", form) for form in forms]
    forms += [_CUT.sub("", form) for form in forms]
    return [form for form in dict.fromkeys(forms) if form]


def _is_telling(line: str) -> bool:
    return sum(char.isalnum() for char in line) >= _MIN_LETTERS


def _fill_gaps(lines: Sequence[str], found: Sequence[int | None]) -> list[int | None]:
    """Give empty lines to the piece that goes on behind them."""
    filled = [*found]
    start: int | None = None
    for number, line in enumerate(lines):
        if not line.strip():
            start = number if start is None else start
            continue
        if start is not None and start > 0 and filled[start - 1] == found[number]:
            filled[start:number] = [found[number]] * (number - start)
        start = None
    return filled
