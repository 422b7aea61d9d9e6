"""Writing blocks: the transaction, and what else changes when some blocks change.

Who may read a block follows from its parents. Whatever changes that is effective for all blocks
below when the write ends, so they are written again in the same transaction.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from quire.core.types import OWNER, Document, Event, Record
from quire.core.types.blocks import Block
from quire.memory.authoring import Authoring, ViewerLike, put_documents
from quire.workspace import records, tree
from quire.workspace.permissions import BlockTransaction

EDIT = "edit"
"""The event that records a write."""


class BlockWriter:
    """Writes blocks into an open store."""

    def __init__(self, authoring: Authoring) -> None:
        self._authoring = authoring
        self._project = authoring.project

    @contextmanager
    def transaction(self, viewer: ViewerLike) -> Iterator[BlockTransaction]:
        """Open the write transaction with two views: the writer's, and one of all blocks."""
        space = self._project.config.space
        with (
            self._authoring.transaction(viewer) as (writer, view),
            self._project.store.view(OWNER, space) as whole,
        ):
            yield BlockTransaction(writer, view, whole)

    def replace(
        self, transaction: BlockTransaction, old: Block, new: Block, at: int
    ) -> list[Document]:
        """Write a block over its old version and record the edit; return what was written."""
        if new == old:
            return []
        written = self.apply(transaction, {new.id: new})
        actor = transaction.view.viewer.actor
        transaction.writer.put_events([Event(actor, EDIT, new.id, at)])
        return written

    def apply(
        self, transaction: BlockTransaction, changed: Mapping[str, Block | None]
    ) -> list[Document]:
        """Write blocks, or remove those that are None, with all blocks that inherit otherwise now.

        Returns the documents that were written; a block whose text stays is none.
        """
        whole, after = transaction.whole, tree.Tree(transaction.whole, changed, transaction.view)
        for name in changed:
            after.inside(name)  # refuses circles before anything is written
        split = self._authoring.split
        documents = [
            records.to_document(block, after.inside(block.parent), split)
            for block in changed.values()
            if block is not None
        ]
        moved: list[Record] = []
        for record, before, now in tree.find_affected(whole, changed, after):
            if (as_before := records.inheriting(record, before, now)) is not None:
                moved.append(as_before)
            else:
                block = records.from_record(record, whole.chunks_of(record.id))
                documents.append(records.to_document(block, now, split))
        transaction.writer.remove(name for name, block in changed.items() if block is None)
        put_documents(transaction.writer, documents)
        for record in moved:
            transaction.writer.update(record)
        return documents
