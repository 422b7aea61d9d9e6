"""The pages of a folder as one tree of blocks.

Each page is a block with its parts as children. Each folder is a page, too: its home page
(`index.md`, `README.md`, a note with the folder's name), else a page with its name. So all of it is
one tree, and sharing its root shares everything.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from quire.core.types import Skipped
from quire.core.types.blocks import Block
from quire.ingest.front_matter import MODIFIED_KEYS, parse_timestamp
from quire.workspace.importers.links import EXTERNAL, LinkResolver, Target
from quire.workspace.importers.markdown import stem_of
from quire.workspace.importers.outline import (
    WIKI_LINK,
    Page,
    Part,
    page_properties,
    slugify,
)
from quire.workspace.importers.readers import Access, Acl, Readers, covers
from quire.workspace.records import SUPERSEDES

NAME_BYTES = 7
"""How many bytes of a name make a page's position: a new page moves no other."""
LINKED_FROM = "linked_from"
"""The relation of a page to the blocks that link to it, where more people may read those."""
NEWER_KEYS = ("superseded_by", "replaced_by")
OLDER_KEYS = ("supersedes", "replaces")
MAX_LINKS = 1000
DEFAULT_ACCESS = Access()


@dataclass(frozen=True, slots=True)
class Folder:
    """The pages of a folder, and what its format says about them."""

    title: str
    pages: Sequence[Page]
    homes: Mapping[str, str]
    """The path of the home page of each folder that has one."""
    files: Sequence[str] = ()
    """All files, pages or not."""
    keys: Mapping[str, str] = field(default_factory=dict)
    """What the id of a page is made from, by path, if not the path itself."""
    relations: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    """Addresses by the path of a page and the name of a relation."""
    parents: Mapping[str, str] = field(default_factory=dict)
    """The path of a page's parent, by path, if not its folder's page."""
    positions: Mapping[str, int] = field(default_factory=dict)
    """The position of a page among its siblings, by path, if not by its name."""
    prefix: str = ""
    """What stands before a path to name a file."""


@dataclass(frozen=True, slots=True)
class ImportedTree:
    """The blocks of a folder, each after its parent, and which links were resolved."""

    root: str
    blocks: list[Block]
    pages: int
    resolved: int
    dangling: list[Skipped]


def build_tree(
    folder: Folder, make_id: Callable[[str, str], str], access: Access = DEFAULT_ACCESS
) -> ImportedTree:
    """Build the blocks of a folder; `make_id` returns the id for a page's key and a part's key."""
    return _TreeBuilder(folder, make_id, access).build()


class _TreeBuilder:
    def __init__(self, folder: Folder, make_id: Callable[[str, str], str], access: Access) -> None:
        self._folder = folder
        self._make_id = make_id
        self._pages = {page.path: page for page in folder.pages}
        self._files = set(folder.files)
        self._home_of = {home: path for path, home in folder.homes.items()}
        self._readers = Readers(
            access,
            dict(self._find_parents()),
            {path: self._page_id(path) for path in self._pages},
            folder.pages,
            folder.homes,
            folder.files,
        )
        self._resolver = LinkResolver(folder.pages, folder.homes, folder.files)
        """Resolves links as the importer sees them, who reads all pages."""
        self._anchors: dict[str, dict[str, list[str]]] = {}
        for page in folder.pages:
            keys = self._anchors.setdefault(page.path, {})
            for part in page.parts:
                if part.anchor:
                    keys.setdefault(part.anchor, []).append(part.key)
        self._superseded = self._find_superseded()
        self._linked_from = self._find_narrow_links()
        self._resolved = 0
        self._dangling: list[Skipped] = []

    def build(self) -> ImportedTree:
        blocks = [block for path in self._find_folders() for block in self._folder_page(path)]
        for page in self._folder.pages:
            blocks += self._page_blocks(page)
        ordered = _parents_first(blocks)
        return ImportedTree(
            ordered[0].id, ordered, len(self._folder.pages), self._resolved, self._dangling
        )

    # --- pages and folders ---------------------------------------------------------------------

    def _find_folders(self) -> list[str]:
        """Return all folders that hold a page, the outermost first."""
        folders = {""}
        for path in self._pages:
            folder = posixpath.dirname(path)
            while folder not in folders:
                folders.add(folder)
                folder = posixpath.dirname(folder)
        return sorted(folders)

    def _folder_page(self, path: str) -> Iterator[Block]:
        """Yield the page of a folder without a home page."""
        if path not in self._folder.homes:
            title = posixpath.basename(path) or self._folder.title
            yield Block(
                self._folder_id(path),
                "page",
                title,
                parent=self._folder_id(posixpath.dirname(path)) if path else None,
                position=_position_by_name(path),
            )

    def _folder_id(self, path: str) -> str:
        home = self._folder.homes.get(path)
        return self._make_id(f"{path}/", "") if home is None else self._page_id(home)

    def _page_id(self, path: str, part_key: str = "") -> str:
        return self._make_id(self._folder.keys.get(path, path), part_key)

    def _parent(self, page: Page) -> str | None:
        if page.path in self._folder.parents:
            return self._page_id(self._folder.parents[page.path])
        # A home page may lie in its folder or beside it; its parent is the folder above either way.
        path = self._home_of.get(page.path, page.path)
        return self._folder_id(posixpath.dirname(path)) if path else None

    def _find_parents(self) -> Iterator[tuple[str, str | None]]:
        """Yield the id of each block with that of its parent."""
        for path in self._find_folders():
            parent = self._folder_id(posixpath.dirname(path)) if path else None
            yield self._folder_id(path), parent
        for page in self._folder.pages:
            yield self._page_id(page.path), self._parent(page)
            for part in page.parts:
                yield self._page_id(page.path, part.key), self._part_parent(page, part)

    def _part_parent(self, page: Page, part: Part) -> str:
        key = "" if part.parent is None else page.parts[part.parent].key
        return self._page_id(page.path, key)

    def _page_blocks(self, page: Page) -> Iterator[Block]:
        path = page.path
        page_id = self._page_id(path)
        fields = page.fields
        edited = (parse_timestamp(text) for key in MODIFIED_KEYS for text in fields.get(key, ()))
        created = (parse_timestamp(text) for text in fields.get("created", ()))
        yield Block(
            page_id,
            page.type,
            page.title,
            parent=self._parent(page),
            position=self._folder.positions.get(
                path, _position_by_name(self._home_of.get(path, path))
            ),
            properties=page_properties(page),
            relations=self._relations(page),
            edited=next((time for time in edited if time is not None), None),
            created=next((time for time in created if time is not None), None),
            file=self._file_of(path),
        )
        for position, part in enumerate(page.parts):
            yield Block(
                self._page_id(path, part.key),
                part.type,
                part.text,
                parent=self._part_parent(page, part),
                position=position,
                properties=part.properties,
                links=self._links(page, part),
                file=self._file_of(path),
                line=part.line,
            )

    def _file_of(self, path: str) -> str:
        """Return the file of a page: its own, or that of the table that it is a row of."""
        if path not in self._files:
            path = self._folder.parents.get(path, "")
        return f"{self._folder.prefix}{path}" if path else ""

    # --- links ---------------------------------------------------------------------------------

    def _links(self, page: Page, part: Part) -> tuple[str, ...]:
        path, acl = page.path, self._readers.of(self._page_id(page.path, part.key))
        resolver = self._readers.resolver(acl)
        links = [(text, self._resolver.resolve_address(path, text)) for text in part.addresses]
        links += [(f"[[{name}]]", self._resolver.resolve_name(path, name)) for name in part.names]
        self._count(path, links)
        targets = [resolver.resolve_address(path, text) for text in part.addresses]
        targets += [resolver.resolve_name(path, name) for name in part.names]
        return tuple(dict.fromkeys(self._target_ids(path, targets, acl)))[:MAX_LINKS]

    def _count(self, source: str, links: Iterable[tuple[str, Target | None]]) -> None:
        """Count the links that lead to a page, and keep those that lead nowhere."""
        for text, target in links:
            if target is None:
                self._dangling.append(Skipped(source, text))
            elif target not in (EXTERNAL, Target(source, target.anchor)):
                self._resolved += 1

    def _target_ids(self, source: str, targets: Iterable[Target | None], acl: Acl) -> Iterator[str]:
        """Yield the ids that links lead to: the page, and the part of it that is named."""
        for target in targets:
            if target is not None and target != EXTERNAL:
                if target.path != source:
                    yield self._page_id(target.path)
                part_id = self._find_part(target, acl)
                if part_id is not None:
                    yield part_id

    def _find_part(self, target: Target, acl: Acl) -> str | None:
        """Return the id of the first part with an anchor that everybody on a list may read."""
        anchors = self._anchors.get(target.path, {})
        keys = anchors.get(target.anchor) or anchors.get(slugify(target.anchor)) or []
        ids = (self._page_id(target.path, key) for key in keys)
        return next((name for name in ids if covers(self._readers.of(name), acl)), None)

    def _find_narrow_links(self) -> dict[str, set[str]]:
        """Return for hidden pages the blocks that link to them and that more people may read."""
        found: dict[str, set[str]] = {}
        for page in self._folder.pages:
            for part in page.parts:
                source = self._page_id(page.path, part.key)
                for target in self._narrow_targets(page.path, part, source):
                    found.setdefault(target, set()).add(source)
        return found

    def _narrow_targets(self, path: str, part: Part, source: str) -> Iterator[str]:
        if not part.addresses and not part.names:
            return
        for acl in self._readers.narrower(self._readers.of(source)):
            resolver = self._readers.resolver(acl)
            targets = [resolver.resolve_address(path, text) for text in part.addresses]
            targets += [resolver.resolve_name(path, name) for name in part.names]
            for target in targets:
                if target is not None and target != EXTERNAL and target.path != path:
                    page_id = self._page_id(target.path)
                    if self._readers.of(page_id) == acl:
                        yield page_id

    def _relations(self, page: Page) -> dict[str, tuple[str, ...]]:
        path, acl = page.path, self._readers.of(self._page_id(page.path))
        resolve = self._readers.resolver(acl).resolve_address
        relations: dict[str, tuple[str, ...]] = {}
        for name, addresses in self._folder.relations.get(path, {}).items():
            self._count(
                path, ((text, self._resolver.resolve_address(path, text)) for text in addresses)
            )
            targets = [resolve(path, address) for address in addresses]
            relations[name] = tuple(dict.fromkeys(self._target_ids(path, targets, acl)))
        for name, links in _linked_fields(page).items():
            self._count(
                path, ((f"[[{text}]]", self._resolver.resolve_name(path, text)) for text in links)
            )
            found = [self._readers.resolver(acl).resolve_name(path, text) for text in links]
            relations[name] = tuple(dict.fromkeys(self._target_ids(path, found, acl)))[:MAX_LINKS]
        superseded = self._superseded.get(path)
        if superseded:
            relations[SUPERSEDES] = tuple(self._page_id(older) for older in sorted(superseded))
        linked_from = self._linked_from.get(self._page_id(path))
        if linked_from:
            relations[LINKED_FROM] = tuple(sorted(linked_from)[:MAX_LINKS])
        return {name: ids for name, ids in relations.items() if ids}

    def _find_superseded(self) -> dict[str, set[str]]:
        """Return the pages that each page supersedes, by the fields of either.

        The newer page names the older one, so its readers must be able to read that.
        """
        superseded: dict[str, set[str]] = {}
        for page in self._folder.pages:
            own = self._readers.of(self._page_id(page.path))
            for acl in (own, *self._readers.narrower(own)):
                for key in (*NEWER_KEYS, *OLDER_KEYS):
                    for newer, older in self._supersession(page, key, acl):
                        lists = [self._readers.of(self._page_id(path)) for path in (newer, older)]
                        if lists[0] == acl and covers(lists[1], acl):
                            superseded.setdefault(newer, set()).add(older)
        return superseded

    def _supersession(self, page: Page, key: str, acl: Acl) -> Iterator[tuple[str, str]]:
        """Yield what a field of a page means to those on a list: a newer and an older page."""
        resolver = self._readers.resolver(acl)
        for text in page.fields.get(key, ()):
            for target in resolver.resolve_field(page.path, text):
                if target is not None and target not in (
                    EXTERNAL,
                    Target(page.path, target.anchor),
                ):
                    pair = page.path, target.path
                    yield pair[::-1] if key in NEWER_KEYS else pair


def _linked_fields(page: Page) -> dict[str, list[str]]:
    """Return the fields of a front matter that name pages in double brackets, and these names.

    What a page supersedes is found apart, with what supersedes it.
    """
    return {
        key: links
        for key, values in page.fields.items()
        if key not in (*NEWER_KEYS, *OLDER_KEYS)
        if (links := [link for value in values for link in WIKI_LINK.findall(value)])
    }


def _position_by_name(path: str) -> int:
    """Return a position that sorts pages by name."""
    name = stem_of(path).casefold().encode()[:NAME_BYTES]
    return int.from_bytes(name.ljust(NAME_BYTES, b"\0"), "big")


def _parents_first(blocks: Sequence[Block]) -> list[Block]:
    """Order blocks such that each comes after its parent; blocks in a circle are left out."""
    children: dict[str | None, list[Block]] = {}
    for block in blocks:
        children.setdefault(block.parent, []).append(block)
    ordered: list[Block] = []
    stack = list(reversed(children.get(None, [])))
    while stack:
        block = stack.pop()
        ordered.append(block)
        stack += reversed(children.get(block.id, []))
    return ordered


def markdown_folder(title: str, pages: Sequence[Page], files: Sequence[str]) -> Folder:
    """Return a tree of Markdown, where `index` or `README` is the home page of its folder."""
    return Folder(title, pages, dict(_find_index_pages(pages)), files)


def _find_index_pages(pages: Iterable[Page]) -> Iterator[tuple[str, str]]:
    rank = {"index": 0, "readme": 1}
    best: dict[str, tuple[int, str]] = {}
    for page in pages:
        own = rank.get(stem_of(page.path).lower())
        if own is not None:
            folder = posixpath.dirname(page.path)
            best[folder] = min(best.get(folder, (9, "")), (own, page.path))
    for folder, (_, path) in best.items():
        yield folder, path


def vault_folder(title: str, pages: Sequence[Page], files: Sequence[str]) -> Folder:
    """Return an Obsidian vault, where a note with a folder's name is its home page."""
    homes = {
        folder: page.path
        for page in pages
        if (folder := posixpath.dirname(page.path))
        and stem_of(page.path) == posixpath.basename(folder)
    }
    return Folder(title, pages, homes, files)


def with_source(tree: ImportedTree, source: str) -> list[Block]:
    """Return the blocks of a tree, marked with the import that they come from."""
    return [replace(block, source=source) for block in tree.blocks]
