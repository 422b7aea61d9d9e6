"""Imported pages in step with their files: find the files that changed, and import them again.

Only imports of folders inside the project are followed: a store may come from anybody, and must not
make whoever opens it read other folders.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from quire.core.paths import is_under
from quire.core.types import OWNER, FileEntry, Progress, Skipped, Stamp
from quire.core.types.blocks import IMPORT_FOLDER
from quire.indexing.files import FRESH_NANOSECONDS, Tally
from quire.indexing.progress import Report
from quire.indexing.project import Project
from quire.ingest import compute_digest, settings_prefix
from quire.memory.authoring import Authoring
from quire.system import retry
from quire.system.clock import now, now_ns
from quire.workspace import records
from quire.workspace.block_writer import BlockWriter
from quire.workspace.import_service import (
    Import,
    import_again,
    list_imports,
    may_follow,
    page_settings,
)

NOT_FOLLOWED = (
    "pages that were imported have changed, but the store alone says that their secrets, or this "
    "ignored folder, may be read; import it again with `quire import`"
)


@dataclass(frozen=True, slots=True)
class ImportedFile:
    """A file whose pages were imported, and its state then."""

    of: Import
    path: str
    """Its path in the folder of the import."""
    stamp: Stamp


@dataclass(slots=True)
class _Compared:
    """The files of an import, compared with their stamps."""

    touched: set[str]
    """Those that are new, changed or gone."""
    unchanged: int
    dated: list[Stamp]
    """New stamps of files of which only the time has changed."""


class ImportedPages:
    """The imports of an open project."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._authoring = Authoring(project)

    def find_files(self, paths: Iterable[str]) -> dict[str, ImportedFile]:
        """Return the files that some records were imported from, by the paths of the records."""
        ids = {path.rpartition("/")[2]: path for path in paths if is_under(path, records.FOLDER)}
        imports = self._imports() if ids else []
        if not imports:
            return {}
        by_source = {each.source: each for each in imports}
        with self._project.store.view(OWNER, self._project.config.space) as view:
            blocks = [records.from_record(record, ()) for record in view.records([*ids])]
        found: dict[str, ImportedFile] = {}
        for block in blocks:
            of = by_source.get(block.source)
            if of is None or not block.file.startswith(of.prefix):
                continue
            path = block.file.removeprefix(of.prefix)
            place = of.stamp_path(path)
            stamp = self._stamps(place).get(place)
            if stamp is not None:
                found[ids[block.id]] = ImportedFile(of, path, stamp)
        return found

    def count_files(self, of: Import) -> tuple[int, int]:
        """Return how many files an import has, and how many bytes they had."""
        stamps = self._stamps(f"{IMPORT_FOLDER}/{of.source}").values()
        return len(stamps), sum(stamp.size for stamp in stamps)

    def may_import(self, of: Import) -> bool:
        """Tell whether files of an import that changed may be imported again; see `may_follow`."""
        return may_follow(self._project, of)

    def import_touched(self, of: Import, touched: Iterable[str]) -> None:
        """Import some files of a folder again, by their paths in it."""
        import_again(self._authoring, BlockWriter(self._authoring), of, {*touched}, now())

    def update(self, under: Sequence[str], report: Report) -> Tally:
        """Import what has changed below some paths of the project; return what became of files."""
        tally = Tally()
        for each in self._imports():
            if any(_overlap(each.folder, part) for part in under):
                self._update(each, under, tally)
                report(Progress("read", tally.indexed + tally.unchanged))
        return tally

    def _update(self, of: Import, under: Sequence[str], tally: Tally) -> None:
        compared = self._compare(of, under)
        tally.unchanged += compared.unchanged
        if compared.touched and not self.may_import(of):
            tally.skipped.append(Skipped(of.folder or ".", NOT_FOLLOWED))
        elif compared.touched:
            writer = BlockWriter(self._authoring)
            again = partial(import_again, self._authoring, writer, of, compared.touched, now())
            result = retry.again(again)
            there = {path for path in compared.touched if (self._folder(of) / path).is_file()}
            tally.indexed += len(there)
            tally.removed += len(compared.touched - there)
            tally.skipped += [_in_project(of, skip) for skip in result.skipped]
            tally.redacted += [
                replace(each, path=f"{of.prefix}{each.path}") for each in result.redacted
            ]
        elif compared.dated:
            retry.write(
                self._project.store,
                self._project.config.space,
                lambda writing: writing.stamp(compared.dated),
            )

    def _compare(self, of: Import, under: Sequence[str]) -> _Compared:
        from quire.workspace.importers import discover  # late: most projects import no pages

        settings = page_settings(self._authoring, of.secrets)
        prefix = settings_prefix(settings)
        known = {
            path.removeprefix(of.stamp_path("")): stamp
            for path, stamp in self._stamps(f"{IMPORT_FOLDER}/{of.source}").items()
        }
        wanted = {path for path in known if _is_below(of, path, under)}
        compared = _Compared(set(), 0, [])
        for file in discover.walk_folder(self._folder(of), of.format, settings):
            if not isinstance(file, Skipped) and discover.is_page(file.path, of.format):
                wanted.discard(file.path)
                if _is_below(of, file.path, under):
                    _compare_file(file, known, prefix, compared)
        compared.touched |= wanted  # which are gone
        return compared

    def count_stale(self) -> Mapping[str, int]:
        """Count the imported files that are new, changed or gone."""
        counts = {"new": 0, "changed": 0, "gone": 0}
        for of in self._imports():
            known = self._stamps(f"{IMPORT_FOLDER}/{of.source}")
            for path in self._compare(of, ("",)).touched:
                if not (self._folder(of) / path).is_file():
                    counts["gone"] += 1
                else:
                    counts["changed" if of.stamp_path(path) in known else "new"] += 1
        return counts

    def _imports(self) -> list[Import]:
        """Return the imports of folders that are there, and inside the project."""
        return [
            each
            for each in list_imports(self._project.store, self._project.config.space)
            if self._is_inside(each)
        ]

    def _is_inside(self, of: Import) -> bool:
        folder = self._folder(of)
        inside = folder.resolve().is_relative_to(self._project.root().resolve())
        return inside and os.path.isdir(folder)  # noqa: PTH112 - which never raises

    def _folder(self, of: Import) -> Path:
        return self._project.root() / of.folder

    def _stamps(self, under: str) -> dict[str, Stamp]:
        return self._project.store.stamps(self._project.config.space, under)


def _compare_file(
    file: FileEntry, known: Mapping[str, Stamp], prefix: str, compared: _Compared
) -> None:
    stamp = known.get(file.path)
    is_same = stamp is not None and stamp.digest.startswith(prefix) and stamp.size == file.size
    if stamp is None or not is_same:
        compared.touched.add(file.path)
        return
    if stamp.mtime != file.mtime:
        digest = compute_digest(file)
        if digest != stamp.digest.removeprefix(prefix):
            compared.touched.add(file.path)
            return
        if file.mtime < now_ns() - FRESH_NANOSECONDS:
            compared.dated.append(replace(stamp, mtime=file.mtime))
    compared.unchanged += 1


def _overlap(one: str, other: str) -> bool:
    return not one or not other or is_under(one, other) or is_under(other, one)


def _is_below(of: Import, path: str, under: Sequence[str]) -> bool:
    return any(not part or is_under(f"{of.prefix}{path}", part) for part in under)


def _in_project(of: Import, skip: Skipped) -> Skipped:
    return replace(skip, path=f"{of.prefix}{skip.path}")
