"""What an open store holds: records, chunks, texts, proofs, and how fresh they are."""

from __future__ import annotations

import os
from collections.abc import Sequence

from quire.core.types import NO_FILTER, Chunk, Filter, Proof, Record, Viewer
from quire.errors import InputError, StoreDamagedError
from quire.indexing import files, git_history
from quire.indexing.project import INDEXED_AT, Project
from quire.ingest.paths import resolve_paths
from quire.pipeline.validate import check_filter
from quire.store.access import visible_record


class Documents:
    """The records of an open store."""

    def __init__(self, project: Project) -> None:
        self._project = project

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
                place=str(self._project.config.store),
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

    def path_of(self, path: str | os.PathLike[str]) -> str:
        """Return the path under which the store holds a file, whether it exists or not."""
        (relative,) = resolve_paths(self._project.root(), [path], must_exist=False)
        return relative

    def still_there(self, paths: Sequence[str]) -> list[str]:
        """Return those of some paths of the space that exist on disk."""
        root = self._project.root()
        return [path for path in paths if os.path.lexists(root / path)]

    def stale(self) -> dict[str, int]:
        """Count the files that are new, changed or gone since the last `index`."""
        project = self._project
        root = project.existing_root()
        return files.count_stale(
            project.store, project.config.space, root, project.ingest_settings(root)
        )

    def indexed_at(self) -> int | None:
        """Return when `index` last ran to its end, in seconds since 1970."""
        at = self._project.store.note(INDEXED_AT, self._project.config.space)
        return None if at is None else int(at)

    def history(self) -> tuple[str, int] | None:
        """Return the newest git commit in the store and how many there are."""
        return git_history.get_indexed(self._project.store, self._project.config.space)

    # Last in the class: below it `list` would no longer mean the type.
    def list(
        self, where: Filter = NO_FILTER, *, viewer: Viewer | str | None = None
    ) -> list[Record]:
        """List the records that pass a filter and that the viewer may read."""
        check_filter(where)
        with self._project.view(viewer) as view:
            records = [visible_record(view.viewer, record) for record in view.listing(where)]
        # A record holds titles, and what an experience says.
        self._project.audit.disclose(
            view.viewer, "records", records=[record.id for record in records]
        )
        return records
