"""The blocks of an open store: put, edit, move, share, delete, list, export, import.

Whoever may read a block may put others into it; only its author and the owner edit, move, share or
delete it. What a viewer puts at the root only they may read until they share it. A block without an
access list of its own inherits that of its parent.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from quire.core.protocols import View
from quire.core.types import Event, Filter, ImportResult, Record, Viewer, Written
from quire.core.types.blocks import Block, PageImportResult, Property, RemovedBlocks
from quire.errors import InputError
from quire.memory.authoring import Authoring, moment, refuse_others, refuse_secrets
from quire.store.access import access_list
from quire.workspace import import_service, jsonl, permissions, records, tree
from quire.workspace.block_writer import EDIT, BlockWriter

VIEW = "view"
"""The event that records that a block was viewed."""


class Blocks:
    """The blocks of an open store."""

    def __init__(self, authoring: Authoring) -> None:
        self._authoring = authoring
        self._project = authoring.project
        self._writer = BlockWriter(authoring)

    def put(
        self,
        blocks: Iterable[Block],
        *,
        viewer: Viewer | str | None = None,
        events: Sequence[Event] | None = None,
        allow_secret: bool = False,
        at: int | None = None,
    ) -> Written[tuple[Block, ...]]:
        """Add blocks, or replace those with the same ids; all of them, or none.

        Unchanged blocks are left alone. `events`, as `delete` returned them, restores the events of
        the blocks; without them the write itself is recorded.
        """
        at = moment(at)
        given = [permissions.checked(block) for block in blocks]
        refuse_secrets(
            ((f"block {one.id}".rstrip(), _said(one)) for one in given), allow=allow_secret
        )
        with self._writer.transaction(viewer) as transaction:
            taken = permissions.taken_in(transaction, given, at)
            changed = {one.id: one for one, new in taken if new}
            written = self._writer.apply(transaction, changed)
            author = transaction.view.viewer
            done = (
                [Event(one.author or author.actor, EDIT, one.id, at) for one in changed.values()]
                if events is None
                else _own(author, events, changed)
            )
            transaction.writer.put_events(done)
        return Written(
            tuple(one for one, _ in taken), self._authoring.embed_written(viewer, written)
        )

    def edit(
        self,
        block_id: str,
        *,
        text: str | None = None,
        properties: Mapping[str, Property | None] | None = None,
        relations: Mapping[str, Sequence[str]] | None = None,
        links: Sequence[str] | None = None,
        mentions: Sequence[str] | None = None,
        viewer: Viewer | str | None = None,
        allow_secret: bool = False,
        at: int | None = None,
    ) -> Written[Block]:
        """Change a block; properties and relations that are not named stay (None, (): removed)."""
        at = moment(at)
        if all(one is None for one in (text, properties, relations, links, mentions)):
            raise InputError("nothing to edit: give a text, properties, relations, links, mentions")
        with self._writer.transaction(viewer) as transaction:
            old = _changeable(transaction.view, block_id)
            named = {**old.properties, **(properties or {})}
            related = {**old.relations, **{k: tuple(v) for k, v in (relations or {}).items()}}
            made = replace(
                old,
                text=old.text if text is None else text,
                properties={key: value for key, value in named.items() if value is not None},
                relations=related,
                links=old.links if links is None else tuple(links),
                mentions=old.mentions if mentions is None else tuple(mentions),
            )
            made = permissions.checked(made)
            if made != old:
                refuse_secrets([(f"block {block_id}", _said(made))], allow=allow_secret)
                made = replace(made, edited=max(at, old.created or at))
            written = self._writer.replace(transaction, old, made, at)
        return Written(made, self._authoring.embed_written(viewer, written))

    def move(
        self,
        block_id: str,
        parent: str | None,
        *,
        position: int | None = None,
        viewer: Viewer | str | None = None,
        at: int | None = None,
    ) -> Written[Block]:
        """Move a block and its children under another block (None: to the root)."""
        at = moment(at)
        with self._writer.transaction(viewer) as transaction:
            old = _changeable(transaction.view, block_id)
            if parent is not None and parent != old.parent:
                permissions.there(transaction.view, parent)
            if position is None:
                position = old.position
            made = replace(old, parent=parent, position=position)
            made = permissions.private(transaction.view.viewer, made)
            written = self._writer.replace(transaction, old, made, at)
        return Written(made, self._authoring.embed_written(viewer, written))

    def share(
        self,
        block_id: str,
        access: Sequence[str] | None,
        *,
        viewer: Viewer | str | None = None,
        at: int | None = None,
    ) -> Written[Block]:
        """Set who may read a block and its children (None: inherited from its parent)."""
        at = moment(at)
        with self._writer.transaction(viewer) as transaction:
            old = _changeable(transaction.view, block_id)
            made = replace(old, access=None if access is None else access_list(access))
            made = permissions.private(transaction.view.viewer, made)
            written = self._writer.replace(transaction, old, made, at)
        return Written(made, self._authoring.embed_written(viewer, written))

    def delete(self, block_id: str, *, viewer: Viewer | str | None = None) -> RemovedBlocks:
        """Delete a block with those children that the viewer may read; return what was deleted.

        Children that the viewer may not read stay, without a parent. Raises `InputError` if others
        have written some of those that would be deleted.
        """
        with self._writer.transaction(viewer) as transaction:
            view = transaction.view
            first = _changeable(view, block_id)
            found = tree.below(view, [block_id])
            for record in found:
                refuse_others(view.viewer, "what stands in it, block", record.id, record.author)
            blocks = (first, *(records.block_of(one, view.chunks_of(one.id)) for one in found))
            gone = {block.id: None for block in blocks}
            events = tuple(event for event in view.events() if event.record_id in gone)
            written = self._writer.apply(transaction, gone)
        self._authoring.embed_written(viewer, written)
        return RemovedBlocks(blocks, events)

    def get(self, block_id: str, *, viewer: Viewer | str | None = None) -> Block:
        """Return one block by its id."""
        with self._project.view(viewer) as view:
            return _shown(view.viewer, permissions.there(view, block_id))

    def view(
        self, block_id: str, *, viewer: Viewer | str | None = None, at: int | None = None
    ) -> Block:
        """Return one block by its id, and record the view (if the viewer has a name)."""
        at = moment(at)
        with self._writer.transaction(viewer) as transaction:
            found, asked = permissions.there(transaction.view, block_id), transaction.view.viewer
            if asked.actor:
                transaction.writer.put_events([Event(asked.actor, VIEW, block_id, at)])
        return _shown(asked, found)

    def tree(
        self,
        under: str | None = None,
        *,
        levels: int | None = None,
        viewer: Viewer | str | None = None,
    ) -> list[tuple[int, Block]]:
        """List blocks in reading order, each with its depth: one and its children, or all.

        A block whose parent the viewer may not read is listed at the root.
        """
        if levels is not None and levels < 1:
            raise InputError(f"{levels} levels cannot be shown: give 1 or more")
        with self._project.view(viewer) as view:
            roots = _roots(view) if under is None else [permissions.record_of(view, under)]
            return [
                (depth, _shown(view.viewer, records.block_of(one, view.chunks_of(one.id))))
                for depth, one in tree.walked(view, roots, levels)
            ]

    def export(
        self, under: str | None = None, *, viewer: Viewer | str | None = None
    ) -> list[Block]:
        """Return blocks, each after its parent, as `import_lines` takes them."""
        found = [block for _, block in self.tree(under, viewer=viewer)]
        if self._project.resolve_viewer(viewer).owner:
            return found
        there = {block.id for block in found}
        return [one if one.parent in there else replace(one, parent=None) for one in found]

    def import_lines(
        self,
        text: str,
        *,
        viewer: Viewer | str | None = None,
        allow_secret: bool = False,
        at: int | None = None,
    ) -> ImportResult:
        """Import blocks from JSON lines, as `quire block export` prints them; all or nothing.

        For the owner, authors and access stay as they are; anyone else becomes the author.
        """
        at = moment(at)
        found = jsonl.parse(text)
        with self._project.view(viewer) as view:
            before = {one.id: permissions.found(view, one.id) for one in found if one.id}
        taken = self.put(found, at=at, viewer=viewer, allow_secret=allow_secret)
        added = sum(before.get(one.id) is None for one in taken.value)
        same = sum(before.get(one.id) == one for one in taken.value)
        return ImportResult(added, len(found) - added - same, same, (), taken.notes)

    def import_pages(
        self,
        folder: str | os.PathLike[str],
        form: str,
        *,
        share: Sequence[str] = (),
        viewer: Viewer | str | None = None,
        allow_secret: bool = False,
        at: int | None = None,
    ) -> PageImportResult:
        """Import all pages of a folder: a `vault`, a `notion` export or plain `markdown`.

        Run it again at will: unchanged blocks are left alone, changed ones are written again, those
        that are gone are removed. Access that was set by `share` since stays.
        """
        return import_service.import_pages(
            self._authoring,
            self._writer,
            folder,
            form,
            share=share,
            viewer=viewer,
            allow_secret=allow_secret,
            at=moment(at),
        )


def _said(block: Block) -> str:
    """Give all texts in a block, to be looked through."""
    values = (one if isinstance(one, tuple) else (one,) for one in block.properties.values())
    return "\n".join((block.text, *(str(one) for each in values for one in each)))


def _own(viewer: Viewer, events: Iterable[Event], blocks: Mapping[str, object]) -> list[Event]:
    """Take back only what was done to these blocks, by whoever may say so."""
    restored = list(events)
    for event in restored:
        if event.record_id not in blocks or not (viewer.owner or event.actor == viewer.name):
            raise InputError(
                f"an event of {event.actor} on block {event.record_id} cannot be put back: give "
                "those that `delete_block` gave, with its blocks"
            )
    return restored


def _shown(viewer: Viewer, block: Block) -> Block:
    """Leave out who else may read a block: its author and the owner know."""
    return block if viewer.owner or viewer.name == block.author else replace(block, access=None)


def _changeable(view: View, name: str) -> Block:
    found = permissions.there(view, name)
    refuse_others(view.viewer, "block", name, found.author)
    return found


def _roots(view: View) -> list[Record]:
    """Give the blocks that stand in nothing that may be read, by position, then id."""
    found = list(view.listing(Filter(kinds=records.KINDS)))
    there = {record.id for record in found}
    roots = [record for record in found if record.parent not in there]
    return sorted(roots, key=lambda one: (one.position, one.id))
