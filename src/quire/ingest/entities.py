"""Building of outlines: the entities of a file and the names that they use.

Readers give positions in characters; an outline gives them in bytes and lines. Its first entity
is the whole file.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter

from quire.core.comments import count_leading_comments
from quire.core.sentences import cut_text
from quire.core.types import DECLARED, WHOLE, Entity, Outline, Record, Reference
from quire.ingest.types import EntitySpan, ParsedFile, clean_title

MAX_SUMMARY_LENGTH = 600
"""In characters: a summary stands for the text, it must not repeat it."""
MAX_LEADING = 64_000
"""Characters of a definition that may be comments above its declaration."""
CODE = "code"
ROOT_KINDS = {"code": "file", "document": "document"}


def build_outline(record: Record, parsed: ParsedFile) -> Outline:
    """Build the outline of a record from what its reader found."""
    text, positions = parsed.text, _map_positions(parsed)

    def lines(start: int, end: int) -> tuple[int, int]:
        if parsed.line_map is not None:
            return find_source_lines(parsed.line_map, start, end)
        first, last = positions[start][1], positions[end][1]
        return first, max(first, last - text.endswith("\n", start, end))

    def declared(span: EntitySpan) -> dict[str, int]:
        above = (
            count_leading_comments(text[span.start : min(span.end, span.start + MAX_LEADING)])
            if record.kind == CODE and parsed.line_map is None
            else 0
        )
        return {DECLARED: positions[span.start][1] + above} if above else {}

    root = Entity(
        kind=parsed.root_kind or ROOT_KINDS.get(record.kind, record.kind),
        name=record.title,
        qualified=record.title,
        start=0,
        end=positions[len(text)][0],
        lines=lines(0, len(text)),
        summary=_shorten_summary(parsed.summary),
        attrs={"language": str(record.attrs.get("language", ""))},
    )
    entities = [root]
    for span in parsed.entities:
        parent = WHOLE if span.parent is None else span.parent + 1
        entities.append(
            Entity(
                kind=span.kind,
                name=clean_title(span.name),
                qualified=_qualify_name(span, entities, parent),
                start=positions[span.start][0],
                end=positions[span.end][0],
                lines=lines(span.start, span.end),
                parent=parent,
                signature=span.signature,
                summary=_shorten_summary(span.summary),
                decorators=span.decorators,
                attrs=dict(span.attrs) | declared(span),
            )
        )
    counts = Counter(
        (
            reference.name,
            reference.kind,
            WHOLE if reference.within is None else reference.within + 1,
        )
        for reference in parsed.references
    )
    references = (Reference(*key, count) for key, count in sorted(counts.items()))
    return Outline(tuple(entities), tuple(references))


def find_source_lines(
    line_map: tuple[tuple[int, int], ...], start: int, end: int
) -> tuple[int, int]:
    """Return the first and last line of the file that a range of extracted text comes from."""
    if not line_map:
        return (0, 0)
    first = max(0, bisect_right(line_map, start, key=lambda pair: pair[0]) - 1)
    last = max(first, bisect_left(line_map, end, key=lambda pair: pair[0]) - 1)
    return line_map[first][1], line_map[last][1]


def _shorten_summary(summary: str) -> str:
    """Return the first paragraph of a summary, at most `MAX_SUMMARY_LENGTH` of it.

    What is shortened ends with a sentence or a word, and a mark.
    """
    first = summary.strip().split("\n\n", 1)[0].rstrip()
    if len(first) <= MAX_SUMMARY_LENGTH:
        return first
    return f"{cut_text(first, MAX_SUMMARY_LENGTH - 2, by_line=False)} …"


def _qualify_name(span: EntitySpan, entities: list[Entity], parent: int) -> str:
    if span.qualified:
        return span.qualified
    prefix = entities[parent].qualified if parent != WHOLE else ""
    name = clean_title(span.name)
    return f"{prefix}.{name}" if prefix else name


def _map_positions(parsed: ParsedFile) -> dict[int, tuple[int, int]]:
    """Map each character at which an entity begins or ends to its byte and line."""
    text = parsed.text
    boundaries = {0, len(text)}
    for span in parsed.entities:
        boundaries |= {span.start, span.end}
    positions: dict[int, tuple[int, int]] = {}
    last, offset, line = 0, 0, 1
    for at in sorted(boundaries):
        offset += len(text[last:at].encode())
        line += text.count("\n", last, at)
        positions[at] = offset, line
        last = at
    return positions
