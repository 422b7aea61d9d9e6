"""Reading around damage: what can still be read is given out, and what cannot is named.

A query for many rows fails if one of them is on a damaged page. It is then asked for each row
alone, and the rows that still fail are left out. Their paths are collected, so that an answer can
say what it is without; only paths of records that the viewer may read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from quire.store.damage import damaged
from quire.store.index.columns import RECORD, Columns
from quire.store.sql import rows
from quire.store.sql.connection import Connection

Key = TypeVar("Key", int, bytes, str)
Rows = list[tuple[Any, ...]]


class Damage:
    """The paths of what one viewer did not get from one snapshot because it is damaged."""

    def __init__(
        self,
        connection: Connection,
        space: int,
        readable: Callable[[], tuple[Columns, npt.NDArray[np.bool_]]],
    ) -> None:
        self._connection = connection
        self._space = space
        self._readable = readable
        self._paths: set[str] = set()
        self._told: set[str] = set()

    def tell(self) -> tuple[str, ...]:
        """Return the paths so far, in order; whoever asks passes them on."""
        self._told |= self._paths
        return tuple(sorted(self._paths))

    def refuse_untold(self, place: str) -> None:
        """Raise an error if something was left out that nobody was told of."""
        if untold := sorted(self._paths - self._told):
            raise damaged(f"damaged in the store: {', '.join(untold)}", place)

    def add(self, path: str) -> None:
        """Note that something of a readable record was left out."""
        self._paths.add(path)

    def select(
        self,
        keys: Sequence[Key],
        query: Callable[[Sequence[Key]], Rows],
        name: Callable[[Key], None],
    ) -> Rows:
        """Query for many keys; those that cannot be read are left out and named."""
        try:
            return query(keys)
        except self._connection.damage:
            found: Rows = []
            for key in keys:
                try:
                    found += query((key,))
                except self._connection.damage:
                    name(key)
            return found

    def name_row(self, row: int) -> None:
        """Note the path of the record that a row belongs to, if the viewer may read it."""
        columns, readable = self._readable()
        if 0 <= row < columns.rows and readable[row]:
            self._name_record(int(columns.table[RECORD, row]))

    def name_chunk(self, chunk_id: bytes) -> None:
        """Note the path of a chunk's record, if the viewer may read it."""
        # The index on ids holds the keys: no chunk is read.
        for (key,) in self._connection.rows(
            "SELECT key FROM chunk WHERE space = ? AND id = ?", (self._space, chunk_id)
        ):
            self.name_row(rows.row_of(key))

    def name_record(self, record_id: str) -> None:
        """Note the path of a record, if it is certain that the viewer may read it."""
        columns, readable = self._readable()
        for (number,) in self._connection.rows(
            "SELECT number FROM record WHERE space = ? AND id = ?", (self._space, record_id)
        ):
            if not (readable & (columns.table[RECORD] == number)).any():
                raise self._connection.damage[0]("a record cannot be read")
            self._name_record(number)

    def _name_record(self, number: int) -> None:
        # The index on paths holds the numbers: the record itself may be what is damaged.
        for (path,) in self._connection.rows(
            "SELECT path FROM record INDEXED BY record_path WHERE space = ? AND number = ?",
            (self._space, number),
        ):
            self._paths.add(path)
