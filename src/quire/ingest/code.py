"""What is in a file of source code?

Where the extra `code` is installed and has a grammar for the language, the grammar tells. Else
indentation tells where a definition ends, and one line of it what it is called: enough to cut
between functions and to name the class around them, for any language that is indented.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from quire.core.types import IngestSettings
from quire.ingest import grammar
from quire.ingest.code_splitter import DEEPEST, HOLDERS, Definition, pieces_of
from quire.ingest.languages import MULTI_LINE_LEADS, Family, family_of
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
LOOKED_AT = 400
"""Characters of a line by which it is judged."""


def read(source: SourceFile, settings: IngestSettings) -> ParsedFile:
    """Cut source code before its definitions, and name them."""
    return grammar.read(source, settings) or _read_lines(source, settings)


def _read_lines(source: SourceFile, settings: IngestSettings) -> ParsedFile:
    text = source.text
    size = max(1, settings.code_max)
    whole = _definitions(text, family_of(source.language))
    if len(text) <= size:
        pieces = [ChunkSpan(0, len(text))]
    else:
        pieces = pieces_of(whole, size, lambda start, end: split_lines(text, start, end, size))
    return ParsedFile(text, tuple(pieces), entities=tuple(_parts(whole)))


def _parts(whole: Definition) -> list[EntitySpan]:
    """Name the definitions whose lines tell what they are."""
    parts: list[EntitySpan] = []

    def name(definition: Definition, around: int | None) -> None:
        for inner in definition.parts:
            kind, called = _kind_and_name(inner.title)
            if kind == "function" and around is not None and parts[around].kind in HOLDERS:
                kind = "method"
            if kind:
                parts.append(
                    EntitySpan(kind, called, inner.start, inner.end, around, signature=inner.title)
                )
            name(inner, len(parts) - 1 if kind else around)

    name(whole, None)
    return parts


def _kind_and_name(title: str) -> tuple[str, str]:
    match = TITLE.match(title)
    if match is None:
        return "", ""
    if match["call"]:
        return "function", match["call"].replace("::", ".")
    return KIND_OF_WORD.get(match["word"], ""), match["name"].replace("::", ".")


def _definitions(text: str, family: Family) -> Definition:
    """Find the definitions and nest them by their indentation."""
    whole = Definition(0, "", len(text))
    open_ones = [(whole, -1)]
    for begin, indent, line in _statements(text, family):
        while open_ones[-1][1] > indent:
            open_ones.pop()[0].end = begin
        if open_ones[-1][1] == indent:
            content = line.lstrip()
            if content[0] == "{" or CLOSING_LINE.match(content):
                continue
            open_ones.pop()[0].end = begin
        title = family.title(line)
        if title and len(open_ones) <= DEEPEST:
            definition = Definition(begin, clean_title(title), len(text))
            open_ones[-1][0].parts.append(definition)
            open_ones.append((definition, indent))
    return whole


def _statements(text: str, family: Family) -> Iterator[tuple[int, int, str]]:
    """Go through the lines that tell where they belong: beginning, indentation, line.

    Comments and decorators above a line begin it.
    """
    lead: tuple[int, int] | None = None  # where it starts, and its indentation
    decorated = False
    for start, line in _lines_of_code(text, family):
        content = line.lstrip()
        indent = measure_indent(line)
        if lead and decorated and (indent > lead[1] or CLOSING_LINE.match(content)):
            continue  # a decorator that goes over several lines
        if family.leads(content):
            if lead is None or indent < lead[1]:
                lead = (start, indent)
            decorated = content.startswith(MULTI_LINE_LEADS)
        elif not family.is_neutral(content):
            yield lead[0] if lead and lead[1] == indent else start, indent, line
            lead = None


def _lines_of_code(text: str, family: Family) -> Iterator[tuple[int, str]]:
    """Go through the lines that are not blank and do not begin inside a string or comment."""
    inside = family.masked(text)
    masked_from, masked_to = next(inside, (len(text), len(text)))
    at = 0
    for line in text.split("\n"):
        while masked_to <= at:
            masked_from, masked_to = next(inside, (len(text) + 1, len(text) + 1))
        if not masked_from < at and line and not line.isspace():
            yield at, line[:LOOKED_AT]
        at += len(line) + 1
