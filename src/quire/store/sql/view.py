"""The view: what one viewer sees of a space."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any

import numpy as np

from quire.core import merkle, metadata
from quire.core.types import (
    LITERAL,
    NO_FILTER,
    TIMED_KINDS,
    Chunk,
    Coverage,
    Event,
    Facet,
    Filter,
    Hit,
    Hits,
    Link,
    Mention,
    Outline,
    Proof,
    Record,
    RecordProof,
    Roots,
    Status,
    Viewer,
    Wording,
)
from quire.errors import InputError, StoreError
from quire.store import access
from quire.store.damage import damaged
from quire.store.index import filters, search
from quire.store.index.columns import NO_SLOT
from quire.store.index.terms import count_languages
from quire.store.sql import outlines, rows
from quire.store.sql.connection import Connection
from quire.store.sql.proofs import prove_leaves
from quire.store.sql.snapshot import CHUNK_AHEAD, LEAF_AHEAD, Snapshot

_UNREADABLE = (IndexError, KeyError, OverflowError, ValueError)
CHUNK_CACHE_SIZE = 2000
"""A view that reads more chunks or records than a query needs does not keep all of them."""


class _Use:
    """The guard of all calls of a view, which may last longer than the view.

    It refuses calls on a closed view and translates the engine's errors. If the view is closed
    while calls of other threads are running, their connection is closed instead of reused, and an
    error that they get from it is reported as what it is: the view is closed.
    """

    __slots__ = ("_active_calls", "_lock", "_place", "_snapshot", "_translate")

    def __init__(self, snapshot: Snapshot, place: str) -> None:
        self._snapshot: Snapshot | None = snapshot
        self._translate = snapshot.connection.translate
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
        translated = None if error is None else self._translate(error, self._place)
        if translated is not None:
            if isinstance(translated, StoreError):
                self.snapshot()
            raise translated from error
        if isinstance(error, _UNREADABLE):  # a number in the file leads nowhere
            raise damaged(f"its data is damaged ({error})", self._place) from error


class SqlView:
    """A snapshot of a space, limited to the access classes that the viewer may read."""

    def __init__(
        self, snapshot: Snapshot, viewer: Viewer, place: str, room: Callable[[Connection], int]
    ) -> None:
        self.viewer = viewer
        self._space = snapshot.space
        self._room = room
        self._classes = ",".join(map(str, sorted(snapshot.classes))) or "NULL"
        self._chunks: dict[str, Chunk] = {}
        """Chunks read so far, by id: a query reads many of them twice."""
        self._records: dict[str, Record] = {}
        """Records read so far, likewise."""
        self._use = _Use(snapshot, place)

    def close(self) -> None:
        """Refuse all further calls: the snapshot ends."""
        self._use.close()
        self._chunks, self._records = {}, {}

    def _query(self, sql: str, bindings: Sequence[Any]) -> list[tuple[Any, ...]]:
        with self._use as snapshot:
            return snapshot.connection.rows(sql, bindings)

    # --- search ------------------------------------------------------------------------------

    def lexical(
        self,
        query: str,
        k: int,
        where: Filter = NO_FILTER,
        *,
        reach: int = 0,
        wording: Wording = LITERAL,
    ) -> Hits:
        """Find the k chunks whose words match best, alone or together with their neighbors."""
        with self._use as snapshot:
            return search.lexical(snapshot, query, k, where, reach=reach, wording=wording)

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

    def languages(self) -> dict[str, int]:
        """Return how many chunks of each language but English there are."""
        with self._use as snapshot:
            return count_languages(snapshot)

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
            missing = {name for name in ids if name not in known}
            if missing:
                if len(known) > CHUNK_CACHE_SIZE:
                    known = self._chunks = {name: known[name] for name in ids if name in known}
                known.update(self._take_read(snapshot, missing))
                missing.difference_update(known)
                wanted = tuple([bytes.fromhex(name) for name in missing if rows.ID.fullmatch(name)])
                if wanted:
                    known.update((chunk.id, chunk) for chunk in self._load(snapshot, wanted))
            return [known[name] for name in ids if name in known]

    @staticmethod
    def _take_read(snapshot: Snapshot, names: Collection[str]) -> dict[str, Chunk]:
        """Take the chunks that were read with the hits of a search, if they are intact."""
        taken: dict[str, Chunk] = {}
        for name in names:
            columns = snapshot.read_ahead.get(name)
            if columns is not None:
                chunk = rows.chunk_of(columns[CHUNK_AHEAD])
                _, leaf = columns[LEAF_AHEAD]
                if name in snapshot.checked or snapshot.check(chunk, leaf):
                    taken[name] = chunk
        return taken

    def _load(self, snapshot: Snapshot, ids: Sequence[bytes]) -> Iterator[Chunk]:
        """Read chunks; those that were not read before are compared with their leaves."""
        damage, checked = snapshot.damage, snapshot.checked
        new = tuple([chunk_id for chunk_id in ids if chunk_id.hex() not in checked])
        if new and snapshot.connection.is_distant:
            new = tuple(ids)  # a leaf that is not needed costs less than another round trip
        if len(new) < len(ids):
            others = tuple({*ids} - {*new})
            yield from map(
                rows.chunk_of, damage.select(others, self._read_chunks, damage.name_chunk)
            )
        if new:
            for *row, leaf in damage.select(new, self._read_with_leaves, damage.name_chunk):
                chunk = rows.chunk_of(row)
                if chunk.id in checked or snapshot.check(chunk, leaf):
                    yield chunk
                else:
                    damage.add(chunk.path)

    def _read_chunks(
        self, ids: Sequence[bytes], leaf: str = "", join: str = ""
    ) -> list[tuple[Any, ...]]:
        with self._use as snapshot:
            return snapshot.connection.rows(
                f"SELECT {rows.CHUNK}{leaf} FROM carray(?) v "
                "CROSS JOIN chunk c ON c.space = ? AND c.id = v.value "
                f"JOIN {rows.CHUNK_RECORD} JOIN {rows.CHUNK_KIND} "
                f"{join} WHERE r.class IN ({self._classes})",
                (snapshot.connection.array(ids), self._space.id),
            )

    def _read_with_leaves(self, ids: Sequence[bytes]) -> list[tuple[Any, ...]]:
        return self._read_chunks(ids, ", l.content", rows.LEAF)

    def single_chunks(self, ids: Sequence[str]) -> frozenset[str]:
        """Return those of these chunks that are the only one of their record, if readable."""
        with self._use as snapshot:
            known = snapshot.rows_by_id
            found = [name for name in dict.fromkeys(ids) if name in known]
            others = snapshot.has_neighbor(np.array([known[name] for name in found], np.int64))
            several = {name for name, has in zip(found, others.tolist(), strict=True) if has}
            left = {*ids} - several
            wanted = tuple([bytes.fromhex(name) for name in left if rows.ID.fullmatch(name)])
            if not wanted:
                return frozenset()
            single = snapshot.connection.rows(
                "SELECT c.id FROM carray(?) v CROSS JOIN chunk c ON c.space = ? AND c.id = v.value "
                f"JOIN {rows.CHUNK_RECORD} WHERE r.class IN ({self._classes}) AND NOT EXISTS "
                "(SELECT 1 FROM chunk o WHERE /*! o.space = c.space AND */ o.record = c.record "
                "AND o.key != c.key)",
                (snapshot.connection.array(wanted), self._space.id),
            )
            return frozenset(chunk_id.hex() for (chunk_id,) in single)

    def records(self, ids: Sequence[str]) -> list[Record]:
        """Return records by id, in that order, without absent and unreadable ones."""
        with self._use as snapshot:
            known = self._records
            missing = [name for name in dict.fromkeys(ids) if name not in known]
            if missing:
                if len(known) > CHUNK_CACHE_SIZE:
                    known = self._records = {name: known[name] for name in ids if name in known}
                ahead = {name: snapshot.record_ahead(name) for name in missing}
                known.update((name, record) for name, record in ahead.items() if record)
                left = [name for name in missing if ahead[name] is None]
                read = map(rows.record_of, self._by_record(rows.RECORD, left))
                known.update((record.id, record) for record in read)
            return [known[name] for name in ids if name in known]

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
            if filters.matches_record(where, record):
                self._use.snapshot()  # the view may have been closed since the last record
                yield record

    def count(self, where: Filter = NO_FILTER) -> int:
        """Return how many readable chunks pass a filter."""
        filters.check_filter(where)
        with self._use as snapshot:
            allowed = filters.allowed_rows(snapshot, where)
            readable = snapshot.access.rows
            return int(np.count_nonzero(readable if allowed is None else readable & allowed))

    def metadata_keys(self) -> tuple[str, ...]:
        """Return the keys of the metadata of readable records, sorted."""
        with self._use as snapshot:
            # Key by key: each is looked up in the index, however many records have it.
            keys = snapshot.connection.rows(
                "WITH RECURSIVE k(key) AS (SELECT min(key) FROM value WHERE space = ?1 UNION ALL "
                "SELECT (SELECT min(key) FROM value WHERE space = ?1 AND key > k.key) FROM k "
                "WHERE k.key IS NOT NULL) SELECT key FROM k WHERE key IS NOT NULL AND EXISTS "
                f"(SELECT 1 FROM value v CROSS JOIN {rows.VALUE_RECORD} WHERE "
                f"v.space = ?1 AND v.key = k.key AND r.class IN ({self._classes})) ORDER BY key",
                (self._space.id,),
            )
            return tuple([key for (key,) in keys])

    def metadata_kinds(self, key: str) -> tuple[str, ...]:
        """Return the kinds of the values that readable records have under a key, sorted."""
        with self._use as snapshot:
            zero = snapshot.connection.scalar(0)
            return tuple(
                kind
                for kind in sorted(metadata.KINDS)
                if snapshot.connection.rows(
                    f"SELECT 1 FROM value v CROSS JOIN {rows.VALUE_RECORD} WHERE "
                    "v.space = ? AND v.key = ? AND v.kind = ? AND NOT (v.kind = 'flag' AND "
                    f"v.value < ?) AND r.class IN ({self._classes}) LIMIT 1",
                    (self._space.id, key, kind, zero),
                )
            )

    def facets(self, limit: int) -> tuple[Facet, ...]:
        """Count the values of the metadata of readable records, by key."""
        with self._use as snapshot:
            scalar, plain = snapshot.connection.scalar, snapshot.connection.plain
        readable = (
            f"FROM value v CROSS JOIN {rows.VALUE_RECORD} "
            f"WHERE v.space = ? AND r.class IN ({self._classes})"
        )
        counted = self._query(
            f"SELECT v.key, count(DISTINCT v.record) {readable} GROUP BY v.key ORDER BY v.key",
            (self._space.id,),
        )
        best: dict[str, list[tuple[str | int | float | bool, int]]] = {}
        distinct: dict[str, int] = {}
        for key, kind, value, count, total in self._query(
            "SELECT key, kind, value, n, total FROM (SELECT key, kind, value, n, "
            "count(*) OVER (PARTITION BY key) AS total, row_number() OVER "
            "(PARTITION BY key ORDER BY n DESC, kind, value) AS place FROM "
            f"(SELECT v.key, v.kind, v.value, count(*) AS n {readable} "
            "AND NOT (v.kind = 'flag' AND v.value < ?) GROUP BY v.key, v.kind, v.value) counted) "
            "placed WHERE place <= ? ORDER BY key, place",
            (self._space.id, scalar(0), max(1, limit)),
        ):
            best.setdefault(key, []).append((metadata.show(kind, plain(kind, value)), count))
            distinct[key] = total
        return tuple(
            Facet(key, records, distinct.get(key, 0), tuple(best.get(key, ())[: max(0, limit)]))
            for key, records in counted
        )

    def last_expiry(self, at: int) -> int | None:
        """Return the last moment until `at` at which a readable record expired; None: none has."""
        last = self._query(
            "SELECT expires FROM record WHERE space = ? AND expires IS NOT NULL AND expires <= ? "
            f"AND class IN ({self._classes}) ORDER BY expires DESC LIMIT 1",
            (self._space.id, at),
        )
        return last[0][0] if last else None

    def expired(self, at: int) -> list[Record]:
        """Return the readable records that have expired at a moment, by path, then id."""
        stored = self._query(
            f"SELECT {rows.RECORD} FROM record r WHERE r.space = ? AND r.expires IS NOT NULL "
            f"AND r.expires <= ? AND r.class IN ({self._classes}) ORDER BY r.path, r.id",
            (self._space.id, at),
        )
        return [rows.record_of(row) for row in stored]

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
            names = dict.fromkeys(ids)
            slot_of = snapshot.slots_of_hits(names)
            wanted = tuple(
                [
                    bytes.fromhex(name)
                    for name in names
                    if name not in slot_of and rows.ID.fullmatch(name)
                ]
            )
            if wanted:
                found = snapshot.connection.rows(
                    "SELECT c.id, s.slot FROM carray(?) v "
                    "CROSS JOIN chunk c ON c.space = ? AND c.id = v.value "
                    f"JOIN {rows.CHUNK_RECORD} JOIN vector_slot s "
                    "ON s.space = c.space AND s.key = c.vector_key AND s.class = r.class "
                    f"WHERE r.class IN ({self._classes})",
                    (snapshot.connection.array(wanted), self._space.id),
                )
                slot_of |= {chunk_id.hex(): slot for chunk_id, slot in found}
            slots = {name: slot_of[name] for name in names if slot_of.get(name, NO_SLOT) >= 0}
            if not slots:
                return {}
            if snapshot.vector_index is not None:
                known, at = np.unique(list(slots.values()), return_inverse=True)
                near = snapshot.vectors_at(known.astype(np.int64))
                return {name: near[place].tobytes() for name, place in zip(slots, at, strict=True)}
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
            self._by_record(
                "r.id, o.body",
                ids,
                "CROSS JOIN outline o ON /*! o.space = r.space AND */ o.record = r.number ",
            )
        )
        return outlines.LazyOutlines(
            {record_id: bodies[record_id] for record_id in ids if record_id in bodies}
        )

    def _by_record(
        self, columns: str, ids: Sequence[str], join: str = "", *bindings: bytes
    ) -> list[tuple[Any, ...]]:
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
                    (snapshot.connection.array(names), self._space.id, *bindings),
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
            wanted = tuple(sorted(set(names)))
            if not wanted:
                return []
            connection = snapshot.connection
            mentions = connection.rows(
                "SELECT m.name, m.kind, r.id, m.entity, m.count FROM carray(?) v "
                "CROSS JOIN mention m ON m.space = ? AND m.name = v.value "
                "CROSS JOIN record r ON /*! r.space = m.space AND */ r.number = m.record "
                f"WHERE m.kind {kind} AND r.class IN ({self._classes}) "
                "ORDER BY m.name, r.path, r.id, m.entity, m.kind",
                (connection.array(wanted), self._space.id),
            )
            return [Mention(*row) for row in mentions]

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
        actors = [] if actor is None else [actor]
        if not self.viewer.owner:
            actors.append(self.viewer.name)
        events = self._query(
            "SELECT e.actor, e.verb, e.record, e.at FROM event e "
            "JOIN record r ON r.space = e.space AND r.id = e.record "
            f"WHERE e.space = ? {'AND e.actor = ? ' * len(actors)}"
            f"AND r.class IN ({self._classes}) "
            "ORDER BY e.at DESC, e.actor, e.record, e.verb LIMIT ?",
            (
                self._space.id,
                *actors,
                rows.MAX_INTEGER if limit is None else max(0, min(limit, rows.MAX_INTEGER)),
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
        with self._use as snapshot:
            room = self._room(snapshot.connection) if self.viewer.owner else self._readable_bytes()
        return Status(
            roots=self.roots(),
            records=records,
            chunks=coverage.chunks,
            vectors=coverage.vectors,
            missing_vectors=coverage.chunks - coverage.vectors,
            model=coverage.model,
            bytes=room,
            languages=self.languages(),
        )

    def prove(self, chunk_id: str) -> Proof:
        """Prove that a chunk is part of this view's content root."""
        return self.prove_all([chunk_id])[0]

    def prove_all(self, chunk_ids: Sequence[str]) -> list[Proof]:
        """Prove it of several chunks, in their order."""
        with self._use as snapshot:
            leaves = [self._leaf_of(snapshot, chunk_id) for chunk_id in chunk_ids]
            keys = [bytes.fromhex(chunk_id) for chunk_id in chunk_ids]
            return prove_leaves(snapshot, keys, leaves)

    def _leaf_of(self, snapshot: Snapshot, chunk_id: str) -> tuple[int, bytes]:
        """Return the access class and the leaf of a chunk: read already, if a search found it."""
        columns = snapshot.read_ahead.get(chunk_id)
        row = None if columns is None else columns[LEAF_AHEAD]
        if row is not None and row[1] is not None:
            return row[0], row[1]
        row = snapshot.connection.row(
            f"SELECT r.class, l.content FROM chunk c JOIN {rows.CHUNK_RECORD} "
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
        return class_id, leaf

    def prove_record(self, record_id: str) -> RecordProof:
        """Prove that a record with its metadata is part of this view's content root."""
        key = merkle.record_key(record_id)
        found = self._by_record(
            f"k.acl, r.class, l.content, {rows.RECORD}",
            [record_id],
            "JOIN class k ON /*! k.space = r.space AND */ k.id = r.class "
            "JOIN leaf l ON l.space = r.space AND l.class = r.class AND l.key = ? ",
            key,
        )
        if not found:
            raise InputError(
                f"record {record_id!r} does not exist, or this viewer may not read it",
                value=record_id,
            )
        ((audience, class_id, leaf, *row),) = found
        with self._use as snapshot:
            (proof,) = prove_leaves(snapshot, [key], [(class_id, leaf)])
        outline = self.outlines([record_id]).get(record_id)
        return RecordProof(
            record=rows.record_of(row),
            readers=access.parse_audience(audience),
            outline=None if outline is None else merkle.outline_hash(outline).hex(),
            proof=proof,
        )

    def _readable_bytes(self) -> int:
        return self._count(
            "SELECT coalesce(sum(c.stop - c.start), 0) FROM chunk c "
            f"JOIN {rows.CHUNK_RECORD} "
            f"WHERE c.space = ? AND r.class IN ({self._classes})"
        )

    def _count(self, sql: str) -> int:
        return int(self._query(sql, (self._space.id,))[0][0])


def _id_bytes(text: str) -> bytes:
    return bytes.fromhex(text) if rows.ID.fullmatch(text) else b""
