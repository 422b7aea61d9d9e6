"""Captured definitions, and how they nest.

A query returns a list of nodes for each capture. This module sorts all of them by position and
scans them like text: a definition opens, its name and its body follow, it closes.

=================  ==================================================================
`@class`           class, struct, union, enum, record, object, an `impl` or extension of one
`@interface`       interface, trait, protocol, annotation type
`@type`            type alias, typedef, delegate; a table, view or type of SQL
`@module`          namespace, `mod`, Ruby's module: a mere group
`@function`        function, macro; inside a class, interface or type it is a method
`@method`          a function that is a method wherever it is defined
`@name`            the name of the innermost enclosing definition
`@owner`           the type of a method that is defined outside of it
`@body`            the end of the signature of the innermost enclosing definition
`@outer`           a wrapper that belongs to its definition (`export`, decorators)
`@doc`             a docstring
`@comment`         belongs to the definition directly below it
`@decorator`       decorator, annotation, attribute
`@call` `@use`     a called function; a base class or a type
`@import`          an imported module or name
`@required`        the same, if `require` or the like precedes it
`@mixed`           a base class, if `include` or the like precedes it
`@element`         a called component, if it begins with a capital letter
=================  ==================================================================
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

CAPTURES = (
    # The order of captures at the same position.
    "body", "outer", "module", "class", "interface", "type", "function", "method",
    "decorator", "comment", "owner", "name", "doc",
)  # fmt: skip
RANKS = {capture: rank for rank, capture in enumerate(CAPTURES)}
OUTER, DECORATOR = RANKS["outer"], RANKS["decorator"]
FIRST_KIND, LAST_KIND = RANKS["module"], RANKS["method"]

KEYWORD = re.compile(r"\b(?:const|let|var)\s+$")
"""Belongs to the definition that follows, though no node spans just the two."""
KEYWORD_LAST_LETTERS = frozenset("tr \t\n")
KEYWORD_WINDOW = 30
"""Characters before a definition in which the keyword is searched for."""
DOCUMENTATION = re.compile(r"/\*\*(?![*/])")
"""The beginning of a comment that tools read: JSDoc, Javadoc and their kin."""
ABOUT_FILE = re.compile(
    r"@(?:file|fileoverview|overview|module|packageDocumentation|license|copyright)\b"
)
"""A tag of one that is about the whole file."""
BLANK_LINE = 2
"""How many line ends a blank line makes."""
MAX_GAP = 200
"""Characters of white space that may precede a comment or a definition."""

Span = tuple[int, int]


@dataclass(slots=True, eq=False)
class CapturedDefinition:
    """A definition, or the wrapper around one (then `kind` is empty)."""

    kind: str
    start: int
    end: int
    parent: CapturedDefinition | None = None
    name: Span | None = None
    owner: Span | None = None
    body: int | None = None
    doc: Span | None = None
    decorators: tuple[Span, ...] = ()
    inner_comments: tuple[Span, ...] = ()
    """Comments inside the declaration."""
    claimed: bool = False
    """Whether a definition has been found inside this wrapper, which then is part of it."""


@dataclass(slots=True)
class FileCaptures:
    """Everything that was captured in a file."""

    doc: Span | None = None
    """The file's own docstring."""
    definitions: list[CapturedDefinition] = field(default_factory=list)
    leading: list[Span] = field(default_factory=list)
    """Comments and free decorators, which may belong to the definition below them."""
    leading_ends: list[int] = field(default_factory=list)
    free_decorators: set[int] = field(default_factory=set)


def nest_captures(text: str, nodes: dict[str, list[Node]]) -> FileCaptures:
    """Sort the captured nodes of a file and nest its definitions."""
    captures = FileCaptures()
    whole = CapturedDefinition("", 0, len(text), claimed=True)
    stack = [whole]
    previous = (-1, -1)
    decorated = 0  # a definition inside a decorator is part of the decorator
    for start, negative_end, rank in _sort_captures(nodes):
        end = -negative_end
        while stack[-1].end <= start:
            stack.pop()
        if rank == OUTER or (FIRST_KIND <= rank <= LAST_KIND and start < decorated):
            stack.append(CapturedDefinition("", start, end))
        elif FIRST_KIND <= rank <= LAST_KIND:
            if previous != (start, end):  # else it is one definition, captured in two ways
                previous = (start, end)
                stack.append(_open_definition(text, CAPTURES[rank], previous, stack))
                captures.definitions.append(stack[-1])
        else:
            _attach(CAPTURES[rank], (start, end), _innermost(stack), captures)
            decorated = max(decorated, end) if rank == DECORATOR else decorated
    captures.doc = whole.doc
    return captures


def find_leading(text: str, captures: FileCaptures, start: int) -> list[Span]:
    """Return the comments and decorators directly above a position, the last first.

    A documentation comment is about what comes next, also below a blank line.
    """
    spans: list[Span] = []
    index = bisect_right(captures.leading_ends, start) - 1
    while index >= 0:
        span_start, span_end = captures.leading[index]
        if start - span_end > MAX_GAP:
            break
        span_end -= text[span_end - 1] == "\n"
        gap = text[span_end:start]
        apart = gap.count("\n") > 1 and not _documents_next(text, (span_start, span_end), gap)
        if gap.strip() or apart or find_line_start(text, span_start) is None:
            break
        spans.append((span_start, span_end))
        start = span_start
        index -= 1
    return spans


def _documents_next(text: str, span: Span, gap: str) -> bool:
    """Tell whether a comment above one blank line is the documentation of what comes next."""
    start, end = span
    comment = text[start:end]
    return (
        gap.count("\n") == BLANK_LINE
        and DOCUMENTATION.match(comment) is not None
        and ABOUT_FILE.search(comment) is None
        and bool(text[:start].strip())  # else it is about the file
    )


def find_line_start(text: str, start: int) -> int | None:
    """Return the start of a position's line, if only white space precedes it in the line."""
    first = max(0, start - MAX_GAP)
    line = text.rfind("\n", first, start) + 1
    if (line or not first) and (line == start or text[line:start].isspace()):
        return line
    return None


def _sort_captures(nodes: dict[str, list[Node]]) -> list[tuple[int, int, int]]:
    """Return (start, -end, rank) of all nodes, sorted, without duplicates and empty nodes."""
    places = [
        (node.start_byte, -node.end_byte, rank)
        for name, captured in nodes.items()
        if (rank := RANKS.get(name)) is not None
        for node in captured
    ]
    places.sort()
    return [
        place
        for before, place in zip([None, *places], places, strict=False)
        if place != before and place[0] < -place[1]
    ]


def _innermost(stack: list[CapturedDefinition]) -> CapturedDefinition:
    """Return the definition, or the wrapper without one so far, that a capture belongs to."""
    if stack[-1].claimed:
        return next((item for item in reversed(stack) if not item.claimed), stack[0])
    return stack[-1]


def _open_definition(
    text: str, kind: str, span: Span, stack: list[CapturedDefinition]
) -> CapturedDefinition:
    """Open a definition; the wrappers around it become part of it."""
    start, end = span
    if text[start - 2 : start - 1] in KEYWORD_LAST_LETTERS:
        keyword = KEYWORD.search(text, max(0, start - KEYWORD_WINDOW), start)
        start = keyword.start() if keyword else start
    opened = CapturedDefinition(kind, start, end)
    for outer in reversed(stack):
        if outer.kind:
            opened.parent = outer
            break
        if not outer.claimed:
            outer.claimed = True
            opened.start = outer.start
            opened.end = max(opened.end, outer.end)
            opened.decorators = outer.decorators + opened.decorators
    return opened


def _attach(
    capture: str, span: Span, definition: CapturedDefinition, captures: FileCaptures
) -> None:
    """Attach a capture to the definition that it belongs to; the first of each kind counts."""
    if capture == "name":
        definition.name = definition.name or span
    elif capture == "owner":
        definition.owner = definition.owner or span
    elif capture == "body":
        definition.body = span[0] if definition.body is None else definition.body
    elif capture == "doc":
        definition.doc = definition.doc or span
    elif capture == "decorator" and not definition.claimed and definition.name is None:
        definition.decorators += (span,)
    else:
        captures.leading.append(span)
        captures.leading_ends.append(span[1])
        if definition.kind and definition.body is None:
            definition.inner_comments += (span,)
        if capture == "decorator":
            captures.free_decorators.add(span[0])
