"""What an open store holds: records, chunks, texts, proofs, and how fresh they are."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from quire.core import conditions, hashing, stored_json
from quire.core.aio import make_async
from quire.core.protocols import View
from quire.core.types import (
    NO_FILTER,
    NO_METADATA,
    OWNER,
    PUT,
    Chunk,
    Facet,
    Filter,
    IndexResult,
    NewDocument,
    Proof,
    PutResult,
    PutSummary,
    Record,
    RecordProof,
    StoredDocument,
    Viewer,
    format_time,
)
from quire.errors import InputError, MissingDocumentError, QuireError, StoreDamagedError
from quire.indexing import files, git_history
from quire.indexing.document_content import check_text
from quire.indexing.freshness import Freshness
from quire.indexing.imported_pages import ImportedPages
from quire.indexing.progress import Report, ignore_progress
from quire.indexing.project import INDEXED_AT, Project
from quire.indexing.put_documents import DocumentWriter, find, remove_expired
from quire.indexing.sync import Sync
from quire.ingest import commits
from quire.ingest.paths import resolve_paths
from quire.pipeline.validate import check_filter
from quire.store.access import visible_record
from quire.system.clock import now

MAX_FACETS = 10
"""So many values of a key are counted, the most frequent ones."""


KEEP = object()
"""Stands for a value that stays as it is."""
Where = Filter | str | Mapping[str, Any]
"""A filter, or a condition on metadata as a text or a mapping."""


def _find_commit(view: View, path: str) -> Record | None:
    """Return the readable commit at a path, as `list` names it."""
    if not path.startswith(f"{commits.FOLDER}/"):
        return None
    return next(iter(view.records([hashing.record_id(commits.KIND, path)])), None)


class Documents:
    """The records of an open store, and the documents in it that are not files."""

    def __init__(self, project: Project, writer: DocumentWriter) -> None:
        self._project = project
        self._writer = writer

    def put(
        self,
        content: str | bytes | Sequence[Mapping[str, Any]] | Mapping[str, Any],
        *,
        path: str,
        type: str = "",  # noqa: A002 - the field's own word
        title: str = "",
        author: str = "",
        modified: int | str | date | None = None,
        metadata: Mapping[str, Any] = NO_METADATA,
        expires: int | str | date | None = None,
        share: Sequence[str] = (),
        template: str = "",
        viewer: Viewer | str | None = None,
    ) -> PutResult:
        """Put a document that is not a file into the store, or replace the one at its path.

        It is split, searched, filtered, access-checked and proved like a file, and `index` leaves
        it alone. The same content at the same path changes nothing. Secrets are taken out.

        Args:
            content: A text, the bytes of a file, messages (`role`, `content`, `at`), or an object.
            path: Its name, like that of a file: `crm/42`.
            type: `text`, `markdown`, `html`, `pdf`, `chat`, `json` or another format; empty: as
                the content and the ending of the path say, else `markdown`.
            title: Its title; empty: as its text says.
            author: Who wrote it; for a viewer other than the owner it is always they.
            modified: When it was written: a date, or seconds since 1970.
            metadata: Values by key to filter by: texts, numbers, true or false, dates, lists of
                texts.
            expires: When it is no longer shown: a moment, or the last day on which it is.
            share: Who may read it: names, `@group`, `public` or `owner`; empty: what the owner
                puts, the access rules decide over, and what others put is theirs alone.
            template: The text of an object, with its members in braces: `{title} ({owner.name})`.
            viewer: Who puts it; None for the configured viewer, or the owner.
        """
        new = NewDocument(
            content=content,
            path=path,
            type=type,
            title=title,
            author=author,
            modified=modified,
            metadata=metadata,
            expires=expires,
            share=share,
            template=template,
        )
        return self._writer.put(new, viewer, PUT)

    put_async = make_async(put)

    def put_many(
        self,
        documents: Iterable[NewDocument | Mapping[str, Any] | QuireError],
        *,
        embed: bool = True,
        skip_errors: bool = False,
        report: Report = ignore_progress,
        viewer: Viewer | str | None = None,
    ) -> PutSummary:
        """Put documents from any iterable, which is read as they are written.

        They are written in batches of one transaction each: an error, or a kill, keeps the batches
        before it, and the same call again changes nothing of them.

        Args:
            documents: `NewDocument`s, or mappings with the same fields; or an error in the place of
                what could not be made one, which is raised or named like one that cannot be put.
            embed: Whether to embed what has no vector yet, once all are written.
            skip_errors: Leave out documents that cannot be put and name them in the result,
                instead of stopping at the first one.
            report: Called with the progress after each batch.
            viewer: Who puts them; None for the configured viewer, or the owner.
        """
        return self._writer.put_many(
            documents, viewer, origin=PUT, embed=embed, skip_errors=skip_errors, report=report
        )

    put_many_async = make_async(put_many)

    def get(self, path: str, *, viewer: Viewer | str | None = None) -> StoredDocument:
        """Return a document, a file or a commit of the store by its path, with its whole text."""
        with self._project.view(viewer) as view:
            record = _find_commit(view, check_text(path, "path")) or _require(view, path)
            if record.expires is not None and record.expires <= now():
                raise MissingDocumentError(
                    f"{path} expired at {format_time(record.expires)}",
                    field="path",
                    value=path,
                    hint="put it again, or change its {expires}",
                )
            text = "".join(chunk.text for chunk in view.chunks_of(record.id))
            shown = visible_record(view.viewer, record)
        self._project.audit.disclose(view.viewer, "documents", records=[record.id])
        return StoredDocument(
            id=shown.id,
            path=shown.path,
            kind=shown.kind,
            title=shown.title,
            text=text,
            metadata=shown.metadata,
            author=shown.author,
            modified=shown.modified,
            expires=shown.expires,
            share=shown.acl,
            origin=shown.origin,
        )

    get_async = make_async(get)

    def update(
        self,
        path: str,
        *,
        metadata: Mapping[str, Any] | object = KEEP,
        title: str | object = KEEP,
        modified: int | str | date | object | None = KEEP,
        expires: int | str | date | object | None = KEEP,
        share: Sequence[str] | object = KEEP,
        viewer: Viewer | str | None = None,
    ) -> Record:
        """Change what is known of a document that was put; its text and its vectors stay.

        Args:
            path: Its path.
            metadata: Values to add or replace by key; None takes a value away.
            title: Another title.
            modified: When it was written; None: not known.
            expires: When it is no longer shown; None: never.
            share: Who may read it, as in `put`.
            viewer: Who changes it: its author or the owner.
        """
        given = {
            "metadata": metadata,
            "title": title,
            "modified": modified,
            "expires": expires,
            "share": share,
        }
        changes = {name: value for name, value in given.items() if value is not KEEP}
        if not changes:
            raise InputError("nothing to change", hint="set {metadata}, {expires} or {share}")
        return self._writer.update(path, viewer, changes)

    update_async = make_async(update)

    def delete(
        self, path: str, *more: str, missing_ok: bool = False, viewer: Viewer | str | None = None
    ) -> bool:
        """Delete documents that were put, all or none; return whether all were there.

        Their bytes stay in the file until `purge` removes them for good.

        Args:
            path: The path of a document.
            *more: The paths of others.
            missing_ok: Leave out what is not there, instead of refusing to delete anything.
            viewer: Who deletes them: their author or the owner.
        """
        paths = tuple(dict.fromkeys(check_text(each, "path") for each in (path, *more)))
        return self._writer.delete(paths, viewer, missing_ok=missing_ok) == len(paths)

    delete_async = make_async(delete)

    def facets(
        self, limit: int = MAX_FACETS, *, viewer: Viewer | str | None = None
    ) -> tuple[Facet, ...]:
        """Count the values of metadata by key, as far as the viewer may read the records."""
        with self._project.view(viewer) as view:
            facets = view.facets(limit)
            # Values are texts of the store, too. The records are read only where there is a log.
            counted = (record.id for record in view.listing() if record.metadata)
            self._project.audit.disclose(view.viewer, "facets", records=counted)
        return facets

    def sync(
        self,
        names: Sequence[str] = (),
        *,
        full: bool = False,
        embed: bool = True,
        report: Report = ignore_progress,
        viewer: Viewer | str | None = None,
    ) -> dict[str, PutSummary]:
        """Bring documents up to date with the sources in quire.toml; for the owner alone.

        Args:
            names: The sources to read; none for all.
            full: Read sources from their beginning, and remove what they no longer have.
            embed: Whether to embed what has no vector yet.
            report: Called with the progress after each batch.
            viewer: Who syncs; None for the configured viewer, or the owner.
        """
        return Sync(self._project, self._writer).run(
            names, full=full, embed=embed, report=report, viewer=viewer
        )

    def drop_source(self, name: str) -> int:
        """Remove all documents that a source brought; return how many. For the owner alone."""
        return Sync(self._project, self._writer).drop(name)

    def remove_expired(self, at: int | None = None) -> int:
        """Delete all documents that have expired; return how many. For the owner alone.

        `index` and `doctor --prune` do it as well.
        """
        return remove_expired(self._project, now() if at is None else at)

    def chunks(self, path: str | None = None, *, viewer: Viewer | str | None = None) -> list[Chunk]:
        """Return the chunks of one path, or of everything, in reading order."""
        with self._project.view(viewer) as view:
            chunks = [
                chunk
                for record in view.listing()
                if path is None or record.path == path
                for chunk in view.chunks_of(record.id)
            ]
        records = dict.fromkeys(chunk.record_id for chunk in chunks)
        self._project.audit.disclose(view.viewer, "chunks", records=records)
        return chunks

    def text(
        self,
        document_id: str,
        *,
        shared_only: bool = False,
        viewer: Viewer | str | None = None,
    ) -> str:
        """Return the text of a chunk, or of a whole record, by its id.

        With `shared_only`, not of what other users keep for themselves.
        """
        with self._project.view(viewer) as view:
            chunks = view.chunks([document_id])
            if not chunks and view.records([document_id]):
                chunks = view.chunks_of(document_id)
            if shared_only and view.unshared([chunk.record_id for chunk in chunks]):
                chunks = []
            damaged = view.damaged()
        if damaged:
            raise StoreDamagedError(
                f"{', '.join(damaged)}: the text is not as it was written",
                place=self._project.config.store_name,
                hint="run `quire doctor`",
            )
        if not chunks:
            raise InputError(
                f"no chunk or record has the id {document_id!r}",
                value=document_id,
                hint="search for it again: ids change with the text",
            )
        self._project.audit.disclose(view.viewer, "source", pieces=[chunk.id for chunk in chunks])
        return "".join(chunk.text for chunk in chunks)

    def readable(
        self, record_ids: Sequence[str], *, viewer: Viewer | str | None = None
    ) -> frozenset[str]:
        """Return those of some records that exist and that the viewer may read now."""
        with self._project.view(viewer) as view:
            return frozenset(record.id for record in view.records(record_ids))

    def records_of(
        self, chunk_ids: Sequence[str], *, viewer: Viewer | str | None = None
    ) -> frozenset[str]:
        """Return the records of chunks that the viewer may read; an absent chunk counts as one."""
        with self._project.view(viewer) as view:
            owners = {chunk.id: chunk.record_id for chunk in view.chunks(chunk_ids)}
        return frozenset(owners.get(chunk_id, chunk_id) for chunk_id in chunk_ids)

    def prove(self, chunk_id: str, *, viewer: Viewer | str | None = None) -> Proof:
        """Prove that a chunk is under the viewer's content root."""
        with self._project.view(viewer) as view:
            return view.prove(chunk_id)

    def prove_record(self, path: str, *, viewer: Viewer | str | None = None) -> RecordProof:
        """Prove that a document or a file has its metadata, expiry and readers.

        For the owner alone: the hash covers who may read it.
        `quire.verify_record_proof(proof, root)` checks it without the store, against the content
        root of `status`.
        """
        with self._project.view(viewer) as view:
            record = _require(view, path)
            if not view.viewer.owner:
                raise InputError(
                    "only the owner can prove what is known of a record: its hash covers who may "
                    "read it",
                    field="viewer",
                    hint="leave out {viewer}, or ask them",
                )
            proof = view.prove_record(record.id)
        self._project.audit.disclose(view.viewer, "records", records=[record.id])
        return proof

    def path_of(self, path: str | os.PathLike[str]) -> str:
        """Return the path under which the store holds a file, whether it exists or not."""
        (relative,) = resolve_paths(self._project.root(), [path], must_exist=False)
        return relative

    def still_there(self, paths: Sequence[str]) -> list[str]:
        """Return those of some paths of the space that exist on disk."""
        root = self._project.root()
        return [path for path in paths if os.path.lexists(root / path)]

    def why_not_indexed(self, path: str, *, viewer: Viewer | str | None = None) -> str:
        """Return why a file is not in the store: told to the owner alone, empty if unknown."""
        with self._project.view(viewer) as view:
            is_owner = view.viewer.owner
        root = self._project.root()
        if not is_owner or not root.is_dir():
            return ""
        return files.explain_missing(root, path, self._project.ingest_settings(root))

    def read_again(
        self, paths: Sequence[str | os.PathLike[str]], *, viewer: Viewer | str | None = None
    ) -> IndexResult:
        """Bring the store up to date with a few files and folders, by words alone.

        Unlike `Quire.index` it looks at nothing else: not at git, and not for missing vectors. Only
        the owner may do it.
        """
        project = self._project
        if not project.resolve_viewer(viewer).owner:
            raise InputError(
                "only the owner may index", field="viewer", hint="leave out {viewer}, or ask them"
            )
        project.refresh()
        tally = Freshness(project).read_again(paths)
        status = project.status(OWNER)
        return IndexResult(
            indexed=tally.indexed,
            unchanged=tally.unchanged,
            removed=tally.removed,
            skipped=tuple(tally.skipped),
            chunks=status.chunks,
            vectors=0,
            missing_vectors=status.missing_vectors,
            state_root=status.roots.state,
            notes=project.config.notes,
            redacted=tuple(tally.redacted),
        )

    def stale(self) -> dict[str, int]:
        """Count the files that are new, changed or gone since the last `index`."""
        project = self._project
        root = project.existing_root()
        settings = project.ingest_settings(root)
        counts = files.count_stale(project.store, project.config.space, root, settings)
        imported = ImportedPages(project).count_stale()
        return {state: count + imported[state] for state, count in counts.items()}

    def indexed_at(self) -> int | None:
        """Return when `index` last ran to its end, in seconds since 1970."""
        at = self._project.store.note(INDEXED_AT, self._project.config.space)
        return stored_json.read_number(at)

    def history(self) -> tuple[str, int] | None:
        """Return the newest git commit in the store and how many there are."""
        return git_history.get_indexed(self._project.store, self._project.config.space)

    # Last in the class: below it `list` would no longer mean the type.
    def list(
        self,
        where: Where = NO_FILTER,
        *,
        put_only: bool = False,
        expired: bool = False,
        viewer: Viewer | str | None = None,
    ) -> list[Record]:
        """List the records that pass a filter and that the viewer may read.

        Args:
            where: A filter, or a condition on metadata: `team = "north"`.
            put_only: Leave out files, and what belongs to other domains.
            expired: Also what has expired and was not removed yet.
            viewer: Who reads; None for the configured viewer, or the owner.
        """
        wanted = where if isinstance(where, Filter) else Filter(where=conditions.read(where))
        if wanted.alive_at is None and not expired:
            wanted = replace(wanted, alive_at=now())
        check_filter(wanted)
        with self._project.view(viewer) as view:
            records = [
                visible_record(view.viewer, record)
                for record in view.listing(wanted)
                if record.origin or not put_only
            ]
        # A record holds titles, and what an experience says.
        self._project.audit.disclose(
            view.viewer, "records", records=[record.id for record in records]
        )
        return records


def _require(view: View, path: str) -> Record:
    """Return the readable record at a path, which must exist."""
    record = find(view, path)
    if record is None:
        raise MissingDocumentError(
            f"nothing has the path {path!r}",
            field="path",
            value=path,
            hint="see `quire document list`",
        )
    return record
