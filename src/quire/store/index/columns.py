"""Columns: the five numbers that a search needs of every row at once.

A row holds one chunk. Its columns are the chunk's length in words, its access class, its record,
the slot of its vector and its kind. The arrays of a generation never change: a writer works on a
copy, and a reader takes over the blocks that have changed since the generation that it knows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

BLOCK = 4096
"""Rows in a block, the unit in which columns are stored."""
LENGTH, ACCESS, RECORD, SLOT, KIND = range(5)
FIELDS = 5

FREE = -1
"""In ACCESS: the row is unused, and no posting list names it."""
DEAD = -2
"""In ACCESS: the chunk was removed, but posting lists may still name the row."""
NO_SLOT = -1

Table = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Columns:
    """The arrays of one generation."""

    generation: int
    table: Table

    @property
    def rows(self) -> int:
        """The number of rows that have been allocated."""
        return int(self.table.shape[1])


def empty_table(rows: int) -> Table:
    """Return a table of free rows."""
    table = np.zeros((FIELDS, rows), np.int32)
    table[ACCESS] = FREE
    table[SLOT] = NO_SLOT
    return table


class ColumnsDraft:
    """A writer's copy of the columns, which records the blocks that it changes."""

    def __init__(self, columns: Columns) -> None:
        self.rows = columns.rows
        self.table = self._copy(columns.table, self.rows + BLOCK)
        self._changed_blocks: set[int] = set()
        self._free = self._free_rows()

    def allocate_row(self) -> int:
        """Return a free row, or a new one if there is none."""
        if self._free:
            return self._free.pop()
        if self.rows == self.table.shape[1]:
            self.table = self._copy(self.table, self.rows * 2)
        self.rows += 1
        return self.rows - 1

    def set(self, row: int, field: int, value: int) -> None:
        """Set one field of a row."""
        self.table[field, row] = value
        self._changed_blocks.add(row // BLOCK)

    def set_row(self, row: int, values: tuple[int, int, int, int, int]) -> None:
        """Set all fields of a row."""
        self.table[:, row] = values
        self._changed_blocks.add(row // BLOCK)

    def set_all(self, field: int, value: int) -> None:
        """Set one field of every row."""
        self.table[field, : self.rows] = value
        self._mark_all()

    def reset(self) -> None:
        """Recompute the free rows and mark everything as changed, after a rebuild."""
        self._free = self._free_rows()
        self._mark_all()

    def release(self, rows: npt.NDArray[np.int32]) -> None:
        """Free dead rows that no posting list names any more."""
        for row in rows:
            self.set(int(row), ACCESS, FREE)
        self._free.extend(int(row) for row in rows[::-1])

    @property
    def changed(self) -> bool:
        """Whether any block was changed."""
        return bool(self._changed_blocks)

    def changed_blocks(self) -> Iterator[tuple[int, Table]]:
        """Yield the number and the columns of each changed block, in order."""
        for block in sorted(self._changed_blocks):
            yield block, self.table[:, block * BLOCK : min((block + 1) * BLOCK, self.rows)]

    def freeze(self, generation: int) -> Columns:
        """Return the columns as those of a new generation; the draft must not be used again."""
        return Columns(generation, self.table[:, : self.rows])

    def _mark_all(self) -> None:
        self._changed_blocks.update(range(-(-self.rows // BLOCK)))

    def _copy(self, table: Table, capacity: int) -> Table:
        copy = np.empty((FIELDS, capacity), np.int32)
        copy[:, : self.rows] = table
        copy[:, self.rows :] = empty_table(capacity - self.rows)
        return copy

    def _free_rows(self) -> list[int]:
        free = np.flatnonzero(self.table[ACCESS, : self.rows] == FREE)
        return [int(row) for row in free[::-1]]
