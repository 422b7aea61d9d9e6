"""Blocks: the records of a workspace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from types import MappingProxyType
from typing import TypeAlias

from quire.core.frozen import dataclass
from quire.core.types.documents import Redaction, Skipped
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
"""The types of blocks."""
PAGES = ("page", "db", "db_row")
"""Types that contain other blocks as pages: their text is their title."""

Property: TypeAlias = str | int | float | bool | tuple[str, ...]

NO_PROPERTIES: Mapping[str, Property] = MappingProxyType({})
NO_RELATIONS: Mapping[str, tuple[str, ...]] = MappingProxyType({})


IMPORTED = "imported"
"""The note of a space with the folders of the project whose pages it has as blocks."""
VAULT_FOLDERS = (".obsidian/", ".trash/")
"""What Obsidian keeps for itself in a vault: settings, plug-ins, deleted notes."""
IMPORTS = "imports"
"""The note of a space with the imports of folders in the project, by their sources."""
IMPORT_FOLDER = ".quire/import"
"""Stamps of imported files have paths below it: the source of the import, then the file."""


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a workspace: a page, a paragraph, a task, a row of a database."""

    id: str
    """Empty: an id is generated when the block is written."""
    type: str
    """One of `TYPES`."""
    text: str = ""
    """Its text; of a page, a database or a row the title, of an image the caption."""
    parent: str | None = None
    """The id of the block that contains it; that block need not exist (yet)."""
    position: int = 0
    """Its place among its siblings; equal places are ordered by id."""
    properties: Mapping[str, Property] = field(default_factory=lambda: NO_PROPERTIES)
    """`status`, `due`, `done`, `assignee` and any others."""
    relations: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: NO_RELATIONS)
    """The ids of other blocks, by the name of the relation."""
    links: tuple[str, ...] = ()
    """The ids of the records that it links to."""
    mentions: tuple[str, ...] = ()
    """The people (or blocks) that it mentions."""
    created: int | None = None
    """Seconds since 1970, UTC; None: the time of the first write."""
    edited: int | None = None
    """Seconds since 1970, UTC; None: the time of the write."""
    author: str | None = None
    """Who wrote it; None: the owner."""
    access: tuple[str, ...] | None = None
    """Who may read it and the blocks in it; None: inherited from its parent."""
    source: str = ""
    """The import that created it, as a hash."""
    file: str = ""
    """The file that it was imported from, from the root of the project."""
    line: int = 0
    """Its first line in that file; 0: it is the whole file, or that is not known."""


@dataclass(frozen=True, slots=True)
class RemovedBlocks:
    """Blocks that were deleted, parents first, and their events.

    `put_blocks(removed.blocks, events=removed.events, …)` restores them exactly.
    """

    blocks: tuple[Block, ...]
    events: tuple[Event, ...]

    def __iter__(self) -> Iterator[Block]:
        return iter(self.blocks)

    def __len__(self) -> int:
        return len(self.blocks)


@dataclass(frozen=True, slots=True)
class PageImportResult:
    """The result of importing a folder of pages."""

    root: str
    """The id of the page that contains all others."""
    pages: int
    blocks: int
    added: int
    changed: int
    unchanged: int
    removed: int
    resolved: int
    """Number of links to another page of the folder."""
    dangling: tuple[Skipped, ...]
    """Links without a target, each with its page and text."""
    skipped: tuple[Skipped, ...] = ()
    redacted: tuple[Redaction, ...] = ()
    notes: tuple[str, ...] = ()
