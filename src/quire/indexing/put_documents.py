"""Put documents that are not files into a store, change and delete them.

They lie beside the files: the same search, access rules, proofs and receipts. An index leaves them
alone, and skips a file whose path the owner has put a document under. Whoever puts a document is
its author. The owner's have the path that they were given; those of anybody else are below
`@NAME/`, so that what they put depends on nothing that they may not read, and nothing of theirs can
be taken for a file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from quire.core.metadata import check_metadata
from quire.core.protocols import View, Writer
from quire.core.types import (
    Document,
    MetadataValue,
    NewDocument,
    Progress,
    PutResult,
    PutSummary,
    Record,
    Redaction,
    Skipped,
    Viewer,
)
from quire.core.types.stored import ADDED, CHANGED, UNCHANGED
from quire.errors import InputError, MissingDocumentError, QuireError
from quire.indexing import document_content
from quire.indexing.document_content import (
    MINE,
    check_share,
    check_text,
    document_id,
    stored_path,
)
from quire.indexing.progress import Report
from quire.ingest import close_readers
from quire.ingest.redact import redact, redact_metadata, redact_path
from quire.ingest.types import clean_title
from quire.memory.authoring import EMBEDDED_LATER, Authoring, OpenProject, sign
from quire.store.access import access_list
from quire.system import events, retry
from quire.system.clock import now

BATCH_DOCUMENTS = 500
BATCH_CHARACTERS = 2_000_000
NO_NOTES: tuple[str, ...] = ()
MAX_REPORTED = 1000
"""Of so many documents that were skipped or redacted, each is told."""

ViewerLike = Viewer | str | None
Commit = Callable[[Writer, View, Sequence[Record]], None]
"""Writes something with a batch, of which it is given the records that were written."""


_STATES: tuple[str, ...] = (ADDED, CHANGED, UNCHANGED)


@dataclass(slots=True)
class _Tally:
    """What became of the documents so far."""

    states: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_STATES, 0))
    skipped: list[Skipped] = field(default_factory=list)
    redacted: list[Redaction] = field(default_factory=list)
    chunks: int = 0

    @property
    def done(self) -> int:
        return sum(self.states.values()) + len(self.skipped)

    def summary(self, *, vectors: int = 0, notes: tuple[str, ...] = ()) -> PutSummary:
        return PutSummary(
            added=self.states[ADDED],
            changed=self.states[CHANGED],
            unchanged=self.states[UNCHANGED],
            skipped=tuple(self.skipped[:MAX_REPORTED]),
            redacted=tuple(self.redacted[:MAX_REPORTED]),
            vectors=vectors,
            notes=notes,
        )


class DocumentWriter:
    """Writes documents into the store of an open project."""

    def __init__(self, authoring: Authoring, embed: Callable[[Report], int]) -> None:
        self._authoring = authoring
        self._project = authoring.project
        self._embed = embed

    def put(self, new: NewDocument, viewer: ViewerLike, origin: str) -> PutResult:
        """Put one document."""
        try:
            document = self._build(new, viewer, origin)

            def write() -> str:
                with self._authoring.transaction(viewer) as (writer, view):
                    ((state, _),) = _write(writer, view, [document])
                return state

            state = retry.again(write)
        finally:
            close_readers()
        record = document.record
        notes = () if state == UNCHANGED else self._authoring.embed_written(viewer, [document])
        if record.expires is not None and record.expires <= now():
            notes += (f"{record.path} has expired already: nobody is shown it",)
        return PutResult(record.path, record.id, state, document.redacted, notes)

    def put_many(
        self,
        documents: Iterable[object],
        viewer: ViewerLike,
        *,
        origin: str,
        embed: bool,
        skip_errors: bool,
        report: Report,
        commit: Commit | None = None,
    ) -> PutSummary:
        """Put documents in batches, each of which is kept as a whole or not at all.

        `commit` writes something with each batch, such as how far a source has been read.
        """
        tally = _Tally()
        with events.timed("put") as facts:
            try:
                for batch in self._batches(documents, viewer, origin, tally, skip_errors):
                    self._write_batch(batch, viewer, tally, skip_errors, commit)
                    paths = tuple(document.record.path for document in batch)
                    report(Progress("put", tally.done, paths=paths))
            finally:
                close_readers()
            facts.update(**tally.states, skipped=len(tally.skipped))
        vectors, notes = 0, NO_NOTES
        if tally.chunks:
            vectors, notes = self._embed_new(viewer, report, embed=embed)
        return tally.summary(vectors=vectors, notes=notes)

    def _embed_new(
        self, viewer: ViewerLike, report: Report, *, embed: bool
    ) -> tuple[int, tuple[str, ...]]:
        """Embed what lacks a vector, if that is the owner's wish; else say when it happens."""
        if self._project.config.embed.provider == "none":
            return 0, ()
        if not embed or not self._project.resolve_viewer(viewer).owner:
            return 0, (EMBEDDED_LATER,)
        return self._embed(report), ()

    def _batches(
        self,
        documents: Iterable[object],
        viewer: ViewerLike,
        origin: str,
        tally: _Tally,
        skip_errors: bool,
    ) -> Iterator[list[Document]]:
        batch: list[Document] = []
        size = 0
        for number, item in enumerate(documents, 1):
            place = f"document {number}"
            try:
                if isinstance(item, QuireError):  # what could not even be made a document
                    raise item
                new = document_content.of_mapping(item, place)
                document = self._build(new, viewer, origin)
            except InputError as error:
                if not skip_errors:
                    if batch:  # what came before it is kept
                        yield batch
                    told = error is item or place in error.place
                    raise error if told else error.within(place) from None
                path = getattr(item, "path", None) or _path_of(item) or place
                shown, _ = redact_path(str(path), self._authoring.project.config.ingest)
                tally.skipped.append(Skipped(shown, str(error)))
                continue
            batch.append(document)
            size += document.chunks[-1].end
            if len(batch) >= BATCH_DOCUMENTS or size >= BATCH_CHARACTERS:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch

    def _write_batch(
        self,
        batch: Sequence[Document],
        viewer: ViewerLike,
        tally: _Tally,
        skip_errors: bool,
        commit: Commit | None,
    ) -> None:
        def write() -> list[tuple[str, str]]:
            with self._authoring.transaction(viewer) as (writer, view):
                results = _write(writer, view, batch, skip_errors=skip_errors)
                if commit is not None:
                    pairs = zip(batch, results, strict=True)
                    commit(writer, view, [each.record for each, (state, _) in pairs if state])
            return results

        results = retry.again(write)
        for document, (state, reason) in zip(batch, results, strict=True):
            if reason:
                tally.skipped.append(Skipped(document.record.path, reason))
                continue
            tally.states[state] += 1
            if len(tally.redacted) < MAX_REPORTED:
                tally.redacted += document.redacted
            tally.chunks += 0 if state == UNCHANGED else len(document.chunks)

    def _build(self, new: NewDocument, viewer: ViewerLike, origin: str) -> Document:
        project = self._project
        for name in ("type", "title", "author", "template"):
            check_text(getattr(new, name), name)
        author, acl = sign(project.resolve_viewer(viewer), check_share(new.share))
        return document_content.build(
            new, project.config.ingest, author=author, acl=acl, origin=origin
        )

    def update(self, path: str, viewer: ViewerLike, changes: Mapping[str, Any]) -> Record:
        """Change what is known of a document, but not its text."""
        with self._authoring.transaction(viewer) as (writer, view):
            old = find_own(view, path)
            record = replace(old, **self._changed_fields(old, view.viewer, changes))
            if not record.title:
                record = replace(record, title=old.path.rpartition("/")[2])
            writer.update(record)
        return record

    def _changed_fields(
        self, old: Record, viewer: Viewer, changes: Mapping[str, Any]
    ) -> dict[str, Any]:
        values: dict[str, Any] = {}
        if "metadata" in changes:
            values["metadata"] = self._merged(old, changes["metadata"])
        if "share" in changes:
            author, acl = sign(viewer, check_share(changes["share"]))
            if author is None and old.path.startswith(MINE):  # the owner changes another's
                acl = access_list((*(acl or ()), f"user:{old.author}"))
            values["acl"] = acl
        if "title" in changes:
            title = check_text(changes["title"], "title")
            values["title"] = clean_title(redact(old.path, title, self._project.config.ingest).text)
        for name in ("modified", "expires"):
            if name in changes:
                values[name] = document_content.moment(changes[name], name, after=name == "expires")
        return values

    def _merged(self, old: Record, metadata: object) -> dict[str, MetadataValue]:
        """Return metadata with some values replaced; None takes a value away."""
        given = metadata if isinstance(metadata, Mapping) else check_metadata(metadata)
        wanted = {**old.metadata, **given}
        checked = check_metadata({key: value for key, value in wanted.items() if value is not None})
        return redact_metadata(old.path, checked, self._project.config.ingest)

    def delete(self, paths: Sequence[str], viewer: ViewerLike, *, missing_ok: bool) -> int:
        """Delete documents; return how many there were."""
        with self._authoring.transaction(viewer) as (writer, view):
            ids = []
            for path in paths:
                try:
                    ids.append(find_own(view, path).id)
                except MissingDocumentError:
                    if not missing_ok:
                        raise
            return writer.remove(ids)


def find(view: View, path: str) -> Record | None:
    """Return the readable record at a path: the viewer's own document, or the one of that path."""
    viewer = view.viewer
    check_text(path, "path")
    candidates = [document_id(path, None)]
    if path.startswith(MINE):
        candidates.insert(0, document_id(path, path[1:].partition("/")[0]))
    elif not viewer.owner and viewer.name:
        candidates.insert(0, document_id(stored_path(path, viewer.name), viewer.name))
    return next(iter(view.records(candidates)), None)


def find_own(view: View, path: str) -> Record:
    """Return a document that the viewer may change; refuse a file, and what is another's."""
    record = find(view, path)
    viewer = view.viewer
    if record is not None and record.origin:
        if viewer.owner or (record.author == viewer.name and record.path.startswith(MINE)):
            return record
        raise InputError(
            f"{path} was put by {_author(record)}; only they and the owner may change it",
            field="path",
            value=path,
        )
    if record is not None:
        raise InputError(
            f"{path} is a file of the project, not a document that was put",
            field="path",
            value=path,
            hint="change or delete the file and run `quire index`",
        )
    raise MissingDocumentError(
        f"no document has the path {path!r}",
        field="path",
        value=path,
        hint="see `quire document list`",
    )


def remove_expired(project: OpenProject, at: int) -> int:
    """Delete all documents that have expired at a moment; return how many."""
    space = project.config.space
    expired = retry.read(project.store, space, lambda view: view.expired(at))
    if not expired:
        return 0
    ids = [record.id for record in expired]
    return retry.write(project.store, space, lambda writer: writer.remove(ids))


def _author(record: Record) -> str:
    return record.author or "the owner" if record.path.startswith(MINE) else "the owner"


def _write(
    writer: Writer, view: View, documents: Sequence[Document], *, skip_errors: bool = False
) -> list[tuple[str, str]]:
    """Write documents; return what became of each, and why it was left out."""
    known = {record.id: record for record in view.records([each.record.id for each in documents])}
    results: list[tuple[str, str]] = []
    for document in documents:
        record = document.record
        before = known.get(record.id)
        if before is not None and before.origin != record.origin:
            error = _taken(before, record.path)
            if not skip_errors:
                raise error
            results.append(("", str(error)))
            continue
        changed = writer.put(record, document.chunks, document.links, document.outline)
        results.append(((CHANGED if changed else UNCHANGED) if before else ADDED, ""))
        known[record.id] = record
    return results


def _taken(before: Record, path: str) -> InputError:
    if not before.origin:
        return InputError(
            f"{path} is a file of the project",
            field="path",
            value=path,
            hint="put the document under another path, or change the file",
        )
    return InputError(
        f"{path} is kept up to date by {before.origin}",
        field="path",
        value=path,
        hint="use another path, or delete that document first",
    )


def _path_of(item: object) -> str:
    path = item.get("path") if isinstance(item, Mapping) else None
    return path if isinstance(path, str) else ""
