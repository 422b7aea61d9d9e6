"""Reader for HTML pages.

Extracts the visible text: hidden elements, navigation and scripts are dropped, block elements
become paragraphs, a table row becomes a line. Each paragraph is mapped back to a line of the
source by the words that it begins with.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from html import unescape
from typing import TYPE_CHECKING

from quire.core.types import MISSING_EXTRA, IngestSettings
from quire.ingest import heading_splitter, sections
from quire.ingest.types import (
    ParsedFile,
    SourceFile,
    UnreadableFile,
    clean_title,
    collapse_whitespace,
)

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode


def _tags(names: str) -> frozenset[str]:
    return frozenset(names.split())


DROPPED = _tags("canvas head iframe math nav noscript object script select style svg template")
PARAGRAPH = _tags(
    "address article aside blockquote body center details dialog div dl fieldset figcaption"
    " figure footer form h1 h2 h3 h4 h5 h6 header hr html legend main ol p pre section summary"
    " table ul"
)
LINE_BREAK = _tags("br caption dd dt li tr")
CELLS = _tags("td th")
END_TAG_OPTIONAL = _tags(
    "area base body br col colgroup dd dt embed head hr html img input li link meta optgroup"
    " option p param rb rp rt source tbody td tfoot th thead tr track wbr"
)
HEADING_LEVELS = {f"h{level}": level for level in range(1, 7)}
LINE_BASED = _tags("pre table ul ol dl")
HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
SPACE = re.compile(r"\s+")

# Scripts, styles and comments may contain `<` and `>`, so each is matched as a whole.
MARKUP = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|style)\b.*?(?:</\1\s*>|\Z)|<[^<>]*>", re.DOTALL | re.IGNORECASE
)
TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*+)[^<>]*+>")
MAX_DEPTH = 1000
"""The time that the parser needs grows with the square of the depth."""
PREFIX_LENGTH = 40
"""Characters by which a paragraph is found again in the source."""


def read(source: SourceFile, settings: IngestSettings) -> ParsedFile:
    """Extract the visible text of an HTML page and split it along its headings."""
    try:
        from selectolax.lexbor import LexborHTMLParser
    except ImportError as error:
        reason = f"{MISSING_EXTRA} to read HTML: pip install 'quire-context[docs]'"
        raise UnreadableFile(reason) from error
    if _is_too_deep(source.text):
        raise UnreadableFile(f"HTML nested more than {MAX_DEPTH} elements deep")
    tree = LexborHTMLParser(source.text)
    page = _PageText()
    if tree.root is not None:
        _traverse(tree.root, page)
    text = "".join(page.out)
    structure = sections.analyze(source.path, text, page.blocks, _to_plain, _find_title(tree))
    return ParsedFile(
        text,
        tuple(heading_splitter.split(text, page.blocks, settings)),
        title=structure.title,
        attrs=structure.attrs,
        links=tuple(page.links),
        root_kind=structure.root_kind,
        summary=_find_description(tree) or structure.summary,
        entities=structure.entities,
        line_map=_build_line_map(source.text, page),
    )


class _PageText:
    """Collects the text of a page as its elements open and close."""

    def __init__(self) -> None:
        self.out: list[str] = []
        self.length = 0
        self.blocks: list[heading_splitter.TextBlock] = []
        self.first_texts: list[str] = []
        """For each block, the text node that it begins with."""
        self.links: list[str] = []
        self.gap = 2
        """Line breaks due before the next word: 1 for a new line, 2 for a new block."""
        self.space = False
        self.heading = 0
        self.pre = 0
        self.line_based = 0
        self.first_cell = False
        self.cell = False
        self.item = False

    def open(self, node: LexborNode, tag: str) -> None:
        self._break(tag)
        if tag in HEADING_LEVELS:
            self.heading = HEADING_LEVELS[tag]
        elif tag == "li":
            self.item = True
        elif tag == "tr":
            self.first_cell = True
        elif tag in CELLS:
            if not self.first_cell:
                self.cell = True
                self.gap = 0
            self.first_cell = False
        elif tag == "a":
            href = node.attributes.get("href")
            if href:
                self.links.append(href)
        self.pre += tag == "pre"
        self.line_based += tag in LINE_BASED

    def close(self, tag: str) -> None:
        self.line_based -= tag in LINE_BASED
        self.pre -= tag == "pre"
        self._break(tag)
        if tag in HEADING_LEVELS:
            self.heading = 0
        elif tag == "li":
            self.item = False

    def _break(self, tag: str) -> None:
        if tag in HEADING_LEVELS or (tag in PARAGRAPH and not (self.line_based or self.heading)):
            self.gap = 2
        elif (tag in PARAGRAPH and not self.cell) or tag in LINE_BREAK:
            self.gap = max(self.gap, 1)

    def add_text(self, raw: str) -> None:
        content = raw if self.pre else SPACE.sub(" ", raw)
        if not self.pre:
            leading = content.startswith(" ")
            content = content.strip(" ")
            if not content:
                self.space = True
                return
            self.space = self.space or leading
        elif not content.strip() and self.gap:
            return
        separator = self._start_text(raw)
        self.space = not self.pre and raw[-1:].isspace()
        self._write(separator + content)
        if self.heading and self.blocks:
            last = self.blocks[-1]
            name = f"{last.name}{' ' if separator.isspace() else ''}{content}"
            self.blocks[-1] = heading_splitter.TextBlock(last.start, last.level, clean_title(name))

    def _start_text(self, raw: str) -> str:
        """Return the separator before a text node, and open a block for it if one is due."""
        if self.gap == 2 or not self.blocks:
            separator = "\n\n" if self.length else ""
            start = self.length + len(separator)
            self.blocks.append(
                heading_splitter.TextBlock(
                    start,
                    self.heading,
                    line_based=bool(self.line_based or self.pre),
                    verbatim=bool(self.pre),
                )
            )
            self.first_texts.append(raw)
        elif self.gap:
            separator = "\n"
        elif self.cell:
            separator = " | "
        else:
            separator = " " if self.space and not self.pre else ""
        if self.item:
            separator += "- "
        self.gap = 0
        self.cell = self.item = False
        return separator

    def _write(self, text: str) -> None:
        self.out.append(text)
        self.length += len(text)


def _traverse(root: LexborNode, page: _PageText) -> None:
    node: LexborNode | None = root
    open_tags: list[str] = []
    while node is not None:
        tag = node.tag or ""
        child = None
        if node.is_text_node:
            page.add_text(node.text_content or "")
        elif node.is_element_node and tag not in DROPPED and not _is_hidden(node):
            page.open(node, tag)
            child = node.first_child
            if child is None:
                page.close(tag)
        if child is not None:
            open_tags.append(tag)
            node = child
            continue
        while node is not None and node.next is None:
            node = node.parent if open_tags else None
            if node is not None:
                page.close(open_tags.pop())
        node = node.next if node is not None and open_tags else None


def _is_too_deep(source: str) -> bool:
    depth = 0
    for match in TAG.finditer(source):
        if match[2].lower() in END_TAG_OPTIONAL or match[0].endswith("/>"):
            continue
        depth = max(0, depth - 1) if match[1] else depth + 1
        if depth > MAX_DEPTH:
            return True
    return False


def _is_hidden(node: LexborNode) -> bool:
    attributes = node.attributes
    return bool(attributes) and (
        "hidden" in attributes
        or attributes.get("aria-hidden") == "true"
        or bool(HIDDEN_STYLE.search(attributes.get("style") or ""))
    )


def _find_title(tree: LexborHTMLParser) -> str:
    node = tree.css_first("head title")
    return clean_title(node.text()) if node is not None else ""


def _find_description(tree: LexborHTMLParser) -> str:
    node = tree.css_first('head meta[name="description"]')
    return collapse_whitespace(node.attributes.get("content") or "") if node is not None else ""


def _to_plain(paragraph: str) -> str:
    return collapse_whitespace(paragraph).removeprefix("- ")


def _build_line_map(source: str, page: _PageText) -> tuple[tuple[int, int], ...]:
    """Map the start of each block to its line, searching the source from block to block."""
    positions: dict[str, list[int]] = {}
    at = 0
    for match in MARKUP.finditer(source):
        _add_position(positions, source, at, match.start())
        at = match.end()
    _add_position(positions, source, at, len(source))
    line_map = []
    position = line = 0
    counted = 0
    for block, first_text in zip(page.blocks, page.first_texts, strict=True):
        candidates = positions.get(_text_prefix(first_text), [])
        index = bisect_left(candidates, position)
        if index < len(candidates):
            position = candidates[index]
        line += source.count("\n", counted, position)
        counted = max(counted, position)
        line_map.append((block.start, line + 1))
    return tuple(line_map)


def _add_position(positions: dict[str, list[int]], source: str, start: int, end: int) -> None:
    segment = source[start : min(end, start + 10 * PREFIX_LENGTH)]
    content = segment.lstrip()
    if content:
        prefix = _text_prefix(unescape(content))
        positions.setdefault(prefix, []).append(start + len(segment) - len(content))


def _text_prefix(text: str) -> str:
    return " ".join(text[: 8 * PREFIX_LENGTH].split())[:PREFIX_LENGTH]
