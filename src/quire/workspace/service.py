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
from quire.workspace import block_lines, import_service, permissions, records, tree
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
        valid = [permissions.validate_block(block) for block in blocks]
        refuse_secrets(
            ((f"block {block.id}".rstrip(), _all_text(block)) for block in valid),
            allow=allow_secret,
        )
        with self._writer.transaction(viewer) as transaction:
            prepared = permissions.prepare(transaction, valid, at)
            changed = {block.id: block for block, is_changed in prepared if is_changed}
            written = self._writer.apply(transaction, changed)
            author = transaction.view.viewer
            if events is None:
                recorded = [
                    Event(block.author or author.actor, EDIT, block.id, at)
                    for block in changed.values()
                ]
            else:
                recorded = _restorable(author, events, changed)
            transaction.writer.put_events(recorded)
        stored = tuple(block for block, _ in prepared)
        return Written(stored, self._authoring.embed_written(viewer, written))

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
        if all(value is None for value in (text, properties, relations, links, mentions)):
            raise InputError(
                "nothing to edit", hint="set a text, properties, relations, links or mentions"
            )
        with self._writer.transaction(viewer) as transaction:
            old = _find_changeable(transaction.view, block_id)
            merged = {**old.properties, **(properties or {})}
            targets = {name: tuple(ids) for name, ids in (relations or {}).items()}
            new = replace(
                old,
                text=old.text if text is None else text,
                properties={key: value for key, value in merged.items() if value is not None},
                relations={**old.relations, **targets},
                links=old.links if links is None else tuple(links),
                mentions=old.mentions if mentions is None else tuple(mentions),
            )
            new = permissions.validate_block(new)
            if new != old:
                refuse_secrets([(f"block {block_id}", _all_text(new))], allow=allow_secret)
                new = replace(new, edited=max(at, old.created or at))
            written = self._writer.replace(transaction, old, new, at)
        return Written(new, self._authoring.embed_written(viewer, written))

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
            old = _find_changeable(transaction.view, block_id)
            if parent is not None and parent != old.parent:
                permissions.get_block(transaction.view, parent)
            if position is None:
                position = old.position
            new = replace(old, parent=parent, position=position)
            new = permissions.with_access(transaction.view.viewer, new)
            written = self._writer.replace(transaction, old, new, at)
        return Written(new, self._authoring.embed_written(viewer, written))

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
            old = _find_changeable(transaction.view, block_id)
            new = replace(old, access=None if access is None else access_list(access))
            new = permissions.with_access(transaction.view.viewer, new)
            written = self._writer.replace(transaction, old, new, at)
        return Written(new, self._authoring.embed_written(viewer, written))

    def delete(self, block_id: str, *, viewer: Viewer | str | None = None) -> RemovedBlocks:
        """Delete a block with those children that the viewer may read; return what was deleted.

        Children that the viewer may not read stay, without a parent. Raises `InputError` if others
        have written some of those that would be deleted.
        """
        with self._writer.transaction(viewer) as transaction:
            view = transaction.view
            top = _find_changeable(view, block_id)
            descendants = tree.find_descendants(view, [block_id])
            for record in descendants:
                refuse_others(view.viewer, "its child, block", record.id, record.author)
            children = (
                records.from_record(record, view.chunks_of(record.id)) for record in descendants
            )
            blocks = (top, *children)
            removed = {block.id: None for block in blocks}
            events = tuple(event for event in view.events() if event.record_id in removed)
            written = self._writer.apply(transaction, removed)
        self._authoring.embed_written(viewer, written)
        return RemovedBlocks(blocks, events)

    def get(self, block_id: str, *, viewer: Viewer | str | None = None) -> Block:
        """Return one block by its id."""
        with self._project.view(viewer) as view:
            block = _visible(view.viewer, permissions.get_block(view, block_id))
        self._project.audit.disclose(view.viewer, "blocks", records=[block_id])
        return block

    def view(
        self, block_id: str, *, viewer: Viewer | str | None = None, at: int | None = None
    ) -> Block:
        """Return one block by its id, and record the view (if the viewer has a name)."""
        at = moment(at)
        with self._writer.transaction(viewer) as transaction:
            block = permissions.get_block(transaction.view, block_id)
            reader = transaction.view.viewer
            if reader.actor:
                transaction.writer.put_events([Event(reader.actor, VIEW, block_id, at)])
            self._project.audit.disclose(reader, "blocks", records=[block_id])
        return _visible(reader, block)

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
            raise InputError(f"must be at least 1, not {levels}", field="levels", value=levels)
        with self._project.view(viewer) as view:
            roots = _roots(view) if under is None else [permissions.get_record(view, under)]
            listed = [
                (
                    depth,
                    _visible(view.viewer, records.from_record(record, view.chunks_of(record.id))),
                )
                for depth, record in tree.walk_blocks(view, roots, levels)
            ]
        self._project.audit.disclose(
            view.viewer, "blocks", records=[block.id for _, block in listed]
        )
        return listed

    def export(
        self, under: str | None = None, *, viewer: Viewer | str | None = None
    ) -> list[Block]:
        """Return blocks, each after its parent, as `import_lines` takes them."""
        blocks = [block for _, block in self.tree(under, viewer=viewer)]
        if self._project.resolve_viewer(viewer).owner:
            return blocks
        ids = {block.id for block in blocks}
        return [block if block.parent in ids else replace(block, parent=None) for block in blocks]

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
        blocks = block_lines.parse(text)
        with self._project.view(viewer) as view:
            before = {
                block.id: permissions.find_block(view, block.id) for block in blocks if block.id
            }
        written = self.put(blocks, at=at, viewer=viewer, allow_secret=allow_secret)
        added = sum(before.get(block.id) is None for block in written.value)
        unchanged = sum(before.get(block.id) == block for block in written.value)
        changed = len(blocks) - added - unchanged
        return ImportResult(added, changed, unchanged, (), written.notes)

    def import_pages(
        self,
        folder: str | os.PathLike[str],
        page_format: str,
        *,
        share: Sequence[str] = (),
        viewer: Viewer | str | None = None,
        allow_secret: bool = False,
        at: int | None = None,
    ) -> PageImportResult:
        """Import all pages of a folder.

        `page_format` is `vault` (Obsidian), `notion` (an export) or `markdown` (plain files).
        Run it again at will: unchanged blocks are left alone, changed ones are written again, those
        that are gone are removed. Access that was set by `share` since stays.
        """
        return import_service.import_pages(
            self._authoring,
            self._writer,
            folder,
            page_format,
            share=share,
            viewer=viewer,
            allow_secret=allow_secret,
            at=moment(at),
        )


def _all_text(block: Block) -> str:
    """Return all text of a block, properties and names included, to be searched for secrets."""
    properties = block.properties.values()
    values = (value if isinstance(value, tuple) else (value,) for value in properties)
    targets = (name for names in block.relations.values() for name in names)
    names = (block.id, block.parent or "", *block.properties, *block.relations, *targets)
    texts = (block.text, *(str(item) for items in values for item in items))
    return "\n".join((*texts, *names, *block.links, *block.mentions))


def _restorable(
    viewer: Viewer, events: Iterable[Event], blocks: Mapping[str, object]
) -> list[Event]:
    """Return events to restore; refuse those on other blocks, and those of others."""
    restored = list(events)
    for event in restored:
        if event.record_id not in blocks or not (viewer.owner or event.actor == viewer.name):
            raise InputError(
                f"an event of {event.actor} on block {event.record_id} cannot be restored",
                field="events",
                hint="pass the events that `delete` returned, with its blocks",
            )
    return restored


def _visible(viewer: Viewer, block: Block) -> Block:
    """Return a block without its access list and file, which only its author and the owner see."""
    if viewer.owner or viewer.name == block.author:
        return block
    return replace(block, access=None, file="", line=0)


def _find_changeable(view: View, name: str) -> Block:
    block = permissions.get_block(view, name)
    refuse_others(view.viewer, "block", name, block.author)
    return block


def _roots(view: View) -> list[Record]:
    """Return the blocks without a parent that may be read, by position, then id."""
    blocks = list(view.listing(Filter(kinds=records.KINDS)))
    ids = {record.id for record in blocks}
    roots = [record for record in blocks if record.parent not in ids]
    return sorted(roots, key=lambda record: (record.position, record.id))
