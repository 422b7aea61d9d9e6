"""What does a block take over from what it stands in?

Who may read it, unless it says so itself, and the title of its page. Text that is embedded holds
nothing of another access class: the title stands above a block only where whoever may read the
block may read the page.
"""

from __future__ import annotations

from dataclasses import dataclass

from quire.core.types.blocks import PAGES, Block
from quire.workspace import text

Access = tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class InheritedAccess:
    """What stands above a block."""

    access: Access = None
    """Who may read what it stands in; None: the space's rules decide."""
    page: str | None = None
    """The nearest page above it."""
    title: str = ""
    page_access: Access = None

    def access_of(self, block: Block) -> Access:
        """Tell who may read a block that stands here: its own list goes first."""
        return self.access if block.access is None else block.access

    def heads(self, block: Block) -> bool:
        """Tell whether the page's title may stand above a block that stands here."""
        return self.page is not None and self.access_of(block) == self.page_access

    def within(self, block: Block) -> InheritedAccess:
        """Tell what stands above whatever stands in a block that stands here."""
        access = self.access_of(block)
        if block.type in PAGES:
            return InheritedAccess(access, block.id, text.title(block), access)
        return InheritedAccess(access, self.page, self.title, self.page_access)


NOWHERE = InheritedAccess()
"""Where the root of a tree stands, and whatever stands in something that is not there."""
