"""How is a document with headings cut?

Section by section: a heading stays with the text below it, short paragraphs are joined, long ones
cut to about the target, blocks that read badly in halves (code, tables, lists) stay whole up to
twice the target. What is small can be chosen finely; that a piece is understood by what stands
around it is the ranking's business. Sections are joined only when the first is very short and
both stand under the same heading, or when a heading has no text of its own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from quire.core.types import IngestSettings
from quire.ingest import prose_splitter
from quire.ingest.line_splitter import split_lines
from quire.ingest.types import ChunkSpan, join_titles

INTRODUCTION = re.compile(r"(?::[*_`]*|[*_]{2}:?)\s*\Z")


@dataclass(frozen=True, slots=True)
class TextBlock:
    """A paragraph, heading, list, table or the like; it ends where the next one begins."""

    start: int
    level: int = 0
    """1 and up: a heading of that level."""
    name: str = ""
    line_based: bool = False
    """It is made of lines that belong together, not of sentences."""
    verbatim: bool = False
    """It is code, markup or front matter: shown, not said."""


@dataclass(slots=True)
class _Section:
    path: tuple[str, ...]
    heading: tuple[int, int] | None
    blocks: list[tuple[int, int, bool]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Carried:
    """A stretch too short to stand alone, on its way to the section behind it."""

    start: int
    path: tuple[str, ...]
    bare: bool
    """It has no text of its own under a heading of its own: the next title holds for both."""


def split(text: str, blocks: Sequence[TextBlock], settings: IngestSettings) -> list[ChunkSpan]:
    """Cut a text along its blocks, which cover it from its first character on."""
    longest = settings.paragraph if _is_one_paragraph(blocks) else settings.whole
    if len(text) <= max(longest, settings.whole):
        heading = next((block.name for block in blocks if block.level), "")
        return [ChunkSpan(0, len(text), heading)]
    target = max(1, settings.target)
    pieces: list[ChunkSpan] = []
    sections = _sections(text, blocks)
    carried: _Carried | None = None
    for section, following in zip(sections, [*sections[1:], None], strict=True):
        first, *rest = _spans(text, section, target, min(settings.join, target))
        path = section.path
        bare = not section.blocks or not path
        if carried:
            first = (carried.start, first[1])
            path = path if carried.bare else _shared(carried.path, path)
            bare = bare and carried.bare
        if following and not rest and _joins_next(section, following, first, target):
            carried = _Carried(first[0], path, bare)
            continue
        carried = None
        pieces.append(ChunkSpan(*first, join_titles(path)))
        pieces += [ChunkSpan(*span, join_titles(section.path)) for span in rest]
    return pieces


def _joins_next(section: _Section, following: _Section, span: tuple[int, int], target: int) -> bool:
    if (span[1] - span[0]) * 4 >= target:
        return False
    siblings = following.path[:-1] == section.path[:-1]
    heading_above = not section.blocks and following.path[: len(section.path)] == section.path
    return siblings or heading_above


def _shared(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    common = 0
    for one, other in zip(first, second, strict=False):
        if one != other:
            break
        common += 1
    return first[:common]


def _sections(text: str, blocks: Sequence[TextBlock]) -> list[_Section]:
    sections: list[_Section] = []
    open_headings: list[tuple[int, str]] = []
    ends = [*(block.start for block in blocks[1:]), len(text)]
    for block, end in zip(blocks, ends, strict=True):
        if block.level:
            while open_headings and open_headings[-1][0] >= block.level:
                open_headings.pop()
            open_headings.append((block.level, block.name))
            path = tuple(name for _, name in open_headings)
            sections.append(_Section(path, (block.start, end)))
        else:
            if not sections:
                sections.append(_Section((), None))
            sections[-1].blocks.append((block.start, end, block.line_based))
    return sections


def _is_one_paragraph(blocks: Sequence[TextBlock]) -> bool:
    """Tell whether nothing in a document says where it could be cut."""
    return len(blocks) == 1 and not blocks[0].level and not blocks[0].line_based


def _spans(text: str, section: _Section, target: int, join: int) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    for start, end, line_based in _with_introductions(text, section.blocks, target):
        if end - start <= target or (line_based and end - start <= 2 * target):
            spans.append((start, end))
        elif line_based:
            spans += split_lines(text, start, end, target)
        else:
            spans += prose_splitter.split(text, start, end, target)
    if section.heading:
        start, end = section.heading
        if end - start > target:
            spans = prose_splitter.split(text, start, end, target) + spans
        elif spans:
            spans[0] = (start, spans[0][1])
        else:
            spans = [(start, end)]
    return _with_short_tail(prose_splitter.fill(spans, join), target, join)


def _with_introductions(
    text: str, blocks: list[tuple[int, int, bool]], target: int
) -> list[tuple[int, int, bool]]:
    """Join a short line such as `These are:` or `**In short**` with what it introduces."""
    joined: list[tuple[int, int, bool]] = []
    open_start: int | None = None
    for start, end, line_based in blocks:
        if open_start is not None and end - open_start <= 2 * target:
            joined[-1] = (open_start, end, True)
        else:
            joined.append((start, end, line_based))
        introduces = (end - start) * 4 < target and INTRODUCTION.search(text[start:end])
        open_start = joined[-1][0] if introduces else None
    return joined


def _with_short_tail(spans: list[tuple[int, int]], target: int, join: int) -> list[tuple[int, int]]:
    """Join a last stretch that would be too short to say anything."""
    if len(spans) > 1:
        (start, middle), (_, end) = spans[-2:]
        if (end - middle) * 4 < join and (end - start) * 4 <= target * 5:
            return [*spans[:-2], (start, end)]
    return spans
