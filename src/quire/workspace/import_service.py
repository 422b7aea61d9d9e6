"""Importing folders of pages as blocks, again and again.

All pages are read each time, because what a link means depends on which other pages exist; blocks
that come out unchanged are left alone. One transaction adds what is new and removes what is gone,
so an import is applied as a whole or not at all.

An import of a folder in the project is remembered, with a stamp for each file, so that files that
change can be imported again without being asked for.
"""

from __future__ import annotations

import json
import os
import posixpath
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from quire.core import hashing, stored_json
from quire.core.protocols import Store, View
from quire.core.types import OWNER, OWNER_NAME, Filter, IngestSettings, Stamp, Viewer
from quire.core.types.blocks import (
    IMPORT_FOLDER,
    IMPORTED,
    IMPORTS,
    PAGES,
    Block,
    PageImportResult,
)
from quire.errors import InputError
from quire.ingest import compute_record_id, is_walked, settings_prefix
from quire.memory.authoring import Authoring, OpenProject, effective_rules, sign
from quire.store import is_name
from quire.system import retry
from quire.workspace import records
from quire.workspace.block_writer import BlockWriter
from quire.workspace.permissions import (
    BlockTransaction,
    refuse_foreign_id,
    validate_block,
    with_times,
)

if TYPE_CHECKING:
    from quire.workspace.importers import discover
    from quire.workspace.importers.readers import Access

REPLACED = "{count} files of {folder} are in the store as blocks now, and no longer as files"
_SOURCE = re.compile("[0-9a-f]{16}")
FRESH_SECONDS = 2
"""A file that was changed this recently may change again without another mtime."""


@dataclass(frozen=True, slots=True)
class Import:
    """A folder of the project whose pages were imported."""

    source: str
    folder: str
    """Its path from the root of the project; empty: the root itself."""
    format: str
    author: str | None
    """Who imported it; None: the owner."""
    secrets: bool
    """Whether secrets were let in."""
    root: str
    """The id of the page that contains all others."""

    @property
    def prefix(self) -> str:
        """What stands before the path of a file in the folder, from the root of the project."""
        return f"{self.folder}/" if self.folder else ""

    def stamp_path(self, path: str) -> str:
        """Return the path of the stamp of a file, by its path in the folder."""
        return f"{IMPORT_FOLDER}/{self.source}/{path}"


def list_imports(store: Store, space: str) -> list[Import]:
    """Return the imports whose pages are still there."""
    stored = store.note(IMPORTS, space)
    imports = _read_imports(stored)
    roots = [each.root for each in imports]
    there = {record.id for record in retry.read(store, space, lambda view: view.records(roots))}
    return [each for each in imports if each.root in there]


def _read_imports(stored: str | None) -> list[Import]:
    """Return what is noted of imports, as far as it is what Quire notes: see `stored_json`."""
    from quire.workspace.importers import discover  # late: only an import needs the importers

    names = {item.name for item in fields(Import)}
    noted = stored_json.read_objects(stored)
    return [
        each
        for each in (Import(**fact) for fact in noted if fact.keys() == names)
        if all(map(stored_json.is_text, (each.source, each.folder, each.format, each.root)))
        and _SOURCE.fullmatch(each.source)
        and _is_folder(each.folder)
        and each.format in discover.FORMATS
        and (each.author is None or _is_author(each.author))
        and isinstance(each.secrets, bool)
    ]


def _is_folder(path: str) -> bool:
    """Tell whether a text is the path of a folder from the root of a project, as Quire notes it."""
    return not path or {"", ".", ".."}.isdisjoint(path.split("/"))


def _is_author(name: object) -> bool:
    return isinstance(name, str) and is_name(name) and name != OWNER_NAME


def may_follow(project: OpenProject, of: Import) -> bool:
    """Tell whether files of an earlier import may be imported again without being asked for.

    If its user made it here, and it lets nothing in that `quire index` would leave out.
    """
    settings = project.config.ingest
    if project.consents.has(_consent(project, of)):
        return True
    if of.secrets and not settings.secrets:
        return False
    return not of.folder or is_walked(project.root(), of.folder, settings)


def _consent(project: OpenProject, of: Import) -> Mapping[str, object]:
    space = project.config.space
    return {"fact": IMPORTS, "space": space, "folder": of.folder, "secrets": of.secrets}


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
    from quire.workspace.importers import discover  # late, as above

    root = Path(folder).resolve()
    texts = discover.read_texts(root, page_format, page_settings(authoring, allow_secret))
    return _write_pages(
        authoring,
        blocks,
        root,
        page_format,
        texts,
        share=share,
        viewer=viewer,
        allow_secret=allow_secret,
        at=at,
    )


def import_again(
    authoring: Authoring, blocks: BlockWriter, before: Import, touched: Collection[str], at: int
) -> PageImportResult:
    """Import the files of a folder again that have changed since, for whoever imported them.

    Blocks of other files are left alone, deleted and edited ones too; only where they lead is
    brought up to date. Nothing is embedded.

    Args:
        authoring: Writes into the open project.
        blocks: Writes blocks.
        before: The earlier import.
        touched: The files that are new, changed or gone, by their paths in the folder.
        at: The time of the import.
    """
    from quire.workspace.importers import discover  # late, as above

    root = authoring.project.root().resolve() / before.folder
    secrets = before.secrets and may_follow(authoring.project, before)
    settings = page_settings(authoring, secrets)
    return _write_pages(
        authoring,
        blocks,
        root,
        before.format,
        discover.read_texts(root, before.format, settings),
        share=(),
        viewer=before.author or OWNER,
        allow_secret=secrets,
        at=at,
        touched={f"{before.prefix}{path}" for path in touched},
    )


def page_settings(authoring: Authoring, allow_secret: bool) -> IngestSettings:
    """Return how the pages of an import are read."""
    settings = authoring.project.config.ingest
    return replace(settings, secrets=settings.secrets or allow_secret)


def _write_pages(
    authoring: Authoring,
    blocks: BlockWriter,
    root: Path,
    page_format: str,
    texts: discover.Texts,
    *,
    share: Sequence[str],
    viewer: Viewer | str | None,
    allow_secret: bool,
    at: int,
    touched: Collection[str] | None = None,
) -> PageImportResult:
    from quire.workspace.importers import build_tree, discover  # late, as above

    pages, unreadable = discover.build_folder(root.name or page_format, page_format, texts)
    if not pages.pages and touched is None:
        raise InputError(
            f"{root} holds no pages", value=str(root), hint="name the folder with the pages"
        )
    name, inside = authoring.display_name(root), _path_inside(authoring, root)
    prefix = f"{root.name}/" if inside is None else f"{inside}/" if inside else ""
    pages = replace(pages, prefix=prefix)
    notes: tuple[str, ...] = ()
    with blocks.transaction(viewer) as transaction:
        author, acl = sign(transaction.view.viewer, share)
        source = hashing.identifier("import", page_format, name, author)[:16]
        before = _read_imported(transaction.whole, source, author)
        access = _access_of_blocks(authoring, before, acl, is_shared=bool(share))
        tree = build_tree.build_tree(pages, partial(records.imported_id, source), access)
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
        if touched is not None:
            changed = _changes_of(touched, changed, before)
            removed = {name: None for name in removed if _is_of(before[name], touched)}
        written = blocks.apply(transaction, {**changed, **removed})
        if inside is not None:
            made = Import(source, inside, page_format, author, allow_secret, tree.root)
            if touched is None:
                authoring.project.consents.add(_consent(authoring.project, made))
            _remember(
                authoring, transaction, made, texts, blocks=tree.blocks, touched=touched, at=at
            )
        if author is None and after[tree.root].access is None:
            notes = _replace_files(authoring, transaction, root, tree.root, texts.by_path)
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
        redacted=texts.redacted,
        notes=notes if touched is not None else (*notes, *authoring.embed_written(viewer, written)),
    )


def _path_inside(authoring: Authoring, folder: Path) -> str | None:
    """Return the path of a folder from the root of the project; None if it is elsewhere."""
    root = authoring.project.root().resolve()
    if not folder.is_relative_to(root):
        return None
    path = folder.relative_to(root).as_posix()
    return "" if path == "." else os.fsencode(path).decode("utf-8", "backslashreplace")


def _access_of_blocks(
    authoring: Authoring,
    before: Mapping[str, Block],
    acl: tuple[str, ...] | None,
    *,
    is_shared: bool,
) -> Access:
    """Return who may read the blocks of an import.

    The root gets the access list of this import if it is shared, or new; else it keeps its own.
    """
    from quire.workspace.importers.readers import Access  # late, as above

    rules = effective_rules(authoring.project)
    return Access(
        own=lambda name: before[name].access if name in before else None,
        root=lambda name: acl if is_shared or name not in before else before[name].access,
        ruled=lambda name: rules.acl(records.path_of(name)),
    )


def _changes_of(
    files: Collection[str], changed: Mapping[str, Block], before: Mapping[str, Block]
) -> dict[str, Block]:
    """Return the changes of the blocks of some files, and of those whose links lead elsewhere."""
    return {
        name: block
        for name, block in changed.items()
        if _is_of(block, files) or _leads_elsewhere(before.get(name), block)
    }


def _is_of(block: Block, files: Collection[str]) -> bool:
    """Tell whether a block is of one of some files; the page of a folder is of none."""
    return not block.file or block.file in files


def _leads_elsewhere(old: Block | None, new: Block) -> bool:
    """Tell whether a block differs only in where it stands and what it leads to."""
    if old is None:
        return False
    same = replace(
        new,
        parent=old.parent,
        position=old.position,
        links=old.links,
        relations=old.relations,
        edited=old.edited,
        file=old.file,
        line=old.line,
    )
    return same == old


def _remember(
    authoring: Authoring,
    transaction: BlockTransaction,
    made: Import,
    texts: discover.Texts,
    *,
    blocks: Iterable[Block],
    touched: Collection[str] | None,
    at: int,
) -> None:
    """Note an import, and the state of each of its files that was imported; None: of all.

    A file that has changed and was not imported keeps its stamp, so that the next index sees it.
    """
    store, space = authoring.project.store, authoring.project.config.space
    others = [each for each in list_imports(store, space) if each.source != made.source]
    imports = sorted([*others, made], key=lambda each: each.source)
    transaction.writer.set_note(IMPORTS, json.dumps([asdict(each) for each in imports]))
    settings = settings_prefix(page_settings(authoring, made.secrets))
    pages = {block.file: block.id for block in blocks if block.type in PAGES}
    stamps = [
        Stamp(
            made.stamp_path(file.path),
            file.size,
            file.mtime if file.mtime < (at - FRESH_SECONDS) * 1_000_000_000 else -1,
            f"{settings}{digest}",
            pages.get(f"{made.prefix}{file.path}", ""),
        )
        for file, digest in texts.digests.items()
        if touched is None or f"{made.prefix}{file.path}" in touched
    ]
    gone = store.stamps(space, f"{IMPORT_FOLDER}/{made.source}").keys() - {
        made.stamp_path(file.path) for file in texts.digests
    }
    if touched is not None:
        gone &= {made.stamp_path(path.removeprefix(made.prefix)) for path in touched}
    transaction.writer.stamp(stamps)
    transaction.writer.unstamp(gone)


def _replace_files(
    authoring: Authoring,
    transaction: BlockTransaction,
    folder: Path,
    page: str,
    paths: Iterable[str],
) -> tuple[str, ...]:
    """Take the files of pages out of the store, which has their blocks now, and note the folder.

    Only where the owner imports for all who may read files: nobody else loses a text thereby.
    """
    project = authoring.project
    if not folder.is_relative_to(project.root()):
        return ()
    inside = folder.relative_to(project.root()).as_posix()
    prefix = "" if inside == "." else f"{inside}/"
    files = [f"{prefix}{path}" for path in paths]
    removed = transaction.writer.remove(compute_record_id(path) for path in files)
    transaction.writer.unstamp(files)
    stored = project.store.note(IMPORTED, project.config.space)
    folders = stored_json.read_object(stored)
    endings = sorted({posixpath.splitext(path)[1].lower() for path in files})
    folders[prefix] = {"page": page, "endings": endings}
    transaction.writer.set_note(IMPORTED, json.dumps(folders, sort_keys=True))
    return (REPLACED.format(count=removed, folder=inside),) if removed else ()


def _read_imported(whole: View, source: str, author: str | None) -> dict[str, Block]:
    """Return the blocks of an earlier import from the same source."""
    return {
        record.id: records.from_record(record, whole.chunks_of(record.id))
        for record in whole.listing(Filter(kinds=records.KINDS))
        if record.attrs.get(records.SOURCE) == source and record.author == author
    }


def _complete(block: Block, old: Block | None, author: str | None, at: int) -> Block:
    """Return a block with its author and times; access that was set since stays."""
    access = None if old is None else old.access
    complete = replace(validate_block(block), author=author, access=access)
    if old is None:
        return with_times(complete, old, at)
    # Lines that were added above it are no edit.
    moved = with_times(replace(complete, file=old.file, line=old.line), old, at)
    return replace(moved, file=block.file, line=block.line)
