"""The structure of a document: its sections, and the requirements, features and decisions in it.

One pass over the blocks that the splitter uses as well. Every heading opens a section, which
ends at the next heading of the same or a higher level. The summary of a section is its first
paragraph; lists, tables and code are passed over.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from quire.ingest import labels, prose_splitter
from quire.ingest.heading_splitter import TextBlock, find_title
from quire.ingest.types import EntitySpan, clean_title, join_titles

SUMMARY_WINDOW = 800
"""Characters of a paragraph that are searched for a summary."""


@dataclass(frozen=True, slots=True)
class DocumentStructure:
    """The entities of a document, and what it is as a whole."""

    title: str
    entities: tuple[EntitySpan, ...]
    root_kind: str = ""
    summary: str = ""
    attrs: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Entity:
    """An entity whose end and summary may not be known yet."""

    kind: str
    name: str
    start: int
    parent: int | None
    path: tuple[str, ...]
    end: int = 0
    summary: str = ""
    id: str = ""


def analyze(
    path: str,
    text: str,
    blocks: Sequence[TextBlock],
    to_plain: Callable[[str], str],
    title: str = "",
) -> DocumentStructure:
    """Find the sections of a document and the requirements, features and decisions in it.

    Args:
        path: The path of the document; a decision record is recognized by its folder too.
        text: The text of the document.
        blocks: The blocks of the text, which cover it.
        to_plain: Returns the words of a paragraph without markup.
        title: The title from the document's metadata; if empty, the first heading is
            used, unless it is that of the first of several sections.
    """
    if not blocks:
        return DocumentStructure(title, ())
    builder = _StructureBuilder(text, to_plain)
    lines = labels.find_labeled_lines(text)
    line = next(lines, None)
    ends = [*(block.start for block in blocks[1:]), len(text)]
    for block, end in zip(blocks, ends, strict=True):
        lines_in_block: list[re.Match[str]] = []
        while line is not None and line.start() < end:
            lines_in_block.append(line)
            line = next(lines, None)
        if block.level:
            builder.add_heading(block)
        elif not block.verbatim:
            builder.add_text(block, end, lines_in_block)
    builder.close_sections(len(text))
    headings = [section.name for section in builder.sections]
    title = title or find_title(block for block in blocks if block.name)
    if labels.is_decision_record(path, title, headings):
        return builder.build_decision_record(title)
    builder.describe_title_section(builder.summary)
    return DocumentStructure(title, builder.build_entities(), summary=builder.summary)


class _StructureBuilder:
    """Collects the entities of a document, block by block."""

    def __init__(self, text: str, to_plain: Callable[[str], str]) -> None:
        self.text = text
        self.to_plain = to_plain
        self.entities: list[_Entity] = []
        self.sections: list[_Entity] = []
        self.summary = ""
        self._open: list[tuple[int, int | None]] = []
        """Levels of the open sections and their indexes in `entities`; None: without a name."""
        self._without_summary: _Entity | None = None
        """The current section, until its first paragraph."""

    def add_heading(self, block: TextBlock) -> None:
        self.close_sections(block.start, block.level)
        self._without_summary = None
        if not block.name:
            self._open.append((block.level, None))
            return
        parent = self._enclosing_section()
        parent_path = () if parent is None else self.entities[parent].path
        label = labels.parse_heading(block.name)
        section = _Entity(
            label.kind if label else "section",
            block.name,
            block.start,
            parent,
            (*parent_path, block.name),
            id=label.id if label else "",
        )
        self._open.append((block.level, len(self.entities)))
        self.entities.append(section)
        self.sections.append(section)
        self._without_summary = section

    def add_text(self, block: TextBlock, end: int, lines: Iterable[re.Match[str]]) -> None:
        if not block.line_based and (self._without_summary is not None or not self.summary):
            summary = self._first_paragraph(block.start, end)
            self.summary = self.summary or summary
            if self._without_summary is not None and summary:
                self._without_summary.summary = summary
                self._without_summary = None
        parent, first = self._enclosing_section(), len(self.entities)
        parent_path = () if parent is None else self.entities[parent].path
        for item in labels.build_items(self.text, lines, block.start, end):
            summary = self._first_paragraph(item.start, item.own_end)
            self.entities.append(
                _Entity(
                    item.label.kind,
                    summary or item.label.id,
                    item.start,
                    parent if item.parent is None else first + item.parent,
                    (*parent_path, item.label.id or summary),
                    item.end,
                    summary,
                    item.label.id,
                )
            )

    def close_sections(self, at: int, level: int = 0) -> None:
        while self._open and self._open[-1][0] >= level:
            index = self._open.pop()[1]
            if index is not None:
                self.entities[index].end = at

    def build_entities(self) -> tuple[EntitySpan, ...]:
        return tuple(
            EntitySpan(
                entity.kind,
                clean_title(entity.name),
                entity.start,
                entity.end,
                entity.parent,
                summary=entity.summary,
                attrs={"id": entity.id} if entity.id else {},
                qualified=join_titles(map(clean_title, entity.path)),
            )
            for entity in self.entities
        )

    def build_decision_record(self, title: str) -> DocumentStructure:
        """Build the structure of a document that is, as a whole, one decision."""
        summary = status = ""
        for section in self.sections:
            name = section.name.lower()
            if name in labels.DECISION_HEADINGS:
                summary = summary or section.summary
            if name == "status":
                status = status or section.summary
            if section.kind == labels.DECISION:
                section.kind = "section"
        summary = summary or self.summary
        attrs = {
            "id": labels.parse_decision_id(title),
            "status": clean_title(status or self.to_plain(labels.find_status(self.text))),
        }
        self.describe_title_section(summary, labels.DECISION, attrs["id"])
        non_empty = {key: value for key, value in attrs.items() if value}
        return DocumentStructure(title, self.build_entities(), labels.DECISION, summary, non_empty)

    def describe_title_section(self, summary: str, kind: str = "", identifier: str = "") -> None:
        """Give the section under the title, if it spans all others, the facts of the document."""
        first = self.sections[0] if self.sections else None
        if first is not None and first.end == len(self.text):
            first.summary = first.summary if first.summary and not kind else summary
            first.kind = kind or first.kind
            first.id = identifier or first.id

    def _enclosing_section(self) -> int | None:
        return next((index for _, index in reversed(self._open) if index is not None), None)

    def _first_paragraph(self, start: int, end: int) -> str:
        window_end = min(end, start + SUMMARY_WINDOW)
        first, last = next(prose_splitter.iter_paragraphs(self.text, start, window_end))
        return self.to_plain(self.text[first:last])
