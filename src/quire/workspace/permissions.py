"""Who may write which block, and what is added to it when it is written?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from quire.core import hashing
from quire.core.protocols import View, Writer
from quire.core.serialize import to_plain
from quire.core.types import OWNER_NAME, Record, Viewer
from quire.core.types.blocks import Block
from quire.errors import InputError
from quire.memory.authoring import refuse_others
from quire.store import is_name
from quire.store.access import access_list
from quire.workspace import records, validate


@dataclass(frozen=True, slots=True)
class BlockTransaction:
    """A write transaction with what is there: all of it, and what the writer may read of it."""

    writer: Writer
    view: View
    whole: View


def checked(block: Block) -> Block:
    """Give a block in its one form, or say which one is wrong and how."""
    try:
        made = validate.checked(block)
        if made.author is not None:
            _check_author(made.author)
        return made if made.access is None else replace(made, access=access_list(made.access))
    except InputError as error:
        named = f"block {block.id!r}" if block.id else "the block"
        raise InputError(f"{named}: {error}") from error


def _check_author(name: str) -> None:
    if not is_name(name) or name == OWNER_NAME:
        raise InputError(f"author is {name!r}: give a user's bare name, or none for the owner")


def taken_in(
    shaping: BlockTransaction, given: Sequence[Block], at: int
) -> list[tuple[Block, bool]]:
    """Give blocks their ids, authors, times and access, and tell whether they are new or changed.

    Refused is what is not theirs to write.
    """
    viewer = shaping.view.viewer
    if not viewer.actor:
        raise InputError("someone without a name cannot write: name a viewer")
    taken: dict[str, tuple[Block, bool]] = {}
    for number, block in enumerate(given):
        one = block if block.id else replace(block, id=_named(block, viewer, at, number))
        if one.id in taken:
            raise InputError(f"block {one.id} is there twice: give each block once")
        old = found(shaping.whole, one.id)
        refuse_taken(shaping, one.id)
        if not viewer.owner:
            one = replace(one, author=viewer.name)
        one = dated(private(viewer, one), old, at)
        taken[one.id] = one, one != old
    if not viewer.owner:
        for one, changed in taken.values():
            if changed and one.parent is not None and one.parent not in taken:
                there(shaping.view, one.parent)
    return [*taken.values()]


def _named(block: Block, viewer: Viewer, at: int, number: int) -> str:
    """Name a block without an id by all that it says, and by whom and when it was said."""
    said = (block.type, block.text, block.parent, block.position, repr(to_plain(block)))
    return f"b-{hashing.identifier('block', *said, viewer.actor, at, number)}"


def refuse_taken(shaping: BlockTransaction, name: str) -> None:
    """Refuse an id under which someone else's block is kept, or in which others' blocks stand.

    Whoever comes to be what a block stands in decides who may read it: nobody may slip in there.
    """
    viewer = shaping.view.viewer
    if viewer.owner:
        return
    taken = InputError(f"the id {name} cannot be used: choose another one")
    known = shaping.whole.records([name])
    if not known:
        orphans = shaping.whole.children([name])
        if any(one.author != viewer.name and records.own_access(one) is None for one in orphans):
            raise taken
    elif not shaping.view.records([name]):
        raise taken
    else:
        refuse_others(viewer, "block", name, known[0].author)


def private(viewer: Viewer, block: Block) -> Block:
    """Give a viewer's own block the access list that it is to have: they stay on it."""
    if block.access is not None:
        mine = () if viewer.owner else (f"user:{viewer.name}",)
        return replace(block, access=access_list((*block.access, *mine)))
    if viewer.owner or block.parent is not None:
        return block
    return replace(block, access=access_list((f"user:{viewer.name}",)))


def dated(block: Block, old: Block | None, at: int) -> Block:
    """Give a block its times; what says the same as before keeps them."""
    if block.created is None:
        block = replace(block, created=at if old is None else old.created)
    if block.edited is not None:
        return block
    if old is not None and replace(block, edited=old.edited) == old:
        return old
    return replace(block, edited=at)


def found(view: View, name: str) -> Block | None:
    """Give a block that may be there."""
    for record in view.records([name]):
        if records.is_block(record):
            return records.block_of(record, view.chunks_of(name))
    return None


def record_of(view: View, name: str) -> Record:
    """Give the record of a block; what may not be read is not there."""
    for record in view.records([name]):
        if records.is_block(record):
            return record
    raise InputError(f"there is no block {name}; see `quire block tree`")


def there(view: View, name: str) -> Block:
    """Give a block that must be there."""
    return records.block_of(record_of(view, name), view.chunks_of(name))
