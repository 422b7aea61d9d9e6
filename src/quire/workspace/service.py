"""How are blocks written, moved, shared and taken out?

Whoever may read a block may put others into it; only its author and the owner change, move, share
or delete it. What a viewer puts at the root is theirs alone until they share it. Who may read a
block follows from what it stands in; whatever changes that is in force, for all that stands below,
when the write ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from quire.core.protocols import View
from quire.core.types import OWNER, Document, Event, Filter, ImportResult, Record, Viewer, Written
from quire.core.types.blocks import Block, Property, Removed
from quire.errors import InputError
from quire.memory.authoring import Noting, ViewerLike, put, refuse_others, refuse_secrets
from quire.store.access import access_list
from quire.workspace import jsonl, permissions, records, tree
from quire.workspace.permissions import BlockTransaction

EDIT = "edit"
VIEW = "view"


class Workspace(Noting):
    """The blocks of an open store."""

    def put_blocks(
        self,
        blocks: Iterable[Block],
        *,
        at: int,
        viewer: Viewer | str | None = None,
        events: Sequence[Event] | None = None,
        allow_secret: bool = False,
    ) -> Written[tuple[Block, ...]]:
        """Add blocks, or replace those with the same ids; all of them, or none.

        What is as it was is left alone. `events`, which `delete_block` gave back, restores what had
        been done to the blocks; without it the writing itself is recorded. `at`: seconds since
        1970.
        """
        given = [permissions.checked(block) for block in blocks]
        refuse_secrets(
            ((f"block {one.id}".rstrip(), _said(one)) for one in given), allow=allow_secret
        )
        with self._shaping(viewer) as shaping:
            taken = permissions.taken_in(shaping, given, at)
            changed = {one.id: one for one, new in taken if new}
            written = self._reshape(shaping, changed)
            author = shaping.view.viewer
            done = (
                [Event(one.author or author.actor, EDIT, one.id, at) for one in changed.values()]
                if events is None
                else _own(author, events, changed)
            )
            shaping.writer.put_events(done)
        return Written(tuple(one for one, _ in taken), self._embed_now(viewer, written))

    def edit_block(
        self,
        name: str,
        *,
        at: int,
        text: str | None = None,
        properties: Mapping[str, Property | None] | None = None,
        relations: Mapping[str, Sequence[str]] | None = None,
        links: Sequence[str] | None = None,
        mentions: Sequence[str] | None = None,
        viewer: Viewer | str | None = None,
        allow_secret: bool = False,
    ) -> Written[Block]:
        """Change what a block says; of properties and relations those named (None, (): none)."""
        if all(one is None for one in (text, properties, relations, links, mentions)):
            raise InputError("nothing to edit: give a text, properties, relations, links, mentions")
        with self._shaping(viewer) as shaping:
            old = _changeable(shaping.view, name)
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
                refuse_secrets([(f"block {name}", _said(made))], allow=allow_secret)
                made = replace(made, edited=max(at, old.created or at))
            written = self._rewritten(shaping, old, made, at)
        return Written(made, self._embed_now(viewer, written))

    def move_block(
        self,
        name: str,
        parent: str | None,
        *,
        at: int,
        position: int | None = None,
        viewer: Viewer | str | None = None,
    ) -> Written[Block]:
        """Let a block, with all that stands in it, stand in another one (None: at the root)."""
        with self._shaping(viewer) as shaping:
            old = _changeable(shaping.view, name)
            if parent is not None and parent != old.parent:
                permissions.there(shaping.view, parent)
            if position is None:
                position = old.position
            made = replace(old, parent=parent, position=position)
            made = permissions.private(shaping.view.viewer, made)
            written = self._rewritten(shaping, old, made, at)
        return Written(made, self._embed_now(viewer, written))

    def share_block(
        self,
        name: str,
        access: Sequence[str] | None,
        *,
        at: int,
        viewer: Viewer | str | None = None,
    ) -> Written[Block]:
        """Say who may read a block and what stands in it; None: as of what it stands in."""
        with self._shaping(viewer) as shaping:
            old = _changeable(shaping.view, name)
            made = replace(old, access=None if access is None else access_list(access))
            made = permissions.private(shaping.view.viewer, made)
            written = self._rewritten(shaping, old, made, at)
        return Written(made, self._embed_now(viewer, written))

    def delete_block(self, name: str, viewer: Viewer | str | None = None) -> Removed:
        """Take a block out, with all that stands in it and may be read; gives what was there.

        What the viewer may not read stays, without what it stood in. Refused if others have written
        some of the rest.
        """
        with self._shaping(viewer) as shaping:
            view = shaping.view
            first = _changeable(view, name)
            found = tree.below(view, [name])
            for record in found:
                refuse_others(view.viewer, "what stands in it, block", record.id, record.author)
            blocks = (first, *(records.block_of(one, view.chunks_of(one.id)) for one in found))
            gone = {block.id: None for block in blocks}
            events = tuple(event for event in view.events() if event.record_id in gone)
            written = self._reshape(shaping, gone)
        self._embed_now(viewer, written)
        return Removed(blocks, events)

    def block(self, name: str, viewer: Viewer | str | None = None) -> Block:
        """Give one block by its id."""
        with self._view(viewer) as view:
            return _shown(view.viewer, permissions.there(view, name))

    def view_block(self, name: str, *, at: int, viewer: Viewer | str | None = None) -> Block:
        """Give one block by its id, and record that it was looked at (by someone with a name)."""
        with self._shaping(viewer) as shaping:
            found, asked = permissions.there(shaping.view, name), shaping.view.viewer
            if asked.actor:
                shaping.writer.put_events([Event(asked.actor, VIEW, name, at)])
        return _shown(asked, found)

    def blocks(
        self,
        under: str | None = None,
        *,
        levels: int | None = None,
        viewer: Viewer | str | None = None,
    ) -> list[tuple[int, Block]]:
        """List blocks as one reads them, each with its depth: below one (itself first), or all.

        What stands in something that may not be read is listed at the root.
        """
        if levels is not None and levels < 1:
            raise InputError(f"{levels} levels cannot be shown: give 1 or more")
        with self._view(viewer) as view:
            roots = _roots(view) if under is None else [permissions.record_of(view, under)]
            return [
                (depth, _shown(view.viewer, records.block_of(one, view.chunks_of(one.id))))
                for depth, one in tree.walked(view, roots, levels)
            ]

    def export_blocks(
        self, under: str | None = None, viewer: Viewer | str | None = None
    ) -> list[Block]:
        """Give blocks, each after what it stands in, such that `import_blocks` can take them in."""
        found = [block for _, block in self.blocks(under, viewer=viewer)]
        if self._viewer(viewer).owner:
            return found
        there = {block.id for block in found}
        return [one if one.parent in there else replace(one, parent=None) for one in found]

    def import_blocks(
        self,
        text: str,
        *,
        at: int,
        viewer: Viewer | str | None = None,
        allow_secret: bool = False,
    ) -> ImportResult:
        """Take in what `quire block export` gave, JSON lines; all of it, or nothing.

        The owner keeps authors and access as they are; anyone else becomes the author.
        """
        found = jsonl.parse(text)
        with self._view(viewer) as view:
            before = {one.id: permissions.found(view, one.id) for one in found if one.id}
        taken = self.put_blocks(found, at=at, viewer=viewer, allow_secret=allow_secret)
        added = sum(before.get(one.id) is None for one in taken.kept)
        same = sum(before.get(one.id) == one for one in taken.kept)
        return ImportResult(added, len(found) - added - same, same, (), taken.notes)

    # --- what all need -------------------------------------------------------------------------

    @contextmanager
    def _shaping(self, viewer: ViewerLike) -> Iterator[BlockTransaction]:
        """Open the write transaction; what stands below a block is not only what may be read."""
        with (
            self._noting(viewer) as (writer, view),
            self.store.view(OWNER, self.config.space) as whole,
        ):
            yield BlockTransaction(writer, view, whole)

    def _rewritten(
        self, shaping: BlockTransaction, old: Block, made: Block, at: int
    ) -> list[Document]:
        if made == old:
            return []
        written = self._reshape(shaping, {made.id: made})
        shaping.writer.put_events([Event(shaping.view.viewer.actor, EDIT, made.id, at)])
        return written

    def _reshape(
        self, shaping: BlockTransaction, changed: Mapping[str, Block | None]
    ) -> list[Document]:
        """Write blocks, or take them out, with all for which something else stands above now."""
        whole, after = shaping.whole, tree.Tree(shaping.whole, changed)
        for name in changed:
            after.inside(name)  # refuses circles before anything is written
        documents = [
            records.document(block, after.inside(block.parent), self._cut)
            for block in changed.values()
            if block is not None
        ]
        documents += [
            records.document(
                records.block_of(record, whole.chunks_of(record.id)), standing, self._cut
            )
            for record, standing in tree.affected(whole, changed, after)
        ]
        shaping.writer.remove(name for name, block in changed.items() if block is None)
        put(shaping.writer, documents)
        return documents


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
