"""Which sections does a document have, and what does each of them say?

One pass over the blocks by which a document is cut anyway. Every heading opens a section, which
ends at the next heading of its level or above. What a section says of itself is its first
paragraph; lists, tables and code are passed over.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from quire.ingest import labels, prose_splitter
from quire.ingest.heading_splitter import TextBlock
from quire.ingest.types import EntitySpan, clean_title, join_titles

LOOKED_AT = 800
"""Characters of a paragraph that are looked at for a summary."""


@dataclass(frozen=True, slots=True)
class About:
    """What a document is about: its parts, and what the whole is and says."""

    title: str
    entities: tuple[EntitySpan, ...]
    root_kind: str = ""
    summary: str = ""
    attrs: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Named:
    """A part whose end and summary are not known yet."""

    kind: str
    name: str
    start: int
    parent: int | None
    path: tuple[str, ...]
    end: int = 0
    summary: str = ""
    id: str = ""


def about(
    path: str,
    text: str,
    blocks: Sequence[TextBlock],
    plain: Callable[[str], str],
    title: str = "",
) -> About:
    """Name the sections of a document, and the requirements, features and decisions in it.

    The blocks cover the text; `plain` gives the words of a paragraph without their marks; the
    title is what the document calls itself elsewhere, otherwise its first heading counts.
    """
    if not blocks:
        return About(title, ())
    survey = _Survey(text, plain)
    lines = labels.lines(text)
    line = next(lines, None)
    ends = [*(block.start for block in blocks[1:]), len(text)]
    for block, end in zip(blocks, ends, strict=True):
        within: list[re.Match[str]] = []
        while line is not None and line.start() < end:
            within.append(line)
            line = next(lines, None)
        if block.level:
            survey.heading(block)
        elif not block.verbatim:
            survey.words(block, end, within)
    survey.close(len(text))
    headings = [named.name for named in survey.sections]
    title = title or next(iter(headings), "")
    if labels.decides(path, title, headings):
        return survey.decision(title)
    survey.speak_for_the_whole(survey.summary)
    return About(title, survey.entities(), summary=survey.summary)


class _Survey:
    """Gathers the parts of a document as its blocks go by."""

    def __init__(self, text: str, plain: Callable[[str], str]) -> None:
        self.text = text
        self.plain = plain
        self.named: list[_Named] = []
        self.sections: list[_Named] = []
        self.summary = ""
        self._open: list[tuple[int, int | None]] = []
        """The levels of the sections that are open, and their places among the parts."""
        self._silent: _Named | None = None
        """The section that has not said anything of itself yet."""

    def heading(self, block: TextBlock) -> None:
        self.close(block.start, block.level)
        self._silent = None
        if not block.name:
            self._open.append((block.level, None))
            return
        parent = self._around()
        above = () if parent is None else self.named[parent].path
        label = labels.of_heading(block.name)
        section = _Named(
            label.kind if label else "section",
            block.name,
            block.start,
            parent,
            (*above, block.name),
            id=label.id if label else "",
        )
        self._open.append((block.level, len(self.named)))
        self.named.append(section)
        self.sections.append(section)
        self._silent = section

    def words(self, block: TextBlock, end: int, found: Iterable[re.Match[str]]) -> None:
        if not block.line_based and (self._silent is not None or not self.summary):
            said = self._said(block.start, end)
            self.summary = self.summary or said
            if self._silent is not None and said:
                self._silent.summary = said
                self._silent = None
        around, first = self._around(), len(self.named)
        above = () if around is None else self.named[around].path
        for item in labels.items(self.text, found, block.start, end):
            said = self._said(item.start, item.own)
            self.named.append(
                _Named(
                    item.label.kind,
                    said or item.label.id,
                    item.start,
                    around if item.parent is None else first + item.parent,
                    (*above, item.label.id or said),
                    item.end,
                    said,
                    item.label.id,
                )
            )

    def close(self, at: int, level: int = 0) -> None:
        while self._open and self._open[-1][0] >= level:
            place = self._open.pop()[1]
            if place is not None:
                self.named[place].end = at

    def entities(self) -> tuple[EntitySpan, ...]:
        return tuple(
            EntitySpan(
                named.kind,
                clean_title(named.name),
                named.start,
                named.end,
                named.parent,
                summary=named.summary,
                attrs={"id": named.id} if named.id else {},
                qualified=join_titles(map(clean_title, named.path)),
            )
            for named in self.named
        )

    def decision(self, title: str) -> About:
        """Describe a document that records a decision: it is the decision, not the parts of it."""
        said = status = ""
        for section in self.sections:
            name = section.name.lower()
            if name in labels.DECISION_HEADINGS:
                said = said or section.summary
            if name == "status":
                status = status or section.summary
            if section.kind == labels.DECISION:
                section.kind = "section"
        said = said or self.summary
        attrs = {
            "id": labels.decision_id(title),
            "status": clean_title(status or self.plain(labels.stated_status(self.text))),
        }
        self.speak_for_the_whole(said, labels.DECISION, attrs["id"])
        stated = {key: value for key, value in attrs.items() if value}
        return About(title, self.entities(), labels.DECISION, said, stated)

    def speak_for_the_whole(self, said: str, kind: str = "", name: str = "") -> None:
        """Let the section under the title, which holds all others, be what the whole is."""
        first = self.sections[0] if self.sections else None
        if first is not None and first.end == len(self.text):
            first.summary = first.summary if first.summary and not kind else said
            first.kind = kind or first.kind
            first.id = name or first.id

    def _around(self) -> int | None:
        return next((place for _, place in reversed(self._open) if place is not None), None)

    def _said(self, start: int, end: int) -> str:
        first, last = next(prose_splitter.paragraphs(self.text, start, min(end, start + LOOKED_AT)))
        return self.plain(self.text[first:last])
