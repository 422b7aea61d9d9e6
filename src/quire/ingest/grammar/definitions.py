"""Which definitions were captured, and how do they nest?

A query gives lists of nodes by capture. Here they are put into one order, and read like text:
a definition opens, its name and its body are met, it closes.

=================  ==================================================================
`@class`           class, struct, union, enum, record, object, an `impl` or extension of one
`@interface`       interface, trait, protocol, annotation type
`@type`            type alias, typedef, delegate; a table, view or type of SQL
`@module`          namespace, `mod`, Ruby's module: what only groups
`@function`        function, macro; inside a class, interface or type it is a method
`@method`          a function that is a method wherever it stands
`@name`            the name of the innermost definition around it
`@owner`           the type to which a method belongs that stands outside of it
`@body`            where the innermost definition's signature ends
`@outer`           what stands around a definition and belongs to it (`export`, decorators)
`@doc`             a docstring
`@comment`         belongs to the definition directly below it
`@decorator`       decorator, annotation, attribute
`@call` `@use`     a function that is called; a base class, a type
`@import`          a module or a name that is imported
`@required`        the same, if `require` or the like stands before it
`@mixed`           a base class, if `include` or the like stands before it
`@element`         a component that is called, if it has a capital letter
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
    # In this order where several stand at the same place.
    "body", "outer", "module", "class", "interface", "type", "function", "method",
    "decorator", "comment", "owner", "name", "doc",
)  # fmt: skip
RANKS = {capture: rank for rank, capture in enumerate(CAPTURES)}
OUTER, DECORATOR = RANKS["outer"], RANKS["decorator"]
FIRST_KIND, LAST_KIND = RANKS["module"], RANKS["method"]

KEYWORD = re.compile(r"\b(?:const|let|var)\s+$")
"""Belongs to the definition behind it, though no node holds just the two."""
LAST_LETTERS = frozenset("tr \t\n")
BEFORE = 30
"""Characters in which it is looked for."""
MARGIN = 200
"""White space that is looked at before a comment or a definition."""

Span = tuple[int, int]


@dataclass(slots=True, eq=False)
class Found:
    """A definition, or what stands around one and belongs to it (`kind` is then empty)."""

    kind: str
    start: int
    end: int
    parent: Found | None = None
    name: Span | None = None
    owner: Span | None = None
    body: int | None = None
    doc: Span | None = None
    decorators: tuple[Span, ...] = ()
    asides: tuple[Span, ...] = ()
    """Comments inside the declaration."""
    claimed: bool = False
    """It stands around a definition that has been met."""


@dataclass(slots=True)
class Captured:
    """All that was captured in a file."""

    doc: Span | None = None
    """The file's own docstring."""
    definitions: list[Found] = field(default_factory=list)
    leads: list[Span] = field(default_factory=list)
    """Comments and free decorators, that may belong to what is below them."""
    lead_ends: list[int] = field(default_factory=list)
    free_decorators: set[int] = field(default_factory=set)


def captured(text: str, nodes: dict[str, list[Node]]) -> Captured:
    """Put captured nodes into their order and nest them."""
    found = Captured()
    whole = Found("", 0, len(text), claimed=True)
    inside = [whole]
    last = (-1, -1)
    decorated = 0  # what is defined inside a decorator is the decorator's own business
    for start, minus_end, rank in _in_order(nodes):
        end = -minus_end
        while inside[-1].end <= start:
            inside.pop()
        if rank == OUTER or (FIRST_KIND <= rank <= LAST_KIND and start < decorated):
            inside.append(Found("", start, end))
        elif FIRST_KIND <= rank <= LAST_KIND:
            if last != (start, end):  # else it is one definition, captured in two ways
                last = (start, end)
                inside.append(_opened(text, CAPTURES[rank], last, inside))
                found.definitions.append(inside[-1])
        else:
            _describe(CAPTURES[rank], (start, end), _innermost(inside), found)
            decorated = max(decorated, end) if rank == DECORATOR else decorated
    found.doc = whole.doc
    return found


def leads_above(text: str, found: Captured, start: int) -> list[Span]:
    """Give the comments and decorators that stand directly above a place, the last first."""
    above: list[Span] = []
    at = bisect_right(found.lead_ends, start) - 1
    while at >= 0:
        lead_start, lead_end = found.leads[at]
        if start - lead_end > MARGIN:
            break
        lead_end -= text[lead_end - 1] == "\n"
        between = text[lead_end:start]
        if between.strip() or between.count("\n") > 1 or line_start(text, lead_start) is None:
            break
        above.append((lead_start, lead_end))
        start = lead_start
        at -= 1
    return above


def line_start(text: str, start: int) -> int | None:
    """Find the beginning of a place's line, if only white space is before it in the line."""
    first = max(0, start - MARGIN)
    line = text.rfind("\n", first, start) + 1
    if (line or not first) and (line == start or text[line:start].isspace()):
        return line
    return None


def _in_order(nodes: dict[str, list[Node]]) -> list[tuple[int, int, int]]:
    """Order by beginning, the longer first, each once."""
    places = [
        (node.start_byte, -node.end_byte, rank)
        for name, captured_ones in nodes.items()
        if (rank := RANKS.get(name)) is not None
        for node in captured_ones
    ]
    places.sort()
    return [
        place
        for before, place in zip([None, *places], places, strict=False)
        if place != before and place[0] < -place[1]
    ]


def _innermost(inside: list[Found]) -> Found:
    """Give the definition that a place belongs to, or what may yet turn out to be around one."""
    one = inside[-1]
    if one.claimed:
        return next((one for one in reversed(inside) if not one.claimed), inside[0])
    return one


def _opened(text: str, kind: str, span: Span, inside: list[Found]) -> Found:
    """Open a definition; what stands around it alone becomes part of it."""
    start, end = span
    if text[start - 2 : start - 1] in LAST_LETTERS:
        word = KEYWORD.search(text, max(0, start - BEFORE), start)
        start = word.start() if word else start
    opened = Found(kind, start, end)
    for around in reversed(inside):
        if around.kind:
            opened.parent = around
            break
        if not around.claimed:
            around.claimed = True
            opened.start = around.start
            opened.end = max(opened.end, around.end)
            opened.decorators = around.decorators + opened.decorators
    return opened


def _describe(capture: str, span: Span, here: Found, found: Captured) -> None:
    """Note what is told of a definition."""
    if capture == "name":
        here.name = here.name or span
    elif capture == "owner":
        here.owner = here.owner or span
    elif capture == "body":
        here.body = span[0] if here.body is None else here.body
    elif capture == "doc":
        here.doc = here.doc or span
    elif capture == "decorator" and not here.claimed and here.name is None:
        here.decorators += (span,)
    else:
        found.leads.append(span)
        found.lead_ends.append(span[1])
        if here.kind and here.body is None:
            here.asides += (span,)
        if capture == "decorator":
            found.free_decorators.add(span[0])
