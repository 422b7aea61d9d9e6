"""What is in a file of source code?

Indentation tells where a definition ends, and one line of it what it is called: enough to
cut between functions and to name the class around them, for any language that is indented.
A definition stays whole while it fits, and small neighbours are joined.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from quire.ingest.languages import MULTI_LINE_LEADS, Family, family_of
from quire.ingest.lines import CLOSER, cut_lines, indent_of
from quire.ingest.pieces import Piece, Reading, Source, clean_title, path_title
from quire.values import IngestSettings

DEEPEST = 20
"""Definitions nested deeper than this are plain lines of the one around them."""
LOOKED_AT = 400
"""Characters of a line by which it is judged."""
TINY = 16
"""A remainder of less than this part of a piece (a closing brace) goes with what is before it."""


@dataclass(slots=True)
class _Definition:
    start: int
    indent: int
    title: str
    end: int = 0
    parts: list[_Definition] = field(default_factory=list)


def read(source: Source, settings: IngestSettings) -> Reading:
    """Cut source code before its definitions."""
    text = source.text
    size = max(1, settings.code_max)
    if len(text) <= size:
        return Reading(text, (Piece(0, len(text)),))
    whole = _definitions(text, family_of(source.language))
    return Reading(text, tuple(_pieces(text, whole, (), size)))


def _definitions(text: str, family: Family) -> _Definition:
    """Find the definitions and nest them by their indentation."""
    whole = _Definition(0, -1, "", len(text))
    open_ones = [whole]
    for begin, indent, line in _statements(text, family):
        while open_ones[-1].indent > indent:
            open_ones.pop().end = begin
        if open_ones[-1].indent == indent:
            content = line.lstrip()
            if content[0] == "{" or CLOSER.match(content):
                continue
            open_ones.pop().end = begin
        title = family.title(line)
        if title and len(open_ones) <= DEEPEST:
            definition = _Definition(begin, indent, clean_title(title))
            open_ones[-1].parts.append(definition)
            open_ones.append(definition)
    for definition in open_ones:
        definition.end = len(text)
    return whole


def _statements(text: str, family: Family) -> Iterator[tuple[int, int, str]]:
    """Go through the lines that tell where they belong: beginning, indentation, line.

    Comments and decorators above a line begin it.
    """
    lead: tuple[int, int] | None = None  # where it starts, and its indentation
    decorated = False
    for start, line in _lines_of_code(text, family):
        content = line.lstrip()
        indent = indent_of(line)
        if lead and decorated and (indent > lead[1] or CLOSER.match(content)):
            continue  # a decorator that goes over several lines
        if family.leads(content):
            if lead is None or indent < lead[1]:
                lead = (start, indent)
            decorated = content.startswith(MULTI_LINE_LEADS)
        elif not family.is_neutral(content):
            yield lead[0] if lead and lead[1] == indent else start, indent, line
            lead = None


def _lines_of_code(text: str, family: Family) -> Iterator[tuple[int, str]]:
    """Go through the lines that are not blank and do not begin inside a string or comment."""
    inside = family.masked(text)
    masked_from, masked_to = next(inside, (len(text), len(text)))
    at = 0
    for line in text.split("\n"):
        while masked_to <= at:
            masked_from, masked_to = next(inside, (len(text) + 1, len(text) + 1))
        if not masked_from < at and line and not line.isspace():
            yield at, line[:LOOKED_AT]
        at += len(line) + 1


def _pieces(text: str, node: _Definition, above: tuple[str, ...], size: int) -> list[Piece]:
    """Cut a definition that is longer than the size."""
    path = (*above, node.title) if node.title else above
    here = path_title(path)
    pieces: list[Piece] = []
    joined = 0  # parts in the last piece; 0: it takes no more
    for start, end, part in _parts(node):
        header = bool(node.title) and start == node.start
        if end - start > size:
            new = (
                _pieces(text, part, path, size)
                if part
                else [Piece(*span, here) for span in cut_lines(text, start, end, size)]
            )
            if joined < 0:
                new[0] = Piece(pieces.pop().start, new[0].end, new[0].title)
            pieces += new
            joined = 0
            continue
        last = pieces[-1] if pieces else None
        if last and not part and (end - start) * TINY <= size:
            pieces[-1] = Piece(last.start, end, last.title)
            continue
        room = size + size // 4 if joined < 0 else size
        if last and joined and end - last.start <= room:
            pieces[-1] = Piece(last.start, end, here)
        else:
            title = path_title((*path, part.title)) if part else here
            pieces.append(Piece(start, end, title))
        # A short header waits for the first member, whatever its length.
        joined = -1 if header and (end - start) * 4 < size else 1
    return pieces


def _parts(node: _Definition) -> Iterator[tuple[int, int, _Definition | None]]:
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
