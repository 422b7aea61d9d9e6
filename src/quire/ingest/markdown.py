"""Reader for Markdown files.

Blocks are found by markdown-it. Inline markup is parsed only where it matters (links, titles,
summaries), because that takes as long as parsing the blocks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Any

from quire.core.headings import without_id
from quire.core.types import IngestSettings
from quire.ingest import front_matter, heading_splitter, sections
from quire.ingest.types import ParsedFile, SourceFile, clean_title, collapse_whitespace

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

LINE_BASED = frozenset(
    {"fence", "code_block", "bullet_list_open", "ordered_list_open", "table_open", "html_block"}
)
VERBATIM = frozenset({"fence", "code_block", "html_block", "hr"})
QUOTE = re.compile(r"^[ \t]*>[ \t]?", re.MULTILINE)
SIMPLE_LINK = re.compile(r"(?<![!\\\]])\[([^\[\]<>`\\!*_&]{1,200})\]\([^()<>\s]{1,400}\)")
ITEM = re.compile(r"\A\s*(?:[-*+•]|\d{1,9}[.)]|\|)\s+(?:\[[ xX]\]\s+)?")
INLINE_MARKUP = re.compile(r"[\[\]*_`<&\\!]")


def read(source: SourceFile, settings: IngestSettings) -> ParsedFile:
    """Split a Markdown text along its headings, and find its links."""
    text = source.text
    matter = front_matter.parse(text)
    environment: dict[str, Any] = {}
    tokens = get_block_parser().parse(text[matter.end :], environment)
    blocks = _build_blocks(text, matter.end, tokens)
    structure = sections.analyze(
        source.path, text, blocks, lambda markup: _to_plain(markup, environment), matter.title
    )
    return ParsedFile(
        text,
        tuple(heading_splitter.split(text, blocks, settings)),
        title=structure.title,
        author=matter.author,
        modified=matter.modified,
        attrs={**structure.attrs, **matter.attrs},
        metadata=matter.metadata,
        links=tuple(find_links(tokens, environment)),
        root_kind=structure.root_kind,
        summary=matter.summary or structure.summary,
        entities=structure.entities,
    )


@cache
def get_block_parser() -> MarkdownIt:
    """Return the parser for blocks, without its inline rules."""
    from markdown_it import MarkdownIt

    # Inline markup is parsed only where there may be a link: that halves the time.
    return MarkdownIt("commonmark").enable("table").disable("inline")


@cache
def _inline_parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark")


def _build_blocks(text: str, offset: int, tokens: list[Token]) -> list[heading_splitter.TextBlock]:
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
                start, line_based=token.type in LINE_BASED, verbatim=token.type in VERBATIM
            )
        if start == blocks[-1].start:
            blocks.pop()
        blocks.append(block)
    return blocks


def find_line_starts(text: str, offset: int) -> list[int]:
    """Return the position at which each line begins, from an offset on."""
    starts = [offset]
    for line in text[offset:].split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    return starts


def plain_heading(content: str) -> str:
    """Return the text of a heading without markup."""
    content = without_id(content)
    return clean_title(_strip_markup(content, {}, ("text", "text_special", "code_inline", "image")))


def _to_plain(paragraph: str, environment: dict[str, Any]) -> str:
    """Return the words of a paragraph or a list item on one line, without markup and images."""
    content = QUOTE.sub("", paragraph) if ">" in paragraph else paragraph
    content = ITEM.sub("", content).strip(" \t\n|")
    if "`" not in content:
        content = SIMPLE_LINK.sub(r"\1", content)  # saves parsing most paragraphs
    plain = _strip_markup(content, environment, ("text", "text_special", "code_inline"))
    return collapse_whitespace(plain)


def _strip_markup(content: str, environment: dict[str, Any], token_types: tuple[str, ...]) -> str:
    """Return the content of the inline tokens of the given types."""
    if not INLINE_MARKUP.search(content):
        return content
    plain = []
    for token in parse_inline(content, environment):
        if token.type in token_types:
            plain.append(token.content)
        elif token.type in ("softbreak", "hardbreak"):
            plain.append(" ")
    return "".join(plain)


def find_links(tokens: Iterable[Token], environment: dict[str, Any]) -> Iterable[str]:
    """Yield the targets of the links in some blocks."""
    has_references = bool(environment.get("references"))
    for token in tokens:
        content = token.content
        if token.type == "inline" and ("](" in content or (has_references and "[" in content)):
            for child in parse_inline(content, environment):
                if child.type == "link_open":
                    yield str(child.attrGet("href"))


def parse_inline(content: str, environment: dict[str, Any]) -> list[Token]:
    """Parse inline markup."""
    parser = _inline_parser()
    tokens: list[Token] = []
    parser.inline.parse(content, parser, environment, tokens)
    return tokens
