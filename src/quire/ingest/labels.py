"""Labels: which sections and lines are requirements, features or decisions.

A section or line has a label if it begins with one of these (`RULES` is the table):

- an identifier: a prefix in capitals, optional words in capitals, a number: `REQ-12`, `FR-3.1`,
  `NFR-SEC-2`, `US-7`, `ADR-12`;
- a word with a number: `Requirement 12`, `Feature 3`, `ADR 12`;
- a word with a colon: `Requirement: …`, `Feature: …`, `Decision: …`;
- for decisions also the heading `Decision` or `Decision Outcome`, and a line that begins with
  `We decided`.

A heading may begin with a section number (`3.1 REQ-12 …`). In running text the label must be
followed by a colon, a dash, a closing bracket or a bar, so that a sentence which happens to
begin with a label is not taken for a requirement. After an identifier at the start of a list
item or a table row a space is enough.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from quire.ingest import prose_splitter

REQUIREMENT, FEATURE, DECISION = "requirement", "feature", "decision"

RULES = (
    # kind, prefixes of identifiers, words, words that count only in a heading and with a colon
    (
        REQUIREMENT,
        "REQ NFR FR SRS UR BR US UC",
        "Requirement|User [Ss]tory",
        "Scenario|Scenario Outline|Scenario Template",
    ),
    (FEATURE, "FEAT FEATURE EPIC", "Feature|Epic", ""),
    (DECISION, "ADR", "Decision|ADR", ""),
)
DECISION_HEADINGS = frozenset({"decision", "decision outcome"})
DECISION_FOLDERS = frozenset(
    {
        "adr",
        "adrs",
        "decisions",
        "decision-records",
        "decision_records",
        "architecture-decisions",
        "architecture_decisions",
        "architecture-decision-records",
    }
)

NUMBER = r"\d+(?:\.\d+)*(?![\w-])"


def _label_pattern(kind: str, prefixes: str, words: str, heading_words: str = "") -> str:
    word = f"(?:{words}|{words.upper()})"
    identifier = rf"(?:{prefixes.replace(' ', '|')})(?:-[A-Z][A-Z0-9]{{0,15}}){{0,3}}[-_]{NUMBER}"
    with_colon = f"(?:{word}{heading_words and '|' + heading_words})(?=[*_`]{{0,4}}:)"
    return rf"(?P<{kind}>{identifier}|{word}[ ]#?{NUMBER}|{with_colon})"


IN_HEADING = "|".join(_label_pattern(*rule) for rule in RULES)
IN_TEXT = "|".join(_label_pattern(*rule[:3]) for rule in RULES)
AFTER_LABEL = r"[*_`\])]{0,4}(?P<mark>[ \t]*(?:[:|)\u2013\u2014]|\.(?=\s|\Z))|[ \t]+-(?=[ \t]))?"
HEADING = re.compile(
    rf"(?:{NUMBER}[.)]?\s+)?[*_`\[(]{{0,4}}(?:{IN_HEADING}){AFTER_LABEL}(?P<end>\Z|(?=\s))?"
)
LINE = re.compile(
    r"^(?P<indent>[ \t]*+)(?P<marker>(?:[-*+•]|\d{1,3}[.)]|\|)[ \t]+(?:\[[ xX]\][ \t]+)?)?"
    rf"(?P<lead>[*_`\[(]{{0,4}})(?:(?:{IN_TEXT}){AFTER_LABEL}(?=[*_`]{{0,4}}[ \t]*\n?[ \t]*\S)"
    r"|(?P<decided>We(?:[ ]have|['\u2019]ve)?[ ]decided\b))",
    re.MULTILINE,
)
BRACKETED = re.compile(r"[*_`]{0,4}\](?![(:])")
ITEM = re.compile(r"^([ \t]*+)(?:[-*+•]|\d{1,3}[.)])[ \t]", re.MULTILINE)
FENCE = re.compile(r"^[ \t]*+(?:```|~~~)", re.MULTILINE)
NUMBERED_TITLE = re.compile(r"(\d+)\.\s+\S")
STATUS = re.compile(
    r"^[ \t]*(?:[-*+][ \t]+)?[*_]{0,2}Status[*_]{0,2}:[*_]{0,2}[ \t]*(\S.*)", re.MULTILINE
)
STATUS_WINDOW = 4000
"""Characters that are searched for a status."""


@dataclass(frozen=True, slots=True)
class Label:
    """The kind that a section or line declares, and its identifier if it has one."""

    kind: str
    id: str = ""


@dataclass(frozen=True, slots=True)
class LabeledItem:
    """A range of a text that begins with a label."""

    label: Label
    start: int
    own_end: int
    """Where its own text ends: before a nested list."""
    end: int
    parent: int | None
    """Index of the enclosing item, for nested lists."""


def parse_heading(name: str) -> Label | None:
    """Return the label of a heading, or None if its section is an ordinary one."""
    if name.lower() in DECISION_HEADINGS:
        return Label(DECISION)
    match = HEADING.match(name)
    if not match:
        return None
    label, is_identifier = _extract_label(match)
    at_end = match.end() == len(name)
    ends_word = is_identifier and match["end"] is not None
    return label if match["mark"] or at_end or ends_word else None


def find_labeled_lines(text: str) -> Iterator[re.Match[str]]:
    """Yield the lines that may begin with a label; `build_items` confirms them."""
    return LINE.finditer(text)


def build_items(
    text: str, lines: Iterable[re.Match[str]], start: int, end: int
) -> list[LabeledItem]:
    """Build the items of one block from its labeled lines.

    A list item ends at the next item of the same or a higher level, a table row at the end of its
    line, anything else at the next label or the end of the block.
    """
    labeled = {match.start(): match for match in lines if _is_labeled(match)}
    if not labeled:
        return []
    starts = sorted({*labeled, *(match.start() for match in ITEM.finditer(text, start, end))})
    items: list[LabeledItem] = []
    open_items: list[tuple[int, int]] = []
    for at, following in zip(starts, [*starts[1:], end], strict=True):
        indent = _measure_indent(text, at)
        while open_items and open_items[-1][0] >= indent:
            _close_item(items, open_items.pop()[1], at)
        if (match := labeled.get(at)) is not None:
            is_row = (match["marker"] or "").startswith("|")
            last = _find_line_end(text, at, end) if is_row else end
            parent = open_items[-1][1] if open_items else None
            label = Label(DECISION) if match["decided"] else _extract_label(match)[0]
            items.append(LabeledItem(label, at, min(following, last), last, parent))
            if not is_row:
                open_items.append((indent, len(items) - 1))
    return items


def find_decisions(text: str, start: int, end: int) -> list[LabeledItem]:
    """Find the decisions in a message: each from its label to the next blank line."""
    lines = [
        match
        for match in LINE.finditer(text, start, end)
        if match["decided"] or _extract_kind(match) == DECISION
    ]
    if not lines:
        return []
    fences = [match.start() for match in FENCE.finditer(text, start, end)]
    outside_code = iter([match for match in lines if bisect(fences, match.start()) % 2 == 0])
    match = next(outside_code, None)
    items: list[LabeledItem] = []
    for first, last in prose_splitter.iter_paragraphs(text, start, end):
        lines_in_paragraph = []
        while match is not None and match.start() < last:
            lines_in_paragraph.append(match)
            match = next(outside_code, None)
        offset = len(items)
        items += [
            replace(item, parent=None if item.parent is None else offset + item.parent)
            for item in build_items(text, lines_in_paragraph, first, last)
        ]
    return items


def is_decision_record(path: str, title: str, headings: Iterable[str]) -> bool:
    """Return whether a document as a whole records a decision.

    It does if it has a section `Decision` (or `Decision Outcome`), and is in a folder of decisions
    or has a title such as `ADR-12: …`.
    """
    if not any(name.lower() in DECISION_HEADINGS for name in headings):
        return False
    label = parse_heading(title)
    has_title = label is not None and label.kind == DECISION
    return has_title or not DECISION_FOLDERS.isdisjoint(path.lower().split("/")[:-1])


def parse_decision_id(title: str) -> str:
    """Return the identifier of a decision record: the one in its title, or made of its number."""
    label = parse_heading(title)
    if label is not None and label.id:
        return label.id
    numbered = NUMBERED_TITLE.match(title)
    return f"ADR-{numbered[1]}" if numbered else ""


def find_status(text: str) -> str:
    """Return the value of a line such as `Status: accepted` near the beginning of a text."""
    match = STATUS.search(text, 0, STATUS_WINDOW)
    return match[1].strip() if match else ""


def _extract_label(match: re.Match[str]) -> tuple[Label, bool]:
    """Return the label, and whether it is an identifier that cannot be an ordinary word."""
    kind = _extract_kind(match)
    written = match[kind]
    is_numbered = written[-1].isdigit()
    is_identifier = is_numbered and written.isupper()
    name = written.replace(" ", "-").replace("#", "") if is_identifier else written
    return Label(kind, name if is_numbered else ""), is_identifier


def _extract_kind(match: re.Match[str]) -> str:
    return next(kind for kind, *_ in RULES if match[kind])


def _is_labeled(match: re.Match[str]) -> bool:
    if match["decided"]:
        return True
    if "[" in match["lead"]:
        # `[REQ-12] …` is a label; `[REQ-12: …](there.md)` is a link to one.
        return BRACKETED.match(match.string, match.end(_extract_kind(match))) is not None
    return bool(match["mark"]) or (bool(match["marker"]) and _extract_label(match)[1])


def _close_item(items: list[LabeledItem], index: int, at: int) -> None:
    item = items[index]
    if item.end > at:
        items[index] = replace(item, end=at)


def _measure_indent(text: str, at: int) -> int:
    end = at
    while text[end : end + 1] in (" ", "\t"):
        end += 1
    return len(text[at:end].expandtabs(4))


def _find_line_end(text: str, at: int, end: int) -> int:
    line_end = text.find("\n", at, end)
    return end if line_end < 0 else line_end + 1
