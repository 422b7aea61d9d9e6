"""What a block inherits from its parents: access, and the title of its page.

A block without an access list of its own has that of its parent. Text that is embedded holds
nothing of another access class: a block shows the title of its page only where both have the same
access.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from quire.core.types.blocks import PAGES, Block
from quire.workspace import text

Access = tuple[str, ...] | None
MAX_PAGES = 32
"""How many pages above a block are looked at."""


@dataclass(frozen=True, slots=True)
class InheritedAccess:
    """What a block inherits from its parents."""

    access: Access = None
    """Who may read its parent; None: the space's rules decide."""
    page: str | None = None
    """The nearest page above it."""
    title: str = ""
    page_access: Access = None
    pages: tuple[str, ...] = ()
    """The nearest imported pages above it, the outermost first, as many as a path has folders."""
    is_uniform: bool = True
    """Whether all pages above it have the same access."""

    def access_of(self, block: Block) -> Access:
        """Return who may read a block in this place: its own list, or the inherited one."""
        return self.access if block.access is None else block.access

    def shows_title(self, block: Block) -> bool:
        """Return whether a block in this place may show the title of its page."""
        return self.page is not None and self.access_of(block) == self.page_access

    def shows_folders(self, block: Block) -> bool:
        """Return whether a block in this place may name the folders of its file.

        They are pages above it, whose titles not everybody who reads the block may know.
        """
        if block.file.count("/") >= MAX_PAGES or not self.is_uniform:
            return False
        return self.page is None or self.access_of(block) == self.page_access

    def inside(self, block: Block) -> InheritedAccess:
        """Return what the children of a block in this place inherit."""
        access = self.access_of(block)
        if block.type in PAGES:
            return InheritedAccess(
                access,
                block.id,
                text.title_of(block),
                access,
                (*self.pages, block.id)[-MAX_PAGES:] if block.source else self.pages,
                self.is_uniform and (self.page is None or access == self.page_access),
            )
        return replace(self, access=access)


NOTHING_INHERITED = InheritedAccess()
"""What a root inherits, and a block whose parent does not exist."""
