"""The code map: definitions as a tree of files.

Files are sorted by path. Below each stand its definitions in reading order, with their line
numbers, indented as they are nested. The definitions around one are listed with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby

from quire.core.signatures import shorten_signature
from quire.core.types import WHOLE, Outline
from quire.rendering.escape import escape_line, escape_name

Entry = tuple[str, str, int]
"""A definition: the path and the id of its record, and its index in the outline."""


def render_codemap(entries: Iterable[Entry], outlines: Mapping[str, Outline]) -> str:
    """Render definitions as a tree of files."""
    files = []
    for (path, record), group in groupby(sorted(set(entries)), key=lambda entry: entry[:2]):
        outline = outlines[record]
        listed: set[int] = set()
        for _, _, index in group:
            at: int | None = index
            while at is not None and at != WHOLE:
                listed.add(at)
                at = outline.entities[at].parent
        lines = "".join(_line(outline, at) for at in sorted(listed))
        # A path that begins with a blank could pass for a definition.
        name = escape_name(path, extra=(0,) if path[:1].isspace() else ())
        files.append(f"{name}:\n{lines}")
    return "\n".join(files)


def _line(outline: Outline, index: int) -> str:
    entity = outline.entities[index]
    depth, at = 0, entity.parent
    while at is not None and at != WHOLE:
        depth, at = depth + 1, outline.entities[at].parent
    declaration = shorten_signature(entity.signature) or f"{entity.kind} {entity.name}"
    return f"{'  ' * (depth + 1)}{entity.lines[0]}: {escape_line(declaration)}\n"
