"""How do folders of pages become blocks, and stay in step with them?

All pages are read each time, because what a link means depends on which other pages there are; what
comes out as it was is left alone. One transaction brings all that is new and takes out all that is
gone, so an import is there as a whole, or not at all.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from quire.core import hashing
from quire.core.protocols import View
from quire.core.types import Filter, Viewer
from quire.core.types.blocks import Block, PagesImported
from quire.errors import InputError
from quire.memory.authoring import signed
from quire.workspace import records
from quire.workspace.importers import build_tree, discover
from quire.workspace.permissions import checked, dated, refuse_taken
from quire.workspace.service import Workspace


class Bringing(Workspace):
    """Folders of pages as blocks of an open store."""

    def import_pages(
        self,
        folder: str | os.PathLike[str],
        form: str,
        *,
        at: int,
        share: Sequence[str] = (),
        viewer: Viewer | str | None = None,
        allow_secret: bool = False,
    ) -> PagesImported:
        """Make blocks of all pages in a folder: a `vault`, a `notion` export or plain `markdown`.

        Run it again at will: what says the same is left alone, what has changed is written anew,
        what is gone is taken out. Who may read a block, once said by `share_block`, stays.
        """
        settings = self.config.ingest
        settings = replace(settings, secrets=settings.secrets or allow_secret)
        place = Path(folder).resolve()
        texts = discover.texts_of(place, form, settings)
        pages, unread = discover.folder_of(place.name or form, form, texts)
        if not pages.pages:
            raise InputError(f"{folder} holds no pages: name the folder that they lie in")
        spoken_of = self._spoken_of(place)
        with self._shaping(viewer) as shaping:
            author, acl = signed(shaping.view.viewer, share)
            source = hashing.identifier("import", form, spoken_of, author)[:16]
            laid = build_tree.lay(
                pages, lambda *place: f"b-{hashing.identifier('block', source, *place)}"
            )
            before = _held(shaping.whole, source, author)
            after = {
                block.id: _taken_in(block, before.get(block.id), author, at)
                for block in build_tree.sourced(laid, source)
            }
            if share or laid.root not in before:
                after[laid.root] = replace(after[laid.root], access=acl)
            changed = {name: one for name, one in after.items() if before.get(name) != one}
            for name in changed.keys() - before.keys():
                refuse_taken(shaping, name)
            gone = dict.fromkeys(before.keys() - after.keys())
            written = self._reshape(shaping, {**changed, **gone})
        added = sum(name not in before for name in changed)
        return PagesImported(
            root=laid.root,
            pages=laid.pages,
            blocks=len(after),
            added=added,
            changed=len(changed) - added,
            unchanged=len(after) - len(changed),
            removed=len(gone),
            resolved=laid.resolved,
            dangling=tuple(laid.dangling),
            skipped=(*texts.skipped, *unread),
            notes=self._embed_now(viewer, written),
        )


def _held(whole: View, source: str, author: str | None) -> dict[str, Block]:
    """Give what an import brought before."""
    return {
        record.id: records.block_of(record, whole.chunks_of(record.id))
        for record in whole.listing(Filter(kinds=records.KINDS))
        if record.attrs.get("source") == source and record.author == author
    }


def _taken_in(block: Block, old: Block | None, author: str | None, at: int) -> Block:
    """Give a block its author and times; whom it was shared with since stays."""
    access = None if old is None else old.access
    return dated(replace(checked(block), author=author, access=access), old, at)
