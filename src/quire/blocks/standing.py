"""What does a block take over from what it stands in?

Who may read it, unless it says so itself, and the title of its page. Text that is embedded holds
nothing of another access class: the title stands above a block only where whoever may read the
block may read the page.
"""

from __future__ import annotations

from dataclasses import dataclass

from quire.blocks import wording
from quire.values.blocks import PAGES, Block

Access = tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Standing:
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

    def within(self, block: Block) -> Standing:
        """Tell what stands above whatever stands in a block that stands here."""
        access = self.access_of(block)
        if block.type in PAGES:
            return Standing(access, block.id, wording.title(block), access)
        return Standing(access, self.page, self.title, self.page_access)


NOWHERE = Standing()
"""Where the root of a tree stands, and whatever stands in something that is not there."""
