"""No reader takes more than linear time, whatever shape a text has.

It is a test of growth, not of speed: it compares the processor time for a text with that for one
four times as long.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress

import pytest

from quire.core.types import IngestSettings
from quire.errors import InputError
from quire.ingest import code, front_matter, pdf, secrets
from quire.ingest.decode import NotText
from quire.ingest.read import build_document
from quire.ingest.types import SourceFile, UnreadableFile
from quire.integrations.hooks import failures, payloads
from quire.mcp import jsonrpc
from quire.memory import jsonl as memory_lines
from quire.memory import postmortem_files, postmortems
from quire.packing.dedup import overlap
from quire.rendering import escape
from quire.retrieval.linked import find_names
from quire.rules.expressions import ExpressionError, parse_expression
from quire.rules.parser import parse_context_file
from quire.store.index.analyzer import count_query_words
from quire.tokens import open_counter
from quire.tokens.shorten import STRATEGIES, shorten
from quire.workspace import jsonl as block_lines
from quire.workspace.importers.build_tree import build_tree
from quire.workspace.importers.discover import Texts, build_folder
from tests.growth.growth import SIZES, find_growth

DEFAULT = IngestSettings(secrets=True)
APPROXIMATE = open_counter("approx")


def read(path: str) -> Callable[[str], object]:
    return lambda text: build_document(path, text.encode(), DEFAULT)


def read_lines(language: str) -> Callable[[str], object]:
    def run(text: str) -> object:
        return code._read_by_indentation(SourceFile(text, text.encode(), language, "a"), DEFAULT)

    return run


def read_pdf_text(text: str) -> object:
    return pdf.build_reading([text, text], "", DEFAULT)


def import_page(page_format: str, path: str) -> Callable[[str], object]:
    def run(text: str) -> object:
        texts = {path: text, "other.md": "[[a]] # x"}
        folder, _ = build_folder("t", page_format, Texts(texts, tuple(texts), ()))
        return build_tree(folder, lambda page, part: f"{page}|{part}")

    return run


def read_postmortem(text: str) -> object:
    document = build_document("outage.md", text.encode(), DEFAULT)
    page = postmortem_files.to_page(document)
    return postmortems.parse_page(page, "s", author=None, acl=None)


def parse_line(text: str) -> object:
    line = json.dumps({"id": 1, "result": {"content": [text]}, "x": "call cancelled"}).encode()
    jsonrpc.find_calls(line)
    return jsonrpc.add_items(line, lambda _: {"type": "text"})


def parse_raw_line(text: str) -> object:
    try:
        return jsonrpc.add_items(text.encode(), lambda _: {"type": "text"})
    except (ValueError, RecursionError):
        return None


def parse_hook(text: str) -> object:
    event = payloads.parse(json.dumps({"prompt": text, "tool_response": text}).encode())
    return failures.guess_domain(event.prompt, event.output)


def check_failure(text: str) -> object:
    commands = ("pytest", "npm test", "tox", "go test", "make", "cargo test", "gradle build")
    return [
        failures.failed_tool(command, text, exit_code=None, reported=False)
        for command in (*commands, text)
    ]


def shorten_by(strategy: str) -> Callable[[str], object]:
    return lambda text: shorten(APPROXIMATE, text, len(text) // 12, strategy, "lorem a x")


READERS: Mapping[str, Callable[[str], object]] = {
    "markdown": read("a.md"),
    "restructuredtext": read("a.rst"),
    "html": read("a.html"),
    "gherkin": read("a.feature"),
    "text": read("a.txt"),
    "chat": read("a.json"),
    "chat lines": read("a.jsonl"),
    "data": read("a.yaml"),
    "python": read("a.py"),
    "javascript": read("a.js"),
    "c++": read("a.cpp"),
    "sql": read("a.sql"),
    "python by lines": read_lines("python"),
    "javascript by lines": read_lines("javascript"),
    "java by lines": read_lines("java"),
    "c by lines": read_lines("c"),
    "perl by lines": read_lines("perl"),
    "pdf text": read_pdf_text,
    "front matter": lambda text: front_matter.parse(f"---\n{text}\n---\n"),
    "header": lambda text: front_matter.parse_header(f"Title: x\n{text}\n\n"),
    "secrets": lambda text: secrets.check_text(f"PRIVATE KEY T3BlbkFJ glpat- xox {text}"),
    "restructuredtext page": import_page("markdown", "a.rst"),
    "vault page": import_page("vault", "a.md"),
    "notion table": import_page("notion", "a.csv"),
    "context file in yaml": lambda text: parse_context_file("a.context.yaml", text),
    "context file in toml": lambda text: parse_context_file("a.context.toml", text),
    "context file in markdown": lambda text: parse_context_file("a.context.md", text),
    "front matter of a context file": lambda text: parse_context_file(
        "a.context.md", f"---\n{text}\n---\n"
    ),
    "prose of an assistant": lambda text: parse_context_file("CLAUDE.md", text),
    "post-mortem": read_postmortem,
    "memories": lambda text: memory_lines.parse(text, at=0),
    "blocks": block_lines.parse,
    "expression": lambda text: parse_expression(text[:2000]),
    "protocol": parse_line,
    "raw protocol": parse_raw_line,
    "hook": parse_hook,
    "output of a command": check_failure,
    "query": count_query_words,
    "names": lambda text: list(find_names(text)),
    "overlap": lambda text: overlap(text, text[::2]),
    "paragraph": escape.escape_paragraph,
    "markers": lambda text: escape.escape_markers(text) + escape.fence(text),
    **{f"shortened by {name}": shorten_by(name) for name in STRATEGIES},
    **{f"tokens of {name}": open_counter(name).count for name in ("o200k", "llama3", "approx")},
}

UNITS = {
    # text that is repeated: one word, open constructs, pairs that may be read in two ways
    "one letter": "x",
    "one capital": "X",
    "digits": "1",
    "blanks": " ",
    "tabs": "\t",
    "carriage returns": "\r",
    "blank lines": "\n",
    "lines of blanks": "  \n",
    "words": "lorem ",
    "names": "Ada of the ",
    "lines": "ab\n",
    "sentences": "Lorem ipsum. ",
    "stops": ".",
    "dotted": "a.",
    "colons": "a:",
    "commas": "a,",
    "keys": "k: v\n",
    "equals": "a = 1\n",
    "underscores": "_",
    "stars": "*",
    "starred": "*a ",
    "emphasis": "**a",
    "hashes": "#",
    "headings": "# a\n",
    "closed headings": "# a #\n",
    "underlined": "abc\n---\n",
    "dashes": "-",
    "fences": "---\n",
    "items": "- a\n",
    "tasks": "- [ ] a\n",
    "numbers": "1. a\n",
    "quotes": ">",
    "quoted lines": "> a\n",
    "quotation marks": '"',
    "apostrophes": "'",
    "escaped": '\\"',
    "backslashes": "\\",
    "backticks": "`",
    "code spans": "`a ",
    "code fences": "```\n",
    "tildes": "~~~\n",
    "open brackets": "[",
    "closed brackets": "]",
    "links": "[a](",
    "whole links": "[a](b) ",
    "images": "![a](b)",
    "wiki links": "[[a",
    "footnotes": "[^a]: b\n",
    "open parentheses": "(",
    "open braces": "{",
    "objects": '{"a":',
    "lists": "[1,",
    "tables": "|a",
    "table rows": "|a|b|\n|-|-|\n",
    "tags": "<a ",
    "nested tags": "<p><i>x",
    "closed tags": "<b>x</b>",
    "angles": "<",
    "comments": "<!--",
    "closed comments": "<!-- a --> ",
    "scripts": "<script>",
    "entities": "&amp;&",
    "block comments": "/*",
    "line comments": "// ",
    "doc comments": "/** a */\n",
    "strings": "'''\"\"\"",
    "roles": ":doc:`",
    "directives": ".. a::\n",
    "literal blocks": "a::\n\n b\n",
    "definitions": "def f():\n    pass\n",
    "calls": "f(",
    "blocks": "if (a) {",
    "generics": "a<",
    "arrows": "x => ",
    "decorators": "@a(\n",
    "labels": "- REQ-1: a\n",
    "scenarios": "@a\nScenario: b\n",
    "anchors": "a ^b\n",
    "hashtags": "#a ",
    "urls": "https://a.b/c ",
    "assignments": "api_key=a1B2",
    "operators": "a && ",
    "not": "not ",
    "private keys": "-----BEGIN PRIVATE KEY-----\n",
    "key headers": "Version:",
    "base64": "QUJD",
    "graphemes": "\U0001f468\u200d",
    "marks": "\u0301",
    "flags": "\U0001f1e6",
    "dense": "\u4e2d\u6587\u3002",
    "escapes": "\x1b[",
    "nulls": "\x01",
    "failures": "Tests: 1 failed\n",
}


def repeat(unit: str) -> Callable[[int], str]:
    return lambda length: unit * (length // len(unit))


def nest(indent: str, line: str, depth: int = 400) -> Callable[[int], str]:
    """Make lines that are indented ever deeper, down to a depth, and again."""

    def make(length: int) -> str:
        lines: list[str] = []
        size = 0
        while size < length:
            lines.append(indent * (len(lines) % depth) + line)
            size += len(lines[-1])
        return "".join(lines)

    return make


SHAPES: Mapping[str, Callable[[int], str]] = {
    **{name: repeat(unit) for name, unit in UNITS.items()},
    "deeper items": nest("  ", "- a\n"),
    "deeper tasks": nest("  ", "- [ ] a\n"),
    "deeper quotes": nest(">", " a\n"),
    "deeper definitions": nest(" ", "def f():\n"),
    "deeper keys": nest(" ", "a:\n", 40),
    "deeper headings": nest("#", " a\n", 8),
    "growing backticks": nest("`", " ", 10_000),
    "growing adornments": nest("=", "\na\n", 10_000),
    "open at its start": lambda length: '"""`/*<!--<a [(' + "x " * (length // 2),
    "open at its end": lambda length: "x " * (length // 2) + '"""`/*<!--<a [(',
    "one link to many": lambda length: "[a]: b\n\n" + "[a]" * (length // 3),
    "many links to one": lambda length: "".join(f"[{n}]: b\n" for n in range(length // 8)),
}


LARGE = (1_000, 15_000, 60_000)
GIVING_UP = (
    "python",
    "javascript",
    "c++",
    "sql",
    "context file in yaml",
    "front matter of a context file",
)
"""These give up at a certain length; up to there their time may grow as it likes."""


@pytest.mark.parametrize("name", READERS)
def test_time_is_linear_in_the_length(name: str) -> None:
    reader, sizes = READERS[name], LARGE if name in GIVING_UP else SIZES

    def run(text: str) -> None:
        with suppress(UnreadableFile, NotText, InputError, ExpressionError):
            reader(text)

    run("warm up")
    grown = {shape: find_growth(run, make, sizes) for shape, make in SHAPES.items()}
    assert {shape: growth for shape, growth in grown.items() if growth} == {}
