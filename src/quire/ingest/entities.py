"""Which entities does a file hold, and where?

Readers name parts by characters; an outline names them by bytes and lines, the whole file first.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter

from quire.core.types import WHOLE, Entity, Outline, Record, Reference
from quire.ingest.types import EntitySpan, ParsedFile, clean_title

SUMMARY_LENGTH = 600
"""A summary is at most so many characters: it stands for the text, it does not repeat it."""
WHOLE_KINDS = {"code": "file", "document": "document"}


def build_outline(record: Record, reading: ParsedFile) -> Outline:
    """Make the outline of a record of what its reader found."""
    text, places = reading.text, _places(reading)

    def lines(start: int, end: int) -> tuple[int, int]:
        if reading.line_map is not None:
            return find_source_lines(reading.line_map, start, end)
        first, last = places[start][1], places[end][1]
        return first, max(first, last - text.endswith("\n", start, end))

    whole = Entity(
        kind=reading.root_kind or WHOLE_KINDS.get(record.kind, record.kind),
        name=record.title,
        qualified=record.title,
        start=0,
        end=places[len(text)][0],
        lines=lines(0, len(text)),
        summary=shortened(reading.summary),
        attrs={"language": str(record.attrs.get("language", ""))},
    )
    entities = [whole]
    for part in reading.entities:
        parent = WHOLE if part.parent is None else part.parent + 1
        entities.append(
            Entity(
                kind=part.kind,
                name=clean_title(part.name),
                qualified=_qualified(part, entities, parent),
                start=places[part.start][0],
                end=places[part.end][0],
                lines=lines(part.start, part.end),
                parent=parent,
                signature=part.signature,
                summary=shortened(part.summary),
                decorators=part.decorators,
                attrs=dict(part.attrs),
            )
        )
    counted = Counter(
        (use.name, use.kind, WHOLE if use.within is None else use.within + 1)
        for use in reading.references
    )
    references = (Reference(*key, count) for key, count in sorted(counted.items()))
    return Outline(tuple(entities), tuple(references))


def shortened(summary: str) -> str:
    """Keep a summary to its first paragraph, and that to a bounded length."""
    first = summary.strip().split("\n\n", 1)[0].rstrip()
    if len(first) <= SUMMARY_LENGTH:
        return first
    return first[: SUMMARY_LENGTH - 1].rstrip() + "…"


def find_source_lines(marks: tuple[tuple[int, int], ...], start: int, end: int) -> tuple[int, int]:
    """Find the lines of the file from which a stretch of extracted text was taken."""
    if not marks:
        return (0, 0)
    first = max(0, bisect_right(marks, start, key=lambda mark: mark[0]) - 1)
    last = max(first, bisect_left(marks, end, key=lambda mark: mark[0]) - 1)
    return marks[first][1], marks[last][1]


def _qualified(part: EntitySpan, entities: list[Entity], parent: int) -> str:
    if part.qualified:
        return part.qualified
    above = entities[parent].qualified if parent != WHOLE else ""
    name = clean_title(part.name)
    return f"{above}.{name}" if above else name


def _places(reading: ParsedFile) -> dict[int, tuple[int, int]]:
    """Tell for each character at which a part begins or ends the byte and the line."""
    text = reading.text
    wanted = {0, len(text)}
    for part in reading.entities:
        wanted |= {part.start, part.end}
    found: dict[int, tuple[int, int]] = {}
    last, offset, line = 0, 0, 1
    for place in sorted(wanted):
        offset += len(text[last:place].encode())
        line += text.count("\n", last, place)
        found[place] = offset, line
        last = place
    return found
