"""Of which parts does a page consist?

Headings hold what stands below them; a part has a place that is named by the headings above it and
by how many of its type come before it there: so an edit leaves the names of all other sections as
they are.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from quire.core.chunking import MAX_LENGTH
from quire.core.types.blocks import NO_PROPERTIES, Property

DROPPED = re.compile(r"[^\w\- ]")
ANCHOR = re.compile(r"(?:\A|\s)\^([A-Za-z0-9-]+)\s*\Z")
CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)
WIKI = re.compile(r"\[\[([^\[\]\n]{1,500})\]\]")
TAG = re.compile(r"(?<![\w/#&])#([^\W\d][\w/-]*)")
DUE = re.compile(r"📅\ufe0f?\s*(\d{4}-\d\d-\d\d)")


@dataclass(frozen=True, slots=True)
class Part:
    """A heading, a paragraph, a task and so on, with what it refers to."""

    type: str
    text: str
    place: str
    parent: int | None
    """The place among the parts of the one that it stands in; None: the page itself."""
    properties: Mapping[str, Property] = field(default_factory=lambda: NO_PROPERTIES)
    addresses: tuple[str, ...] = ()
    """Where it links to, as it is written."""
    names: tuple[str, ...] = ()
    """The pages that it names in double brackets, as they are written there."""
    anchor: str = ""
    """The name by which others may link to it."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page as it stands in a file."""

    path: str
    title: str
    parts: tuple[Part, ...] = ()
    fields: Mapping[str, list[str]] = field(default_factory=dict)
    """What its front matter says."""
    tags: tuple[str, ...] = ()
    type: str = "page"


class Laying:
    """Puts the parts of one page together, one after the other."""

    def __init__(self, *, wiki: bool) -> None:
        self.parts: list[Part] = []
        self.tags: dict[str, None] = {}
        self._wiki = wiki
        self._open: list[tuple[int, int]] = []
        """The headings that are open: each level with the place of its part."""
        self._met: Counter[str] = Counter()

    @property
    def section(self) -> int | None:
        """The heading that the next part stands below."""
        return self._open[-1][1] if self._open else None

    def head(
        self, level: int, text: str, addresses: tuple[str, ...] = (), *, says: str | None = None
    ) -> None:
        """Add a heading; it closes those of its level and below."""
        while self._open and self._open[-1][0] >= level:
            self._open.pop()
        names = self._named(text if says is None else says)
        text, anchor = anchored(text)
        slug = slug_of(text)
        place = self._place(self.section, f"#{slug}")
        self._open.append((level, len(self.parts)))
        above = self._open[-2][1] if len(self._open) > 1 else None
        self.parts.append(
            Part("heading", text, place, above, {"level": level}, addresses, names, anchor or slug)
        )

    def add(
        self,
        type_: str,
        text: str,
        addresses: tuple[str, ...] = (),
        *,
        parent: int | None = None,
        properties: Mapping[str, Property] = NO_PROPERTIES,
        says: str | None = None,
    ) -> int:
        """Add a part below the open heading, or in another part; gives its place.

        `says` is where names and tags are looked for, if not in the text.
        """
        text, anchor = anchored(text) if type_ != "code" else (text, "")
        names = self._named(text if says is None else says) if type_ != "code" else ()
        within = self.section if parent is None else parent
        for number, piece in enumerate(_pieces(text)):
            place = self._place(within, type_)
            only = (addresses, names, anchor) if number == 0 else ((), (), "")
            self.parts.append(Part(type_, piece, place, within, properties, *only))
        return len(self.parts) - 1

    def _named(self, text: str) -> tuple[str, ...]:
        """Give the pages that a text names in double brackets; note its tags."""
        if not self._wiki:
            return ()
        running = CODE.sub(" ", text)
        self.tags.update(dict.fromkeys(TAG.findall(WIKI.sub(" ", running))))
        return tuple(dict.fromkeys(match[1] for match in WIKI.finditer(running)))

    def _place(self, within: int | None, name: str) -> str:
        above = "" if within is None else self.parts[within].place
        place = f"{above}/{name}"
        self._met[place] += 1
        return f"{place}~{self._met[place]}"


def task(text: str, *, done: bool) -> tuple[str, dict[str, Property]]:
    """Give the text of a task and its properties; a date behind 📅 is when it is due."""
    properties: dict[str, Property] = {"done": done}
    due = DUE.search(text)
    if due:
        properties["due"] = due[1]
        text = (text[: due.start()] + text[due.end() :]).strip()
    return text, properties


def slug_of(heading: str) -> str:
    """Give the name of a heading in an address."""
    return DROPPED.sub("", heading.strip().lower()).replace(" ", "-")


def anchored(text: str) -> tuple[str, str]:
    """Take the name (`^name`) off the end of a text."""
    found = ANCHOR.search(text)
    return (text[: found.start()], f"^{found[1]}") if found else (text, "")


def properties_of(page: Page) -> dict[str, Property]:
    """Give what a page says of itself, with the tags in its text."""
    told: dict[str, Property] = {}
    for key, values in page.fields.items():
        if key != "title" and values:
            told[key] = values[0] if len(values) == 1 else tuple(values)
    if page.tags:
        known = told.get("tags", ())
        held = known if isinstance(known, tuple) else (str(known),)
        told["tags"] = tuple(dict.fromkeys((*held, *page.tags)))
    return told


def _pieces(text: str) -> list[str]:
    """Cut what is too long for one block at the ends of its lines."""
    pieces: list[str] = []
    while len(text) > MAX_LENGTH:
        end = text.rfind("\n", 1, MAX_LENGTH) + 1 or MAX_LENGTH
        pieces.append(text[:end])
        text = text[end:]
    return [*pieces, text]
