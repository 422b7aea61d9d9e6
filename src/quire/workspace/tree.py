"""Trees of blocks: what blocks inherit, and for which others that changes with some blocks.

Trees may be deep and wide: nothing here is recursive, and each block is looked at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from quire.core.protocols import View
from quire.core.types import Record
from quire.core.types.blocks import PAGES, Block
from quire.errors import InputError
from quire.workspace import records
from quire.workspace.inheritance import NOTHING_INHERITED, InheritedAccess

MAX_SHOWN = 6
"""How many blocks of a circle an error names."""

Changed = Mapping[str, Block | None]
"""Blocks as they will be, by id; None: removed."""


class Tree:
    """The blocks of a space, with some of them changed.

    Errors name the blocks that can be read in `shown`, and the changed ones.
    """

    def __init__(self, whole: View, changed: Changed, shown: View) -> None:
        self._whole = whole
        self._changed = changed
        self._shown = shown
        self._known: dict[str, Block | None] = {}
        self._inside: dict[str, InheritedAccess] = {}

    def add_known(self, record: Record) -> None:
        """Add a record that was read already."""
        self._known[record.id] = _without_content(record)

    def read(self, names: Sequence[str]) -> None:
        """Read several blocks at once: they are asked for next."""
        self._known |= dict.fromkeys(names)
        for record in self._whole.records(names):
            if records.is_block(record):
                self.add_known(record)

    def inside(self, name: str | None) -> InheritedAccess:
        """Return what the children of a block inherit; raise `InputError` for a circle."""
        chain: list[Block] = []
        seen: set[str] = set()
        while name is not None and name not in self._inside:
            block = self._find(name)
            if block is None:
                break
            if name in seen:
                self._refuse_circle([link.id for link in chain], name)
            seen.add(name)
            chain.append(block)
            name = block.parent
        inherited = NOTHING_INHERITED if name is None else self._inside.get(name, NOTHING_INHERITED)
        for block in reversed(chain):
            inherited = inherited.inside(block)
            self._inside[block.id] = inherited
        return inherited

    def _refuse_circle(self, chain: Sequence[str], name: str) -> None:
        """Refuse a circle; of the blocks in it, those that the writer may not read stay unnamed."""
        circle = chain[chain.index(name) :]
        known = {record.id for record in self._shown.records(circle)} | self._changed.keys()
        first, *others = [block_id for block_id in circle if block_id in known]
        named = [first, *others, first]
        if len(named) > MAX_SHOWN:
            named = [*named[: MAX_SHOWN // 2], "…", *named[-MAX_SHOWN // 2 :]]
        raise InputError(
            f"block {first} would be inside itself ({' in '.join(named)})",
            value=first,
            hint="move it elsewhere",
        )

    def _find(self, name: str) -> Block | None:
        if name in self._changed:
            return self._changed[name]
        if name not in self._known:
            blocks = [record for record in self._whole.records([name]) if records.is_block(record)]
            self._known[name] = _without_content(blocks[0]) if blocks else None
        return self._known[name]


def find_affected(
    whole: View, changed: Changed, after: Tree
) -> Iterator[tuple[Record, InheritedAccess, InheritedAccess]]:
    """Yield the blocks below changed ones that inherit otherwise, what they did and what now."""
    before = Tree(whole, {}, whole)
    before.read([*changed])
    names: Sequence[str] = [name for name in changed if before.inside(name) != after.inside(name)]
    while names:
        children = _child_blocks(whole, names)
        names = []
        for record in children:
            if record.id in changed:
                continue
            before.add_known(record)
            after.add_known(record)
            yield record, before.inside(record.parent), after.inside(record.parent)
            if before.inside(record.id) != after.inside(record.id):
                names.append(record.id)


def find_descendants(view: View, roots: Sequence[str]) -> list[Record]:
    """Return all readable blocks below some, each after its parent."""
    descendants: list[Record] = []
    names = roots
    while names:
        level = _child_blocks(view, names)
        descendants += level
        names = [record.id for record in level]
    return descendants


def walk_blocks(
    view: View, roots: Sequence[Record], levels: int | None = None
) -> Iterator[tuple[int, Record]]:
    """Yield the blocks of trees in reading order, each with its depth."""
    stack = [(0, record) for record in reversed(roots)]
    while stack:
        depth, record = stack.pop()
        yield depth, record
        if levels is None or depth + 1 < levels:
            children = _child_blocks(view, [record.id])
            stack += [(depth + 1, child) for child in reversed(children)]


def _child_blocks(view: View, names: Sequence[str]) -> list[Record]:
    return [record for record in view.children(names) if records.is_block(record)]


def _without_content(record: Record) -> Block:
    """Return a block with what others inherit from it: of its text only a page's title."""
    block = records.from_record(record, ())
    return replace(block, text=record.title) if block.type in PAGES else block
