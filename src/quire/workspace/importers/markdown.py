"""What does a page of Markdown, or of reStructuredText, consist of?"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from quire.ingest import front_matter, markdown, rst
from quire.workspace.importers.outline import Laying, Page, task

if TYPE_CHECKING:
    from markdown_it.token import Token

TASK = re.compile(r"\[([ xX])\][ \t]+")
QUOTED = re.compile(r"^[ \t]*>[ \t]?", re.MULTILINE)
CALLOUT = re.compile(r"\A\[!(\w+)\][+-]?[ \t]*")
IMAGE = re.compile(r"\A!\[([^\]]*)\]\(\s*<?([^)>\s]*)>?[^)]*\)\Z")
EMBED = re.compile(r"\A!\[\[([^\[\]|]+)(?:\|([^\[\]]*))?\]\]\Z")
PICTURE = re.compile(r"\.(?:png|jpe?g|gif|svg|webp|bmp|avif)\Z", re.IGNORECASE)
COMMENT = re.compile(r"\A\s*(?:<!--.*?-->\s*)+\Z", re.DOTALL)
PEP_ROLE = re.compile(r":pep:`(?:[^`<>]*<)?(\d{1,5})[^`]*`")
LISTED = re.compile(r"(?:[-*+•]|\d{1,3}[.)]|#\.)\s")
LISTS = frozenset({"bullet_list_open", "ordered_list_open"})
ENDINGS = (".md", ".markdown", ".rst")


def page_of(path: str, text: str, *, wiki: bool = False) -> Page:
    """Read a page; `wiki`: its title is its file's name, and double brackets are links."""
    if path.lower().endswith(".rst"):
        return _rst(path, text)
    return _markdown(path, text, wiki=wiki)


def stem_of(path: str) -> str:
    """Give a file's name without its folder and ending."""
    name = path.rpartition("/")[2]
    return name.rpartition(".")[0] if name.lower().endswith(ENDINGS) else name


# --- Markdown ----------------------------------------------------------------------------------


def _markdown(path: str, text: str, *, wiki: bool) -> Page:
    fields, start = front_matter.parse_fields(text)
    environment: dict[str, Any] = {}
    tokens = markdown.get_block_parser().parse(text[start:], environment)
    reader = _Reader(text, start, environment, wiki=wiki)
    title = " ".join(fields.get("title", ()))
    if wiki:
        title = stem_of(path)
    elif not title and tokens and tokens[0].type == "heading_open" and tokens[0].tag == "h1":
        title = markdown.plain_heading(tokens[1].content)
        tokens = tokens[3:]
    reader.read(tokens)
    return Page(
        path, title or stem_of(path), tuple(reader.laying.parts), fields, tuple(reader.laying.tags)
    )


class _Reader:
    """Goes through the tokens of a text."""

    def __init__(self, text: str, offset: int, environment: dict[str, Any], *, wiki: bool) -> None:
        self.laying = Laying(wiki=wiki)
        self._text = text
        self._starts = markdown.find_line_starts(text, offset)
        self._environment = environment

    def read(self, tokens: list[Token]) -> None:
        at = 0
        while at < len(tokens):
            end = _end(tokens, at)
            self._part(tokens[at], tokens[at:end])
            at = end

    def _part(self, token: Token, inside: list[Token]) -> None:
        laying, addresses = self.laying, self._addresses(inside)
        if token.type == "heading_open":
            said = inside[1].content
            laying.head(int(token.tag[1:]), markdown.plain_heading(said), addresses, says=said)
        elif token.type == "paragraph_open":
            self._paragraph(inside[1].content, addresses)
        elif token.type in ("fence", "code_block"):
            self._code(token, None)
        elif token.type == "hr":
            laying.add("divider", "")
        elif token.type in LISTS and any(map(_is_task, inside)):
            self._tasks(inside)
        elif token.type in LISTS:
            laying.add("list", self._raw(token), addresses)
        elif token.type == "blockquote_open":
            self._quote(QUOTED.sub("", self._raw(token)), addresses)
        elif token.type == "table_open":
            laying.add("table", self._raw(token), addresses)
        elif token.type == "html_block" and not COMMENT.match(token.content):
            laying.add("paragraph", self._raw(token))

    def _paragraph(self, content: str, addresses: tuple[str, ...]) -> None:
        image, embed = IMAGE.match(content), EMBED.match(content)
        if image:
            self.laying.add("image", image[1], properties={"file": image[2]} if image[2] else {})
        elif embed and PICTURE.search(embed[1]):
            self.laying.add("image", embed[2] or "", properties={"file": embed[1]}, says="")
        elif embed:
            self.laying.add("embed", embed[2] or embed[1], says=content)
        else:
            self.laying.add("paragraph", content, addresses)

    def _quote(self, text: str, addresses: tuple[str, ...]) -> None:
        callout = CALLOUT.match(text)
        if callout:
            kind = {"kind": callout[1].lower()}
            self.laying.add("callout", text[callout.end() :], addresses, properties=kind)
        else:
            self.laying.add("quote", text, addresses)

    def _code(self, token: Token, parent: int | None) -> None:
        language = token.info.split()[:1]
        self.laying.add(
            "code",
            token.content.rstrip("\n"),
            parent=parent,
            properties={"language": language[0]} if language else {},
        )

    def _tasks(self, inside: list[Token]) -> None:
        """Add the items of a list one by one, each in the one that it is indented below."""
        items: list[int | None] = []
        for token in inside:
            if token.type == "list_item_open":
                items.append(None)
            elif token.type == "list_item_close":
                items.pop()
            elif token.type == "inline":
                within = next((one for one in reversed(items) if one is not None), None)
                made = self._item(token, within, again=items[-1] is not None)
                items[-1] = made if items[-1] is None else items[-1]
            elif token.type in ("fence", "code_block"):
                self._code(token, next((one for one in reversed(items) if one is not None), None))

    def _item(self, token: Token, within: int | None, *, again: bool) -> int:
        content, addresses = token.content, self._addresses([token])
        met = TASK.match(content)
        if met and not again:
            text, properties = task(content[met.end() :], done=met[1] != " ")
            return self.laying.add("todo", text, addresses, parent=within, properties=properties)
        return self.laying.add("paragraph" if again else "list", content, addresses, parent=within)

    def _addresses(self, tokens: list[Token]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(markdown.find_links(tokens, self._environment)))

    def _raw(self, token: Token) -> str:
        assert token.map is not None, "blocks have lines"
        first, last = token.map
        return self._text[self._starts[first] : self._starts[last]].rstrip()


def _end(tokens: list[Token], at: int) -> int:
    """Find where what is opened is closed."""
    if tokens[at].nesting <= 0:
        return at + 1
    level = tokens[at].level
    return next(
        place + 1
        for place in range(at + 1, len(tokens))
        if tokens[place].level == level and tokens[place].nesting < 0
    )


def _is_task(token: Token) -> bool:
    return token.type == "inline" and TASK.match(token.content) is not None


# --- reStructuredText --------------------------------------------------------------------------


def _rst(path: str, text: str) -> Page:
    fields, start = front_matter.parse_fields(text)
    if not start:
        header, end = front_matter.parse_header_fields(text)
        if header.get("title"):
            start = end
            fields = {key.replace("-", "_"): [one] for key, (one,) in header.items() if one}
    found = [block for block in rst.parse_blocks(text, start) if block.start >= start]
    title = " ".join(fields.get("title", ()))
    if not title and found and found[0].level:
        title = found.pop(0).name
    laying = Laying(wiki=False)
    ends = [*(block.start for block in found[1:]), len(text)]
    for block, end in zip(found, ends, strict=True):
        raw = text[block.start : end].rstrip()
        named = (one for one in rst.find_links(raw) if not one.endswith("_"))  # that is a reference
        addresses = (*named, *(f"pep:{one}" for one in PEP_ROLE.findall(raw)))
        if block.level:
            laying.head(block.level, block.name)
        elif raw.strip():
            listed = LISTED.match(raw)
            laying.add("list" if listed else "paragraph", raw, tuple(dict.fromkeys(addresses)))
    return Page(path, title or stem_of(path), tuple(laying.parts), fields)
