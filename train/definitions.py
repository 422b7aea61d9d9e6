"""Definitions of a source file, by the grammars that Quire reads code with."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, field
from functools import cached_property

from quire.ingest.grammar.definitions import FileCaptures, find_leading, nest_captures
from quire.ingest.grammar.languages import select_grammar
from quire.ingest.grammar.parse import load_grammar, parse_tree
from quire.ingest.grammar.reader import _encode_single_bytes
from quire.ingest.grammar.signatures import build_entities

LANGUAGES = {
    ".py": "python",
    ".go": "go",
    ".java": "java",
    ".js": "javascript",
    ".mjs": "javascript",
    ".jsx": "javascript",
    ".ts": "typescript",
    ".tsx": "typescript",
    ".rs": "rust",
    ".c": "c",
    ".h": "c",
    ".cc": "cpp",
    ".cpp": "cpp",
    ".hpp": "cpp",
    ".cs": "csharp",
    ".rb": "ruby",
    ".php": "php",
    ".kt": "kotlin",
    ".swift": "swift",
    ".scala": "scala",
    ".sh": "shell",
}
FUNCTIONS = frozenset({"function", "method", "constructor"})


@dataclass(frozen=True)
class Definition:
    """A function with its description."""

    name: str
    qualified: str
    first: int
    """The line on which it begins, comments and decorators included, counted from 0."""
    last: int
    """The line after its last."""
    doc: str
    text: str = field(repr=False)
    """The text of the file."""
    span: tuple[int, int]
    bare_start: int
    doc_span: tuple[int, int] | None

    @cached_property
    def code(self) -> str:
        """The definition with its description, without indentation."""
        return _dedent(self.text, *self.span)

    @cached_property
    def bare(self) -> str:
        """The definition without its description."""
        start, end, doc = self.bare_start, self.span[1], self.doc_span
        if doc is None:
            return _dedent(self.text, start, end)
        before = self.text[start : doc[0]].rstrip()
        rest = self.text[doc[1] : end].lstrip("\n")
        return _dedent(f"{_indent(self.text, start)}{before}\n{rest}")


def extension_of(path: str) -> str:
    """Return the extension of a path, with its dot."""
    dot = path.rfind(".")
    return path[dot:].lower() if dot > path.rfind("/") else ""


def read_definitions(text: str, path: str) -> list[Definition]:
    """Return the functions and methods of a file; none if it does not parse."""
    language = LANGUAGES.get(extension_of(path))
    name = select_grammar(language, path, text) if language else None
    grammar = load_grammar(name) if name else None
    if grammar is None:
        return []
    from tree_sitter import QueryCursor

    tree = parse_tree(grammar[0], _encode_single_bytes(text))
    if tree is None:
        return []
    captures = nest_captures(text, QueryCursor(grammar[1]).captures(tree.root_node))
    spans = {captured.end: captured for captured in captures.definitions}
    starts = [found.start() for found in re.finditer("\n", text)]
    found = []
    for entity in build_entities(text, captures):
        captured = spans.get(entity.end)
        if entity.kind not in FUNCTIONS or captured is None:
            continue
        found.append(
            Definition(
                name=entity.name,
                qualified=entity.qualified or entity.name,
                first=bisect_left(starts, entity.start),
                last=bisect_left(starts, entity.end) + 1,
                doc=entity.summary,
                text=text,
                span=(entity.start, entity.end),
                bare_start=_bare_start(text, captures, captured.start),
                doc_span=captured.doc,
            )
        )
    return found


def _bare_start(text: str, captures: FileCaptures, start: int) -> int:
    """Return where a definition starts without the comments above it, but with decorators."""
    for span in find_leading(text, captures, start):
        if span[0] not in captures.free_decorators:
            break
        start = span[0]
    return start


def _indent(text: str, start: int) -> str:
    line = text.rfind("\n", 0, start) + 1
    return text[line:start] if not text[line:start].strip() else ""


def _dedent(text: str, start: int = 0, end: int | None = None) -> str:
    code = _indent(text, start) + text[start:end] if start else text[start:end]
    margin = re.match(r"[ \t]*", code)
    assert margin is not None
    indent = margin[0]
    lines = [line.removeprefix(indent) for line in code.split("\n")]
    return "\n".join(line.rstrip() for line in lines).strip("\n")


SECTION = re.compile(
    r"\n\s*\n|\n\s*[:@\\]|\n\s*(?:Args|Arguments|Parameters|Returns?|Examples?|Raises|Notes?|Yields)\b"
    r"|\s@(?:param|return|throws|see)|\n\s*(?:>>>|```|#+ )"
)


def first_sentence(doc: str) -> str:
    """Return the first sentence of a description, without mark-up."""
    text = SECTION.split(doc)[0]
    text = re.sub(r":\w+:`~?\.?([^`<]*)[^`]*`", r"\1", text)
    text = re.sub(r"\{@\w+\s+#?([^}]*)\}|<[^>]{1,40}>", r"\1", text)
    text = re.sub(r"\s+", " ", text.replace("`", "")).strip()
    found = re.match(r"(.{15,}?[.!?])(?:\s|$)", text)
    return (found[1] if found else text).strip()


def split_words(name: str) -> str:
    """Return a name as words: `parseHTTPHeader` and `parse_http_header` alike."""
    text = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return re.sub(r"[\W_]+", " ", text).strip().lower()
