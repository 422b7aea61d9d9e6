"""What is a workspace made of?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeAlias

from quire.core.types.documents import Skipped
from quire.core.types.records import Event

TYPES = (
    "page",
    "paragraph",
    "heading",
    "todo",
    "kanban_card",
    "db",
    "db_row",
    "list",
    "quote",
    "code",
    "image",
    "table",
    "callout",
    "divider",
    "embed",
    "bookmark",
    "comment",
    "equation",
    "file",
    "toggle",
)
"""What a block can be."""
PAGES = ("page", "db", "db_row")
"""Those that others stand on: their text is their title."""

Property: TypeAlias = str | int | float | bool | tuple[str, ...]

NO_PROPERTIES: Mapping[str, Property] = MappingProxyType({})
NO_RELATIONS: Mapping[str, tuple[str, ...]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of a workspace: a page, a paragraph, a task, a row of a table of pages."""

    id: str
    """Empty: one is made when it is written."""
    type: str
    """One of `TYPES`."""
    text: str = ""
    """What it says; of a page, a database or a row its title, of an image its caption."""
    parent: str | None = None
    """The id of the block that it stands in; it need not be there (yet)."""
    position: int = 0
    """Its place among those with the same parent; equal places go by id."""
    properties: Mapping[str, Property] = field(default_factory=lambda: NO_PROPERTIES)
    """`status`, `due`, `done`, `assignee` and whatever else is said of it."""
    relations: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: NO_RELATIONS)
    """By the relation's name the ids of other blocks."""
    links: tuple[str, ...] = ()
    """The ids of what it links to."""
    mentions: tuple[str, ...] = ()
    """The people (or blocks) that it mentions."""
    created: int | None = None
    """Seconds since 1970, UTC; None: when it is first written."""
    edited: int | None = None
    """Seconds since 1970, UTC; None: when it is written."""
    author: str | None = None
    """Who wrote it; None: the owner."""
    access: tuple[str, ...] | None = None
    """Who may read it and what stands in it; None: as of what it stands in."""
    source: str = ""
    """The import that it came with, as a hash."""


@dataclass(frozen=True, slots=True)
class Removed:
    """Blocks that were taken out, each after the one that it stood in, and what was done to them.

    `put_blocks(removed.blocks, events=removed.events, …)` puts them back exactly as they were.
    """

    blocks: tuple[Block, ...]
    events: tuple[Event, ...]

    def __iter__(self) -> Iterator[Block]:
        return iter(self.blocks)

    def __len__(self) -> int:
        return len(self.blocks)


@dataclass(frozen=True, slots=True)
class PagesImported:
    """What became of a folder of pages that was imported."""

    root: str
    """The id of the page that all the others stand below."""
    pages: int
    blocks: int
    added: int
    changed: int
    unchanged: int
    removed: int
    resolved: int
    """Links that lead to another page of the folder."""
    dangling: tuple[Skipped, ...]
    """Links that lead nowhere: on which page, and what they say."""
    skipped: tuple[Skipped, ...] = ()
    notes: tuple[str, ...] = ()
