"""Read source code: its definitions, and chunks between them.

If the extra `code` is installed and has a grammar for the language, the grammar is used. Otherwise
indentation shows where a definition ends, and its first line what it is called: enough to split
between functions and to name the enclosing class, in any language that is indented.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from quire.core.types import IngestSettings
from quire.ingest import grammar
from quire.ingest.code_splitter import MAX_DEPTH, METHOD_OWNERS, Definition, split_definition
from quire.ingest.languages import MULTI_LINE_LEADS, Family, get_family
from quire.ingest.line_splitter import CLOSING_LINE, measure_indent, split_lines
from quire.ingest.types import ChunkSpan, EntitySpan, ParsedFile, SourceFile, clean_title

KINDS = {
    "class": "class struct enum record object union actor extension impl mixin",
    "interface": "interface trait protocol @interface",
    "type": "type typealias message",
    "module": "module namespace package mod defmodule",
    "function": "def defp fn func fun function proc sub macro defmacro rpc",
}
KIND_OF_WORD = {word: kind for kind, words in KINDS.items() for word in words.split()}
TITLE = re.compile(r"(?:.* )?(?P<word>[@\w]+) +(?P<name>[\w.:$?!]+)$|(?P<call>[\w.:~$#]+)\(\)$")
MAX_LINE_LENGTH = 400
"""Characters of a line that are examined."""


def read(source: SourceFile, settings: IngestSettings) -> ParsedFile:
    """Read source code: split it between its definitions, and name them."""
    return grammar.read(source, settings) or _read_by_indentation(source, settings)


def _read_by_indentation(source: SourceFile, settings: IngestSettings) -> ParsedFile:
    text = source.text
    size = max(1, settings.code_max)
    whole = _find_definitions(text, get_family(source.language))
    if len(text) <= size:
        spans = [ChunkSpan(0, len(text))]
    else:
        spans = split_definition(
            whole, size, lambda start, end: split_lines(text, start, end, size)
        )
    return ParsedFile(text, tuple(spans), entities=tuple(_build_entities(whole)))


def _build_entities(whole: Definition) -> list[EntitySpan]:
    """Build an entity for each definition whose line shows its kind and name."""
    entities: list[EntitySpan] = []

    def add_members(definition: Definition, parent: int | None) -> None:
        for member in definition.members:
            kind, name = _parse_title(member.title)
            owner = None if parent is None else entities[parent].kind
            if kind == "function" and owner in METHOD_OWNERS:
                kind = "method"
            if kind:
                entities.append(
                    EntitySpan(kind, name, member.start, member.end, parent, signature=member.title)
                )
            add_members(member, len(entities) - 1 if kind else parent)

    add_members(whole, None)
    return entities


def _parse_title(title: str) -> tuple[str, str]:
    """Return the kind and the name in a definition's title; both are empty if unknown."""
    match = TITLE.match(title)
    if match is None:
        return "", ""
    if match["call"]:
        return "function", match["call"].replace("::", ".")
    return KIND_OF_WORD.get(match["word"], ""), match["name"].replace("::", ".")


def _find_definitions(text: str, family: Family) -> Definition:
    """Find the definitions and nest them by their indentation."""
    whole = Definition(0, "", len(text))
    stack = [(whole, -1)]
    for start, indent, line in _iter_statements(text, family):
        while stack[-1][1] > indent:
            stack.pop()[0].end = start
        if stack[-1][1] == indent:
            content = line.lstrip()
            if content[0] == "{" or CLOSING_LINE.match(content):
                continue
            stack.pop()[0].end = start
        title = family.match_title(line)
        if title and len(stack) <= MAX_DEPTH:
            definition = Definition(start, clean_title(title), len(text))
            stack[-1][0].members.append(definition)
            stack.append((definition, indent))
    return whole


def _iter_statements(text: str, family: Family) -> Iterator[tuple[int, int, str]]:
    """Yield (start, indentation, line) of the lines whose indentation counts.

    Comments and decorators directly above a line belong to it.
    """
    lead: tuple[int, int] | None = None  # its start and its indentation
    decorated = False
    for start, line in _iter_code_lines(text, family):
        content = line.lstrip()
        indent = measure_indent(line)
        if lead and decorated and (indent > lead[1] or CLOSING_LINE.match(content)):
            continue  # a decorator that spans several lines
        if family.is_leading(content):
            if lead is None or indent < lead[1]:
                lead = (start, indent)
            decorated = content.startswith(MULTI_LINE_LEADS)
        elif not family.is_neutral(content):
            yield lead[0] if lead and lead[1] == indent else start, indent, line
            lead = None


def _iter_code_lines(text: str, family: Family) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank and do not begin inside a string or comment."""
    masks = family.iter_masks(text)
    mask_start, mask_end = next(masks, (len(text), len(text)))
    position = 0
    for line in text.split("\n"):
        while mask_end <= position:
            mask_start, mask_end = next(masks, (len(text) + 1, len(text) + 1))
        if not mask_start < position and line and not line.isspace():
            yield position, line[:MAX_LINE_LENGTH]
        position += len(line) + 1
