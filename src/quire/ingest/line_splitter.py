"""Where may a text be cut that is made of lines: source code, data, lists, tables?"""

from __future__ import annotations

import re
from collections.abc import Callable

from quire.ingest.prose_splitter import split_anywhere

CLOSING_LINE = re.compile(
    r"[)}\]]|</|(?:end|else|elif|elsif|except|finally|catch|rescue|ensure|fi|done|esac)\b"
)
"""A line that begins so belongs to the one before it."""
LineChooser = Callable[[int, int, int], int | None]
"""Finds the best place to cut behind the first one, if possible behind the second (low), at
latest before the third (high)."""
OPEN_LIST = "[({,:;}\n"
TAB = 4


def measure_indent(line: str) -> int:
    """Count the columns before the first character of a line."""
    space = line[: len(line) - len(line.lstrip(" \t"))]
    return len(space.expandtabs(TAB)) if "\t" in space else len(space)


def split_lines(
    text: str, start: int, end: int, size: int, best: LineChooser | None = None
) -> list[tuple[int, int]]:
    """Cut before the line with the least indentation, if possible behind a blank one.

    A part is between half the size and the size, and the last one not much shorter; a line
    that is longer than the size is cut in itself. Who knows better lines gives `best`.
    """
    size = max(1, size)
    parts = []
    while end - start > size:
        low, high = start + size // 2, min(start + size, end - size // 4)
        at = best(start, low, high) if best else None
        if at is None:
            at = _best_line(text, start, low, high)
        if at is None:
            at = split_anywhere(text, start, min(end, start + 2 * size), size)[0][1]
        parts.append((start, at))
        start = at
    if start < end:
        parts.append((start, end))
    return parts


def _best_line(text: str, start: int, low: int, high: int) -> int | None:
    best: tuple[int, bool, int] | None = None
    lower_half: int | None = None
    at = start
    while True:
        line_end = text.find("\n", at, high)
        if line_end < 0:
            break
        at = line_end + 1
        line = text[at : at + 80]
        content = line.lstrip(" \t")
        if not content or content[0] == "\n" or CLOSING_LINE.match(content):
            continue
        if content[0] == "{" and text[line_end - 1] not in OPEN_LIST:
            continue  # the brace of the line above
        if at <= low:
            lower_half = at
            continue
        behind_blank = text[line_end - 1 : line_end] == "\n"
        key = (measure_indent(line), not behind_blank, -at)
        if best is None or key < best:
            best = key
    return -best[2] if best else lower_half
