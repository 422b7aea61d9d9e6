"""Split source code into chunks, between its definitions.

A definition stays whole while it fits. The members of a longer one are separated, and small
neighbours are joined. A long span without definitions is split by a function of the reader.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from quire.ingest.types import ChunkSpan, join_titles

MAX_DEPTH = 20
"""Definitions nested deeper than this are plain lines of the enclosing one."""
METHOD_OWNERS = frozenset({"class", "interface", "type"})
"""A function directly inside one of these is a method."""
SHORT = 4
"""Neighbours are joined if one of them is at most a fourth of a chunk."""
TINY = 16
"""A remainder of less than a sixteenth of a chunk (a closing brace) joins what precedes it, one at
the beginning (a comment) what follows it."""

Span = tuple[int, int]
SplitSpan = Callable[[int, int], list[Span]]
"""Splits a span that holds no definition into shorter ones."""


@dataclass(slots=True)
class Definition:
    """A definition of a file, or the whole file, with its members in reading order."""

    start: int
    title: str
    end: int
    members: list[Definition] = field(default_factory=list)


def split_definition(
    node: Definition, size: int, split_span: SplitSpan, outer_titles: tuple[str, ...] = ()
) -> list[ChunkSpan]:
    """Split a definition that is longer than the size."""
    titles = (*outer_titles, node.title) if node.title else outer_titles
    own_title = join_titles(titles)
    spans: list[ChunkSpan] = []
    joinable = 0  # 1: the last span may grow; -1: it is a header; 0: it takes no more
    for start, end, member in _iter_members(node):
        is_header = bool(node.title) and start == node.start
        if end - start > size:
            new = (
                split_definition(member, size, split_span, titles)
                if member
                else [ChunkSpan(*span, own_title) for span in split_span(start, end)]
            )
            if len(new) > 1 and (new[0].end - new[0].start) * TINY <= size:
                new[:2] = [ChunkSpan(new[0].start, new[1].end, new[1].title)]
            if joinable < 0:
                new[0] = ChunkSpan(spans.pop().start, new[0].end, new[0].title)
            spans += new
            joinable = 0
            continue
        last = spans[-1] if spans else None
        if last and not member and (end - start) * TINY <= size:
            spans[-1] = ChunkSpan(last.start, end, last.title)
            continue
        limit = size + size // 4 if joinable < 0 else size
        short = min(end - start, last.end - last.start if last else 0) * SHORT <= size
        if last and joinable and short and end - last.start <= limit:
            spans[-1] = ChunkSpan(last.start, end, own_title)
        else:
            title = join_titles((*titles, member.title)) if member else own_title
            spans.append(ChunkSpan(start, end, title))
        # A short header waits for the first member, whatever its length.
        joinable = -1 if is_header and (end - start) * 4 < size else 1
    return spans


def find_long_spans(node: Definition, size: int) -> Iterator[Span]:
    """Yield the spans without definitions that are too long for one chunk."""
    for start, end, member in _iter_members(node):
        if end - start > size:
            if member:
                yield from find_long_spans(member, size)
            else:
                yield start, end


def _iter_members(node: Definition) -> Iterator[tuple[int, int, Definition | None]]:
    """Yield the members of a definition and the spans between them."""
    position = node.start
    for member in node.members:
        if member.start > position:
            yield position, member.start, None
        if member.end > member.start:
            yield member.start, member.end, member
        position = member.end
    if position < node.end:
        yield position, node.end, None
