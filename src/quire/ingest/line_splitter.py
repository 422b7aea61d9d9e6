"""Splitting of line-based text: source code, data, lists, tables.

The best place is before a line with little indentation, preferably after a blank line.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from quire.ingest.prose_splitter import split_anywhere

CLOSING_LINE = re.compile(
    r"[)}\]]|</|(?:end|else|elif|elsif|except|finally|catch|rescue|ensure|fi|done|esac)\b"
)
"""The beginning of a line that belongs to the line before it."""
LineChooser = Callable[[int, int, int], int | None]
"""Given `start`, `low` and `high`, returns the best place to split after `start`: preferably
after `low`, at the latest at `high`; None if there is none."""
STATEMENT_ENDS = "[({,:;}\n"
"""After one of these, a line that begins with `{` does not belong to the line above it."""
TAB_WIDTH = 4


def measure_indent(line: str) -> int:
    """Return the number of columns before the first character of a line."""
    space = line[: len(line) - len(line.lstrip(" \t"))]
    return len(space.expandtabs(TAB_WIDTH)) if "\t" in space else len(space)


def split_lines(
    text: str, start: int, end: int, size: int, choose_line: LineChooser | None = None
) -> list[tuple[int, int]]:
    """Split before the line with the least indentation, preferably after a blank line.

    A span is between half the size and the size long, and the last one not much shorter. A line
    longer than the size is split inside. Callers that know better lines, for example from a
    syntax tree, pass `choose_line`.
    """
    size = max(1, size)
    spans = []
    while end - start > size:
        low, high = start + size // 2, min(start + size, end - size // 4)
        at = choose_line(start, low, high) if choose_line else None
        if at is None:
            at = _find_best_line(text, start, low, high)
        if at is None:
            at = split_anywhere(text, start, min(end, start + 2 * size), size)[0][1]
        spans.append((start, at))
        start = at
    if start < end:
        spans.append((start, end))
    return spans


def _find_best_line(text: str, start: int, low: int, high: int) -> int | None:
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
        if content[0] == "{" and text[line_end - 1] not in STATEMENT_ENDS:
            continue  # the brace opens the block of the line above
        if at <= low:
            lower_half = at
            continue
        after_blank = text[line_end - 1 : line_end] == "\n"
        key = (measure_indent(line), not after_blank, -at)
        if best is None or key < best:
            best = key
    return -best[2] if best else lower_half
