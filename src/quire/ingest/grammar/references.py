"""Which names does each part of a file use?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from quire.ingest.grammar import extract
from quire.ingest.grammar.test_targets import tested_by_file, tested_by_name
from quire.ingest.types import MAX_TITLE_LENGTH, EntitySpan, NameReference

if TYPE_CHECKING:
    from tree_sitter import Node

KINDS = ("import", "call", "use")
"""A name that was captured in several ways is the first of these."""
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
BEFORE = 30
"""Characters in which the word before a name is looked for."""


def uses_of(
    text: str, path: str, nodes: dict[str, list[Node]], parts: list[EntitySpan]
) -> list[NameReference]:
    """Name what the parts import, call and use, and in a file of tests what they test."""
    uses: list[NameReference] = []
    declared = {node.start_byte for node in nodes.get("name", ())}
    within: int | None = None
    place = last = -1
    for start, kind, end in sorted(_places(text, nodes)):
        if start == last or start in declared:
            continue
        last = start
        while place + 1 < len(parts) and parts[place + 1].start <= start:
            place = within = place + 1
        while within is not None and parts[within].end <= start:
            within = parts[within].parent
        name = text[start:end]
        if not name.isidentifier():
            name = extract.used_name(name) if kind else extract.imported_name(name)
        if 1 < len(name) <= MAX_TITLE_LENGTH:  # no definition has a longer name
            uses.append(NameReference(name, KINDS[kind], within))
    uses += _tests(path, parts)
    return uses


def _places(text: str, nodes: dict[str, list[Node]]) -> Iterator[tuple[int, int, int]]:
    """Go through the captured names: where each begins, of which kind it is, where it ends."""
    for kind, name in enumerate(KINDS):
        for node in nodes.get(name, ()):
            yield node.start_byte, kind, node.end_byte
    for capture, (name, before) in CONDITIONS.items():
        for node in nodes.get(capture, ()):
            start = node.start_byte
            if before.search(text[max(0, start - BEFORE) : start + 1]):
                yield start, KINDS.index(name), node.end_byte


def _tests(path: str, parts: list[EntitySpan]) -> Iterator[NameReference]:
    if tested := tested_by_file(path):
        yield NameReference(tested, "test")
        for place, part in enumerate(parts):
            for name in tested_by_name(part.name):
                yield NameReference(name, "test", place)
