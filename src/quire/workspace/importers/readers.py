"""Who may read the pages of a folder, and so which pages a link on one of them can mean.

A link is resolved over the pages that everybody may read who reads the link: a page that is hidden
from some of them must not change where it leads, nor whether it leads anywhere. For the readers of
a hidden page, a link that leads to it is kept with that page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from quire.core.types import PUBLIC
from quire.workspace.importers.links import LinkResolver
from quire.workspace.importers.outline import Page

Acl = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Access:
    """Who may read the blocks of an import, by their ids."""

    own: Callable[[str], Acl | None] = lambda _: None
    """The access list that a block has of its own; None: it inherits that of its parent."""
    root: Callable[[str], Acl | None] = lambda _: None
    """The access list of the root."""
    ruled: Callable[[str], Acl] = lambda _: (PUBLIC,)
    """Who may read a block for which the rules decide."""


def covers(wide: Acl, narrow: Acl) -> bool:
    """Return whether everybody on one list is certainly on another."""
    return PUBLIC in wide or set(narrow) <= set(wide)


@dataclass(slots=True)
class Readers:
    """The readers of all blocks of a folder, and the resolvers of their links."""

    access: Access
    parents: Mapping[str, str | None]
    """The parent of each block, by id."""
    page_ids: Mapping[str, str]
    """The id of each page, by path."""
    pages: Sequence[Page]
    homes: Mapping[str, str]
    files: Sequence[str]
    _known: dict[str, Acl] = field(default_factory=dict)
    _resolvers: dict[Acl, LinkResolver] = field(default_factory=dict)
    _classes: tuple[Acl, ...] = ()

    def __post_init__(self) -> None:
        lists = {self.of(block_id) for block_id in self.page_ids.values()}
        self._classes = tuple(sorted(lists))

    def of(self, block_id: str) -> Acl:
        """Return who may read a block: by its own list, else by that of the nearest parent."""
        if block_id not in self._known:
            self._known[block_id] = self._find(block_id)
        return self._known[block_id]

    def _find(self, block_id: str) -> Acl:
        name: str | None = block_id
        seen: set[str] = set()
        while name is not None and name not in seen:
            seen.add(name)
            parent = self.parents.get(name)
            own = self.access.root(name) if parent is None else self.access.own(name)
            if own is not None:
                return own
            name = parent
        return self.access.ruled(block_id)

    def resolver(self, acl: Acl) -> LinkResolver:
        """Return what resolves links over the pages that everybody on a list may read."""
        resolver = self._resolvers.get(acl)
        if resolver is None:
            resolver = self._resolvers[acl] = self._make_resolver(acl)
        return resolver

    def _make_resolver(self, acl: Acl) -> LinkResolver:
        pages = [page for page in self.pages if covers(self.of(self.page_ids[page.path]), acl)]
        paths = {page.path for page in pages}
        homes = {folder: path for folder, path in self.homes.items() if path in paths}
        every = {page.path for page in self.pages}  # a hidden page is no file either
        return LinkResolver(pages, homes, [path for path in self.files if path not in every])

    def narrower(self, acl: Acl) -> Iterator[Acl]:
        """Yield the access lists of pages that only some of those on a list may read."""
        return (each for each in self._classes if each != acl and covers(acl, each))
