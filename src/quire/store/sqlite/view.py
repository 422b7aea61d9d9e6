"""The view: what one viewer sees of a space."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any

import apsw

from quire.core import merkle
from quire.core.types import (
    NO_FILTER,
    TIMED_KINDS,
    Chunk,
    Coverage,
    Event,
    Filter,
    Hit,
    Hits,
    Link,
    Mention,
    Outline,
    Proof,
    Record,
    Roots,
    Status,
    Viewer,
)
from quire.errors import InputError, StoreError
from quire.store.damage import damaged
from quire.store.index import filters, search
from quire.store.sqlite import outlines, rows
from quire.store.sqlite.connection import translate
from quire.store.sqlite.snapshot import Children, Snapshot

_UNREADABLE = (IndexError, KeyError, OverflowError, ValueError)
CHUNK_CACHE_SIZE = 2000
"""A view that reads more chunks than a query needs does not keep all of them."""


class _Use:
    """The guard of all calls of a view, which may last longer than the view.

    It refuses calls on a closed view and translates SQLite's errors. If the view is closed while
    calls of other threads are running, their connection is closed instead of reused, and an error
    that they get from it is reported as what it is: the view is closed.
    """

    __slots__ = ("_active_calls", "_lock", "_place", "_snapshot")

    def __init__(self, snapshot: Snapshot, place: str) -> None:
        self._snapshot: Snapshot | None = snapshot
        self._place = place
        self._lock = threading.Lock()
        self._active_calls = 0

    def snapshot(self) -> Snapshot:
        """Return the snapshot, unless the view is closed."""
        snapshot = self._snapshot
        if snapshot is None:
            raise InputError("the view is closed", hint="open another with `view()`")
        return snapshot

    def close(self) -> None:
        """Refuse all further calls."""
        with self._lock:
            if self._snapshot is not None and self._active_calls:
                self._snapshot.connection.abandoned = True  # nobody waits for these calls any more
            self._snapshot = None

    def __enter__(self) -> Snapshot:
        with self._lock:
            snapshot = self.snapshot()
            self._active_calls += 1
        return snapshot

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._lock:
            self._active_calls -= 1
        if isinstance(error, (apsw.Error, UnicodeEncodeError)):
            translated = translate(error, self._place)
            if isinstance(translated, StoreError):
                self.snapshot()
            raise translated from error
        if isinstance(error, _UNREADABLE):  # a number in the file leads nowhere
            raise damaged(f"its data is damaged ({error})", self._place) from error


class SqliteView:
    """A snapshot of a space, limited to the access classes that the viewer may read."""

    def __init__(self, snapshot: Snapshot, viewer: Viewer, place: str, file_bytes: int) -> None:
        self.viewer = viewer
        self._space = snapshot.space
        self._file_bytes = file_bytes
        self._classes = ",".join(map(str, sorted(snapshot.classes))) or "NULL"
        self._chunks: dict[str, Chunk] = {}
        """Chunks read so far, by id: a query reads many of them twice."""
        self._use = _Use(snapshot, place)

    def close(self) -> None:
        """Refuse all further calls: the snapshot ends."""
        self._use.close()
        self._chunks = {}

    def _query(self, sql: str, bindings: Sequence[Any]) -> list[tuple[Any, ...]]:
        with self._use as snapshot:
            return snapshot.connection.rows(sql, bindings)

    # --- search ------------------------------------------------------------------------------

    def lexical(self, query: str, k: int, where: Filter = NO_FILTER, *, reach: int = 0) -> Hits:
        """Find the k chunks whose words match best, alone or together with their neighbors."""
        with self._use as snapshot:
            return search.lexical(snapshot, query, k, where, reach)

    def match_all(
        self, names: Sequence[str], limit: int, where: Filter = NO_FILTER
    ) -> list[tuple[Hit, ...]]:
        """Find for each name the chunks that contain all its words; none if too many do."""
        with self._use as snapshot:
            return search.match_all(snapshot, names, limit, where)

    def rarities(self, query: str) -> dict[str, int]:
        """Return how rare each word of a query is."""
        with self._use as snapshot:
            return search.rarities(snapshot, query)

    def semantic(
        self, vector: bytes, k: int, where: Filter = NO_FILTER, *, exact: bool = False
    ) -> Hits:
        """Find the k chunks whose vectors are nearest (int8 dot product)."""
        with self._use as snapshot:
            return search.semantic(snapshot, vector, k, where, exact=exact)

    # --- reading -----------------------------------------------------------------------------

    def chunks(self, ids: Sequence[str]) -> list[Chunk]:
        """Return chunks by id, in that order, without absent and unreadable ones."""
        with self._use as snapshot:
            known = self._chunks
            missing = (name for name in ids if name not in known and rows.ID.fullmatch(name))
            wanted = tuple({bytes.fromhex(name) for name in missing})
            if wanted:
                if len(known) > CHUNK_CACHE_SIZE:
                    known = self._chunks = {name: known[name] for name in ids if name in known}
                known.update((chunk.id, chunk) for chunk in self._load(snapshot, wanted))
            return [known[name] for name in ids if name in known]

    def _load(self, snapshot: Snapshot, ids: Sequence[bytes]) -> Iterator[Chunk]:
        """Read chunks; those that were not read before are compared with their leaves."""
        damage, checked = snapshot.damage, snapshot.checked
        new = tuple([chunk_id for chunk_id in ids if chunk_id.hex() not in checked])
        if len(new) < len(ids):
            others = tuple({*ids} - {*new})
            yield from map(
                rows.chunk_of, damage.select(others, self._read_chunks, damage.name_chunk)
            )
        if new:
            for *row, leaf in damage.select(new, self._read_with_leaves, damage.name_chunk):
                chunk = rows.chunk_of(row)
                if snapshot.check(chunk, leaf):
                    yield chunk
                else:
                    damage.add(chunk.path)

    def _read_chunks(
        self, ids: Sequence[bytes], leaf: str = "", join: str = ""
    ) -> list[tuple[Any, ...]]:
        return self._query(
            f"SELECT {rows.CHUNK}{leaf} FROM carray(?) v "
            "CROSS JOIN chunk c ON c.space = ? AND c.id = v.value "
            "JOIN record r ON r.number = c.record JOIN kind k ON k.id = c.kind "
            f"{join} WHERE r.class IN ({self._classes})",
            (apsw.carray(ids), self._space.id),
        )

    def _read_with_leaves(self, ids: Sequence[bytes]) -> list[tuple[Any, ...]]:
        return self._read_chunks(ids, ", l.content", rows.LEAF)

    def single_chunks(self, ids: Sequence[str]) -> frozenset[str]:
        """Return those of these chunks that are the only one of their record, if readable."""
        with self._use as snapshot:
            wanted = tuple({bytes.fromhex(name) for name in ids if rows.ID.fullmatch(name)})
            if not wanted:
                return frozenset()
            single = snapshot.connection.rows(
                "SELECT c.id FROM carray(?) v CROSS JOIN chunk c ON c.space = ? AND c.id = v.value "
                f"JOIN record r ON r.number = c.record WHERE r.class IN ({self._classes}) AND "
                "NOT EXISTS (SELECT 1 FROM chunk o WHERE o.record = c.record AND o.key != c.key)",
                (apsw.carray(wanted), self._space.id),
            )
            return frozenset(chunk_id.hex() for (chunk_id,) in single)

    def records(self, ids: Sequence[str]) -> list[Record]:
        """Return records by id, in that order, without absent and unreadable ones."""
        stored = self._by_record(rows.RECORD, ids)
        by_id = {record.id: record for record in map(rows.record_of, stored)}
        return [by_id[record_id] for record_id in ids if record_id in by_id]

    def unshared(self, ids: Sequence[str]) -> frozenset[str]:
        """Return those of these records that other users wrote and shared with nobody here."""
        with self._use as snapshot:
            if not snapshot.owned:
                return frozenset()
            columns = f"r.id, {snapshot.is_unshared}"
        return frozenset(name for name, is_unshared in self._by_record(columns, ids) if is_unshared)

    def listing(self, where: Filter = NO_FILTER) -> Iterator[Record]:
        """Yield all readable records by path, then id."""
        filters.check_filter(where)
        kinds, path = "", "r.path"
        if where.kinds:
            # Select by kind, then sort (`+`): the index on paths would read all records.
            kinds, path = f"AND r.kind IN ({','.join('?' * len(where.kinds))}) ", "+r.path"
        if where.shared_only:
            kinds += f"AND NOT ({self._use.snapshot().is_unshared}) "
        # All at once: a cursor that is not read to its end would keep the snapshot open.
        stored = self._query(
            f"SELECT {rows.RECORD} FROM record r "
            f"WHERE r.space = ? AND r.class IN ({self._classes}) {kinds}ORDER BY {path}, r.id",
            (self._space.id, *where.kinds),
        )
        for row in stored:
            record = rows.record_of(row)
            if filters.matches_record(where, record.path, record.modified):
                self._use.snapshot()  # the view may have been closed since the last record
                yield record

    def children(self, parents: Sequence[str]) -> list[Record]:
        """Return the children of these records, parent by parent, by position, then id."""
        with self._use as snapshot:
            return [
                rows.record_of(row)
                for parent in dict.fromkeys(parents)
                for row in snapshot.connection.rows(
                    f"SELECT {rows.RECORD} FROM record r "
                    f"WHERE r.space = ? AND r.parent = ? AND r.class IN ({self._classes}) "
                    "ORDER BY r.position, r.id",
                    (self._space.id, parent),
                )
            ]

    def chunks_of(self, record_id: str) -> list[Chunk]:
        """Return the chunks of one record in reading order."""
        with self._use as snapshot:
            stored = snapshot.connection.rows(
                f"SELECT {rows.CHUNK}, l.content FROM {rows.CHUNK_TABLES} {rows.LEAF} "
                f"WHERE r.space = ? AND r.id = ? AND r.class IN ({self._classes}) "
                "ORDER BY c.sequence, c.start, c.id",
                (self._space.id, record_id),
            )
            chunks = [(rows.chunk_of(row), leaf) for *row, leaf in stored]
            for chunk, leaf in chunks:
                if not snapshot.check(chunk, leaf):
                    raise damaged(f"the text of {chunk.path} is not as it was written")
            return [chunk for chunk, _ in chunks]

    def vectors(self, ids: Sequence[str]) -> dict[str, bytes]:
        """Return the int8 vectors of chunks by id, of those that have one and are readable."""
        with self._use as snapshot:
            slots: dict[str, int] = {}
            for chunk_id in dict.fromkeys(ids):
                row = snapshot.connection.row(
                    "SELECT v.slot FROM chunk c JOIN record r ON r.number = c.record "
                    "JOIN vector_slot v "
                    "ON v.space = c.space AND v.key = c.vector_key AND v.class = r.class "
                    f"WHERE c.space = ? AND c.id = ? AND r.class IN ({self._classes})",
                    (self._space.id, _id_bytes(chunk_id)),
                )
                if row is not None:
                    slots[chunk_id] = row[0]
            if not slots:
                return {}
            matrix, _ = snapshot.vectors()
            return {chunk_id: matrix[slot].tobytes() for chunk_id, slot in slots.items()}

    def links(self, ids: Sequence[str], *, back: bool = False) -> list[Link]:
        """Return the links from (or, with `back`, to) these records, if both ends are readable."""
        end = "target" if back else "source"
        with self._use as snapshot:
            return [
                Link(*row)
                for record_id in dict.fromkeys(ids)
                for row in snapshot.connection.rows(
                    "SELECT l.source, l.target, l.kind FROM link l "
                    "JOIN record s ON s.space = l.space AND s.id = l.source "
                    "JOIN record t ON t.space = l.space AND t.id = l.target "
                    f"WHERE l.space = ? AND l.{end} = ? "
                    f"AND s.class IN ({self._classes}) AND t.class IN ({self._classes}) "
                    "ORDER BY l.source, l.target, l.kind",
                    (self._space.id, record_id),
                )
            ]

    def outlines(self, ids: Sequence[str]) -> Mapping[str, Outline]:
        """Return the outlines of these records, of those that have one and are readable."""
        bodies: dict[str, bytes] = dict(
            self._by_record("r.id, o.body", ids, "CROSS JOIN outline o ON o.record = r.number ")
        )
        return outlines.LazyOutlines(
            {record_id: bodies[record_id] for record_id in ids if record_id in bodies}
        )

    def _by_record(self, columns: str, ids: Sequence[str], join: str = "") -> list[tuple[Any, ...]]:
        """Select columns of these records, as far as they are readable, in one query."""
        with self._use as snapshot:
            wanted = tuple(dict.fromkeys(ids))
            if not wanted:
                return []

            def query(names: Sequence[str]) -> list[tuple[Any, ...]]:
                return snapshot.connection.rows(
                    f"SELECT {columns} FROM carray(?) v "
                    f"CROSS JOIN record r ON r.space = ? AND r.id = v.value {join}"
                    f"WHERE r.class IN ({self._classes})",
                    (apsw.carray(names), self._space.id),
                )

            return snapshot.damage.select(wanted, query, snapshot.damage.name_record)

    def definitions(self, names: Sequence[str]) -> list[Mention]:
        """Return the definitions of these names, ordered by name, path and position."""
        return self._mentions(names, f"= '{outlines.DEFINE}'")

    def references(self, names: Sequence[str]) -> list[Mention]:
        """Return the uses of these names, ordered by name, path and position."""
        return self._mentions(names, f"!= '{outlines.DEFINE}'")

    def _mentions(self, names: Sequence[str], kind: str) -> list[Mention]:
        with self._use as snapshot:
            return [
                Mention(*row)
                for name in sorted(set(names))
                for row in snapshot.connection.rows(
                    "SELECT m.name, m.kind, r.id, m.entity, m.count FROM mention m "
                    "JOIN record r ON r.number = m.record "
                    f"WHERE m.space = ? AND m.name = ? AND m.kind {kind} "
                    f"AND r.class IN ({self._classes}) ORDER BY r.path, r.id, m.entity, m.kind",
                    (self._space.id, name),
                )
            ]

    def latest_activity(self) -> int | None:
        """Return the time of the last readable event, commit, memory or experience."""
        (latest,) = self._query(
            "SELECT max(modified) FROM record WHERE space = ? "
            f"AND kind IN ({','.join('?' * len(TIMED_KINDS))}) AND class IN ({self._classes})",
            (self._space.id, *TIMED_KINDS),
        )[0]
        times = [event.at for event in self.events(limit=1)]
        if latest is not None:
            times.append(latest)
        return max(times, default=None)

    def events(self, *, actor: str | None = None, limit: int | None = None) -> list[Event]:
        """Return events on readable records, newest first.

        Everybody but the owner sees only their own events.
        """
        events = self._query(
            "SELECT e.actor, e.verb, e.record, e.at FROM event e "
            "JOIN record r ON r.space = e.space AND r.id = e.record "
            "WHERE e.space = ?1 AND (?2 IS NULL OR e.actor = ?2) AND (?3 OR e.actor = ?4) "
            f"AND r.class IN ({self._classes}) "
            "ORDER BY e.at DESC, e.actor, e.record, e.verb LIMIT ?5",
            (
                self._space.id,
                actor,
                self.viewer.owner,
                self.viewer.name,
                -1 if limit is None else max(0, min(limit, rows.MAX_INTEGER)),
            ),
        )
        return [Event(*row) for row in events]

    # --- state -------------------------------------------------------------------------------

    def damaged(self) -> tuple[str, ...]:
        """Return the paths of records of which something was left out because it is damaged."""
        with self._use as snapshot:
            return snapshot.damage.tell()

    def roots(self) -> Roots:
        """Return the hashes over everything readable."""
        with self._use as snapshot:
            roots = snapshot.roots
        content = merkle.view_root(content for content, _ in roots)
        state = merkle.state_root(content, (vector for _, vector in roots), self._space.model)
        return Roots(content.hex(), state.hex())

    def coverage(self) -> Coverage:
        """Return how much there is to search."""
        with self._use as snapshot:
            access = snapshot.access
        model = self._space.model if access.vectors else None
        return Coverage(access.chunks, access.vectors, model)

    def status(self) -> Status:
        """Return how much the space holds."""
        coverage = self.coverage()
        records = self._count(
            f"SELECT count(*) FROM record WHERE space = ? AND class IN ({self._classes})"
        )
        size = self._file_bytes if self.viewer.owner else self._readable_bytes()
        return Status(
            roots=self.roots(),
            records=records,
            chunks=coverage.chunks,
            vectors=coverage.vectors,
            missing_vectors=coverage.chunks - coverage.vectors,
            model=coverage.model,
            bytes=size,
        )

    def prove(self, chunk_id: str) -> Proof:
        """Prove that a chunk is part of this view's content root."""
        with self._use as snapshot:
            row = snapshot.connection.row(
                "SELECT r.class, l.content FROM chunk c JOIN record r ON r.number = c.record "
                "JOIN leaf l ON l.space = c.space AND l.class = r.class AND l.key = c.id "
                f"WHERE c.space = ? AND c.id = ? AND r.class IN ({self._classes})",
                (self._space.id, _id_bytes(chunk_id)),
            )
            if row is None:
                raise InputError(
                    f"chunk {chunk_id!r} does not exist, or this viewer may not read it",
                    value=chunk_id,
                )
            class_id, leaf = row
            key = bytes.fromhex(chunk_id)
            node, bucket = divmod(merkle.bucket_of(key), merkle.FAN)
            leaves = snapshot.connection.rows(
                "SELECT key, content FROM leaf WHERE space = ? AND class = ? "
                "AND key >= ? AND key <= ? ORDER BY key",
                (self._space.id, class_id, key[:2], key[:2] + b"\xff" * 16),
            )
            return Proof(
                chunk_id=chunk_id,
                leaf=leaf.hex(),
                bucket=tuple((name.hex(), content.hex()) for name, content in leaves),
                nodes=_without(snapshot.children(class_id, node), bucket),
                top=_without(snapshot.children(class_id), node),
                classes=tuple(sorted(content.hex() for content, _ in snapshot.roots)),
            )

    def _readable_bytes(self) -> int:
        return self._count(
            "SELECT coalesce(sum(c.stop - c.start), 0) FROM chunk c "
            "JOIN record r ON r.number = c.record "
            f"WHERE c.space = ? AND r.class IN ({self._classes})"
        )

    def _count(self, sql: str) -> int:
        return int(self._query(sql, (self._space.id,))[0][0])


def _id_bytes(text: str) -> bytes:
    return bytes.fromhex(text) if rows.ID.fullmatch(text) else b""


def _without(children: Children, position: int) -> Children:
    return tuple([child for child in children if child[0] != position])
