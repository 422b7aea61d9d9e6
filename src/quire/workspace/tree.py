"""What stands above a block, and for what else does that change when some blocks change?

Trees may be deep and wide: everything here goes step by step, never by calling itself, and looks at
each block once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from quire.core.protocols import View
from quire.core.types import Record
from quire.core.types.blocks import PAGES, Block
from quire.errors import InputError
from quire.workspace import records
from quire.workspace.inheritance import NOWHERE, InheritedAccess

SHOWN = 6
"""So many blocks of a circle are named."""

Changed = Mapping[str, Block | None]
"""Blocks as they are to be, by id; None: it goes."""


class Tree:
    """The blocks of a space as they are, with those that are to change."""

    def __init__(self, whole: View, changed: Changed) -> None:
        self._whole = whole
        self._changed = changed
        self._met: dict[str, Block | None] = {}
        self._inside: dict[str, InheritedAccess] = {}

    def meet(self, record: Record) -> None:
        """Take a record as known: it is not asked for again."""
        self._met[record.id] = _bare(record)

    def inside(self, name: str | None) -> InheritedAccess:
        """Tell what stands above whatever stands in a block; refuses circles."""
        chain: list[Block] = []
        met: set[str] = set()
        while name is not None and name not in self._inside:
            block = self._block(name)
            if block is None:
                break
            if name in met:
                _refuse_circle([one.id for one in chain], name)
            met.add(name)
            chain.append(block)
            name = block.parent
        standing = NOWHERE if name is None else self._inside.get(name, NOWHERE)
        for block in reversed(chain):
            standing = standing.within(block)
            self._inside[block.id] = standing
        return standing

    def _block(self, name: str) -> Block | None:
        if name in self._changed:
            return self._changed[name]
        if name not in self._met:
            found = self._whole.records([name])
            self._met[name] = _bare(found[0]) if found and records.is_block(found[0]) else None
        return self._met[name]


def affected(
    whole: View, changed: Changed, after: Tree
) -> Iterator[tuple[Record, InheritedAccess]]:
    """Give the blocks below changed ones for which something else stands above than before."""
    before = Tree(whole, {})
    names: Sequence[str] = [name for name in changed if before.inside(name) != after.inside(name)]
    while names:
        found = [one for one in whole.children(names) if records.is_block(one)]
        names = []
        for record in found:
            if record.id in changed:
                continue
            before.meet(record)
            after.meet(record)
            yield record, after.inside(record.parent)
            if before.inside(record.id) != after.inside(record.id):
                names.append(record.id)


def below(view: View, roots: Sequence[str]) -> list[Record]:
    """Give all blocks below some, as far as the view goes, each after the one that it stands in."""
    found: list[Record] = []
    names = roots
    while names:
        level = [one for one in view.children(names) if records.is_block(one)]
        found += level
        names = [one.id for one in level]
    return found


def walked(
    view: View, roots: Sequence[Record], levels: int | None = None
) -> Iterator[tuple[int, Record]]:
    """Go through trees as one reads them, each block with how deep it stands."""
    waiting = [(0, record) for record in reversed(roots)]
    while waiting:
        depth, record = waiting.pop()
        yield depth, record
        if levels is None or depth + 1 < levels:
            children = [one for one in view.children([record.id]) if records.is_block(one)]
            waiting += [(depth + 1, one) for one in reversed(children)]


def _bare(record: Record) -> Block:
    """Make of a record what others take over from it; only a page's text is needed for that."""
    block = records.block_of(record, ())
    return replace(block, text=record.title) if block.type in PAGES else block


def _refuse_circle(chain: Sequence[str], name: str) -> None:
    circle = [*chain[chain.index(name) :], name]
    if len(circle) > SHOWN:
        circle = [*circle[: SHOWN // 2], "…", *circle[-SHOWN // 2 :]]
    raise InputError(
        f"block {name} would come to stand in itself ({' in '.join(circle)}): move it elsewhere"
    )
