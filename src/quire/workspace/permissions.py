"""Who may write which block, and what is filled in when it is written."""

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
    """A write transaction with views of all blocks, and of those that the writer may read."""

    writer: Writer
    view: View
    whole: View


def validate_block(block: Block) -> Block:
    """Return a block in its canonical form; an error names the block."""
    try:
        valid = validate.normalize(block)
        if valid.author is not None:
            _check_author(valid.author)
        return valid if valid.access is None else replace(valid, access=access_list(valid.access))
    except InputError as error:
        if not block.id:
            raise
        raise error.within(f"block {block.id!r}") from error


def _check_author(name: str) -> None:
    if not is_name(name) or name == OWNER_NAME:
        raise InputError(
            f"{name!r} is not a user",
            field="author",
            value=name,
            hint="give a user's name, or none for the owner",
        )


def prepare(
    transaction: BlockTransaction, blocks: Sequence[Block], at: int
) -> list[tuple[Block, bool]]:
    """Fill in ids, authors, times and access; return each block and whether it is new or changed.

    Raises `InputError` for a block that is not the viewer's to write.
    """
    viewer = transaction.view.viewer
    if not viewer.actor:
        raise InputError("a viewer without a name cannot write", hint="name a {viewer}")
    prepared: dict[str, tuple[Block, bool]] = {}
    stored = find_blocks(transaction.whole, [block.id for block in blocks if block.id])
    for number, block in enumerate(blocks):
        new = block if block.id else replace(block, id=_make_id(block, viewer, at, number))
        if new.id in prepared:
            raise InputError(f"block {new.id} occurs twice", value=new.id)
        old = stored.get(new.id) if block.id else find_block(transaction.whole, new.id)
        refuse_foreign_id(transaction, new.id)
        if not viewer.owner:
            # Which file a text comes from is told by whoever reads files.
            file, line = ("", 0) if old is None else (old.file, old.line)
            new = replace(new, author=viewer.name, file=file, line=line)
        new = with_times(with_access(viewer, new), old, at)
        prepared[new.id] = new, new != old
    if not viewer.owner:
        for new, changed in prepared.values():
            if changed and new.parent is not None and new.parent not in prepared:
                get_block(transaction.view, new.parent)
    return [*prepared.values()]


def _make_id(block: Block, viewer: Viewer, at: int, number: int) -> str:
    """Make the id of a block without one: the hash of its content, author and time."""
    content = (block.type, block.text, block.parent, block.position, repr(to_plain(block)))
    return f"b-{hashing.identifier('block', *content, viewer.actor, at, number)}"


def refuse_foreign_id(transaction: BlockTransaction, name: str) -> None:
    """Refuse the id of someone else's block, and of a missing parent of others' blocks.

    A parent decides who may read its children: nobody may become the parent of others' blocks.
    """
    viewer = transaction.view.viewer
    if viewer.owner:
        return
    refusal = InputError(f"the id {name} cannot be used", value=name, hint="choose another one")
    known = transaction.whole.records([name])
    if not known:
        orphans = transaction.whole.children([name])
        if any(
            orphan.author != viewer.name and records.own_access(orphan) is None
            for orphan in orphans
        ):
            raise refusal
    elif not transaction.view.records([name]):
        raise refusal
    else:
        refuse_others(viewer, "block", name, known[0].author)


def with_access(viewer: Viewer, block: Block) -> Block:
    """Return a viewer's block with its access list: they are always on it."""
    if block.access is not None:
        own = () if viewer.owner else (f"user:{viewer.name}",)
        return replace(block, access=access_list((*block.access, *own)))
    if viewer.owner or block.parent is not None:
        return block
    return replace(block, access=access_list((f"user:{viewer.name}",)))


def with_times(block: Block, old: Block | None, at: int) -> Block:
    """Return a block with its times; an unchanged block keeps them."""
    if block.created is None:
        block = replace(block, created=at if old is None else old.created)
    if block.edited is not None:
        return block
    if old is not None and replace(block, edited=old.edited) == old:
        return old
    return replace(block, edited=at)


def find_blocks(view: View, names: Sequence[str]) -> dict[str, Block]:
    """Return those of these blocks that the viewer may read, by their ids."""
    return {
        record.id: records.from_record(record, view.chunks_of(record.id))
        for record in view.records(names)
        if records.is_block(record)
    }


def find_block(view: View, name: str) -> Block | None:
    """Return a block by its id; None if there is none that the viewer may read."""
    return find_blocks(view, [name]).get(name)


def get_record(view: View, name: str) -> Record:
    """Return the record of a block that the viewer may read."""
    for record in view.records([name]):
        if records.is_block(record):
            return record
    raise InputError(f"block {name} does not exist", value=name, hint="see `quire block tree`")


def get_block(view: View, name: str) -> Block:
    """Return a block that the viewer may read."""
    return records.from_record(get_record(view, name), view.chunks_of(name))
