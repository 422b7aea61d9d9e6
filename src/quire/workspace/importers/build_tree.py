"""How do the pages of a folder become blocks?

Each page is a block that holds its parts; each folder is a page, too: the one that stands for it
(`index.md`, `README.md`, a note of the folder's name), else one with its name. So all of it is one
tree, and sharing its root shares everything.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from quire.core.types import Skipped
from quire.core.types.blocks import Block
from quire.ingest.front_matter import MODIFIED_KEYS, parse_timestamp
from quire.workspace.importers.links import ELSEWHERE, Meanings, Target
from quire.workspace.importers.markdown import stem_of
from quire.workspace.importers.outline import Page, Part, properties_of, slug_of
from quire.workspace.records import SUPERSEDES

LETTERS = 7
"""So many bytes of a name make the place of a page among its siblings: a new one moves no other."""
NEWER = ("superseded_by", "replaced_by")
OLDER = ("supersedes", "replaces")
MOST_LINKS = 1000


@dataclass(frozen=True, slots=True)
class Folder:
    """The pages of a folder, each with the key that its id is made of."""

    title: str
    pages: Sequence[Page]
    homes: Mapping[str, str]
    """By the path of a folder the path of the page that stands for it."""
    files: Sequence[str] = ()
    """All files, pages or not."""
    keys: Mapping[str, str] = field(default_factory=dict)
    """By the path of a page the key of its id, if it is not the path itself."""
    relations: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    """By the path of a page, by the name of a relation, addresses."""
    parents: Mapping[str, str] = field(default_factory=dict)
    """By the path of a page the path of the page that it stands in, if not its folder's."""
    places: Mapping[str, int] = field(default_factory=dict)
    """By the path of a page its place among its siblings, if not by its name."""


@dataclass(frozen=True, slots=True)
class ImportedTree:
    """The blocks of a folder, each after the one that it stands in, and how its links fared."""

    root: str
    blocks: list[Block]
    pages: int
    resolved: int
    dangling: list[Skipped]


def lay(folder: Folder, name: Callable[[str, str], str]) -> ImportedTree:
    """Make the blocks of a folder; `name` gives the id for a page's key and a part's place."""
    return _Laying(folder, name).laid()


class _Laying:
    def __init__(self, folder: Folder, name: Callable[[str, str], str]) -> None:
        self._folder = folder
        self._name = name
        self._pages = {page.path: page for page in folder.pages}
        self._home_of = {home: path for path, home in folder.homes.items()}
        self._meanings = Meanings(folder.pages, folder.homes, folder.files)
        self._anchors = {
            page.path: {part.anchor: part.place for part in reversed(page.parts) if part.anchor}
            for page in folder.pages
        }
        self._newer = self._superseding()
        self._resolved = 0
        self._dangling: list[Skipped] = []

    def laid(self) -> ImportedTree:
        blocks = [block for path in self._folders() for block in self._bare(path)]
        for page in self._folder.pages:
            blocks += self._blocks(page)
        order = _in_order(blocks)
        return ImportedTree(
            order[0].id, order, len(self._folder.pages), self._resolved, self._dangling
        )

    # --- pages and folders ---------------------------------------------------------------------

    def _folders(self) -> list[str]:
        """Name all folders that hold a page, the outermost first."""
        found = {""}
        for path in self._pages:
            above = posixpath.dirname(path)
            while above not in found:
                found.add(above)
                above = posixpath.dirname(above)
        return sorted(found)

    def _bare(self, path: str) -> Iterator[Block]:
        """Make the page of a folder that no page stands for."""
        if path not in self._folder.homes:
            title = posixpath.basename(path) or self._folder.title
            yield Block(
                self._folder_id(path),
                "page",
                title,
                parent=self._folder_id(posixpath.dirname(path)) if path else None,
                position=_by_name(path),
            )

    def _folder_id(self, path: str) -> str:
        home = self._folder.homes.get(path)
        return self._name(f"{path}/", "") if home is None else self._page_id(home)

    def _page_id(self, path: str, place: str = "") -> str:
        return self._name(self._folder.keys.get(path, path), place)

    def _parent(self, page: Page) -> str | None:
        if page.path in self._folder.parents:
            return self._page_id(self._folder.parents[page.path])
        # Who stands for a folder may lie in it or beside it; either way it stands in the one above.
        place = self._home_of.get(page.path, page.path)
        return self._folder_id(posixpath.dirname(place)) if place else None

    def _blocks(self, page: Page) -> Iterator[Block]:
        path = page.path
        own = self._page_id(path)
        fields = page.fields
        moments = (parse_timestamp(one) for key in MODIFIED_KEYS for one in fields.get(key, ()))
        created = (parse_timestamp(one) for one in fields.get("created", ()))
        yield Block(
            own,
            page.type,
            page.title,
            parent=self._parent(page),
            position=self._folder.places.get(path, _by_name(self._home_of.get(path, path))),
            properties=properties_of(page),
            relations=self._relations(page),
            edited=next((one for one in moments if one is not None), None),
            created=next((one for one in created if one is not None), None),
        )
        for position, part in enumerate(page.parts):
            within = (
                own if part.parent is None else self._page_id(path, page.parts[part.parent].place)
            )
            yield Block(
                self._page_id(path, part.place),
                part.type,
                part.text,
                parent=within,
                position=position,
                properties=part.properties,
                links=self._links(page, part),
            )

    # --- links ---------------------------------------------------------------------------------

    def _links(self, page: Page, part: Part) -> tuple[str, ...]:
        meant = [(one, self._meanings.address(page.path, one)) for one in part.addresses]
        meant += [(f"[[{one}]]", self._meanings.name(page.path, one)) for one in part.names]
        return tuple(dict.fromkeys(self._targets(page.path, meant)))[:MOST_LINKS]

    def _targets(self, source: str, meant: Iterable[tuple[str, Target | None]]) -> Iterator[str]:
        """Give the ids of what is meant: the page, and the part of it that is named."""
        for written, target in meant:
            if target is None:
                self._dangling.append(Skipped(source, written))
            elif target != ELSEWHERE:
                if target.path != source:
                    self._resolved += 1
                    yield self._page_id(target.path)
                place = self._place(target)
                if place is not None:
                    yield self._page_id(target.path, place)

    def _place(self, target: Target) -> str | None:
        anchors = self._anchors.get(target.path, {})
        return anchors.get(target.anchor, anchors.get(slug_of(target.anchor)))

    def _relations(self, page: Page) -> dict[str, tuple[str, ...]]:
        found = {
            name: tuple(
                dict.fromkeys(
                    self._targets(
                        page.path,
                        [(one, self._meanings.address(page.path, one)) for one in addresses],
                    )
                )
            )
            for name, addresses in self._folder.relations.get(page.path, {}).items()
        }
        older = self._newer.get(page.path)
        if older:
            found[SUPERSEDES] = tuple(self._page_id(path) for path in sorted(older))
        return {name: ids for name, ids in found.items() if ids}

    def _superseding(self) -> dict[str, set[str]]:
        """Tell of each page which ones it supersedes, by what either of both says."""
        found: dict[str, set[str]] = {}
        for page in self._folder.pages:
            for key in (*NEWER, *OLDER):
                for text in page.fields.get(key, ()):
                    for _, target in self._meanings.said(page.path, text):
                        if target is None or target == ELSEWHERE or target.path == page.path:
                            continue
                        newer, older = page.path, target.path
                        if key in NEWER:
                            newer, older = older, newer
                        found.setdefault(newer, set()).add(older)
        return found


def _by_name(path: str) -> int:
    """Give a place that goes by a page's name."""
    name = stem_of(path).casefold().encode()[:LETTERS]
    return int.from_bytes(name.ljust(LETTERS, b"\0"), "big")


def _in_order(blocks: Sequence[Block]) -> list[Block]:
    """Put each block behind the one that it stands in; whoever stands in itself, at the root."""
    children: dict[str | None, list[Block]] = {}
    for block in blocks:
        children.setdefault(block.parent, []).append(block)
    ordered: list[Block] = []
    waiting = list(reversed(children.get(None, [])))
    while waiting:
        block = waiting.pop()
        ordered.append(block)
        waiting += reversed(children.get(block.id, []))
    return ordered


def plain_folder(title: str, pages: Sequence[Page], files: Sequence[str]) -> Folder:
    """Take a tree of Markdown: `index` or `README` stands for its folder."""
    return Folder(title, pages, dict(_indexes(pages)), files)


def _indexes(pages: Iterable[Page]) -> Iterator[tuple[str, str]]:
    rank = {"index": 0, "readme": 1}
    known: dict[str, tuple[int, str]] = {}
    for page in pages:
        place = rank.get(stem_of(page.path).lower())
        if place is not None:
            folder = posixpath.dirname(page.path)
            known[folder] = min(known.get(folder, (9, "")), (place, page.path))
    for folder, (_, path) in known.items():
        yield folder, path


def vault(title: str, pages: Sequence[Page], files: Sequence[str]) -> Folder:
    """Take an Obsidian vault: a note of a folder's own name stands for it."""
    homes = {
        folder: page.path
        for page in pages
        if (folder := posixpath.dirname(page.path))
        and stem_of(page.path) == posixpath.basename(folder)
    }
    return Folder(title, pages, homes, files)


def sourced(laid: ImportedTree, source: str) -> list[Block]:
    """Mark blocks by the import that they come with."""
    return [replace(block, source=source) for block in laid.blocks]
