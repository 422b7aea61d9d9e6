"""Which definitions were captured, how do they nest, and which names do they use?

A query gives lists of nodes by capture. Here they are put into one order, and read like text:
a definition opens, its name and its body are met, names are used inside it, it closes.

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

from quire.ingest.grammar import wording

if TYPE_CHECKING:
    from tree_sitter import Node

CAPTURES = (
    # In this order where several stand at the same place.
    "body", "outer", "module", "class", "interface", "type", "function", "method",
    "decorator", "comment", "owner", "name", "doc", "import", "required",
    "call", "element", "use", "mixed",
)  # fmt: skip
RANKS = {capture: rank for rank, capture in enumerate(CAPTURES)}
OUTER, FIRST_KIND, LAST_KIND = RANKS["outer"], RANKS["module"], RANKS["method"]
NAME, FIRST_USE = RANKS["name"], RANKS["import"]

CONDITIONS = {
    # capture: what it is, if this stands before its first character
    "required": (
        "import",
        re.compile(
            r"\b(?:require|require_relative|load|source)\s*\(?\s*.$|(?:^|[\n;&|])\s*\.\s+.$"
        ),
    ),
    "mixed": ("use", re.compile(r"\b(?:include|extend|prepend)\s*\(?\s*.$")),
    "element": ("call", re.compile(r"[A-Z]$")),
}
CONDITIONAL = frozenset(RANKS[capture] for capture in CONDITIONS)
KEYWORD = re.compile(r"\b(?:const|let|var)\s+$")
"""Belongs to the definition behind it, though no node holds just the two."""
CALLER = 30
"""Characters in which the word before a name is looked for."""

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
    decorators: list[Span] = field(default_factory=list)
    asides: list[Span] = field(default_factory=list)
    """Comments inside the declaration."""
    uses: list[tuple[str, str]] = field(default_factory=list)
    claimed: bool = False
    """It stands around a definition that has been met."""


@dataclass(slots=True)
class Captured:
    """All that was captured in a file."""

    whole: Found
    definitions: list[Found] = field(default_factory=list)
    leads: list[Span] = field(default_factory=list)
    """Comments and free decorators, that may belong to what is below them."""
    lead_ends: list[int] = field(default_factory=list)
    free_decorators: set[int] = field(default_factory=set)


def captured(text: str, nodes: dict[str, list[Node]]) -> Captured:
    """Put captured nodes into their order and nest them."""
    whole = Found("", 0, len(text), claimed=True)
    found = Captured(whole)
    inside = [whole]
    last = taken = (-1, -1)  # a name that is declared or called is not used as well
    for start, minus_end, rank in _in_order(nodes):
        end = -minus_end
        here = _innermost(inside, start)
        if rank >= FIRST_USE:
            if taken != (start, end):
                taken = (start, end)
                _use(text, rank, taken, here)
        elif rank == OUTER:
            inside.append(Found("", start, end))
        elif FIRST_KIND <= rank <= LAST_KIND:
            if last != (start, end):  # else it is one definition, captured in two ways
                last = (start, end)
                inside.append(_opened(text, CAPTURES[rank], last, inside))
                found.definitions.append(inside[-1])
        else:
            _describe(CAPTURES[rank], (start, end), here, found)
            if rank == NAME:
                taken = (start, end)
    while len(inside) > 1:
        _close(inside)
    return found


def leads_above(text: str, found: Captured, start: int) -> list[Span]:
    """Give the comments and decorators that stand directly above a place, the last first."""
    above: list[Span] = []
    at = bisect_right(found.lead_ends, start) - 1
    while at >= 0:
        lead_start, lead_end = found.leads[at]
        lead_end -= text[lead_end - 1] == "\n"
        between = text[lead_end:start]
        if len(between) > MARGIN or between.strip() or between.count("\n") > 1:
            break
        if not begins_line(text, lead_start):
            break
        above.append((lead_start, lead_end))
        start = lead_start
        at -= 1
    return above


def begins_line(text: str, start: int) -> bool:
    """Tell whether only white space stands before a place in its line."""
    first = max(0, start - MARGIN)
    line = text.rfind("\n", first, start) + 1
    if not line and first:
        return False
    return line == start or text[line:start].isspace()


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


def _innermost(inside: list[Found], start: int) -> Found:
    """Give the definition that a place belongs to, or what may yet turn out to be around one."""
    while inside[-1].end <= start:
        _close(inside)
    one = inside[-1]
    if one.claimed:
        return next((one for one in reversed(inside) if not one.claimed), inside[0])
    return one


def _opened(text: str, kind: str, span: Span, inside: list[Found]) -> Found:
    """Open a definition; what stands around it alone becomes part of it."""
    start, end = span
    if text[start - 1 : start].isspace():
        word = KEYWORD.search(text, max(0, start - CALLER), start)
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
            opened.uses = around.uses + opened.uses
    return opened


def _close(inside: list[Found]) -> None:
    """Close the innermost; the names used in what belonged to no definition go one further out."""
    closed = inside.pop()
    if not closed.kind and not closed.claimed:
        _innermost(inside, closed.start).uses += closed.uses


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
        here.decorators.append(span)
    else:
        found.leads.append(span)
        found.lead_ends.append(span[1])
        if here.kind and here.body is None:
            here.asides.append(span)
        if capture == "decorator":
            found.free_decorators.add(span[0])


def _use(text: str, rank: int, span: Span, here: Found) -> None:
    name, kind = text[span[0] : span[1]], CAPTURES[rank]
    if rank in CONDITIONAL:
        kind, before = CONDITIONS[kind]
        if not before.search(text[max(0, span[0] - CALLER) : span[0] + 1]):
            return
    if not name.isidentifier():
        name = wording.imported_name(name) if kind == "import" else wording.used_name(name)
    if len(name) > 1:
        here.uses.append((name, kind))
