"""The vectors of a space in memory, in arrays that grow with the store.

Vectors occupy slots in the order in which they were written. Slots are only ever appended; when
vectors are to be forgotten, all are rewritten and the epoch is incremented. So the arrays that a
reader has stay valid as long as its epoch lasts.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable

import numpy as np

from quire.store.damage import damaged
from quire.store.index import vectors
from quire.store.index.vectors import Codes, Matrix

LoadBlocks = Callable[[int], Iterable[tuple[int, bytes, bytes]]]
"""Reads the stored blocks from a slot on: the first slot of a block, its vectors, its codes."""


class VectorArrays:
    """The vectors and sign codes of one space, shared by all its snapshots."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._epoch = -1
        self._count = 0
        self._matrix: Matrix = np.zeros((0, 0), np.int8)
        # The first pass scans all codes word by word, so they are stored by columns.
        self._codes: Codes = np.zeros((0, 0), np.uint64, "F")

    def read(
        self, epoch: int, slots: int, dims: int, load: LoadBlocks, count_bytes: Callable[[], int]
    ) -> tuple[Matrix, Codes]:
        """Return vectors and codes of all slots of a snapshot, loading those that are missing.

        Args:
            epoch: How often the slots were numbered anew.
            slots: How many there are.
            dims: How many dimensions the vectors have.
            load: Reads the blocks from a slot on.
            count_bytes: Returns the size of all vectors.
        """
        with self._lock:
            if epoch != self._epoch:
                self._epoch, self._count = epoch, 0
                self._matrix = np.zeros((0, dims), np.int8)
                self._codes = np.zeros((0, vectors.code_words(dims)), np.uint64, "F")
            if slots > self._count:
                self._extend(slots, load, count_bytes)
            return self._matrix[:slots], self._codes[:slots]

    def _extend(self, slots: int, load: LoadBlocks, count_bytes: Callable[[], int]) -> None:
        if slots > self._matrix.shape[0]:
            # A file may come from anybody, and a number in it ask for all memory there is.
            if slots > count_bytes() // max(1, self._matrix.shape[1]):
                raise damaged("there are fewer vectors than it says")
            # Readers of older snapshots keep the old arrays; the shared part is the same.
            capacity = max(slots, self._matrix.shape[0] * 5 // 4)
            matrix = np.zeros((capacity, self._matrix.shape[1]), np.int8)
            codes = np.zeros((capacity, self._codes.shape[1]), np.uint64, "F")
            matrix[: self._count] = self._matrix[: self._count]
            codes[: self._count] = self._codes[: self._count]
            self._matrix, self._codes = matrix, codes
        for start, vector_data, code_data in load(self._count):
            try:
                part = np.frombuffer(vector_data, np.int8).reshape(-1, self._matrix.shape[1])
                signs = np.frombuffer(code_data, "<u8").reshape(-1, self._codes.shape[1])
                self._matrix[start : start + part.shape[0]] = part
                self._codes[start : start + signs.shape[0]] = signs
            except ValueError as error:
                raise damaged(f"the vectors from {start} on are damaged") from error
        self._count = slots
