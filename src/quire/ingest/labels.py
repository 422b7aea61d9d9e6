"""Which sections and lines are requirements, features or decisions?

Those that say so at their beginning, by one table (`RULES`):

- an identifier: a prefix in capitals, perhaps words in capitals, a number: `REQ-12`, `FR-3.1`,
  `NFR-SEC-2`, `US-7`, `ADR-12`;
- a word with a number: `Requirement 12`, `Feature 3`, `ADR 12`;
- a word with a colon: `Requirement: …`, `Feature: …`, `Decision: …`;
- for decisions also a heading that is `Decision` or `Decision Outcome`, and a line that begins
  with `We decided`.

A heading may have a number of its own before it (`3.1 REQ-12 …`). Within a text, a line counts
only if a colon, a dash, a closing bracket or a bar stands behind the label, so that a sentence
which happens to begin with one is no requirement; behind an identifier at the head of a list's
item or of a table's row a blank is enough.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from quire.ingest import prose_splitter

REQUIREMENT, FEATURE, DECISION = "requirement", "feature", "decision"

RULES = (
    # kind, prefixes of identifiers, words, words that count in a heading and with a colon only
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


def _label(kind: str, prefixes: str, words: str, more: str = "") -> str:
    either = f"(?:{words}|{words.upper()})"
    identifier = rf"(?:{prefixes.replace(' ', '|')})(?:-[A-Z][A-Z0-9]{{0,15}}){{0,3}}[-_]{NUMBER}"
    named = f"(?:{either}{more and '|' + more})(?=[*_`]{{0,4}}:)"
    return rf"(?P<{kind}>{identifier}|{either}[ ]#?{NUMBER}|{named})"


IN_HEADING = "|".join(_label(*rule) for rule in RULES)
IN_TEXT = "|".join(_label(*rule[:3]) for rule in RULES)
BEHIND = r"[*_`\])]{0,4}(?P<mark>[ \t]*(?:[:|)\u2013\u2014]|\.(?=\s|\Z))|[ \t]+-(?=[ \t]))?"
HEADING = re.compile(
    rf"(?:{NUMBER}[.)]?\s+)?[*_`\[(]{{0,4}}(?:{IN_HEADING}){BEHIND}(?P<end>\Z|(?=\s))?"
)
LINE = re.compile(
    r"^(?P<indent>[ \t]*+)(?P<marker>(?:[-*+•]|\d{1,3}[.)]|\|)[ \t]+(?:\[[ xX]\][ \t]+)?)?"
    rf"(?P<lead>[*_`\[(]{{0,4}})(?:(?:{IN_TEXT}){BEHIND}(?=[*_`]{{0,4}}[ \t]*\n?[ \t]*\S)"
    r"|(?P<stated>We(?:[ ]have|['\u2019]ve)?[ ]decided\b))",
    re.MULTILINE,
)
BRACKETED = re.compile(r"[*_`]{0,4}\](?![(:])")
ITEM = re.compile(r"^([ \t]*+)(?:[-*+•]|\d{1,3}[.)])[ \t]", re.MULTILINE)
FENCE = re.compile(r"^[ \t]*+(?:```|~~~)", re.MULTILINE)
NUMBERED_TITLE = re.compile(r"(\d+)\.\s+\S")
STATUS = re.compile(
    r"^[ \t]*(?:[-*+][ \t]+)?[*_]{0,2}Status[*_]{0,2}:[*_]{0,2}[ \t]*(\S.*)", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Label:
    """What a section or a line says that it is, and its identifier if it has one."""

    kind: str
    id: str = ""


@dataclass(frozen=True, slots=True)
class Item:
    """A stretch of a text that begins with a label."""

    label: Label
    start: int
    own: int
    """Where what it says itself ends: before a list within it."""
    end: int
    parent: int | None
    """The place among the items of the one around it: a list within a list's item."""


def of_heading(name: str) -> Label | None:
    """Tell whether a heading makes its section a requirement, a feature or a decision."""
    if name.lower() in DECISION_HEADINGS:
        return Label(DECISION)
    match = HEADING.match(name)
    if not match:
        return None
    label, strong = _label_of(match)
    at_end = match.end() == len(name)
    return label if match["mark"] or at_end or (strong and match["end"] is not None) else None


def lines(text: str) -> Iterator[re.Match[str]]:
    """Find the lines that may begin with a label; `items` decides."""
    return LINE.finditer(text)


def items(text: str, found: Iterable[re.Match[str]], start: int, end: int) -> list[Item]:
    """Make items of the labelled lines of one block.

    An item of a list goes on to the next one that is not deeper, a row to the end of its line,
    anything else to the next label or the block's end.
    """
    labelled = {match.start(): match for match in found if _counts(match)}
    if not labelled:
        return []
    begins = sorted({*labelled, *(match.start() for match in ITEM.finditer(text, start, end))})
    made: list[Item] = []
    open_ones: list[tuple[int, int]] = []
    for at, following in zip(begins, [*begins[1:], end], strict=True):
        indent = _indent(text, at)
        while open_ones and open_ones[-1][0] >= indent:
            _close(made, open_ones.pop()[1], at)
        if (match := labelled.get(at)) is not None:
            row = (match["marker"] or "").startswith("|")
            last = _line_end(text, at, end) if row else end
            parent = open_ones[-1][1] if open_ones else None
            label = Label(DECISION) if match["stated"] else _label_of(match)[0]
            made.append(Item(label, at, min(following, last), last, parent))
            if not row:
                open_ones.append((indent, len(made) - 1))
    return made


def decisions(text: str, start: int, end: int) -> list[Item]:
    """Find what was decided in a stretch of talk: from the line that says so to a blank line."""
    found = [
        match
        for match in LINE.finditer(text, start, end)
        if match["stated"] or _kind_of(match) == DECISION
    ]
    if not found:
        return []
    fences = [match.start() for match in FENCE.finditer(text, start, end)]
    outside = iter([match for match in found if bisect(fences, match.start()) % 2 == 0])
    match = next(outside, None)
    made: list[Item] = []
    for first, last in prose_splitter.paragraphs(text, start, end):
        within = []
        while match is not None and match.start() < last:
            within.append(match)
            match = next(outside, None)
        above = len(made)
        made += [
            replace(item, parent=None if item.parent is None else above + item.parent)
            for item in items(text, within, first, last)
        ]
    return made


def decides(path: str, title: str, headings: Iterable[str]) -> bool:
    """Tell whether a document as a whole records a decision.

    It has a section `Decision` (or `Decision Outcome`), and stands in a folder of decisions or
    has a title such as `ADR-12: …`.
    """
    if not any(name.lower() in DECISION_HEADINGS for name in headings):
        return False
    label = of_heading(title)
    titled = label is not None and label.kind == DECISION
    return titled or not DECISION_FOLDERS.isdisjoint(path.lower().split("/")[:-1])


def decision_id(title: str) -> str:
    """Give the identifier of a recorded decision: as its title says, or by its number there."""
    label = of_heading(title)
    if label is not None and label.id:
        return label.id
    numbered = NUMBERED_TITLE.match(title)
    return f"ADR-{numbered[1]}" if numbered else ""


def stated_status(text: str) -> str:
    """Find a line such as `Status: accepted` near the beginning of a text."""
    match = STATUS.search(text, 0, 4000)
    return match[1].strip() if match else ""


def _label_of(match: re.Match[str]) -> tuple[Label, bool]:
    """Give the label, and whether it is an identifier that cannot be taken for a word."""
    kind = _kind_of(match)
    said = match[kind]
    numbered = said[-1].isdigit()
    strong = numbered and said.isupper()
    name = said.replace(" ", "-").replace("#", "") if strong else said
    return Label(kind, name if numbered else ""), strong


def _kind_of(match: re.Match[str]) -> str:
    return next(kind for kind, *_ in RULES if match[kind])


def _counts(match: re.Match[str]) -> bool:
    if match["stated"]:
        return True
    if "[" in match["lead"]:
        # `[REQ-12] …` says what follows; `[REQ-12: …](there.md)` points to it.
        return BRACKETED.match(match.string, match.end(_kind_of(match))) is not None
    return bool(match["mark"]) or (bool(match["marker"]) and _label_of(match)[1])


def _close(made: list[Item], place: int, at: int) -> None:
    item = made[place]
    if item.end > at:
        made[place] = replace(item, end=at)


def _indent(text: str, at: int) -> int:
    end = at
    while text[end : end + 1] in (" ", "\t"):
        end += 1
    return len(text[at:end].expandtabs(4))


def _line_end(text: str, at: int, end: int) -> int:
    line_end = text.find("\n", at, end)
    return end if line_end < 0 else line_end + 1
