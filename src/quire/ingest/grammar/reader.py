"""What does a grammar see in a file of code?

Its definitions with their names, signatures and comments; what they call, use and import; and
where the file may be cut. Broken syntax gives what can be had; a text in which the grammar finds
no order at all is left to the lines (`code.py`).
"""

from __future__ import annotations

import re

from quire.core.types import IngestSettings
from quire.ingest.code_splitter import Definition, long_stretches, pieces_of
from quire.ingest.grammar.definitions import captured, line_start
from quire.ingest.grammar.languages import GRAMMARS, grammar_name
from quire.ingest.grammar.parse import loaded, tree_of
from quire.ingest.grammar.references import uses_of
from quire.ingest.grammar.signatures import parts_of, summary_of_file
from quire.ingest.grammar.statements import best_statement
from quire.ingest.line_splitter import split_lines
from quire.ingest.types import ChunkSpan, EntitySpan, ParsedFile, SourceFile, clean_title

SPACES = re.compile("[\x00\x85\xa0\u1680\u2000-\u200d\u2028\u2029\u202f\u205f\u3000\ufeff]")
BEYOND_ASCII = re.compile("[^\x00-\x7f]+")
LINE_REST = re.compile(r"[ \t]*[;,]?[ \t]*(?:(?://|#|--)[^\n]*)?\n(?:[ \t]*\n)*")


def read(source: SourceFile, settings: IngestSettings) -> ParsedFile | None:
    """Read a file by its grammar; None: there is none, or it finds no order in the file."""
    name = grammar_name(source.language, source.path, source.text)
    grammar = loaded(name) if name else None
    if name is None or grammar is None:
        return None
    from tree_sitter import QueryCursor

    text, (language, query) = source.text, grammar
    tree = tree_of(language, _one_byte_each(text))
    if tree is None:
        return None
    nodes = QueryCursor(query).captures(tree.root_node)
    found = captured(text, nodes)
    parts = parts_of(text, found)
    size = max(1, settings.code_max)
    pieces = [ChunkSpan(0, len(text))]
    if len(text) > size:
        whole = _definitions(text, parts)
        best = best_statement(text, tree.root_node, list(long_stretches(whole, size)), size)
        pieces = pieces_of(
            whole, size, lambda start, end: split_lines(text, start, end, size, best)
        )
    return ParsedFile(
        text,
        tuple(pieces),
        root_kind=GRAMMARS[name].root_kind,
        summary=summary_of_file(text, found, parts),
        entities=tuple(parts),
        references=tuple(uses_of(text, source.path, nodes, parts)),
    )


def _one_byte_each(text: str) -> bytes:
    """Put a letter for each character beyond ASCII: a place in the bytes is one in the text."""
    if not text.isascii() or "\0" in text:
        text = SPACES.sub(" ", text)
        text = BEYOND_ASCII.sub(lambda run: "x" * len(run[0]), text)
    return text.encode("ascii")


def _definitions(text: str, parts: list[EntitySpan]) -> Definition:
    """Make whole lines of the parts, and nest them for cutting."""
    whole = Definition(0, "", len(text))
    made: list[Definition] = []
    for part in parts:
        around = whole if part.parent is None else made[part.parent]
        start, end = part.start, part.end
        if (line := line_start(text, start)) is not None:
            start = line
        if rest := LINE_REST.match(text, end):
            end = rest.end()
        start = max(start, around.parts[-1].end if around.parts else around.start)
        end = max(start, min(end, around.end))
        made.append(Definition(start, clean_title(part.signature), end))
        around.parts.append(made[-1])
    return whole
