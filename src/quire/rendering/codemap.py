"""How is a map of definitions said?

Files by path, and below each its definitions in reading order, with their lines, indented as they
are nested. Those around a definition are named with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby

from quire.core.types import WHOLE, Outline
from quire.rendering.escape import one_line

Entry = tuple[str, str, int]
"""A definition: the path and the name of its record, and its place in the outline."""


def tree(entries: Iterable[Entry], outlines: Mapping[str, Outline]) -> str:
    """Say definitions as a tree of files."""
    parts = []
    for (path, record), group in groupby(sorted(set(entries)), key=lambda entry: entry[:2]):
        outline = outlines[record]
        shown: set[int] = set()
        for _, _, place in group:
            at: int | None = place
            while at is not None and at != WHOLE:
                shown.add(at)
                at = outline.entities[at].parent
        parts.append(f"{one_line(path)}:\n" + "".join(_line(outline, at) for at in sorted(shown)))
    return "\n".join(parts)


def _line(outline: Outline, place: int) -> str:
    entity = outline.entities[place]
    depth, at = 0, entity.parent
    while at is not None and at != WHOLE:
        depth, at = depth + 1, outline.entities[at].parent
    said = entity.signature or f"{entity.kind} {entity.name}"
    return f"{'  ' * (depth + 1)}{entity.lines[0]}: {one_line(said)}\n"
