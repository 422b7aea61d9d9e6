"""What is in an HTML page?

The text as a reader sees it: what is hidden, navigation and scripts are left out, block
elements become paragraphs, a table's row becomes a line. Each paragraph is traced back to a
line of the source by the words that it begins with.
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
LINE = _tags("br caption dd dt li tr")
CELLS = _tags("td th")
NEVER_CLOSED = _tags(
    "area base body br col colgroup dd dt embed head hr html img input li link meta optgroup"
    " option p param rb rp rt source tbody td tfoot th thead tr track wbr"
)
HEADINGS = {f"h{level}": level for level in range(1, 7)}
BY_LINES = _tags("pre table ul ol dl")
HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
SPACE = re.compile(r"\s+")

# Scripts, styles and comments may hold `<` and `>`: they are passed over as a whole.
MARKUP = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|style)\b.*?(?:</\1\s*>|\Z)|<[^<>]*>", re.DOTALL | re.IGNORECASE
)
TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)[^<>]*>")
DEEPEST = 1000
"""The parser's time grows with the square of the depth."""
WORDS = 40
"""Characters by which a paragraph is found again in the source."""


def read(source: SourceFile, settings: IngestSettings) -> ParsedFile:
    """Take the text out of an HTML page and cut it along its headings."""
    try:
        from selectolax.lexbor import LexborHTMLParser
    except ImportError as error:
        raise UnreadableFile(f"{MISSING_EXTRA} to read HTML: pip install 'quire[docs]'") from error
    if _too_deep(source.text):
        raise UnreadableFile(f"HTML in which more than {DEEPEST} elements are open at once")
    tree = LexborHTMLParser(source.text)
    page = _Page()
    if tree.root is not None:
        _traverse(tree.root, page)
    text = "".join(page.out)
    described = sections.about(source.path, text, page.blocks, _words_of, _title(tree))
    return ParsedFile(
        text,
        tuple(heading_splitter.split(text, page.blocks, settings)),
        title=described.title,
        attrs=described.attrs,
        links=tuple(page.links),
        root_kind=described.root_kind,
        summary=_description(tree) or described.summary,
        entities=described.entities,
        line_map=_line_map(source.text, page),
    )


class _Page:
    """Gathers the text of a page as its elements open and close."""

    def __init__(self) -> None:
        self.out: list[str] = []
        self.length = 0
        self.blocks: list[heading_splitter.TextBlock] = []
        self.firsts: list[str] = []
        """For each block the text node that it begins with."""
        self.links: list[str] = []
        self.gap = 2
        """Line ends that are due before the next word: 1 a new line, 2 a new block."""
        self.space = False
        self.heading = 0
        self.pre = 0
        self.line_based = 0
        self.first_cell = False
        self.cell = False
        self.item = False

    def open(self, node: LexborNode, tag: str) -> None:
        self._break(tag)
        if tag in HEADINGS:
            self.heading = HEADINGS[tag]
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
        self.line_based += tag in BY_LINES

    def close(self, tag: str) -> None:
        self.line_based -= tag in BY_LINES
        self.pre -= tag == "pre"
        self._break(tag)
        if tag in HEADINGS:
            self.heading = 0
        elif tag == "li":
            self.item = False

    def _break(self, tag: str) -> None:
        if tag in HEADINGS or (tag in PARAGRAPH and not (self.line_based or self.heading)):
            self.gap = 2
        elif (tag in PARAGRAPH and not self.cell) or tag in LINE:
            self.gap = max(self.gap, 1)

    def text(self, raw: str) -> None:
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
        before = self._before(raw)
        self.space = not self.pre and raw[-1:].isspace()
        self._write(before + content)
        if self.heading and self.blocks:
            last = self.blocks[-1]
            name = f"{last.name}{' ' if before.isspace() else ''}{content}"
            self.blocks[-1] = heading_splitter.TextBlock(last.start, last.level, clean_title(name))

    def _before(self, raw: str) -> str:
        if self.gap == 2 or not self.blocks:
            before = "\n\n" if self.length else ""
            start = self.length + len(before)
            self.blocks.append(
                heading_splitter.TextBlock(
                    start,
                    self.heading,
                    line_based=bool(self.line_based or self.pre),
                    verbatim=bool(self.pre),
                )
            )
            self.firsts.append(raw)
        elif self.gap:
            before = "\n"
        elif self.cell:
            before = " | "
        else:
            before = " " if self.space and not self.pre else ""
        if self.item:
            before += "- "
        self.gap = 0
        self.cell = self.item = False
        return before

    def _write(self, text: str) -> None:
        self.out.append(text)
        self.length += len(text)


def _traverse(root: LexborNode, page: _Page) -> None:
    node: LexborNode | None = root
    open_tags: list[str] = []
    while node is not None:
        tag = node.tag or ""
        child = None
        if node.is_text_node:
            page.text(node.text_content or "")
        elif node.is_element_node and tag not in DROPPED and not _hidden(node):
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


def _too_deep(source: str) -> bool:
    depth = 0
    for match in TAG.finditer(source):
        if match[2].lower() in NEVER_CLOSED or match[0].endswith("/>"):
            continue
        depth = max(0, depth - 1) if match[1] else depth + 1
        if depth > DEEPEST:
            return True
    return False


def _hidden(node: LexborNode) -> bool:
    attributes = node.attributes
    return bool(attributes) and (
        "hidden" in attributes
        or attributes.get("aria-hidden") == "true"
        or bool(HIDDEN_STYLE.search(attributes.get("style") or ""))
    )


def _title(tree: LexborHTMLParser) -> str:
    node = tree.css_first("head title")
    return clean_title(node.text()) if node is not None else ""


def _description(tree: LexborHTMLParser) -> str:
    node = tree.css_first('head meta[name="description"]')
    return collapse_whitespace(node.attributes.get("content") or "") if node is not None else ""


def _words_of(words: str) -> str:
    return collapse_whitespace(words).removeprefix("- ")


def _line_map(source: str, page: _Page) -> tuple[tuple[int, int], ...]:
    places: dict[str, list[int]] = {}
    at = 0
    for match in MARKUP.finditer(source):
        _place(places, source, at, match.start())
        at = match.end()
    _place(places, source, at, len(source))
    marks = []
    position = line = 0
    counted = 0
    for block, first in zip(page.blocks, page.firsts, strict=True):
        found = places.get(_words(first), [])
        index = bisect_left(found, position)
        if index < len(found):
            position = found[index]
        line += source.count("\n", counted, position)
        counted = max(counted, position)
        marks.append((block.start, line + 1))
    return tuple(marks)


def _place(places: dict[str, list[int]], source: str, start: int, end: int) -> None:
    segment = source[start : min(end, start + 10 * WORDS)]
    content = segment.lstrip()
    if content:
        words = _words(unescape(content))
        places.setdefault(words, []).append(start + len(segment) - len(content))


def _words(text: str) -> str:
    return " ".join(text[: 8 * WORDS].split())[:WORDS]
