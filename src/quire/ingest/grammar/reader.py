"""Read code by its grammar.

The reading has the definitions with their names, signatures and comments; the names that they call,
use and import; and the chunks. Broken syntax gives what can be recovered. Files that do not parse
at all fall back to line-based chunking (`code.py`).
"""

from __future__ import annotations

import re

from quire.core.types import IngestSettings
from quire.ingest.code_splitter import Definition, find_long_spans, split_definition
from quire.ingest.grammar.definitions import find_line_start, nest_captures
from quire.ingest.grammar.languages import GRAMMARS, select_grammar
from quire.ingest.grammar.parse import load_grammar, parse_tree
from quire.ingest.grammar.references import find_references
from quire.ingest.grammar.signatures import build_entities, summarize_file
from quire.ingest.grammar.statements import make_line_chooser
from quire.ingest.line_splitter import split_lines
from quire.ingest.types import ChunkSpan, EntitySpan, ParsedFile, SourceFile, clean_title

UNICODE_SPACES = re.compile("[\x00\x85\xa0\u1680\u2000-\u200d\u2028\u2029\u202f\u205f\u3000\ufeff]")
NON_ASCII = re.compile("[^\x00-\x7f]+")
LINE_REST = re.compile(r"[ \t]*+(?:[;,][ \t]*+)?+(?:(?://|#|--)[^\n]*+)?+\n(?:[ \t]*+\n)*+")


def read(source: SourceFile, settings: IngestSettings) -> ParsedFile | None:
    """Read a file by its grammar; return None if it has none or does not parse."""
    name = select_grammar(source.language, source.path, source.text)
    grammar = load_grammar(name) if name else None
    if name is None or grammar is None:
        return None
    from tree_sitter import QueryCursor

    text, (language, query) = source.text, grammar
    tree = parse_tree(language, _encode_single_bytes(text))
    if tree is None:
        return None
    nodes = QueryCursor(query).captures(tree.root_node)
    captures = nest_captures(text, nodes)
    entities = build_entities(text, captures)
    size = max(1, settings.code_max)
    spans = [ChunkSpan(0, len(text))]
    if len(text) > size:
        whole = _nest_entities(text, entities)
        long_spans = list(find_long_spans(whole, size))
        choose = make_line_chooser(text, tree.root_node, long_spans, size)
        spans = split_definition(
            whole, size, lambda start, end: split_lines(text, start, end, size, choose)
        )
    return ParsedFile(
        text,
        tuple(spans),
        root_kind=GRAMMARS[name].root_kind,
        summary=summarize_file(text, captures, entities),
        entities=tuple(entities),
        references=tuple(find_references(text, source.path, nodes, entities)),
    )


def _encode_single_bytes(text: str) -> bytes:
    """Replace each character beyond ASCII by one letter, so that byte and text offsets agree."""
    if not text.isascii() or "\0" in text:
        text = UNICODE_SPACES.sub(" ", text)
        text = NON_ASCII.sub(lambda run: "x" * len(run[0]), text)
    return text.encode("ascii")


def _nest_entities(text: str, entities: list[EntitySpan]) -> Definition:
    """Extend the entities to whole lines and nest them for the splitter."""
    whole = Definition(0, "", len(text))
    definitions: list[Definition] = []
    for entity in entities:
        outer = whole if entity.parent is None else definitions[entity.parent]
        start, end = entity.start, entity.end
        if (line := find_line_start(text, start)) is not None:
            start = line
        if rest := LINE_REST.match(text, end):
            end = rest.end()
        start = max(start, outer.members[-1].end if outer.members else outer.start)
        end = max(start, min(end, outer.end))
        definitions.append(Definition(start, clean_title(entity.signature), end))
        outer.members.append(definitions[-1])
    return whole
