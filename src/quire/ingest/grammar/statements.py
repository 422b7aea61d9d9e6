"""Statement boundaries, at which a long definition may be split.

The lower the depth of a statement, the better it is to split before it. Only nodes that are too
long for one chunk are searched.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from quire.ingest.code_splitter import Span
from quire.ingest.grammar.definitions import find_line_start
from quire.ingest.line_splitter import CLOSING_LINE, LineChooser

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_DEPTH = 60
"""Levels of a tree that are searched."""
LEADING_TYPES = ("comment", "decorator", "attribute")


def make_line_chooser(text: str, root: Node, spans: list[Span], size: int) -> LineChooser:
    """Return a function that chooses the statement before which a long span is split."""
    breaks = sorted(_find_breaks(text, root, spans, size).items())
    offsets = [offset for offset, _ in breaks]

    def choose(start: int, low: int, high: int) -> int | None:
        first, last = bisect_right(offsets, start), bisect_right(offsets, high)
        upper = bisect_right(offsets, low)
        keys = [
            (depth, text[offset - 2 : offset] != "\n\n", -offset)
            for offset, depth in breaks[upper:last]
        ]
        if keys:
            return -min(keys)[2]
        return offsets[upper - 1] if upper > first else None

    return choose


def _find_breaks(text: str, root: Node, spans: list[Span], size: int) -> dict[int, int]:
    """Map the start of each line that begins a node to the depth of that node."""
    breaks: dict[int, int] = {}
    ends = [end for _, end in spans]
    long_nodes = [(root, 0)] if spans else []
    while long_nodes:
        node, depth = long_nodes.pop()
        leading_end = -1  # the end of a comment or decorator before the child
        for child in node.children:
            start, end = child.start_byte, child.end_byte
            index = bisect_right(ends, start)
            if index == len(ends):
                break
            if end <= spans[index][0]:
                continue
            has_leading = leading_end >= 0 and text.count("\n", leading_end, start) <= 1
            line = None if has_leading else find_line_start(text, start)
            if line is not None and not _continues_line_above(text, start):
                breaks.setdefault(line, depth)
            if end - start > size and depth < MAX_DEPTH:
                long_nodes.append((child, depth + 1))
            leading_end = end - text.endswith("\n", start, end) if _is_leading(child.type) else -1
    return breaks


def _continues_line_above(text: str, start: int) -> bool:
    return text.startswith("{", start) or CLOSING_LINE.match(text, start) is not None


def _is_leading(node_type: str) -> bool:
    return any(name in node_type for name in LEADING_TYPES)
