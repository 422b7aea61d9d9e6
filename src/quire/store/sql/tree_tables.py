"""The tables `leaf`, `bucket`, `node` and `root`: the stored Merkle trees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from quire.core import hashing
from quire.core.hashing import EMPTY
from quire.core.merkle import FAN
from quire.store.index.trees import BUCKET, NODE, Hashes, Leaf, StoredLeaf
from quire.store.sql.connection import Connection

_UPSERT = "DO UPDATE SET content = excluded.content, vector = excluded.vector"


class TreeTables:
    """The stored trees of one space, inside a write transaction."""

    def __init__(self, connection: Connection, space: int) -> None:
        self._connection = connection
        self._space = space

    def read_leaf(self, access: int, key: bytes) -> Leaf | None:
        """Return a leaf, or None if it does not exist."""
        row = self._connection.row(
            "SELECT content, vector FROM leaf WHERE space = ? AND class = ? AND key = ?",
            (self._space, access, key),
        )
        return None if row is None else (row[0], row[1])

    def write_leaves(
        self,
        removed: Sequence[tuple[int, bytes]],
        changed: Sequence[tuple[int, bytes, bytes, bytes | None]],
    ) -> None:
        """Delete leaves by access class and key, and write others with their hashes."""
        self._connection.executemany(
            "DELETE FROM leaf WHERE space = ? AND class = ? AND key = ?",
            [(self._space, *place) for place in removed],
        )
        self._connection.executemany(
            "INSERT INTO leaf (space, class, key, content, vector) VALUES (?, ?, ?, ?, ?) "
            f"ON CONFLICT (space, class, key) {_UPSERT}",
            [(self._space, *leaf) for leaf in changed],
        )

    def read_buckets(self, access: int, buckets: Sequence[int]) -> Iterator[StoredLeaf]:
        """Yield the leaves of ascending buckets, in the order of their keys."""
        lows = (bucket.to_bytes(2, "big") for bucket in buckets)
        return self._connection.stream_each(
            "SELECT key, content, vector FROM leaf "
            "WHERE space = ? AND class = ? AND key >= ? AND key <= ? ORDER BY key",
            [(self._space, access, low, low + b"\xff" * hashing.ID_BYTES) for low in lows],
        )

    def read_children(
        self, level: str, access: int, nodes: Sequence[int]
    ) -> Iterator[tuple[int, bytes, bytes]]:
        """Yield place, content and vector of the buckets or nodes below some nodes."""
        return self._connection.stream_each(
            f"SELECT ? + ({level} & 255), content, vector FROM {level} "
            f"WHERE space = ? AND class = ? AND {level} BETWEEN ? AND ?",
            [
                (place * FAN, self._space, access, node * FAN, node * FAN + FAN - 1)
                for place, node in enumerate(nodes)
            ],
        )

    def write_hashes(
        self,
        level: str,
        access: int,
        removed: Sequence[int],
        changed: Sequence[tuple[int, bytes, bytes]],
    ) -> None:
        """Delete buckets or nodes by number, and write others with their hashes."""
        place = (self._space, access)
        self._connection.executemany(
            f"DELETE FROM {level} WHERE space = ? AND class = ? AND {level} = ?",
            [(*place, number) for number in removed],
        )
        self._connection.executemany(
            f"INSERT INTO {level} (space, class, {level}, content, vector) "
            f"VALUES (?, ?, ?, ?, ?) ON CONFLICT (space, class, {level}) {_UPSERT}",
            [(*place, *hashes) for hashes in changed],
        )

    def write_root(self, access: int, root: Hashes | None) -> None:
        """Write the root of an access class, or delete it."""
        place = (self._space, access)
        if root is None:
            self._connection.execute("DELETE FROM root WHERE space = ? AND class = ?", place)
        else:
            self._connection.execute(
                "INSERT INTO root (space, class, content, vector) VALUES (?, ?, ?, ?) "
                f"ON CONFLICT (space, class) {_UPSERT}",
                (*place, *root),
            )

    def clear_vectors(self) -> None:
        """Remove the vectors from all stored leaves, and their hashes from everything above."""
        self._connection.execute("UPDATE leaf SET vector = NULL WHERE space = ?", (self._space,))
        for table in (BUCKET, NODE, "root"):
            self._connection.execute(
                f"UPDATE {table} SET vector = ? WHERE space = ?", (EMPTY, self._space)
            )
