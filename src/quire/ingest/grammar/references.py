"""Names that the entities of a file import, call, use and test."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from quire.ingest.grammar import extract
from quire.ingest.grammar.tested_names import infer_file_target, infer_targets
from quire.ingest.types import MAX_TITLE_LENGTH, EntitySpan, NameReference

if TYPE_CHECKING:
    from tree_sitter import Node

KINDS = ("import", "call", "use")
"""A name that was captured in several ways gets the first of these."""
CONDITIONAL_CAPTURES = {
    # capture: its kind, and the context that must precede it, up to its first character
    "required": (
        "import",
        re.compile(
            r"\b(?:require|require_relative|load|source)\s*\(?\s*.$|(?:^|[\n;&|])\s*\.\s+.$"
        ),
    ),
    "mixed": ("use", re.compile(r"\b(?:include|extend|prepend)\s*\(?\s*.$")),
    "element": ("call", re.compile(r"[A-Z]$")),
}
CONTEXT_LENGTH = 30
"""Characters before a name in which its context is searched for."""


def find_references(
    text: str, path: str, nodes: dict[str, list[Node]], entities: list[EntitySpan]
) -> list[NameReference]:
    """Return the names that the entities import, call and use, and what the tests test."""
    references: list[NameReference] = []
    declared = {node.start_byte for node in nodes.get("name", ())}
    within: int | None = None
    index = previous = -1
    for start, kind, end in sorted(_iter_names(text, nodes)):
        if start == previous or start in declared:
            continue
        previous = start
        while index + 1 < len(entities) and entities[index + 1].start <= start:
            index = within = index + 1
        while within is not None and entities[within].end <= start:
            within = entities[within].parent
        name = text[start:end]
        if not name.isidentifier():
            name = extract.last_component(name) if kind else extract.last_module_component(name)
        if 1 < len(name) <= MAX_TITLE_LENGTH:  # no definition has a longer name
            references.append(NameReference(name, KINDS[kind], within))
    references += _iter_test_references(path, entities)
    return references


def _iter_names(text: str, nodes: dict[str, list[Node]]) -> Iterator[tuple[int, int, int]]:
    """Yield (start, index of the kind, end) for each captured name."""
    for kind, name in enumerate(KINDS):
        for node in nodes.get(name, ()):
            yield node.start_byte, kind, node.end_byte
    for capture, (name, context) in CONDITIONAL_CAPTURES.items():
        for node in nodes.get(capture, ()):
            start = node.start_byte
            if context.search(text[max(0, start - CONTEXT_LENGTH) : start + 1]):
                yield start, KINDS.index(name), node.end_byte


def _iter_test_references(path: str, entities: list[EntitySpan]) -> Iterator[NameReference]:
    if target := infer_file_target(path):
        yield NameReference(target, "test")
        for index, entity in enumerate(entities):
            for name in infer_targets(entity.name):
                yield NameReference(name, "test", index)
