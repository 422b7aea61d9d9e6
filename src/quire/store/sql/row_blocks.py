"""The table `row_block`: the columns of all rows, stored in blocks."""

from __future__ import annotations

import numpy as np

from quire.store.damage import damaged
from quire.store.index import columns
from quire.store.index.columns import FIELDS, Columns, ColumnsDraft, Table
from quire.store.sql.connection import Connection

_ROW_BYTES = FIELDS * 4


def load(connection: Connection, space: int, generation: int, rows: int) -> Columns:
    """Read the columns of a generation from all blocks."""
    # A file may come from anybody, and a number in it ask for all memory there is.
    if rows * _ROW_BYTES > count_bytes(connection, space):
        raise damaged("there are fewer rows than it says")
    table = columns.empty_table(rows)
    _read_blocks(connection, space, table, after=-1)
    return Columns(generation, table)


def count_bytes(connection: Connection, space: int) -> int:
    """Return the size of all blocks."""
    ((stored,),) = connection.rows(
        "SELECT coalesce(sum(length(data)), 0) FROM row_block WHERE space = ?", (space,)
    )
    return int(stored)


def refresh(
    connection: Connection, space: int, known: Columns, generation: int, rows: int
) -> Columns:
    """Read the columns of a generation, given those of an earlier one: only changed blocks."""
    table = columns.empty_table(rows)
    shared = min(rows, known.rows)
    table[:, :shared] = known.table[:, :shared]
    _read_blocks(connection, space, table, after=known.generation)
    return Columns(generation, table)


def save(connection: Connection, space: int, draft: ColumnsDraft, generation: int) -> Columns:
    """Write the changed blocks of a draft and return the columns of the new generation."""
    for block, part in draft.changed_blocks():
        connection.execute(
            "INSERT INTO row_block (space, block, generation, data) VALUES (?, ?, ?, ?) "
            "ON CONFLICT (space, block) DO UPDATE SET generation = excluded.generation, "
            "data = excluded.data",
            (space, block, generation, part.astype("<i4").tobytes()),
        )
    return draft.freeze(generation)


def _read_blocks(connection: Connection, space: int, table: Table, after: int) -> None:
    for block, data in connection.stream(
        "SELECT block, data FROM row_block WHERE space = ? AND generation > ? ORDER BY block",
        (space, after),
    ):
        start = block * columns.BLOCK
        try:
            part = np.frombuffer(data, "<i4").reshape(FIELDS, -1)
            table[:, start : start + part.shape[1]] = part
        except ValueError as error:
            raise damaged(f"the rows from {start} on are damaged") from error
