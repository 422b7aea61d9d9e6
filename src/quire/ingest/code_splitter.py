"""Where is a file of source code cut?

Between its definitions. One stays whole while it fits, the members of a long one are cut apart,
small neighbours are joined; a long stretch without definitions is cut where its reader says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from quire.ingest.types import ChunkSpan, join_titles

DEEPEST = 20
"""Definitions nested deeper than this are plain lines of the one around them."""
SHORT = 4
"""Of two neighbours that are joined one is at most this part of a piece: others stand alone."""
HOLDERS = frozenset({"class", "interface", "type"})
"""A function directly inside one of these is a method."""
TINY = 16
"""A remainder of less than this part of a piece (a closing brace) goes with what is before it."""

Stretch = tuple[int, int]
CutStretch = Callable[[int, int], list[Stretch]]
"""Cuts a stretch that holds no definition into shorter ones."""


@dataclass(slots=True)
class Definition:
    """A definition of a file, or the whole file, with those inside it in reading order."""

    start: int
    title: str
    end: int
    parts: list[Definition] = field(default_factory=list)


def pieces_of(
    node: Definition, size: int, cut_stretch: CutStretch, above: tuple[str, ...] = ()
) -> list[ChunkSpan]:
    """Cut a definition that is longer than the size."""
    path = (*above, node.title) if node.title else above
    here = join_titles(path)
    pieces: list[ChunkSpan] = []
    joined = 0  # parts in the last piece; 0: it takes no more
    for start, end, part in _parts(node):
        header = bool(node.title) and start == node.start
        if end - start > size:
            new = (
                pieces_of(part, size, cut_stretch, path)
                if part
                else [ChunkSpan(*span, here) for span in cut_stretch(start, end)]
            )
            if joined < 0:
                new[0] = ChunkSpan(pieces.pop().start, new[0].end, new[0].title)
            pieces += new
            joined = 0
            continue
        last = pieces[-1] if pieces else None
        if last and not part and (end - start) * TINY <= size:
            pieces[-1] = ChunkSpan(last.start, end, last.title)
            continue
        room = size + size // 4 if joined < 0 else size
        short = min(end - start, last.end - last.start if last else 0) * SHORT <= size
        if last and joined and short and end - last.start <= room:
            pieces[-1] = ChunkSpan(last.start, end, here)
        else:
            title = join_titles((*path, part.title)) if part else here
            pieces.append(ChunkSpan(start, end, title))
        # A short header waits for the first member, whatever its length.
        joined = -1 if header and (end - start) * 4 < size else 1
    return pieces


def long_stretches(node: Definition, size: int) -> Iterator[Stretch]:
    """Go through what will have to be cut although there is no definition in it."""
    for start, end, part in _parts(node):
        if end - start > size:
            if part:
                yield from long_stretches(part, size)
            else:
                yield start, end


def _parts(node: Definition) -> Iterator[tuple[int, int, Definition | None]]:
    """Go through a definition's members and what stands between them."""
    at = node.start
    for part in node.parts:
        if part.start > at:
            yield at, part.start, None
        if part.end > part.start:
            yield part.start, part.end, part
        at = part.end
    if at < node.end:
        yield at, node.end, None
