"""Splitting of documents along their headings.

Each section is split on its own. A heading stays with the text below it, short paragraphs are
merged, long ones are split to about the target length, and blocks that read badly in halves
(code, tables, lists) stay whole up to twice the target. Small chunks can be selected precisely;
to add the context around them is the task of ranking. Two sections are merged only if the first
is very short and both have the same parent, or if the first is a heading without text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from quire.core.types import IngestSettings
from quire.ingest import prose_splitter
from quire.ingest.line_splitter import split_lines
from quire.ingest.types import ChunkSpan, join_titles

INTRODUCTION = re.compile(r"(?::[*_`]*|[*_]{2}:?)\s*\Z")


@dataclass(frozen=True, slots=True)
class TextBlock:
    """A paragraph, heading, list, table or the like; it ends where the next block begins."""

    start: int
    level: int = 0
    """Level of a heading, from 1; 0 for any other block."""
    name: str = ""
    line_based: bool = False
    """Whether it consists of lines that belong together, not of sentences."""
    verbatim: bool = False
    """Whether it is code, markup or front matter, which is not prose."""


@dataclass(slots=True)
class _Section:
    path: tuple[str, ...]
    heading: tuple[int, int] | None
    blocks: list[tuple[int, int, bool]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _PendingSpan:
    """A span too short to stand alone, waiting to be merged into the next section."""

    start: int
    path: tuple[str, ...]
    bare: bool
    """Whether it has no text, or no heading, of its own: the next title then covers both."""


def split(text: str, blocks: Sequence[TextBlock], settings: IngestSettings) -> list[ChunkSpan]:
    """Split a text along its blocks, which cover it from its first character on."""
    max_length = settings.paragraph if _is_one_paragraph(blocks) else settings.whole
    if len(text) <= max(max_length, settings.whole):
        return [ChunkSpan(0, len(text), find_title(blocks))]
    target = max(1, settings.target)
    spans: list[ChunkSpan] = []
    sections = _group_sections(text, blocks)
    pending: _PendingSpan | None = None
    for section, following in zip(sections, [*sections[1:], None], strict=True):
        first, *rest = _split_section(text, section, target, min(settings.join, target))
        path = section.path
        bare = not section.blocks or not path
        if pending:
            first = (pending.start, first[1])
            path = path if pending.bare else _common_prefix(pending.path, path)
            bare = bare and pending.bare
        if following and not rest and _joins_next(section, following, first, target):
            pending = _PendingSpan(first[0], path, bare)
            continue
        pending = None
        spans.append(ChunkSpan(*first, join_titles(path)))
        spans += [ChunkSpan(*span, join_titles(section.path)) for span in rest]
    return spans


def find_title(blocks: Iterable[TextBlock]) -> str:
    """Return the heading that stands for a whole text, its first one; empty if it has none.

    The first of several headings of a lower level is the name of the first section alone.
    """
    headings = [block for block in blocks if block.level]
    if not headings:
        return ""
    first, *others = headings
    is_section = first.level > 1 and any(block.level <= first.level for block in others)
    return "" if is_section else first.name


def _joins_next(section: _Section, following: _Section, span: tuple[int, int], target: int) -> bool:
    if (span[1] - span[0]) * 4 >= target:
        return False
    siblings = following.path[:-1] == section.path[:-1]
    heading_above = not section.blocks and following.path[: len(section.path)] == section.path
    return siblings or heading_above


def _common_prefix(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    length = 0
    for name, other in zip(first, second, strict=False):
        if name != other:
            break
        length += 1
    return first[:length]


def _group_sections(text: str, blocks: Sequence[TextBlock]) -> list[_Section]:
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
    """Return whether a document has no structure to split at."""
    return len(blocks) == 1 and not blocks[0].level and not blocks[0].line_based


def _split_section(text: str, section: _Section, target: int, join: int) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    for start, end, line_based in _merge_introductions(text, section.blocks, target):
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
    return _merge_short_tail(prose_splitter.merge_spans(spans, join), target, join)


def _merge_introductions(
    text: str, blocks: list[tuple[int, int, bool]], target: int
) -> list[tuple[int, int, bool]]:
    """Merge a short line such as `These are:` or `**In short**` with the block after it."""
    merged: list[tuple[int, int, bool]] = []
    open_start: int | None = None
    for start, end, line_based in blocks:
        if open_start is not None and end - open_start <= 2 * target:
            merged[-1] = (open_start, end, True)
        else:
            merged.append((start, end, line_based))
        introduces = (end - start) * 4 < target and INTRODUCTION.search(text[start:end])
        open_start = merged[-1][0] if introduces else None
    return merged


def _merge_short_tail(
    spans: list[tuple[int, int]], target: int, join: int
) -> list[tuple[int, int]]:
    """Merge a last span that is too short to be of use into the one before it."""
    if len(spans) > 1:
        (start, middle), (_, end) = spans[-2:]
        if (end - middle) * 4 < join and (end - start) * 4 <= target * 5:
            return [*spans[:-2], (start, end)]
    return spans
