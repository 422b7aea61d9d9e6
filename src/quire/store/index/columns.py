"""What must be known of every row at once?

Five numbers a row, kept in SQLite as blocks and in memory as arrays: how long the chunk is, which
access class it belongs to, its record, its vector's slot and its kind. The arrays of a generation
never change: a writer works on a copy, a reader takes over the blocks that changed since.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from quire.errors import StoreDamagedError
from quire.store.sqlite.database import REPAIR, Connection

BLOCK = 4096
LENGTH, ACCESS, RECORD, SLOT, KIND = range(5)
FIELDS = 5

FREE = -1
"""In ACCESS: nobody uses the row, and no posting list names it."""
DEAD = -2
"""In ACCESS: the chunk is gone, but posting lists may still name the row."""
NO_SLOT = -1

Table = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Columns:
    """The arrays of one generation."""

    generation: int
    table: Table

    @property
    def rows(self) -> int:
        """How many row numbers have been handed out."""
        return int(self.table.shape[1])


def load(connection: Connection, space: int, generation: int, rows: int) -> Columns:
    """Read all blocks."""
    table = blank(rows)
    _take(connection, space, table, after=-1)
    return Columns(generation, table)


def refresh(
    connection: Connection, space: int, known: Columns, generation: int, rows: int
) -> Columns:
    """Read the blocks that changed since a known generation."""
    table = blank(rows)
    shared = min(rows, known.rows)
    table[:, :shared] = known.table[:, :shared]
    _take(connection, space, table, after=known.generation)
    return Columns(generation, table)


def blank(rows: int) -> Table:
    """Make a table of free rows."""
    table = np.zeros((FIELDS, rows), np.int32)
    table[ACCESS] = FREE
    table[SLOT] = NO_SLOT
    return table


def _take(connection: Connection, space: int, table: Table, after: int) -> None:
    changed = connection.execute(
        "SELECT block, data FROM row_block WHERE space = ? AND generation > ? ORDER BY block",
        (space, after),
    )
    for block, data in changed:
        start = block * BLOCK
        try:
            part = np.frombuffer(data, "<i4").reshape(FIELDS, -1)
            table[:, start : start + part.shape[1]] = part
        except ValueError as error:
            raise StoreDamagedError(f"rows from {start} on are damaged: {REPAIR}") from error


class Draft:
    """A writer's copy of the columns, with the blocks that it has touched."""

    def __init__(self, columns: Columns) -> None:
        self.rows = columns.rows
        self.table = self._copied(columns.table, self.rows + BLOCK)
        self._touched: set[int] = set()
        self._free = self._unused()

    def take_row(self) -> int:
        """Hand out a row: a free one if there is one, else a new one."""
        if self._free:
            return self._free.pop()
        if self.rows == self.table.shape[1]:
            self.table = self._copied(self.table, self.rows * 2)
        self.rows += 1
        return self.rows - 1

    def set(self, row: int, field: int, value: int) -> None:
        """Change one number."""
        self.table[field, row] = value
        self._touched.add(row // BLOCK)

    def fill(self, row: int, values: tuple[int, int, int, int, int]) -> None:
        """Set all numbers of a row."""
        self.table[:, row] = values
        self._touched.add(row // BLOCK)

    def set_all(self, field: int, value: int) -> None:
        """Set one field of every row."""
        self.table[field, : self.rows] = value
        self._touched.update(range(-(-self.rows // BLOCK)))

    def settle(self) -> None:
        """Begin anew after all rows were filled: count what is free, take all as changed."""
        self._free = self._unused()
        self._touched.update(range(-(-self.rows // BLOCK)))

    def release(self, rows: npt.NDArray[np.int32]) -> None:
        """Make dead rows free again: no posting list names them any more."""
        for row in rows:
            self.set(int(row), ACCESS, FREE)
        self._free.extend(int(row) for row in rows[::-1])

    @property
    def changed(self) -> bool:
        """Whether any block was touched."""
        return bool(self._touched)

    def save(self, connection: Connection, space: int, generation: int) -> Columns:
        """Write the touched blocks and give the columns of the new generation."""
        for block in sorted(self._touched):
            part = self.table[:, block * BLOCK : min((block + 1) * BLOCK, self.rows)]
            connection.execute(
                "INSERT INTO row_block (space, block, generation, data) VALUES (?, ?, ?, ?) "
                "ON CONFLICT (space, block) DO UPDATE SET generation = excluded.generation, "
                "data = excluded.data",
                (space, block, generation, part.astype("<i4").tobytes()),
            )
        return Columns(generation, self.table[:, : self.rows])

    def _copied(self, table: Table, room: int) -> Table:
        copied = np.empty((FIELDS, room), np.int32)
        copied[:, : self.rows] = table
        copied[:, self.rows :] = blank(room - self.rows)
        return copied

    def _unused(self) -> list[int]:
        free = np.flatnonzero(self.table[ACCESS, : self.rows] == FREE)
        return [int(row) for row in free[::-1]]
