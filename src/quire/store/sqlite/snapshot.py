"""What is loaded of one state of a space, and kept for the next question?"""

from __future__ import annotations

import threading
from functools import cached_property

import numpy as np
import numpy.typing as npt

from quire.core import merkle
from quire.core.lru import LRUCache
from quire.core.types import Filter
from quire.errors import StoreDamagedError
from quire.store.index import columns
from quire.store.index.access_mask import Readable, ReadableRows
from quire.store.index.columns import Columns
from quire.store.index.postings import Posting
from quire.store.index.vectors import Codes, Matrix
from quire.store.sqlite import posting_lists as segments
from quire.store.sqlite.database import REPAIR, Connection
from quire.store.sqlite.transaction import Space
from quire.store.sqlite.vector_blocks import Slots

KEPT_NODES = 257
"""As many as one tree has, its top included."""

Children = tuple[tuple[int, str], ...]
"""The places and hashes of what stands side by side in a tree."""


class Caches:
    """What is kept in memory, derived from the file and shared by all snapshots of a store."""

    def __init__(self) -> None:
        self.lists = segments.Lists()
        self.readable = ReadableRows()
        self.nodes: LRUCache[tuple[int, int, int, int | None], Children] = LRUCache(KEPT_NODES)
        self._lock = threading.Lock()
        self._columns: dict[int, Columns] = {}
        self._slots: dict[int, Slots] = {}

    def columns(self, connection: Connection, space: Space) -> Columns:
        """Give the columns of a generation; only blocks that changed are read."""
        with self._lock:
            known = self._columns.get(space.id)
        if known is not None and known.generation == space.generation:
            return known
        if known is not None and known.generation < space.generation and known.rows <= space.rows:
            made = columns.refresh(connection, space.id, known, space.generation, space.rows)
        else:
            made = columns.load(connection, space.id, space.generation, space.rows)
        self.keep(space.id, made)
        return made

    def keep(self, space: int, made: Columns) -> None:
        """Remember the newest columns of a space."""
        with self._lock:
            known = self._columns.get(space)
            if known is None or known.generation < made.generation:
                self._columns[space] = made

    def slots(self, space: int) -> Slots:
        """Give the vectors of a space."""
        with self._lock:
            return self._slots.setdefault(space, Slots())

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._columns.clear()
            self._slots.clear()
        self.lists.clear()
        self.nodes = LRUCache(KEPT_NODES)


class Snapshot:
    """One consistent state of a space and the access classes that a viewer may read."""

    def __init__(
        self, connection: Connection, space: Space, classes: frozenset[int], caches: Caches
    ) -> None:
        self.connection = connection
        self.space = space
        self.classes = classes
        self._caches = caches
        self.passing: dict[Filter, npt.NDArray[np.bool_] | None] = {}
        """The rows that pass a filter, by each that was asked for."""

    @cached_property
    def columns(self) -> Columns:
        """The numbers of every row."""
        return self._caches.columns(self.connection, self.space)

    @cached_property
    def readable(self) -> Readable:
        """The rows that the viewer may read."""
        return self._caches.readable.of(self.space.id, self.columns, self.classes)

    @cached_property
    def segments(self) -> list[int]:
        """The segments of the posting lists."""
        return segments.numbers(self.connection, self.space.id)

    def posting(self, word: str) -> Posting:
        """Give the readable rows that hold a word."""
        rows, times = self._caches.lists.read(self.connection, self.space.id, self.segments, word)
        if rows.size and rows[-1] >= self.columns.rows:
            raise StoreDamagedError(f"a list of words is damaged: {REPAIR}")
        if self.readable.everything:
            return rows, times
        kept = np.take(self.readable.mask, rows)
        return rows[kept], times[kept]

    @cached_property
    def roots(self) -> list[tuple[bytes, bytes]]:
        """The roots of the readable classes' trees: of content, and of vectors."""
        classes = ",".join(map(str, sorted(self.classes))) or "NULL"
        found = self.connection.rows(
            f"SELECT content, vector FROM root WHERE space = ? AND class IN ({classes})",
            (self.space.id,),
        )
        return [(content, vector) for content, vector in found]

    def below(self, held: int, node: int | None = None) -> Children:
        """Give what stands below a node of a class's tree, or below its root."""
        at = (self.space.id, self.space.generation, held, node)
        known = self._caches.nodes.get(at)
        if known is None:
            known = self._read_below(held, node)
            self._caches.nodes.put(at, known)
        return known

    def _read_below(self, held: int, node: int | None) -> Children:
        at = (self.space.id, held)
        if node is None:
            found = self.connection.rows(
                "SELECT node, content FROM node WHERE space = ? AND class = ? ORDER BY node", at
            )
        else:
            first = node * merkle.FAN
            found = self.connection.rows(
                "SELECT bucket & 255, content FROM bucket WHERE space = ? AND class = ? "
                "AND bucket BETWEEN ? AND ? ORDER BY bucket",
                (*at, first, first + merkle.FAN - 1),
            )
        return tuple([(place, content.hex()) for place, content in found])

    def vectors(self) -> tuple[Matrix, Codes]:
        """Give all vectors with their codes, by slot."""
        space = self.space
        return self._caches.slots(space.id).read(
            self.connection, space.id, space.epoch, space.slots, space.dims
        )
