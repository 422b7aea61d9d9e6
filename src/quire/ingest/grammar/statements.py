"""Where does a statement begin, at which a long definition may be cut?

The nearer a statement is to the outside, the better it is to cut before it. Only
what is too long to stay whole is looked into.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from quire.ingest.code_splitter import Stretch
from quire.ingest.grammar.definitions import line_start
from quire.ingest.line_splitter import CLOSING_LINE, LineChooser

if TYPE_CHECKING:
    from tree_sitter import Node

DEEPEST = 60
"""Levels of a tree that are looked into."""
LEADS = ("comment", "decorator", "attribute")


def best_statement(text: str, root: Node, stretches: list[Stretch], size: int) -> LineChooser:
    """Find the places before statements in stretches that are longer than the size."""
    breaks = sorted(_breaks(text, root, stretches, size).items())
    offsets = [offset for offset, _ in breaks]

    def best(start: int, low: int, high: int) -> int | None:
        first, last = bisect_right(offsets, start), bisect_right(offsets, high)
        upper = bisect_right(offsets, low)
        keys = [
            (depth, text[offset - 2 : offset] != "\n\n", -offset)
            for offset, depth in breaks[upper:last]
        ]
        if keys:
            return -min(keys)[2]
        return offsets[upper - 1] if upper > first else None

    return best


def _breaks(text: str, root: Node, stretches: list[Stretch], size: int) -> dict[int, int]:
    """Map the beginnings of lines at which something begins to its depth in the tree."""
    breaks: dict[int, int] = {}
    ends = [end for _, end in stretches]
    long_ones = [(root, 0)] if stretches else []
    while long_ones:
        node, depth = long_ones.pop()
        led_until = -1  # a comment or decorator ends here
        for child in node.children:
            start, end = child.start_byte, child.end_byte
            stretch = bisect_right(ends, start)
            if stretch == len(ends):
                break
            if end <= stretches[stretch][0]:
                continue
            led = led_until >= 0 and text.count("\n", led_until, start) <= 1
            line = None if led else line_start(text, start)
            if line is not None and not _goes_with_the_line_above(text, start):
                breaks.setdefault(line, depth)
            if end - start > size and depth < DEEPEST:
                long_ones.append((child, depth + 1))
            led_until = end - text.endswith("\n", start, end) if _leads(child.type) else -1
    return breaks


def _goes_with_the_line_above(text: str, start: int) -> bool:
    return text.startswith("{", start) or CLOSING_LINE.match(text, start) is not None


def _leads(kind: str) -> bool:
    return any(lead in kind for lead in LEADS)
