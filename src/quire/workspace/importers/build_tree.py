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
from quire.workspace.importers.outline import Page, Part, page_properties, slugify
from quire.workspace.records import SUPERSEDES

NAME_BYTES = 7
"""How many bytes of a name make a page's position: a new page moves no other."""
NEWER_KEYS = ("superseded_by", "replaced_by")
OLDER_KEYS = ("supersedes", "replaces")
MAX_LINKS = 1000


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


@dataclass(frozen=True, slots=True)
class ImportedTree:
    """The blocks of a folder, each after its parent, and which links were resolved."""

    root: str
    blocks: list[Block]
    pages: int
    resolved: int
    dangling: list[Skipped]


def build_tree(folder: Folder, make_id: Callable[[str, str], str]) -> ImportedTree:
    """Build the blocks of a folder; `make_id` returns the id for a page's key and a part's key."""
    return _TreeBuilder(folder, make_id).build()


class _TreeBuilder:
    def __init__(self, folder: Folder, make_id: Callable[[str, str], str]) -> None:
        self._folder = folder
        self._make_id = make_id
        self._pages = {page.path: page for page in folder.pages}
        self._home_of = {home: path for path, home in folder.homes.items()}
        self._resolver = LinkResolver(folder.pages, folder.homes, folder.files)
        self._anchors = {
            page.path: {part.anchor: part.key for part in reversed(page.parts) if part.anchor}
            for page in folder.pages
        }
        self._superseded = self._find_superseded()
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
        )
        for position, part in enumerate(page.parts):
            parent = (
                page_id if part.parent is None else self._page_id(path, page.parts[part.parent].key)
            )
            yield Block(
                self._page_id(path, part.key),
                part.type,
                part.text,
                parent=parent,
                position=position,
                properties=part.properties,
                links=self._links(page, part),
            )

    # --- links ---------------------------------------------------------------------------------

    def _links(self, page: Page, part: Part) -> tuple[str, ...]:
        resolver, path = self._resolver, page.path
        links = [(text, resolver.resolve_address(path, text)) for text in part.addresses]
        links += [(f"[[{name}]]", resolver.resolve_name(path, name)) for name in part.names]
        return tuple(dict.fromkeys(self._target_ids(path, links)))[:MAX_LINKS]

    def _target_ids(self, source: str, links: Iterable[tuple[str, Target | None]]) -> Iterator[str]:
        """Yield the ids that links lead to: the page, and the part of it that is named."""
        for text, target in links:
            if target is None:
                self._dangling.append(Skipped(source, text))
            elif target != EXTERNAL:
                if target.path != source:
                    self._resolved += 1
                    yield self._page_id(target.path)
                part_key = self._find_part(target)
                if part_key is not None:
                    yield self._page_id(target.path, part_key)

    def _find_part(self, target: Target) -> str | None:
        anchors = self._anchors.get(target.path, {})
        return anchors.get(target.anchor, anchors.get(slugify(target.anchor)))

    def _relations(self, page: Page) -> dict[str, tuple[str, ...]]:
        path, resolve = page.path, self._resolver.resolve_address
        relations: dict[str, tuple[str, ...]] = {}
        for name, addresses in self._folder.relations.get(path, {}).items():
            links = [(address, resolve(path, address)) for address in addresses]
            relations[name] = tuple(dict.fromkeys(self._target_ids(path, links)))
        superseded = self._superseded.get(path)
        if superseded:
            relations[SUPERSEDES] = tuple(self._page_id(older) for older in sorted(superseded))
        return {name: ids for name, ids in relations.items() if ids}

    def _find_superseded(self) -> dict[str, set[str]]:
        """Return the pages that each page supersedes, by the fields of either."""
        superseded: dict[str, set[str]] = {}
        for page in self._folder.pages:
            for key in (*NEWER_KEYS, *OLDER_KEYS):
                for text in page.fields.get(key, ()):
                    for target in self._resolver.resolve_field(page.path, text):
                        if target is None or target == EXTERNAL or target.path == page.path:
                            continue
                        newer, older = page.path, target.path
                        if key in NEWER_KEYS:
                            newer, older = older, newer
                        superseded.setdefault(newer, set()).add(older)
        return superseded


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
