"""What does one viewer see of a space?"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import apsw

from quire.core import merkle
from quire.core.types import (
    NO_FILTER,
    TIMED,
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
from quire.errors import InputError
from quire.store.index import search
from quire.store.sqlite import outlines, rows
from quire.store.sqlite.database import Connection
from quire.store.sqlite.snapshot import Children, Snapshot
from quire.store.sqlite.transaction import Space

KEPT_CHUNKS = 2000
"""A view that goes through more than a question needs does not keep all of it."""


class SqliteView:
    """A snapshot of a space, limited to the access classes that the viewer may read."""

    def __init__(self, snapshot: Snapshot, viewer: Viewer, file_bytes: int) -> None:
        self.viewer = viewer
        self._open: Snapshot | None = snapshot
        self._file_bytes = file_bytes
        self._classes = ",".join(map(str, sorted(snapshot.classes))) or "NULL"
        self._chunks: dict[str, Chunk] = {}
        """What was fetched by its id: a question asks for much of it twice."""
        self._gate = threading.Lock()
        self._asking = 0
        """How many threads are at it."""

    def end(self) -> None:
        """Read no more: the snapshot is gone, and its connection serves others."""
        with self._gate:
            if self._open is not None and self._asking:
                self._open.connection.spent = True  # nobody waits for them any more
            self._open = None
        self._chunks.clear()

    @contextmanager
    def _search(self) -> Iterator[Snapshot]:
        """Look for something, maybe longer than anybody waits."""
        with self._gate:
            snapshot = self._snapshot
            self._asking += 1
        try:
            yield snapshot
        finally:
            with self._gate:
                self._asking -= 1

    @property
    def _snapshot(self) -> Snapshot:
        if self._open is None:
            raise InputError("this view is over: open another")
        return self._open

    @property
    def _connection(self) -> Connection:
        return self._snapshot.connection

    @property
    def _space(self) -> Space:
        return self._snapshot.space

    # --- search ------------------------------------------------------------------------------

    def lexical(self, query: str, k: int, where: Filter = NO_FILTER, *, reach: int = 0) -> Hits:
        """Find the k chunks whose words match best, alone or with those around them."""
        with self._search() as snapshot:
            return search.lexical(snapshot, query, k, where, reach)

    def match_all(
        self, names: Sequence[str], most: int, where: Filter = NO_FILTER
    ) -> list[tuple[Hit, ...]]:
        """Find for each name the chunks that hold all its words; none if more than `most` do."""
        with self._search() as snapshot:
            return search.match_all(snapshot, names, most, where)

    def semantic(
        self, vector: bytes, k: int, where: Filter = NO_FILTER, *, exact: bool = False
    ) -> Hits:
        """Find the k chunks whose vectors are nearest (int8 dot product)."""
        with self._search() as snapshot:
            return search.semantic(snapshot, vector, k, where, exact=exact)

    # --- reading -----------------------------------------------------------------------------

    def chunks(self, ids: Sequence[str]) -> list[Chunk]:
        """Fetch chunks by id, in that order; what is absent or not readable is left out."""
        known = self._chunks
        wanted = tuple(
            {bytes.fromhex(name) for name in ids if name not in known and rows.ID.fullmatch(name)}
        )
        if wanted:
            if len(known) > KEPT_CHUNKS:
                known = self._chunks = {name: known[name] for name in ids if name in known}
            with self._search() as snapshot:
                fetched = snapshot.connection.rows(
                    f"SELECT {rows.CHUNK} FROM carray(?) v "
                    "CROSS JOIN chunk c ON c.space = ? AND c.id = v.value "
                    "JOIN record r ON r.number = c.record JOIN kind k ON k.id = c.kind "
                    f"WHERE r.class IN ({self._classes})",
                    (apsw.carray(wanted), snapshot.space.id),
                )
            known.update((chunk.id, chunk) for chunk in map(rows.chunk_of, fetched))
        return [known[name] for name in ids if name in known]

    def single_chunks(self, ids: Sequence[str]) -> frozenset[str]:
        """Tell which of these chunks are all that their record has; no unreadable ones."""
        wanted = tuple({bytes.fromhex(name) for name in ids if rows.ID.fullmatch(name)})
        if not wanted:
            return frozenset()
        found = self._connection.rows(
            "SELECT c.id FROM carray(?) v CROSS JOIN chunk c ON c.space = ? AND c.id = v.value "
            f"JOIN record r ON r.number = c.record WHERE r.class IN ({self._classes}) AND "
            "NOT EXISTS (SELECT 1 FROM chunk o WHERE o.record = c.record AND o.key != c.key)",
            (apsw.carray(wanted), self._space.id),
        )
        return frozenset(name.hex() for (name,) in found)

    def records(self, ids: Sequence[str]) -> list[Record]:
        """Fetch records by id, in that order; what is absent or not readable is left out."""
        fetched = self._by_record(rows.RECORD, ids)
        found = {record.id: record for record in map(rows.record_of, fetched)}
        return [found[name] for name in ids if name in found]

    def listing(self, where: Filter = NO_FILTER) -> Iterator[Record]:
        """Go through all readable records by path, then id."""
        search.check_filter(where)
        kinds, path = "", "r.path"
        if where.kinds:
            # Found by their kind and then sorted (`+`): by the index on paths all would be read.
            kinds, path = f"AND r.kind IN ({','.join('?' * len(where.kinds))}) ", "+r.path"
        # All at once: a cursor that is not read to its end would hold on to this snapshot.
        found = self._connection.rows(
            f"SELECT {rows.RECORD} FROM record r "
            f"WHERE r.space = ? AND r.class IN ({self._classes}) {kinds}ORDER BY {path}, r.id",
            (self._space.id, *where.kinds),
        )
        for row in found:
            record = rows.record_of(row)
            if search.record_passes(where, record.path, record.modified):
                yield record

    def children(self, parents: Sequence[str]) -> list[Record]:
        """Fetch the records that stand in these, parent by parent, by position, then id."""
        return [
            rows.record_of(row)
            for name in dict.fromkeys(parents)
            for row in self._connection.rows(
                f"SELECT {rows.RECORD} FROM record r "
                f"WHERE r.space = ? AND r.parent = ? AND r.class IN ({self._classes}) "
                "ORDER BY r.position, r.id",
                (self._space.id, name),
            )
        ]

    def chunks_of(self, record_id: str) -> list[Chunk]:
        """Fetch the chunks of one record in reading order."""
        found = self._connection.rows(
            f"SELECT {rows.CHUNK} FROM {rows.CHUNK_TABLES} "
            f"WHERE r.space = ? AND r.id = ? AND r.class IN ({self._classes}) "
            "ORDER BY c.sequence, c.start, c.id",
            (self._space.id, record_id),
        )
        return [rows.chunk_of(row) for row in found]

    def vectors(self, ids: Sequence[str]) -> dict[str, bytes]:
        """Fetch the int8 vectors of chunks by id; what has none or is not readable is left out."""
        slots: dict[str, int] = {}
        for name in dict.fromkeys(ids):
            row = self._connection.row(
                "SELECT v.slot FROM chunk c JOIN record r ON r.number = c.record "
                "JOIN vector_slot v "
                "ON v.space = c.space AND v.key = c.vector_key AND v.class = r.class "
                f"WHERE c.space = ? AND c.id = ? AND r.class IN ({self._classes})",
                (self._space.id, _as_id(name)),
            )
            if row is not None:
                slots[name] = row[0]
        if not slots:
            return {}
        matrix, _ = self._snapshot.vectors()
        return {name: matrix[slot].tobytes() for name, slot in slots.items()}

    def links(self, ids: Sequence[str], *, back: bool = False) -> list[Link]:
        """Fetch the links from (or, with `back`, to) these records; both ends readable."""
        end = "target" if back else "source"
        found: list[Link] = []
        for name in dict.fromkeys(ids):
            found += (
                Link(*row)
                for row in self._connection.rows(
                    "SELECT l.source, l.target, l.kind FROM link l "
                    "JOIN record s ON s.space = l.space AND s.id = l.source "
                    "JOIN record t ON t.space = l.space AND t.id = l.target "
                    f"WHERE l.space = ? AND l.{end} = ? "
                    f"AND s.class IN ({self._classes}) AND t.class IN ({self._classes}) "
                    "ORDER BY l.source, l.target, l.kind",
                    (self._space.id, name),
                )
            )
        return found

    def outlines(self, ids: Sequence[str]) -> Mapping[str, Outline]:
        """Fetch the outlines of these records; what has none or is not readable is left out."""
        bodies: dict[str, bytes] = dict(
            self._by_record("r.id, o.body", ids, "CROSS JOIN outline o ON o.record = r.number ")
        )
        return outlines.Read({name: bodies[name] for name in ids if name in bodies})

    def _by_record(
        self, columns: str, ids: Sequence[str], joined: str = ""
    ) -> list[tuple[Any, ...]]:
        """Fetch something of each of these records that may be read, in one go."""
        wanted = tuple(dict.fromkeys(ids))
        if not wanted:
            return []
        return self._connection.rows(
            f"SELECT {columns} FROM carray(?) v "
            f"CROSS JOIN record r ON r.space = ? AND r.id = v.value {joined}"
            f"WHERE r.class IN ({self._classes})",
            (apsw.carray(wanted), self._space.id),
        )

    def definitions(self, names: Sequence[str]) -> list[Mention]:
        """Find what these names may mean, in the order of name, path and place."""
        return self._mentions(names, f"= '{outlines.DEFINE}'")

    def references(self, names: Sequence[str]) -> list[Mention]:
        """Find who uses these names, in the order of name, path and place."""
        return self._mentions(names, f"!= '{outlines.DEFINE}'")

    def _mentions(self, names: Sequence[str], kind: str) -> list[Mention]:
        return [
            Mention(*row)
            for name in sorted(set(names))
            for row in self._connection.rows(
                "SELECT m.name, m.kind, r.id, m.entity, m.count FROM mention m "
                "JOIN record r ON r.number = m.record "
                f"WHERE m.space = ? AND m.name = ? AND m.kind {kind} "
                f"AND r.class IN ({self._classes}) ORDER BY r.path, r.id, m.entity, m.kind",
                (self._space.id, name),
            )
        ]

    def latest_activity(self) -> int | None:
        """Tell when the last thing happened that this viewer may read, and that tells its time."""
        row = self._connection.row(
            "SELECT max(modified) FROM record WHERE space = ? "
            f"AND kind IN ({','.join('?' * len(TIMED))}) AND class IN ({self._classes})",
            (self._space.id, *TIMED),
        )
        times = [event.at for event in self.events(limit=1)]
        if row is not None and row[0] is not None:
            times.append(row[0])
        return max(times, default=None)

    def events(self, *, actor: str | None = None, limit: int | None = None) -> list[Event]:
        """Fetch events on readable records, newest first.

        What someone did is theirs to know: others than the owner see only their own events.
        """
        found = self._connection.rows(
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
                -1 if limit is None else max(0, min(limit, rows.LARGEST)),
            ),
        )
        return [Event(*row) for row in found]

    # --- state -------------------------------------------------------------------------------

    def roots(self) -> Roots:
        """The hashes over everything readable."""
        found = self._snapshot.roots
        content = merkle.view_root(content for content, _ in found)
        state = merkle.state_root(content, (vector for _, vector in found), self._space.model)
        return Roots(content.hex(), state.hex())

    def coverage(self) -> Coverage:
        """How much there is to search."""
        readable = self._snapshot.readable
        model = self._space.model if readable.vectors else None
        return Coverage(readable.chunks, readable.vectors, model)

    def status(self) -> Status:
        """How much is here."""
        found = self.coverage()
        records = self._count(
            f"SELECT count(*) FROM record WHERE space = ? AND class IN ({self._classes})"
        )
        size = self._file_bytes if self.viewer.owner else self._readable_bytes()
        return Status(
            roots=self.roots(),
            records=records,
            chunks=found.chunks,
            vectors=found.vectors,
            missing_vectors=found.chunks - found.vectors,
            model=found.model,
            bytes=size,
        )

    def prove(self, chunk_id: str) -> Proof:
        """Show that a chunk is under this view's content root."""
        row = self._connection.row(
            "SELECT r.class, l.content FROM chunk c JOIN record r ON r.number = c.record "
            "JOIN leaf l ON l.space = c.space AND l.class = r.class AND l.key = c.id "
            f"WHERE c.space = ? AND c.id = ? AND r.class IN ({self._classes})",
            (self._space.id, _as_id(chunk_id)),
        )
        if row is None:
            raise InputError(f"there is no chunk {chunk_id} that this viewer may read")
        held, leaf = row
        key = bytes.fromhex(chunk_id)
        place, within = divmod(merkle.bucket_of(key), merkle.FAN)
        bucket = self._connection.rows(
            "SELECT key, content FROM leaf WHERE space = ? AND class = ? "
            "AND key >= ? AND key <= ? ORDER BY key",
            (self._space.id, held, key[:2], key[:2] + b"\xff" * 16),
        )
        return Proof(
            chunk_id=chunk_id,
            leaf=leaf.hex(),
            bucket=tuple((name.hex(), content.hex()) for name, content in bucket),
            nodes=_beside(self._snapshot.below(held, place), within),
            top=_beside(self._snapshot.below(held), place),
            classes=tuple(sorted(content.hex() for content, _ in self._snapshot.roots)),
        )

    def _readable_bytes(self) -> int:
        return self._count(
            "SELECT coalesce(sum(c.stop - c.start), 0) FROM chunk c "
            "JOIN record r ON r.number = c.record "
            f"WHERE c.space = ? AND r.class IN ({self._classes})"
        )

    def _count(self, sql: str) -> int:
        return int(self._connection.rows(sql, (self._space.id,))[0][0])


def _as_id(name: str) -> bytes:
    return bytes.fromhex(name) if rows.ID.fullmatch(name) else b""


def _beside(children: Children, own: int) -> Children:
    return tuple([child for child in children if child[0] != own])
