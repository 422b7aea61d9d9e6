"""The table `value`: the metadata of records, one row per value, for the conditions of filters.

It is derived from the column `metadata` of records. Values of hidden records are in it as well:
whoever reads it takes of the records what the viewer may read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from quire.core import metadata as values
from quire.core.conditions import Comparison
from quire.core.types import MetadataValue
from quire.store.sql.connection import Connection
from quire.store.sql.transaction import Transaction


def put(
    transaction: Transaction,
    number: int,
    old: Mapping[str, MetadataValue],
    new: Mapping[str, MetadataValue],
) -> None:
    """Replace the metadata of a record."""
    before, after = set(values.entries(old)), set(values.entries(new))

    def keep(entry: tuple[str, str, str | int | float]) -> tuple[Any, ...]:
        key, kind, value = entry
        return transaction.space.id, key, kind, transaction.connection.scalar(value)

    transaction.connection.executemany(
        "DELETE FROM value WHERE space = ? AND key = ? AND kind = ? AND value = ? AND record = ?",
        [(*kept, number) for kept in sorted(map(keep, before - after), key=repr)],
    )
    transaction.connection.executemany(
        "INSERT INTO value (space, key, kind, value, record) VALUES (?, ?, ?, ?, ?) "
        "ON CONFLICT DO NOTHING",
        [(*kept, number) for kept in sorted(map(keep, after - before), key=repr)],
    )


def records_where(
    connection: Connection, space: int, comparison: Comparison
) -> npt.NDArray[np.int64]:
    """Return the numbers of all records with a value that compares so."""
    bounds = comparison.bounds
    tests = " ".join(f"AND value {sign} ?" for sign, _ in bounds)
    return _numbers(
        connection,
        f"SELECT record FROM value WHERE space = ? AND key = ? AND kind = ? {tests}",
        (
            space,
            comparison.key,
            comparison.kind,
            *(connection.scalar(bound) for _, bound in bounds),
        ),
    )


def records_having(connection: Connection, space: int, key: str) -> npt.NDArray[np.int64]:
    """Return the numbers of all records with a value under a key."""
    return _numbers(
        connection, "SELECT record FROM value WHERE space = ? AND key = ?", (space, key)
    )


def _numbers(connection: Connection, sql: str, bindings: tuple[Any, ...]) -> npt.NDArray[np.int64]:
    rows = connection.rows(sql, bindings)
    return np.fromiter((number for (number,) in rows), np.int64, len(rows))
