"""Snapshots: one state of a space, and what is cached of it between searches."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cached_property, partial
from itertools import chain
from typing import Any

import apsw
import numpy as np
import numpy.typing as npt

from quire.core import merkle
from quire.core.lru import LRUCache
from quire.core.types import Chunk, Filter
from quire.store.index.access_mask import AccessMask, AccessMaskCache
from quire.store.index.columns import Columns
from quire.store.index.postings import Posting
from quire.store.index.segments import PostingCache
from quire.store.index.snapshot import Mask, RowNumbers
from quire.store.index.vector_arrays import VectorArrays
from quire.store.index.vectors import Codes, Matrix
from quire.store.sqlite import posting_lists, row_blocks, rows, vector_blocks
from quire.store.sqlite.database import Connection
from quire.store.sqlite.salvage import DAMAGE, Damage
from quire.store.sqlite.transaction import Space

NODE_CACHE_SIZE = 257
"""As many nodes as one tree has, including its root."""

MAX_CHECKED = 100_000
"""So many chunks are known to be as they were written; then they are checked again."""

Children = tuple[tuple[int, str], ...]
"""Positions and hashes of the children of a node."""


class Caches:
    """What is kept in memory: derived from the file, and shared by all snapshots of a store."""

    def __init__(self) -> None:
        self.postings = PostingCache()
        self.access = AccessMaskCache()
        self.nodes: LRUCache[tuple[int, int, int, int | None], Children] = LRUCache(NODE_CACHE_SIZE)
        self._lock = threading.Lock()
        self._columns: dict[int, Columns] = {}
        self._vectors: dict[int, VectorArrays] = {}
        self._checked: dict[int, tuple[int, set[str]]] = {}

    def checked(self, space: Space) -> set[str]:
        """Return the ids of the chunks of a generation that were found as they were written."""
        with self._lock:
            generation, checked = self._checked.get(space.id, (-1, set()))
            if generation != space.generation or len(checked) > MAX_CHECKED:
                checked = set()
                self._checked[space.id] = space.generation, checked
            return checked

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
        self.postings.clear()
        self.nodes = LRUCache(NODE_CACHE_SIZE)


class Snapshot:
    """One consistent state of a space, with the access classes that a viewer may read.

    It is an `IndexSnapshot`: the lookups below are what the search algorithms need of SQLite.
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
        self._caches = caches
        self._first_key = rows.key_of(space.id, 0)
        self._load_list = partial(posting_lists.read_list, connection, space.id)
        self.damage = Damage(connection, space.id, lambda: (self.columns, self.access.rows))

    @cached_property
    def columns(self) -> Columns:
        """The columns of every row."""
        return self._caches.columns(self.connection, self.space)

    @cached_property
    def access(self) -> AccessMask:
        """The rows that the viewer may read."""
        return self._caches.access.get(self.space.id, self.columns, self.classes)

    @property
    def dims(self) -> int:
        """The number of dimensions of the vectors."""
        return self.space.dims

    @cached_property
    def _segments(self) -> list[int]:
        return posting_lists.segment_numbers(self.connection, self.space.id)

    def posting(self, word: str) -> Posting:
        """Return all rows that contain a word, readable or not, in ascending order."""
        return self._caches.postings.read(word, self._segments, self._load_list)

    def vectors(self) -> tuple[Matrix, Codes]:
        """Return all vectors with their sign codes, by slot."""
        space = self.space
        load = partial(vector_blocks.read_blocks, self.connection, space.id)
        return self._caches.vectors(space.id).read(space.epoch, space.slots, space.dims, load)

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
            "SELECT r.number, r.path, r.modified FROM carray(?) v "
            "CROSS JOIN record r ON r.number = v.value",
            (apsw.carray(numbers.astype(np.int64)),),
        )

    def records_by_prefix(self, prefix: str, limit: int) -> list[tuple[int, str, int | None]]:
        """Return number, path and None of records whose path begins so, `limit` at most.

        All of it comes from the index on paths, which has no modification times.
        """
        return self.connection.rows(
            "SELECT number, path, NULL FROM record WHERE space = ? AND path GLOB ? LIMIT ?",
            (self.space.id, f"{prefix}*", limit),
        )

    @cached_property
    def is_unshared(self) -> str:
        """The condition on a record `r` that another user wrote it and did not share it."""
        owned = ",".join(map(str, sorted(self.owned)))
        return (
            f"r.class IN ({owned}) AND r.path GLOB '.quire/*' AND (r.author IS NOT NULL OR EXISTS "
            "(SELECT 1 FROM link l JOIN record m ON m.space = l.space AND m.id = l.target "
            "WHERE l.space = r.space AND l.source = r.id AND l.kind = 'member' "
            "AND m.author IS NOT NULL))"
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
            "SELECT c.key - ?2, c.sequence FROM (SELECT c.record, c.sequence FROM carray(?1) v "
            "CROSS JOIN chunk c ON c.key = v.value) s CROSS JOIN chunk c "
            "ON c.record = s.record AND c.sequence BETWEEN s.sequence - ?3 AND s.sequence + ?3",
            distance,
        )
        flat = np.fromiter(chain.from_iterable(pairs), np.int64, 2 * len(pairs))
        return flat.reshape(-1, 2)

    def positions(self, rows: RowNumbers) -> list[tuple[int, str, int, int, bytes]]:
        """Return row, path, sequence, start and chunk id of each of these rows, in any order."""
        return self._select(
            rows,
            "SELECT c.key - ?2, r.path, c.sequence, c.start, c.id FROM carray(?1) v "
            "CROSS JOIN chunk c ON c.key = v.value CROSS JOIN record r ON r.number = c.record",
        )

    def first_rows(self, rows: RowNumbers, limit: int) -> list[int]:
        """Return the first of these rows by path, sequence, start and id, `limit` at most."""
        try:
            first = self.connection.rows(
                "SELECT c.key - ?2 FROM carray(?1) v "
                "CROSS JOIN chunk c ON c.key = v.value CROSS JOIN record r ON r.number = c.record "
                "ORDER BY r.path, c.sequence, c.start, c.id LIMIT ?3",
                (apsw.carray(rows + self._first_key), self._first_key, limit),
            )
        except DAMAGE:
            ordered = sorted(self.positions(rows), key=lambda position: position[1:])
            return [row for row, *_ in ordered[:limit]]
        return [row for (row,) in first]

    def _select(self, rows: RowNumbers, sql: str, *bindings: int) -> list[tuple[Any, ...]]:
        """Query for rows (`?1`, less the first key `?2`); what is damaged is left out."""

        def query(numbers: Sequence[int]) -> list[tuple[Any, ...]]:
            keys = apsw.carray(np.array(numbers, np.int64) + self._first_key)
            return self.connection.rows(sql, (keys, self._first_key, *bindings))

        return self.damage.select(rows.tolist(), query, self.damage.name_row)

    @cached_property
    def checked(self) -> set[str]:
        """The ids of chunks that are known to be as they were written."""
        return self._caches.checked(self.space)

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
