"""What a block inherits from its parents: access, and the title of its page.

A block without an access list of its own has that of its parent. Text that is embedded holds
nothing of another access class: a block shows the title of its page only where both have the same
access.
"""

from __future__ import annotations

from dataclasses import dataclass

from quire.core.types.blocks import PAGES, Block
from quire.workspace import text

Access = tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class InheritedAccess:
    """What a block inherits from its parents."""

    access: Access = None
    """Who may read its parent; None: the space's rules decide."""
    page: str | None = None
    """The nearest page above it."""
    title: str = ""
    page_access: Access = None

    def access_of(self, block: Block) -> Access:
        """Return who may read a block in this place: its own list, or the inherited one."""
        return self.access if block.access is None else block.access

    def shows_title(self, block: Block) -> bool:
        """Return whether a block in this place may show the title of its page."""
        return self.page is not None and self.access_of(block) == self.page_access

    def inside(self, block: Block) -> InheritedAccess:
        """Return what the children of a block in this place inherit."""
        access = self.access_of(block)
        if block.type in PAGES:
            return InheritedAccess(access, block.id, text.title_of(block), access)
        return InheritedAccess(access, self.page, self.title, self.page_access)


NOTHING_INHERITED = InheritedAccess()
"""What a root inherits, and a block whose parent does not exist."""
