"""Importing folders of pages as blocks, again and again.

All pages are read each time, because what a link means depends on which other pages exist; blocks
that come out unchanged are left alone. One transaction adds what is new and removes what is gone,
so an import is applied as a whole or not at all.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from quire.core import hashing
from quire.core.protocols import View
from quire.core.types import Filter, Viewer
from quire.core.types.blocks import Block, PageImportResult
from quire.errors import InputError
from quire.memory.authoring import Authoring, sign
from quire.workspace import records
from quire.workspace.block_writer import BlockWriter
from quire.workspace.importers import build_tree, discover
from quire.workspace.permissions import checked, dated, refuse_taken


def import_pages(
    authoring: Authoring,
    blocks: BlockWriter,
    folder: str | os.PathLike[str],
    form: str,
    *,
    share: Sequence[str],
    viewer: Viewer | str | None,
    allow_secret: bool,
    at: int,
) -> PageImportResult:
    """Import all pages of a folder; see `Blocks.import_pages`."""
    settings = authoring.project.config.ingest
    settings = replace(settings, secrets=settings.secrets or allow_secret)
    place = Path(folder).resolve()
    texts = discover.texts_of(place, form, settings)
    pages, unread = discover.folder_of(place.name or form, form, texts)
    if not pages.pages:
        raise InputError(f"{folder} holds no pages: name the folder that they lie in")
    spoken_of = authoring.display_name(place)
    with blocks.transaction(viewer) as transaction:
        author, acl = sign(transaction.view.viewer, share)
        source = hashing.identifier("import", form, spoken_of, author)[:16]
        laid = build_tree.lay(
            pages, lambda *place: f"b-{hashing.identifier('block', source, *place)}"
        )
        before = _held(transaction.whole, source, author)
        after = {
            block.id: _taken_in(block, before.get(block.id), author, at)
            for block in build_tree.sourced(laid, source)
        }
        if share or laid.root not in before:
            after[laid.root] = replace(after[laid.root], access=acl)
        changed = {name: one for name, one in after.items() if before.get(name) != one}
        for name in changed.keys() - before.keys():
            refuse_taken(transaction, name)
        gone = dict.fromkeys(before.keys() - after.keys())
        written = blocks.apply(transaction, {**changed, **gone})
    added = sum(name not in before for name in changed)
    return PageImportResult(
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
        notes=authoring.embed_written(viewer, written),
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
