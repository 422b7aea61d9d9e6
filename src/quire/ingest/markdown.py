"""What is in a Markdown file?"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Any

from quire.core.types import IngestSettings
from quire.ingest import front_matter, heading_splitter, sections
from quire.ingest.types import ParsedFile, SourceFile, clean_title, collapse_whitespace

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

BY_LINES = frozenset(
    {"fence", "code_block", "bullet_list_open", "ordered_list_open", "table_open", "html_block"}
)
SHOWN = frozenset({"fence", "code_block", "html_block", "hr"})
QUOTE = re.compile(r"^[ \t]*>[ \t]?", re.MULTILINE)
SIMPLE_LINK = re.compile(r"(?<![!\\\]])\[([^\[\]<>`\\!*_&]{1,200})\]\([^()<>\s]{1,400}\)")
ITEM = re.compile(r"\A\s*(?:[-*+•]|\d{1,9}[.)]|\|)\s+(?:\[[ xX]\]\s+)?")
MARKED_UP = re.compile(r"[\[\]*_`<&\\!]")


def read(source: SourceFile, settings: IngestSettings) -> ParsedFile:
    """Cut a Markdown text along its headings, and find its links."""
    text = source.text
    matter = front_matter.parse(text)
    environment: dict[str, Any] = {}
    tokens = get_block_parser().parse(text[matter.end :], environment)
    blocks = _blocks(text, matter.end, tokens)
    described = sections.about(
        source.path, text, blocks, lambda words: _words(words, environment), matter.title
    )
    return ParsedFile(
        text,
        tuple(heading_splitter.split(text, blocks, settings)),
        title=described.title,
        author=matter.author,
        modified=matter.modified,
        attrs={**described.attrs, **matter.attrs},
        links=tuple(find_links(tokens, environment)),
        root_kind=described.root_kind,
        summary=matter.summary or described.summary,
        entities=described.entities,
    )


@cache
def get_block_parser() -> MarkdownIt:
    """Give the parser that finds blocks."""
    from markdown_it import MarkdownIt

    # What stands within a line is parsed only where a link may be: that halves the time.
    return MarkdownIt("commonmark").enable("table").disable("inline")


@cache
def _inline_parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark")


def _blocks(text: str, offset: int, tokens: list[Token]) -> list[heading_splitter.TextBlock]:
    starts = find_line_starts(text, offset)
    blocks = [heading_splitter.TextBlock(0, verbatim=True)] if text else []
    for at, token in enumerate(tokens):
        if token.level or token.map is None or token.nesting < 0:
            continue
        start = starts[token.map[0]]
        if token.type == "heading_open":
            name = plain_heading(tokens[at + 1].content)
            block = heading_splitter.TextBlock(start, int(token.tag[1:]), name)
        else:
            block = heading_splitter.TextBlock(
                start, line_based=token.type in BY_LINES, verbatim=token.type in SHOWN
            )
        if start == blocks[-1].start:
            blocks.pop()
        blocks.append(block)
    return blocks


def find_line_starts(text: str, offset: int) -> list[int]:
    """Tell where each line begins, from an offset on."""
    starts = [offset]
    for line in text[offset:].split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    return starts


def plain_heading(content: str) -> str:
    """Give a heading's text without its marks."""
    return clean_title(_unmarked(content, {}, ("text", "text_special", "code_inline", "image")))


def _words(paragraph: str, environment: dict[str, Any]) -> str:
    """Give the words of a paragraph or a list's item on one line, without marks and images."""
    content = QUOTE.sub("", paragraph) if ">" in paragraph else paragraph
    content = ITEM.sub("", content).strip(" \t\n|")
    if "`" not in content:
        content = SIMPLE_LINK.sub(r"\1", content)  # spares most paragraphs the parser
    verbatim = _unmarked(content, environment, ("text", "text_special", "code_inline"))
    return collapse_whitespace(verbatim)


def _unmarked(content: str, environment: dict[str, Any], kept: tuple[str, ...]) -> str:
    if not MARKED_UP.search(content):
        return content
    verbatim = []
    for token in parse_inline(content, environment):
        if token.type in kept:
            verbatim.append(token.content)
        elif token.type in ("softbreak", "hardbreak"):
            verbatim.append(" ")
    return "".join(verbatim)


def find_links(tokens: Iterable[Token], environment: dict[str, Any]) -> Iterable[str]:
    """Give the addresses that some blocks link to."""
    referenced = bool(environment.get("references"))
    for token in tokens:
        content = token.content
        if token.type == "inline" and ("](" in content or (referenced and "[" in content)):
            for child in parse_inline(content, environment):
                if child.type == "link_open":
                    yield str(child.attrGet("href"))


def parse_inline(content: str, environment: dict[str, Any]) -> list[Token]:
    """Parse what stands within a line."""
    parser = _inline_parser()
    tokens: list[Token] = []
    parser.inline.parse(content, parser, environment, tokens)
    return tokens
