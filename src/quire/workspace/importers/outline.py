"""Outlines of pages: headings, and the parts below them.

A part's key consists of the headings above it and of how many parts of its type come before it
there: so an edit leaves the keys of all other sections as they are.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from quire.core.chunking import MAX_LENGTH
from quire.core.types.blocks import NO_PROPERTIES, Property

SLUG_DROPPED = re.compile(r"[^\w\- ]")
ANCHOR = re.compile(r"(?:\A|\s)\^([A-Za-z0-9-]+)\s*\Z")
BACKTICKS = re.compile(r"`+")
WIKI_LINK = re.compile(r"\[\[([^\[\]\n]{1,500})\]\]")
TAG = re.compile(r"(?<![\w/#&])#([^\W\d][\w/-]*)")
LINK_TARGET = re.compile(
    r"\]\([^()\n]{0,2000}\)|^ {0,3}\[[^\[\]\n]{1,500}\]:.*$|=[\"']#", re.MULTILINE
)
"""The address of a link: a heading that it leads to (`#setup`) is no tag."""
DUE = re.compile(
    r"📅\ufe0f?\s*(?P<sign>\d{4}-\d\d-\d\d)"
    r"|\[due::? ?(?P<field>\d{4}-\d\d-\d\d)\]"
    r"|\(due:? (?:on |by )?(?P<words>\d{4}-\d\d-\d\d)\)"
    r"|(?<!\S)due:(?P<key>\d{4}-\d\d-\d\d)(?!\S)",
    re.IGNORECASE,
)
"""A due date, as Obsidian's plug-ins Tasks and Dataview or todo.txt write it, or in words."""


@dataclass(frozen=True, slots=True)
class Part:
    """A heading, a paragraph, a task and so on, with its links."""

    type: str
    text: str
    key: str
    """Identifies the part within its page."""
    parent: int | None
    """The index of its parent among the parts; None: the page itself."""
    properties: Mapping[str, Property] = field(default_factory=lambda: NO_PROPERTIES)
    addresses: tuple[str, ...] = ()
    """The addresses that it links to, as written."""
    names: tuple[str, ...] = ()
    """The pages that it names in double brackets, as written."""
    anchor: str = ""
    """The name by which others may link to it."""
    line: int = 0
    """Its first line in the file."""


@dataclass(frozen=True, slots=True)
class Page:
    """A parsed page of a file."""

    path: str
    title: str
    parts: tuple[Part, ...] = ()
    fields: Mapping[str, list[str]] = field(default_factory=dict)
    """Its front matter."""
    tags: tuple[str, ...] = ()
    type: str = "page"


class OutlineBuilder:
    """Builds the outline of one page, part by part."""

    def __init__(self, *, wiki: bool) -> None:
        self.parts: list[Part] = []
        self.tags: dict[str, None] = {}
        self._wiki = wiki
        self._open: list[tuple[int, int]] = []
        """The open headings: each level with the index of its part."""
        self._counts: Counter[str] = Counter()
        self.line = 0
        """The line of what is added next."""

    @property
    def section(self) -> int | None:
        """The index of the heading above the next part."""
        return self._open[-1][1] if self._open else None

    def add_heading(
        self, level: int, text: str, addresses: tuple[str, ...] = (), *, raw: str | None = None
    ) -> None:
        """Add a heading; it closes those of its level and below."""
        while self._open and self._open[-1][0] >= level:
            self._open.pop()
        names = self._find_names(text if raw is None else raw)
        text, anchor = split_anchor(text)
        slug = slugify(text)
        key = self._make_key(self.section, f"#{slug}")
        self._open.append((level, len(self.parts)))
        parent = self._open[-2][1] if len(self._open) > 1 else None
        self.parts.append(
            Part(
                "heading",
                text,
                key,
                parent,
                {"level": level},
                addresses,
                names,
                anchor or slug,
                self.line,
            )
        )

    def add(
        self,
        type_: str,
        text: str,
        addresses: tuple[str, ...] = (),
        *,
        parent: int | None = None,
        properties: Mapping[str, Property] = NO_PROPERTIES,
        raw: str | None = None,
    ) -> int:
        """Add a part below the open heading, or to another part; return its index.

        `raw` is searched for names and tags in place of the text.
        """
        text, anchor = split_anchor(text) if type_ != "code" else (text, "")
        names = self._find_names(text if raw is None else raw) if type_ != "code" else ()
        above = self.section if parent is None else parent
        line = self.line
        for number, piece in enumerate(_split_long(text)):
            key = self._make_key(above, type_)
            links = (addresses, names, anchor) if number == 0 else ((), (), "")
            self.parts.append(Part(type_, piece, key, above, properties, *links, line))
            line += piece.count("\n")
        return len(self.parts) - 1

    def _find_names(self, text: str) -> tuple[str, ...]:
        """Return the pages that a text names in double brackets; collect its tags."""
        if not self._wiki:
            return ()
        prose = without_code(text)
        bare = LINK_TARGET.sub("] ", WIKI_LINK.sub(" ", prose))
        self.tags.update(dict.fromkeys(TAG.findall(bare)))
        return tuple(dict.fromkeys(match[1] for match in WIKI_LINK.finditer(prose)))

    def _make_key(self, parent: int | None, name: str) -> str:
        above = "" if parent is None else self.parts[parent].key
        key = f"{above}/{name}"
        self._counts[key] += 1
        return f"{key}~{self._counts[key]}"


def parse_task(text: str, *, done: bool) -> tuple[str, dict[str, Property]]:
    """Return the text of a task and its properties; a due date is one of these."""
    properties: dict[str, Property] = {"done": done}
    due = DUE.search(text)
    if due:
        properties["due"] = due["sign"] or due["field"] or due["words"] or due["key"]
        before, after = text[: due.start()].rstrip(), text[due.end() :].strip()
        text = f"{before} {after}".strip()
    return text, properties


def slugify(heading: str) -> str:
    """Return the name of a heading in an address."""
    return SLUG_DROPPED.sub("", heading.strip().lower()).replace(" ", "-")


def split_anchor(text: str) -> tuple[str, str]:
    """Split the anchor (`^name`) off the end of a text."""
    match = ANCHOR.search(text)
    return (text[: match.start()], f"^{match[1]}") if match else (text, "")


def page_properties(page: Page) -> dict[str, Property]:
    """Return the properties of a page: its front matter, and the tags in its text."""
    properties: dict[str, Property] = {}
    for key, values in page.fields.items():
        if key != "title" and values:
            shown = [WIKI_LINK.sub(_shown_name, value) for value in values]
            properties[key] = shown[0] if len(shown) == 1 else tuple(shown)
    if page.tags:
        stated = properties.get("tags", ())
        tags = stated if isinstance(stated, tuple) else (str(stated),)
        properties["tags"] = tuple(dict.fromkeys((*tags, *page.tags)))
    return properties


def _shown_name(link: re.Match[str]) -> str:
    """Return what a reader sees of a link in double brackets: its alias, or the page's name."""
    name, _, alias = link[1].partition("|")
    return alias.strip() or name.rpartition("/")[2].strip()


def _split_long(text: str) -> list[str]:
    """Split a text that is too long for one block, at line ends."""
    pieces: list[str] = []
    while len(text) > MAX_LENGTH:
        end = text.rfind("\n", 1, MAX_LENGTH) + 1 or MAX_LENGTH
        pieces.append(text[:end])
        text = text[end:]
    return [*pieces, text]


def without_code(text: str) -> str:
    """Replace each code span by a blank: what stands between two equal runs of backticks.

    As far as a run has no equal after it, its last backticks may open a span.
    """
    runs = [match.span() for match in BACKTICKS.finditer(text)]
    closings: dict[int, deque[int]] = {}
    for start, end in runs:
        closings.setdefault(end - start, deque()).append(start)
    out: list[str] = []
    at = 0
    for start, end in runs:
        if start < at:
            continue
        for length in range(end - start, 0, -1):
            following = closings.get(length, deque())
            while following and following[0] < end:
                following.popleft()
            if following:
                out += [text[at : end - length], " "]
                at = following[0] + length
                break
    return "".join([*out, text[at:]])
