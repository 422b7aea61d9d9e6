"""Parsing pages of Markdown and of reStructuredText into outlines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from quire.ingest import front_matter, markdown, rst
from quire.workspace.importers.outline import OutlineBuilder, Page, parse_task

if TYPE_CHECKING:
    from markdown_it.token import Token

TASK = re.compile(r"\[([ xX])\][ \t]+")
QUOTE_MARK = re.compile(r"^[ \t]*>[ \t]?", re.MULTILINE)
CALLOUT = re.compile(r"\A\[!(\w+)\][+-]?[ \t]*")
IMAGE = re.compile(r"\A!\[([^\]]*+)\]\(\s*+<?+([^)>\s]*+)>?+[^)]*+\)\Z")
EMBED = re.compile(r"\A!\[\[([^\[\]|]+)(?:\|([^\[\]]*))?\]\]\Z")
TARGETS = re.compile(r"\A(?:\([\w.:-]{1,200}\)=\s*+)+\Z")
"""Names that MyST gives to the heading below them."""
PICTURE = re.compile(r"\.(?:png|jpe?g|gif|svg|webp|bmp|avif)\Z", re.IGNORECASE)
COMMENT = re.compile(r"\A\s*+(?:<!--(?>.*?-->)\s*+)++\Z", re.DOTALL)
PEP_ROLE = re.compile(r":pep:`(?:[^`<>]*<)?(\d{1,5})[^`]*`")
LIST_MARK = re.compile(r"(?:[-*+•]|\d{1,3}[.)]|#\.)\s")
LIST_TOKENS = frozenset({"bullet_list_open", "ordered_list_open"})
EXTENSIONS = (".md", ".markdown", ".rst")
NAMELESS = frozenset({"index", "readme", "_index"})
"""Names of files that stand for their folder: a vault may have one in each."""


def parse_page(path: str, text: str, *, wiki: bool = False) -> Page:
    """Parse a page; with `wiki` its title is its file's name, and double brackets are links."""
    if path.lower().endswith(".rst"):
        return _parse_rst(path, text)
    return _parse_markdown(path, text, wiki=wiki)


def stem_of(path: str) -> str:
    """Return a file's name without its folder and extension."""
    name = path.rpartition("/")[2]
    return name.rpartition(".")[0] if name.lower().endswith(EXTENSIONS) else name


def name_of_note(path: str) -> str:
    """Return what a note is called: as its file, or as its folder if its own name says nothing."""
    folder, _, _ = path.rpartition("/")
    stem = stem_of(path)
    return folder.rpartition("/")[2] if folder and stem.lower() in NAMELESS else stem


# --- Markdown ----------------------------------------------------------------------------------


def _parse_markdown(path: str, text: str, *, wiki: bool) -> Page:
    fields, start = front_matter.parse_fields(text)
    environment: dict[str, Any] = {}
    tokens = markdown.get_block_parser().parse(text[start:], environment)
    reader = _MarkdownReader(text, start, environment, wiki=wiki)
    title = " ".join(fields.get("title", ()))
    if wiki:
        title = name_of_note(path)
    elif not title and tokens and tokens[0].type == "heading_open" and tokens[0].tag == "h1":
        title = markdown.plain_heading(tokens[1].content)
        tokens = tokens[3:]
    reader.read(tokens)
    return Page(
        path,
        title or stem_of(path),
        tuple(reader.outline.parts),
        fields,
        tuple(reader.outline.tags),
    )


class _MarkdownReader:
    """Adds the tokens of a text to an outline."""

    def __init__(self, text: str, offset: int, environment: dict[str, Any], *, wiki: bool) -> None:
        self.outline = OutlineBuilder(wiki=wiki)
        self._text = text
        self._starts = markdown.find_line_starts(text, offset)
        self._environment = environment
        self._lines_before = text.count("\n", 0, offset)

    def read(self, tokens: list[Token]) -> None:
        at = 0
        while at < len(tokens):
            end = _find_end(tokens, at)
            self._add_part(tokens[at], tokens[at:end])
            at = end

    def _add_part(self, token: Token, inside: list[Token]) -> None:
        outline, addresses = self.outline, self._find_addresses(inside)
        self._note_line(token)
        if token.type == "heading_open":
            raw, level = inside[1].content, int(token.tag[1:])
            outline.add_heading(level, markdown.plain_heading(raw), addresses, raw=raw)
        elif token.type == "paragraph_open":
            self._add_paragraph(inside[1].content, addresses)
        elif token.type in ("fence", "code_block"):
            self._add_code(token, None)
        elif token.type == "hr":
            outline.add("divider", "")
        elif token.type in LIST_TOKENS and any(map(_is_task, inside)):
            self._add_tasks(inside)
        elif token.type in LIST_TOKENS:
            outline.add("list", self._raw(token), addresses)
        elif token.type == "blockquote_open":
            self._add_quote(QUOTE_MARK.sub("", self._raw(token)), addresses)
        elif token.type == "table_open":
            outline.add("table", self._raw(token), addresses)
        elif token.type == "html_block" and not COMMENT.match(token.content):
            outline.add("paragraph", self._raw(token))

    def _add_paragraph(self, content: str, addresses: tuple[str, ...]) -> None:
        image, embed = IMAGE.match(content), EMBED.match(content)
        if TARGETS.fullmatch(content):
            return  # names of what follows, for links
        if image:
            self.outline.add("image", image[1], properties={"file": image[2]} if image[2] else {})
        elif embed and PICTURE.search(embed[1]):
            self.outline.add("image", embed[2] or "", properties={"file": embed[1]}, raw="")
        elif embed:
            self.outline.add("embed", embed[2] or embed[1], raw=content)
        else:
            self.outline.add("paragraph", content, addresses)

    def _add_quote(self, text: str, addresses: tuple[str, ...]) -> None:
        callout = CALLOUT.match(text)
        if callout:
            kind = {"kind": callout[1].lower()}
            self.outline.add("callout", text[callout.end() :], addresses, properties=kind)
        else:
            self.outline.add("quote", text, addresses)

    def _add_code(self, token: Token, parent: int | None) -> None:
        language = token.info.split()[:1]
        self.outline.add(
            "code",
            token.content.rstrip("\n"),
            parent=parent,
            properties={"language": language[0]} if language else {},
        )

    def _add_tasks(self, inside: list[Token]) -> None:
        """Add the items of a list one by one, each below the one that it is indented under."""
        items: list[int | None] = []
        for token in inside:
            if token.type == "list_item_open":
                items.append(None)
            elif token.type == "list_item_close":
                items.pop()
            elif token.type == "inline":
                parent = _innermost(items)
                self._note_line(token)
                added = self._add_item(token, parent, is_first=items[-1] is None)
                items[-1] = added if items[-1] is None else items[-1]
            elif token.type in ("fence", "code_block"):
                self._note_line(token)
                self._add_code(token, _innermost(items))

    def _add_item(self, token: Token, parent: int | None, *, is_first: bool) -> int:
        content, addresses = token.content, self._find_addresses([token])
        task = TASK.match(content)
        if task and is_first:
            text, properties = parse_task(content[task.end() :], done=task[1] != " ")
            return self.outline.add("todo", text, addresses, parent=parent, properties=properties)
        type_ = "list" if is_first else "paragraph"
        return self.outline.add(type_, content, addresses, parent=parent)

    def _note_line(self, token: Token) -> None:
        if token.map is not None:
            self.outline.line = self._lines_before + token.map[0] + 1

    def _find_addresses(self, tokens: list[Token]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(markdown.find_links(tokens, self._environment)))

    def _raw(self, token: Token) -> str:
        assert token.map is not None, "blocks have lines"
        first, last = token.map
        return self._text[self._starts[first] : self._starts[last]].rstrip()


def _innermost(items: Sequence[int | None]) -> int | None:
    """Return the innermost open item that has a part already."""
    return next((item for item in reversed(items) if item is not None), None)


def _find_end(tokens: list[Token], at: int) -> int:
    """Return the index after the token that closes the one at an index."""
    if tokens[at].nesting <= 0:
        return at + 1
    level = tokens[at].level
    return next(
        index + 1
        for index in range(at + 1, len(tokens))
        if tokens[index].level == level and tokens[index].nesting < 0
    )


def _is_task(token: Token) -> bool:
    return token.type == "inline" and TASK.match(token.content) is not None


# --- reStructuredText --------------------------------------------------------------------------


def _parse_rst(path: str, text: str) -> Page:
    fields, start = front_matter.parse_fields(text)
    if not start:
        header, end = front_matter.parse_header_fields(text)
        if header.get("title"):
            start = end
            fields = {key.replace("-", "_"): [value] for key, (value,) in header.items() if value}
    blocks = [block for block in rst.parse_blocks(text, start) if block.start >= start]
    title = " ".join(fields.get("title", ()))
    if not title and blocks and blocks[0].level:
        title = blocks.pop(0).name
    outline = OutlineBuilder(wiki=False)
    starts = [*(block.start for block in blocks), len(text)]
    for block, end in zip(blocks, starts[1:], strict=True):
        raw = text[block.start : end].rstrip()
        outline.line = text.count("\n", 0, block.start) + 1
        # A trailing underscore marks a reference, not an address.
        links = (link for link in rst.find_links(raw) if not link.endswith("_"))
        addresses = (*links, *(f"pep:{number}" for number in PEP_ROLE.findall(raw)))
        if block.level:
            outline.add_heading(block.level, block.name)
        elif raw.strip():
            type_ = "list" if LIST_MARK.match(raw) else "paragraph"
            outline.add(type_, raw, tuple(dict.fromkeys(addresses)))
    return Page(path, title or stem_of(path), tuple(outline.parts), fields)
