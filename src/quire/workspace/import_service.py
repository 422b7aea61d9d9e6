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
from quire.memory.authoring import Authoring, effective_rules, sign
from quire.workspace import records
from quire.workspace.block_writer import BlockWriter
from quire.workspace.importers import build_tree, discover
from quire.workspace.importers.readers import Access
from quire.workspace.permissions import refuse_foreign_id, validate_block, with_times


def import_pages(
    authoring: Authoring,
    blocks: BlockWriter,
    folder: str | os.PathLike[str],
    page_format: str,
    *,
    share: Sequence[str],
    viewer: Viewer | str | None,
    allow_secret: bool,
    at: int,
) -> PageImportResult:
    """Import all pages of a folder; see `Blocks.import_pages`."""
    settings = authoring.project.config.ingest
    settings = replace(settings, secrets=settings.secrets or allow_secret)
    root = Path(folder).resolve()
    texts = discover.read_texts(root, page_format, settings)
    pages, unreadable = discover.build_folder(root.name or page_format, page_format, texts)
    if not pages.pages:
        raise InputError(
            f"{folder} holds no pages", value=str(folder), hint="name the folder with the pages"
        )
    name = authoring.display_name(root)
    with blocks.transaction(viewer) as transaction:
        author, acl = sign(transaction.view.viewer, share)
        source = hashing.identifier("import", page_format, name, author)[:16]
        before = _read_imported(transaction.whole, source, author)
        rules = effective_rules(authoring.project)
        tree = build_tree.build_tree(
            pages,
            lambda *key: f"b-{hashing.identifier('block', source, *key)}",
            Access(
                own=lambda name: before[name].access if name in before else None,
                root=lambda name: acl if share or name not in before else before[name].access,
                ruled=lambda name: rules.acl(records.path_of(name)),
            ),
        )
        after = {
            block.id: _complete(block, before.get(block.id), author, at)
            for block in build_tree.with_source(tree, source)
        }
        if share or tree.root not in before:
            after[tree.root] = replace(after[tree.root], access=acl)
        changed = {name: block for name, block in after.items() if before.get(name) != block}
        for name in changed.keys() - before.keys():
            refuse_foreign_id(transaction, name)
        removed = dict.fromkeys(before.keys() - after.keys())
        written = blocks.apply(transaction, {**changed, **removed})
    added = sum(name not in before for name in changed)
    return PageImportResult(
        root=tree.root,
        pages=tree.pages,
        blocks=len(after),
        added=added,
        changed=len(changed) - added,
        unchanged=len(after) - len(changed),
        removed=len(removed),
        resolved=tree.resolved,
        dangling=tuple(tree.dangling),
        skipped=(*texts.skipped, *unreadable),
        notes=authoring.embed_written(viewer, written),
    )


def _read_imported(whole: View, source: str, author: str | None) -> dict[str, Block]:
    """Return the blocks of an earlier import from the same source."""
    return {
        record.id: records.from_record(record, whole.chunks_of(record.id))
        for record in whole.listing(Filter(kinds=records.KINDS))
        if record.attrs.get("source") == source and record.author == author
    }


def _complete(block: Block, old: Block | None, author: str | None, at: int) -> Block:
    """Return a block with its author and times; access that was set since stays."""
    access = None if old is None else old.access
    return with_times(replace(validate_block(block), author=author, access=access), old, at)
