"""Keeping an index of vectors in step with the store.

A collection is made for each epoch of a space, in which slots keep their vectors. A mark in it says
of which generation its points are; while points are written, it says of none. Only the writer of a
space changes points, so whoever reads the mark of its own generation before and after a search
knows that the points were those of that generation all along.

A store that was deleted and made again, or restored, has collections of the same name with other
vectors in the same slots. So each point carries a checksum of its vector, which a process compares
before it relies on points that it did not write itself.
"""

from __future__ import annotations

import threading
import zlib
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from quire.errors import VectorIndexError
from quire.store.index.vector_index import Nearest, Numbers, VectorState, slots_of
from quire.store.index.vectors import Matrix
from quire.system import events

BATCH = 1024
"""So many points are sent at once."""
CHANGING = -1
"""The generation of a collection whose points are being written."""


@dataclass(frozen=True, slots=True)
class Collection:
    """The points of one epoch of a space, whose vectors have so many dimensions."""

    space: int
    epoch: int
    dims: int


def collection_of(state: VectorState) -> Collection:
    """Return the collection that holds the points of a state."""
    return Collection(state.space, state.epoch, state.dims)


class ReconciledIndex(ABC):
    """An index that is brought to the newest state by differences; an engine adds its calls.

    The calls of an engine raise `VectorIndexError`.
    """

    def __init__(self, *, exact: bool) -> None:
        self.exact = exact
        self._lock = threading.Lock()
        self._known: dict[Collection, tuple[int, Numbers]] = {}
        """The generation and the points of collections that this process wrote."""

    def nearest(
        self, state: VectorState, vector: bytes, classes: frozenset[int], limit: int
    ) -> Nearest | None:
        """Return the nearest slots of a state; None: the index is of another one, or fails."""
        collection = collection_of(state)
        try:
            # Before it as well: a writer may end while the search runs.
            if self.read_generation(collection) != state.generation:
                return None
            found = self.search(collection, vector, sorted(classes), limit)
            if self.read_generation(collection) != state.generation:
                return None
        except VectorIndexError as error:
            events.emit("vector_index_failed", events.WARNING, error=type(error).__name__)
            return None
        return found

    def is_current(self, state: VectorState) -> bool:
        """Tell whether the index is of a state, and lacks nothing for its kind of search."""
        collection = collection_of(state)
        return self.read_generation(collection) == state.generation and self.is_complete(collection)

    def follow(self, state: VectorState) -> None:
        """Bring the index to a state, which must be the newest: the caller is the only writer."""
        collection = collection_of(state)
        with self._lock:
            if not state.dims:  # no vector is left, or none was made yet
                if state.epoch:
                    self.drop_others(collection)
                return
            generation = self.read_generation(collection)
            known = self._known.get(collection, (None,))[0]
            if generation == state.generation == known and self.is_complete(collection):
                return
            wanted = state.points()
            if generation is None:
                self.create(collection)
                present = np.zeros(0, np.int64)
            else:
                present = self._present(collection, generation, state, wanted)
            self.set_generation(collection, CHANGING)
            self._write(collection, state, np.setdiff1d(wanted, present, assume_unique=True))
            gone = np.setdiff1d(present, wanted, assume_unique=True)
            for start in range(0, gone.size, BATCH):
                self.delete(collection, gone[start : start + BATCH])
            # Before the mark: until it is set, a purge fails and the next write tries again.
            self.drop_others(collection)
            self.complete(collection)  # a graph of what is there is made faster than it grows
            self.set_generation(collection, state.generation)
            self._known = {collection: (state.generation, wanted)}

    def _present(
        self, collection: Collection, generation: int, state: VectorState, wanted: Numbers
    ) -> Numbers:
        """Return the points of a collection, without those that hold another vector."""
        known, points = self._known.get(collection, (CHANGING, None))
        if points is not None and known == generation:
            return points
        points, checksums = self.read_points(collection)
        shared = np.flatnonzero(np.isin(points, wanted, assume_unique=True))
        is_same = np.ones(points.size, np.bool_)
        for start in range(0, shared.size, BATCH):
            at = shared[start : start + BATCH]
            is_same[at] = compute_checksums(_vectors_of(state, points[at])) == checksums[at]
        return points[is_same]

    def _write(self, collection: Collection, state: VectorState, points: Numbers) -> None:
        for start in range(0, points.size, BATCH):
            batch = points[start : start + BATCH]
            self.upsert(collection, batch, _vectors_of(state, batch))

    @abstractmethod
    def search(
        self, collection: Collection, vector: bytes, classes: list[int], limit: int
    ) -> Nearest:
        """Return the slots nearest to a vector."""

    @abstractmethod
    def read_generation(self, collection: Collection) -> int | None:
        """Return the generation of a collection's points; None if it does not exist."""

    @abstractmethod
    def set_generation(self, collection: Collection, generation: int) -> None:
        """Set the generation of a collection's points."""

    @abstractmethod
    def read_points(self, collection: Collection) -> tuple[Numbers, Numbers]:
        """Return the points of a collection, and the checksum of each one's vector."""

    @abstractmethod
    def create(self, collection: Collection) -> None:
        """Create an empty collection, of no generation."""

    @abstractmethod
    def complete(self, collection: Collection) -> None:
        """Add what a collection lacks that is new, or was made for another kind of search."""

    @abstractmethod
    def is_complete(self, collection: Collection) -> bool:
        """Tell whether a collection has what `complete` adds."""

    @abstractmethod
    def upsert(self, collection: Collection, points: Numbers, vectors: Matrix) -> None:
        """Write points with checksums of their vectors, over those of the same number."""

    @abstractmethod
    def delete(self, collection: Collection, points: Numbers) -> None:
        """Delete points."""

    @abstractmethod
    def drop_others(self, collection: Collection) -> None:
        """Delete all other collections of the same space."""

    @abstractmethod
    def close(self) -> None:
        """Close connections."""


def compute_checksums(vectors: Matrix) -> Numbers:
    """Return a checksum of each vector."""
    return np.array([zlib.crc32(vector.tobytes()) for vector in vectors], np.int64)


def _vectors_of(state: VectorState, points: Numbers) -> Matrix:
    slots, at = np.unique(slots_of(points), return_inverse=True)
    return state.vectors_at(slots)[at]
