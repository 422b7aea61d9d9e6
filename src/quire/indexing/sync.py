"""Keep documents in step with the sources that quire.toml names.

Each batch is written in one transaction with the cursor that it was read up to, or with the marks
of its files and lines, so that a run which was killed goes on from there. What has the mark that it
had is not read again, and what a source without a cursor no longer has is removed at the end.

A source that fails does not end the others, and a row that is wrong does not end its source: both
are told in the result. What may still be there is not removed.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from urllib.parse import quote

from quire.config import Config
from quire.core import hashing, stored_json
from quire.core.protocols import Store, View, Writer
from quire.core.types import (
    OWNER,
    NewDocument,
    PutSummary,
    Record,
    Skipped,
    SkippedRow,
    SourceSettings,
    Stamp,
    Viewer,
)
from quire.errors import CallerError, InputError, PluginError, unknown
from quire.indexing.document_content import document_id
from quire.indexing.files import find_missing
from quire.indexing.progress import Report
from quire.indexing.project import Project
from quire.indexing.put_documents import MAX_REPORTED, DocumentWriter
from quire.indexing.sources import Change, Source, SourceError, open_source
from quire.ingest import settings_prefix
from quire.ingest.redact import redact_path

ORIGIN = "sync:"
CURSOR = "cursor:"
"""Beginning of the notes that hold how far sources have been read."""
MARKS = ".quire/sync"
"""The folder of the paths that stand for marks."""
FAILURES = (SourceError, CallerError, PluginError)
"""What ends one source alone; a store that cannot be written ends them all."""
NOTHING_REMOVED = "not all of it could be read, so that nothing was removed"


class Sync:
    """Reads the sources of an open project."""

    def __init__(self, project: Project, writer: DocumentWriter) -> None:
        self._project = project
        self._writer = writer

    def run(
        self,
        names: Sequence[str],
        *,
        full: bool,
        embed: bool,
        report: Report,
        viewer: Viewer | str | None,
    ) -> dict[str, PutSummary]:
        """Read some sources, or all; return what became of the documents of each."""
        project = self._project
        self._refuse_others(viewer)
        project.refresh()
        sources = project.config.sources
        if not sources:
            raise InputError(
                "quire.toml names no sources",
                hint='add [sources.NAME] with `type = "folder"` and a location; if it has one, '
                "`quire trust` may have to allow it",
            )
        for name in names:
            if name not in sources:
                raise unknown("source", name, sources, field="sources")
        wanted = {name: sources[name] for name in names or sorted(sources)}
        # All are opened first: a mistake in the settings of one must not show after hours.
        opened = {name: self._open(name, settings) for name, settings in wanted.items()}
        return {
            name: PutSummary(failed=source)
            if isinstance(source, str)
            else self._read(name, wanted[name], source, full=full, embed=embed, report=report)
            for name, source in opened.items()
        }

    def _open(self, name: str, settings: SourceSettings) -> Source | str:
        """Open a source; return why it cannot be."""
        project = self._project
        ingest, disabled = project.config.ingest, project.config.plugins.disable
        try:
            return open_source(name, settings, project.root(), ingest, disabled)
        except FAILURES as error:
            return str(error)

    def _read(
        self,
        name: str,
        settings: SourceSettings,
        source: Source,
        *,
        full: bool,
        embed: bool,
        report: Report,
    ) -> PutSummary:
        since = self._cursor(name, settings) if not full else None
        complete = full or not source.resumable or since is None
        before = self._ids(name) if complete else {}
        marks = Marks(self._project.store, self._project.config, name, settings)
        if not source.resumable:
            marks.load(() if full else before)
        state = _State(name, settings, since, marks)
        summary = self._writer.put_many(
            state.documents(source),
            OWNER,
            origin=f"{ORIGIN}{name}",
            embed=embed,
            skip_errors=True,
            report=report,
            commit=state.commit,
        )
        is_sure = complete and not state.failed and not state.nameless
        gone = find_missing(before, state.seen.keys(), state.waiting) if is_sure else ()
        removed = self._finish(name, state, sorted(gone), before)
        unwritten = [state.name_row(each) for each in summary.skipped]
        return replace(
            summary,
            unchanged=summary.unchanged + state.unchanged,
            removed=removed,
            skipped=tuple(map(self._show, (*state.skipped, *unwritten)))[:MAX_REPORTED],
            notes=(*summary.notes, *([NOTHING_REMOVED] if complete and not is_sure else ())),
            failed=state.failed,
        )

    def _show(self, skipped: Skipped) -> Skipped:
        path, _ = redact_path(skipped.path, self._project.config.ingest)
        return replace(skipped, path=path)

    def _finish(
        self, name: str, state: _State, paths: Sequence[str], before: dict[str, str]
    ) -> int:
        """Remove documents, and record that the source was read to its end."""
        project = self._project
        space = project.config.space
        ids = [before.get(path) or document_id(path, None) for path in paths]
        with project.store.write(space) as writer, project.store.view(OWNER, space) as view:
            own = [each.id for each in view.records(ids) if each.origin == f"{ORIGIN}{name}"]
            state.commit(writer, view, ())
            state.marks.forget(writer, paths)
            return state.removed + writer.remove(own)

    def _cursor(self, name: str, settings: SourceSettings) -> str | None:
        stored = self._project.store.note(f"{CURSOR}{name}", self._project.config.space)
        known = stored_json.read_object(stored)
        # With another query or another text, everything is read again.
        cursor = known.get("cursor") if known.get("settings") == _fingerprint(settings) else None
        return cursor if stored_json.is_text(cursor) else None

    def _ids(self, name: str) -> dict[str, str]:
        """Return the ids of the documents that a source has brought, by path."""
        with self._project.store.view(OWNER, self._project.config.space) as view:
            return {
                record.path: record.id
                for record in view.listing()
                if record.origin == f"{ORIGIN}{name}"
            }

    def _refuse_others(self, viewer: Viewer | str | None) -> None:
        if not self._project.resolve_viewer(viewer).owner:
            raise InputError(
                "only the owner may sync", field="viewer", hint="leave out {viewer}, or ask them"
            )

    def drop(self, name: str) -> int:
        """Remove all documents of a source, and forget how far it was read."""
        self._refuse_others(None)
        ids = self._ids(name)
        if not ids and name not in self._project.config.sources:
            raise unknown("source", name, self._project.config.sources, field="sources")
        with self._project.store.write(self._project.config.space) as writer:
            writer.set_note(f"{CURSOR}{name}", "{}")
            Marks(self._project.store, self._project.config, name, SourceSettings()).forget_all(
                writer
            )
            return writer.remove(ids.values())


class Marks:
    """The marks that the files and lines of a source had when they were written.

    The store keeps them as it keeps the stamps of files, under paths that no file has.
    """

    def __init__(self, store: Store, config: Config, name: str, settings: SourceSettings) -> None:
        self._store = store
        self._space = config.space
        self._folder = f"{MARKS}/{quote(name, safe='')}"
        # What is read in another way must be read again.
        self._prefix = hashing.identifier(
            "mark", settings_prefix(config.ingest), _fingerprint(settings)
        )[:8]
        self._used = False
        self._known: dict[str, str] = {}
        self._new: dict[str, str] = {}

    def load(self, paths: Collection[str]) -> None:
        """Use marks: read those of some documents."""
        self._used = True
        start = len(self._folder) + 1
        for stamp in self._store.stamps(self._space, self._folder).values():
            if (path := stamp.path[start:]) in paths:
                self._known[path] = stamp.digest

    def is_known(self, change: Change) -> bool:
        """Tell whether something is as it was; else its mark counts once it is written."""
        mark = f"{self._prefix} {change.mark}"
        if change.mark and self._known.get(change.path) == mark:
            return True
        self._known.pop(change.path, None)  # another line may be at the same path
        self._new.pop(change.path, None)
        if change.mark:
            self._new[change.path] = mark
        return False

    def write(self, writer: Writer, records: Sequence[Record]) -> None:
        """Write the marks of what was written; what has none now must not keep an older one."""
        if not self._used:
            return
        written = {record.path: record.id for record in records}
        writer.stamp(
            Stamp(f"{self._folder}/{path}", 0, 0, mark, written[path])
            for path, mark in self._new.items()
            if path in written
        )
        writer.unstamp(f"{self._folder}/{path}" for path in written if path not in self._new)
        self._new.clear()

    def forget(self, writer: Writer, paths: Iterable[str]) -> None:
        """Forget the marks of what was removed."""
        writer.unstamp(f"{self._folder}/{path}" for path in paths)

    def forget_all(self, writer: Writer) -> None:
        """Forget all marks of the source."""
        writer.unstamp([*self._store.stamps(self._space, self._folder)])


class _State:
    """How far one run has read a source."""

    def __init__(
        self, name: str, settings: SourceSettings, since: str | None, marks: Marks
    ) -> None:
        self.since = since
        self.marks = marks
        self.seen: dict[str, int] = {}
        """The number of its row by path; 0 for a file."""
        self.waiting: set[str] = set()
        """Paths of what may be readable later, or is a row that was skipped."""
        self.skipped: list[Skipped] = []
        self.nameless = False
        """Whether a row was skipped of which not even the path is known."""
        self.failed = ""
        self.unchanged = 0
        self.deleted: set[str] = set()
        self.removed = 0
        self._origin = f"{ORIGIN}{name}"
        self._note = f"{CURSOR}{name}"
        self._settings = _fingerprint(settings)
        self._cursor = since
        self._before = since
        """The cursor of the document before the last one: that one may not be written yet."""

    def documents(self, source: Source) -> Iterator[NewDocument]:
        """Yield the documents of a source, and remember what it says is deleted."""
        try:
            for change in source.changes(self.since):
                if isinstance(change, Skipped):
                    self._skip(change)
                elif self.marks.is_known(change):
                    self.seen[change.path] = change.row
                    self.unchanged += 1
                else:
                    yield from self._take(change)
        except FAILURES as error:
            self.failed = str(error)
        self._before = self._cursor

    def _skip(self, skipped: Skipped) -> None:
        is_row = isinstance(skipped, SkippedRow)
        if is_row and not skipped.path:
            self.nameless = True
        elif is_row or skipped.is_temporary:
            self.waiting.add(skipped.path)
        if len(self.skipped) < MAX_REPORTED:
            self.skipped.append(skipped)

    def _take(self, change: Change) -> Iterator[NewDocument]:
        self._before = self._cursor
        document = change.document if change.load is None else change.load()
        if isinstance(document, Skipped):
            self._skip(document)
        elif document is not None:
            self.seen[change.path] = change.row
            self.deleted.discard(change.path)
            self._cursor = change.cursor or self._cursor
            yield document
        elif change.load is None:
            self.deleted.add(change.path)
            self.seen.pop(change.path, None)
        self._cursor = change.cursor or self._cursor

    def name_row(self, skipped: Skipped) -> Skipped:
        """Return what could not be put with the number of its row, if it is one."""
        row = self.seen.get(skipped.path, 0)
        return SkippedRow(skipped.path, skipped.reason, row) if row else skipped

    def commit(self, writer: Writer, view: View, written: Sequence[Record]) -> None:
        """Remove what is deleted and record how far the source was read, with what was written."""
        ids = {document_id(path, None): path for path in self.deleted}
        others = {each.id for each in view.records([*ids]) if each.origin != self._origin}
        self.removed += writer.remove(sorted(ids.keys() - others))
        self.marks.forget(writer, sorted(self.deleted))
        self.deleted.clear()
        self.marks.write(writer, written)
        value = {"cursor": self._before, "settings": self._settings}
        writer.set_note(self._note, json.dumps(value))


def _fingerprint(settings: SourceSettings) -> str:
    return repr(settings)
