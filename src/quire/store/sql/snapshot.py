"""Snapshots: one state of a space, and what is cached of it between searches."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from quire.core import merkle
from quire.core.conditions import Comparison
from quire.core.lru import LRUCache
from quire.core.types import Chunk, Filter, Record
from quire.store.index.access_mask import AccessMask, AccessMaskCache
from quire.store.index.columns import ACCESS, NO_SLOT, RECORD, SLOT, Columns
from quire.store.index.metadata_masks import flag_records
from quire.store.index.postings import Posting
from quire.store.index.search_cache import SearchCache
from quire.store.index.segments import PostingCache
from quire.store.index.snapshot import Mask, RowNumbers
from quire.store.index.vector_arrays import VectorArrays
from quire.store.index.vector_index import VectorIndex, VectorState
from quire.store.index.vectors import Codes, Matrix
from quire.store.sql import metadata_values, posting_lists, row_blocks, rows, vector_blocks
from quire.store.sql.connection import Connection
from quire.store.sql.salvage import Damage
from quire.store.sql.transaction import Space

NODE_CACHE_SIZE = 257
"""As many nodes as one tree has, including its root."""

FLAG_CACHE_SIZE = 16
"""So many conditions on metadata are kept, each with one byte per record."""

MAX_CHECKED = 100_000
"""So many chunks are known to be as they were written; then they are checked again."""

MAX_RECORDS = 10_000
"""So many records are kept between searches: they are far fewer than chunks."""

MAX_READ_AHEAD = 1000
"""Of more hits, the chunks are not read with their positions."""

LEAF_AHEAD = slice(1, 3)
CHUNK_AHEAD = slice(3, 3 + rows.CHUNK_COLUMNS)
RECORD_AHEAD = slice(CHUNK_AHEAD.stop, None)
"""Where the class and the leaf of a chunk, its columns and those of its record are read ahead."""
MAX_POSITIONS = 10_000
"""A snapshot that is searched again and again does not keep all that was found."""

Children = tuple[tuple[int, str], ...]
"""Positions and hashes of the children of a node."""


def vector_state(
    connection: Connection, space: Space, columns: Callable[[], Columns]
) -> VectorState:
    """Return the vectors of a space as an index of them sees them."""
    return VectorState(
        space.id,
        space.epoch,
        space.generation,
        space.dims,
        columns,
        partial(vector_blocks.read_slots, connection, space),
    )


class Caches:
    """What is kept in memory: derived from the file, and shared by all snapshots of a store."""

    def __init__(self, vector_index: VectorIndex | None = None) -> None:
        self.vector_index = vector_index
        self.postings = PostingCache()
        self.access = AccessMaskCache()
        self.searches = SearchCache()
        self.flags: LRUCache[tuple[int, int, str, str], npt.NDArray[np.bool_]] = LRUCache(
            FLAG_CACHE_SIZE
        )
        self.nodes: LRUCache[tuple[int, int, int, int | None], Children] = LRUCache(NODE_CACHE_SIZE)
        self._lock = threading.Lock()
        self._columns: dict[int, Columns] = {}
        self._vectors: dict[int, VectorArrays] = {}
        self._checked: dict[int, tuple[int, set[str]]] = {}
        self._records: dict[int, tuple[int, dict[str, Record]]] = {}

    def checked(self, space: Space) -> set[str]:
        """Return the ids of the chunks of a generation that were found as they were written."""
        with self._lock:
            generation, checked = self._checked.get(space.id, (-1, set()))
            if generation != space.generation or len(checked) > MAX_CHECKED:
                checked = set()
                self._checked[space.id] = space.generation, checked
            return checked

    def records(self, space: Space) -> dict[str, Record]:
        """Return the records of a generation that were read so far, by id."""
        with self._lock:
            generation, records = self._records.get(space.id, (-1, {}))
            if generation != space.generation or len(records) > MAX_RECORDS:
                records = {}
                self._records[space.id] = space.generation, records
            return records

    def columns(self, connection: Connection, space: Space) -> Columns:
        """Return the columns of a space's generation; only changed blocks are read."""
        with self._lock:
            known = self._columns.get(space.id)
        if known is not None and known.generation == space.generation:
            return known
        if known is not None and known.generation < space.generation and known.rows <= space.rows:
            columns = row_blocks.refresh(connection, space.id, known, space.generation, space.rows)
        else:
            columns = row_blocks.load(connection, space.id, space.generation, space.rows)
        self.put_columns(space.id, columns)
        return columns

    def put_columns(self, space: int, columns: Columns) -> None:
        """Keep the columns of a space, unless newer ones are known."""
        with self._lock:
            known = self._columns.get(space)
            if known is None or known.generation < columns.generation:
                self._columns[space] = columns

    def vectors(self, space: int) -> VectorArrays:
        """Return the vectors of a space."""
        with self._lock:
            return self._vectors.setdefault(space, VectorArrays())

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._columns.clear()
            self._vectors.clear()
            self._checked.clear()
            self._records.clear()
        self.postings.clear()
        self.searches.clear()
        self.nodes = LRUCache(NODE_CACHE_SIZE)
        self.flags = LRUCache(FLAG_CACHE_SIZE)


class Snapshot:
    """One consistent state of a space, with the access classes that a viewer may read.

    It is an `IndexSnapshot`: the lookups below are what the search algorithms need of an engine.
    """

    def __init__(
        self,
        connection: Connection,
        space: Space,
        classes: frozenset[int],
        caches: Caches,
        owned: frozenset[int] = frozenset(),
    ) -> None:
        self.connection = connection
        self.space = space
        self.classes = classes
        self.owned = owned
        """The classes that the viewer may read as the owner alone."""
        self.filter_masks: dict[Filter, Mask | None] = {}
        self.searches = caches.searches
        self.vector_index = caches.vector_index
        self._caches = caches
        self._first_key = rows.key_of(space.id, 0)
        self._positions: dict[int, tuple[str, int, int, bytes]] = {}
        self.rows_by_id: dict[str, int] = {}
        """The rows of chunks that a search found."""
        self.read_ahead: dict[str, Sequence[Any]] = {}
        """Readable chunks that a search found: all columns of each, of its record and its leaf."""
        self.records_ahead: dict[str, Sequence[Any]] = {}
        """The same columns, by the record."""
        self._ahead: dict[tuple[int, str], list[bytes]] = {}
        """Lists that were read before they were asked for."""
        self.unshared_sources: tuple[str, ...] = ()
        """Records that a link to another shard makes derived from what another user wrote."""
        self.damage = Damage(connection, space.id, lambda: (self.columns, self.access.rows))

    @cached_property
    def columns(self) -> Columns:
        """The columns of every row."""
        return self._caches.columns(self.connection, self.space)

    @cached_property
    def access(self) -> AccessMask:
        """The rows that the viewer may read."""
        return self._caches.access.get(self.space.id, self.columns, self.classes)

    def norms_for(self, chunks: int, words: int) -> npt.NDArray[np.int32]:
        """Return the norms of all rows for an average of words / chunks."""
        return self._caches.access.norms(self.space.id, self.columns, chunks, words)

    @property
    def space_id(self) -> int:
        """The number of the space."""
        return self.space.id

    @property
    def epoch(self) -> int:
        """How often the slots of the vectors were numbered anew."""
        return self.space.epoch

    @property
    def dims(self) -> int:
        """The number of dimensions of the vectors."""
        return self.space.dims

    @cached_property
    def _segments(self) -> list[int]:
        return posting_lists.segment_numbers(self.connection, self.space.id)

    def prefetch(self, words: Sequence[str]) -> None:
        """Read the lists of these words at once, if each would be a round trip."""
        if not self.connection.is_distant or not self._segments:
            return
        missing = self._caches.postings.missing(self.space.id, words, self._segments)
        if len(missing) > 1:
            self._ahead |= posting_lists.read_lists(
                self.connection, self.space.id, self._segments, missing
            )

    def _load_list(self, segment: int, word: str) -> list[bytes]:
        ahead = self._ahead.pop((segment, word), None)
        if ahead is not None:
            return ahead
        return posting_lists.read_list(self.connection, self.space.id, segment, word)

    def posting(self, word: str) -> Posting:
        """Return all rows that contain a word, readable or not, in ascending order."""
        return self._caches.postings.read(self.space.id, word, self._segments, self._load_list)

    def vectors(self) -> tuple[Matrix, Codes]:
        """Return all vectors with their sign codes, by slot."""
        space = self.space
        arrays = self._caches.vectors(space.id)
        return vector_blocks.read_arrays(arrays, self.connection, space)

    def vectors_at(self, slots: npt.NDArray[np.int64]) -> Matrix:
        """Return the vectors in some slots, in ascending order, without reading all others."""
        return vector_blocks.read_slots(self.connection, self.space, slots)

    @cached_property
    def vector_state(self) -> VectorState:
        """What an index of vectors must be an index of, to answer for this snapshot."""
        return vector_state(self.connection, self.space, lambda: self.columns)

    def kind_numbers(self, names: Sequence[str]) -> list[int]:
        """Return the numbers of those kinds of chunks that exist, in any order."""
        marks = ",".join("?" * len(names))
        numbers = self.connection.rows(
            f"SELECT id FROM kind WHERE space = ? AND name IN ({marks})",
            (self.space.id, *names),
        )
        return [number for (number,) in numbers]

    def record_paths(self, numbers: npt.NDArray[np.int32]) -> list[tuple[int, str, int | None]]:
        """Return number, path and modification time of these records, in any order."""
        return self.connection.rows(
            "SELECT r.number, r.path, r.modified FROM carray(?2) v "
            "CROSS JOIN record r ON /*! r.space = ?1 AND */ r.number = v.value",
            (
                self.space.id,
                self.connection.array(numbers.astype(np.int64)),
            ),
        )

    def records_by_prefix(self, prefix: str, limit: int) -> list[tuple[int, str, int | None]]:
        """Return number, path and None of records whose path begins so, `limit` at most.

        The prefix is ASCII and not empty.
        All of it comes from the index on paths, which has no modification times.
        """
        return self.connection.rows(
            "SELECT number, path, NULL FROM record "
            "WHERE space = ? AND path >= ? AND path < ? LIMIT ?",
            (self.space.id, prefix, _after(prefix), limit),
        )

    def records_where(self, comparison: Comparison) -> npt.NDArray[np.int64]:
        """Return the numbers of all records with metadata that compare so, readable or not."""
        return metadata_values.records_where(self.connection, self.space.id, comparison)

    def records_having(self, key: str) -> npt.NDArray[np.int64]:
        """Return the numbers of all records with metadata under a key, readable or not."""
        return metadata_values.records_having(self.connection, self.space.id, key)

    def passing_records(self, where: str) -> npt.NDArray[np.bool_]:
        """Return for each number of a record whether it passes a condition on metadata."""
        key = (self.space.id, self.space.generation, where, self.connection.scope)
        flags = self._caches.flags.get(key)
        if flags is None:
            size = int(self.columns.table[RECORD].max(initial=0)) + 1
            flags = flag_records(self, where, size)
            self._caches.flags.put(key, flags)
        return flags

    def expired_records(self, at: int) -> npt.NDArray[np.int32]:
        """Return the numbers of the records that have expired at a moment, readable or not."""
        numbers = self.connection.rows(
            "SELECT number FROM record WHERE space = ? AND expires IS NOT NULL AND expires <= ?",
            (self.space.id, at),
        )
        return np.array([number for (number,) in numbers], np.int32)

    @cached_property
    def is_unshared(self) -> str:
        """The condition on a record `r` that another user wrote it and did not share it."""
        if not self.owned:
            return "FALSE"
        owned = ",".join(map(str, sorted(self.owned)))
        named = ", ".join("'" + name.replace("'", "''") + "'" for name in self.unshared_sources)
        return (
            f"r.class IN ({owned}) AND ({_below('.quire/')} OR r.origin != '' "
            f"AND {_below('@')}) AND (r.author IS NOT NULL OR EXISTS "
            "(SELECT 1 FROM link l JOIN record m ON m.space = l.space AND m.id = l.target "
            "WHERE l.space = r.space AND l.source = r.id AND l.kind = 'member' "
            f"AND m.author IS NOT NULL){f' OR r.id IN ({named})' if named else ''})"
        )

    def unshared_records(self) -> npt.NDArray[np.int32]:
        """Return the numbers of the records that a filter with `shared_only` leaves out."""
        if not self.owned:
            return np.zeros(0, np.int32)
        numbers = self.connection.rows(
            f"SELECT r.number FROM record r WHERE r.space = ? AND {self.is_unshared}",
            (self.space.id,),
        )
        return np.array([number for (number,) in numbers], np.int32)

    def neighbors(self, rows: RowNumbers, distance: int) -> npt.NDArray[np.int64]:
        """Return the rows at most `distance` positions away from these in the same record.

        The query uses nothing but the index on records: no chunk is read for it.
        """
        pairs = self._select(
            np.sort(rows),
            "SELECT c.key - ?3, c.sequence FROM (SELECT c.record, c.sequence FROM carray(?2) v "
            "CROSS JOIN chunk c ON /*! c.space = ?1 AND */ c.key = v.value) s CROSS JOIN chunk c "
            "ON /*! c.space = ?1 AND */ c.record = s.record "
            "AND c.sequence BETWEEN s.sequence - ?4 AND s.sequence + ?4",
            distance,
        )
        flat = np.fromiter(chain.from_iterable(pairs), np.int64, 2 * len(pairs))
        return flat.reshape(-1, 2)

    def positions(self, rows: RowNumbers) -> list[tuple[int, str, int, int, bytes]]:
        """Return row, path, sequence, start and chunk id of each of these rows, in any order."""
        numbers: list[int] = rows.tolist()
        if len(self._positions) > MAX_POSITIONS:
            self._positions, self.rows_by_id = {}, {}
            self.read_ahead, self.records_ahead = {}, {}
        known = self._positions
        missing = [row for row in numbers if row not in known]
        if missing:
            self._read_positions(np.array(missing, np.int64))
        return [(row, *known[row]) for row in numbers if row in known]

    def _read_positions(self, numbers: RowNumbers) -> None:
        """Read the positions of rows; of a few, all of their chunks and records.

        These are asked for next, and each statement of its own would look up the same rows again.
        """
        known = self._positions
        if numbers.size > MAX_READ_AHEAD:
            known.update((row, tuple(place)) for row, *place in self._read_places(numbers))
            return
        keys = self.connection.array(numbers + self._first_key)
        try:
            found = self.connection.rows(
                f"SELECT c.key - ?3, r.class, l.content, {rows.CHUNK}, {rows.RECORD} "
                "FROM carray(?2) v "
                "CROSS JOIN chunk c ON /*! c.space = ?1 AND */ c.key = v.value "
                f"JOIN {rows.CHUNK_RECORD} "
                f"JOIN {rows.CHUNK_KIND} {rows.LEAF}",
                (self.space.id, keys, self._first_key),
            )
        except self.connection.damage:  # perhaps of a text alone
            known.update((row, tuple(place)) for row, *place in self._read_places(numbers))
            return
        for columns in found:
            row, class_id, _, chunk_id, record_id, _, path, _, sequence, start = columns[:10]
            known[row] = path, sequence, start, chunk_id
            name = chunk_id.hex()
            self.rows_by_id[name] = row
            if class_id in self.classes:
                self.read_ahead[name] = self.records_ahead[record_id] = columns

    def _read_places(self, numbers: RowNumbers) -> list[tuple[Any, ...]]:
        return self._select(
            numbers,
            "SELECT c.key - ?3, r.path, c.sequence, c.start, c.id FROM carray(?2) v "
            "CROSS JOIN chunk c ON /*! c.space = ?1 AND */ c.key = v.value "
            "CROSS JOIN record r ON /*! r.space = c.space AND */ r.number = c.record",
        )

    def has_neighbor(self, numbers: RowNumbers) -> npt.NDArray[np.bool_]:
        """Return of which rows it is certain that their record has another chunk.

        The chunks of a record are mostly written into adjacent rows.
        """
        table = self.columns.table
        records = table[RECORD, numbers]
        found = np.zeros(numbers.size, np.bool_)
        for step in (-1, 1):
            beside = np.clip(numbers + step, 0, max(0, self.columns.rows - 1))
            is_same = (table[RECORD, beside] == records) & (table[ACCESS, beside] >= 0)
            found |= is_same & (beside != numbers)
        return found

    def slots_of_hits(self, names: Iterable[str]) -> dict[str, int]:
        """Return the slots of the vectors of chunks that a search found; negative: it has none."""
        known = {name: self.rows_by_id[name] for name in names if name in self.rows_by_id}
        found = np.fromiter(known.values(), np.int64, len(known))
        slots = np.where(self.access.rows[found], self.columns.table[SLOT, found], NO_SLOT)
        return dict(zip(known, slots.tolist(), strict=True))

    def first_rows(self, rows: RowNumbers, limit: int) -> list[int]:
        """Return the first of these rows by path, sequence, start and id, `limit` at most."""
        try:
            first = self.connection.rows(
                "SELECT c.key - ?3 FROM carray(?2) v "
                "CROSS JOIN chunk c ON /*! c.space = ?1 AND */ c.key = v.value "
                "CROSS JOIN record r ON /*! r.space = c.space AND */ r.number = c.record "
                "ORDER BY r.path, c.sequence, c.start, c.id LIMIT ?4",
                (
                    self.space.id,
                    self.connection.array(rows + self._first_key),
                    self._first_key,
                    limit,
                ),
            )
        except self.connection.damage:
            ordered = sorted(self.positions(rows), key=lambda position: position[1:])
            return [row for row, *_ in ordered[:limit]]
        return [row for (row,) in first]

    def _select(self, rows: RowNumbers, sql: str, *bindings: int) -> list[tuple[Any, ...]]:
        """Query for rows (`?2`, less the first key `?3`); what is damaged is left out."""

        def query(numbers: Sequence[int]) -> list[tuple[Any, ...]]:
            keys = self.connection.array(np.array(numbers, np.int64) + self._first_key)
            return self.connection.rows(sql, (self.space.id, keys, self._first_key, *bindings))

        return self.damage.select(rows.tolist(), query, self.damage.name_row)

    @cached_property
    def checked(self) -> set[str]:
        """The ids of chunks that are known to be as they were written."""
        return self._caches.checked(self.space)

    @cached_property
    def _known_records(self) -> dict[str, Record]:
        return self._caches.records(self.space)

    def record_ahead(self, record_id: str) -> Record | None:
        """Return a record that was read with a chunk of it; None: it was not."""
        columns = self.records_ahead.get(record_id)
        if columns is None:  # whether the viewer may read it is not known either
            return None
        record = self._known_records.get(record_id)
        if record is None:
            record = self._known_records[record_id] = rows.record_of(columns[RECORD_AHEAD])
        return record

    def check(self, chunk: Chunk, leaf: bytes | None) -> bool:
        """Return whether a chunk is as it was written: whether it matches its leaf."""
        intact = merkle.chunk_leaf(chunk)[1] == leaf
        if intact:
            self.checked.add(chunk.id)
        return intact

    @cached_property
    def roots(self) -> list[tuple[bytes, bytes]]:
        """The roots of the readable classes' trees: of content, and of vectors."""
        classes = ",".join(map(str, sorted(self.classes))) or "NULL"
        roots = self.connection.rows(
            f"SELECT content, vector FROM root WHERE space = ? AND class IN ({classes})",
            (self.space.id,),
        )
        return [(content, vector) for content, vector in roots]

    def children(self, class_id: int, node: int | None = None) -> Children:
        """Return the children of a node of an access class's tree, or of its root."""
        key = (self.space.id, self.space.generation, class_id, node)
        children = self._caches.nodes.get(key)
        if children is None:
            children = self._read_children(class_id, node)
            self._caches.nodes.put(key, children)
        return children

    def _read_children(self, class_id: int, node: int | None) -> Children:
        place = (self.space.id, class_id)
        if node is None:
            children = self.connection.rows(
                "SELECT node, content FROM node WHERE space = ? AND class = ? ORDER BY node", place
            )
        else:
            first = node * merkle.FAN
            children = self.connection.rows(
                "SELECT bucket & 255, content FROM bucket WHERE space = ? AND class = ? "
                "AND bucket BETWEEN ? AND ? ORDER BY bucket",
                (*place, first, first + merkle.FAN - 1),
            )
        return tuple([(position, content.hex()) for position, content in children])


def _below(prefix: str) -> str:
    """Return the condition that the path of a record `r` begins so."""
    return f"(r.path >= '{prefix}' AND r.path < '{_after(prefix)}')"


def _after(prefix: str) -> str:
    """Return the first text after all that begin so; the prefix is ASCII and not empty."""
    return f"{prefix[:-1]}{chr(ord(prefix[-1]) + 1)}"
