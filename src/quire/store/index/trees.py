"""How are the roots kept up to date?

Leaves that change are collected during a transaction; at its end the buckets, nodes and roots
above them are hashed anew, each once. Content and vectors have a hash each, side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from quire.core import hashing, merkle
from quire.core.hashing import EMPTY
from quire.core.merkle import FAN
from quire.store.sqlite.database import Connection

Leaf = tuple[bytes, bytes | None]
"""The hash of the content, and that of the vector where there is one."""

Pair = tuple[bytes, bytes]


class Trees:
    """The Merkle trees of one space inside one write transaction."""

    def __init__(self, connection: Connection, space: int) -> None:
        self._connection = connection
        self._space = space
        self._changes: dict[tuple[int, bytes], Leaf | None] = {}

    @property
    def changed(self) -> bool:
        """Whether any leaf was set or removed."""
        return bool(self._changes)

    def set(self, access: int, key: bytes, content: bytes, vector: bytes | None = None) -> None:
        """Put a leaf into the tree of an access class."""
        self._changes[access, key] = (content, vector)

    def remove(self, access: int, key: bytes) -> None:
        """Take a leaf out of the tree of an access class."""
        self._changes[access, key] = None

    def leaf(self, access: int, key: bytes) -> Leaf | None:
        """Look up a leaf, changes of this transaction included."""
        if (access, key) in self._changes:
            return self._changes[access, key]
        row = self._connection.row(
            "SELECT content, vector FROM leaf WHERE space = ? AND class = ? AND key = ?",
            (self._space, access, key),
        )
        return None if row is None else (row[0], row[1])

    def move(self, old: int, new: int, key: bytes) -> None:
        """Carry a leaf over to another access class."""
        leaf = self.leaf(old, key)
        if leaf is not None and old != new:
            self.remove(old, key)
            self.set(new, key, *leaf)

    def forget_vectors(self) -> None:
        """Take all vectors out of all trees."""
        for at, leaf in list(self._changes.items()):
            self._changes[at] = leaf and (leaf[0], None)
        self._connection.execute("UPDATE leaf SET vector = NULL WHERE space = ?", (self._space,))
        for table in ("bucket", "node", "root"):
            self._connection.execute(
                f"UPDATE {table} SET vector = ? WHERE space = ?",
                (EMPTY, self._space),
            )

    def flush(self) -> None:
        """Write the leaves and hash everything above them."""
        self._write_leaves()
        for access in sorted({access for access, _ in self._changes}):
            keys = (key for at, key in self._changes if at == access)
            self._climb(access, frozenset(merkle.bucket_of(key) for key in keys))
        self._changes = {}

    def forget(self) -> None:
        """Forget what was collected; the leaves are about to be set anew."""
        self._changes = {}

    def _write_leaves(self) -> None:
        gone = [
            (self._space, access, key)
            for (access, key), leaf in self._changes.items()
            if leaf is None
        ]
        kept = sorted(
            (self._space, access, key, *leaf)
            for (access, key), leaf in self._changes.items()
            if leaf is not None
        )
        self._connection.executemany(
            "DELETE FROM leaf WHERE space = ? AND class = ? AND key = ?", gone
        )
        self._connection.executemany(
            "INSERT INTO leaf (space, class, key, content, vector) VALUES (?, ?, ?, ?, ?) "
            "ON CONFLICT DO UPDATE SET content = excluded.content, vector = excluded.vector",
            kept,
        )

    def _climb(self, access: int, buckets: frozenset[int]) -> None:
        self._store("bucket", access, buckets, lambda place: self._bucket(access, place))
        nodes = {bucket // FAN for bucket in buckets}
        self._store("node", access, nodes, lambda place: self._node("bucket", access, place))
        content, vector = self._node("node", access, 0)
        at = (self._space, access)
        if content == EMPTY:
            self._connection.execute("DELETE FROM root WHERE space = ? AND class = ?", at)
        else:
            self._connection.execute(
                "INSERT INTO root (space, class, content, vector) VALUES (?, ?, ?, ?) "
                "ON CONFLICT DO UPDATE SET content = excluded.content, vector = excluded.vector",
                (*at, content, vector),
            )

    def _store(
        self, table: str, access: int, places: Iterable[int], made: Callable[[int], Pair]
    ) -> None:
        hashed = [(self._space, access, place, *made(place)) for place in sorted(places)]
        self._connection.executemany(
            f"DELETE FROM {table} WHERE space = ? AND class = ? AND {table} = ?",
            [row[:3] for row in hashed if row[3] == EMPTY],
        )
        self._connection.executemany(
            f"INSERT INTO {table} (space, class, {table}, content, vector) "
            "VALUES (?, ?, ?, ?, ?) "
            "ON CONFLICT DO UPDATE SET content = excluded.content, vector = excluded.vector",
            [row for row in hashed if row[3] != EMPTY],
        )

    def _bucket(self, access: int, place: int) -> Pair:
        low = place.to_bytes(2, "big")
        leaves = self._connection.rows(
            "SELECT key, content, vector FROM leaf "
            "WHERE space = ? AND class = ? AND key >= ? AND key <= ? ORDER BY key",
            (self._space, access, low, low + b"\xff" * hashing.ID_BYTES),
        )
        return (
            merkle.bucket_hash((key, content) for key, content, _ in leaves),
            merkle.bucket_hash((key, vector) for key, _, vector in leaves if vector is not None),
        )

    def _node(self, below: str, access: int, place: int) -> Pair:
        children = self._connection.rows(
            f"SELECT {below} & 255, content, vector FROM {below} "
            f"WHERE space = ? AND class = ? AND {below} BETWEEN ? AND ?",
            (self._space, access, place * FAN, place * FAN + FAN - 1),
        )
        # By columns: a large write hashes most of the tree, and this is where its time goes.
        places, contents, vectors = zip(*children, strict=True) if children else ((), (), ())
        return (
            merkle.node_hash(dict(zip(places, contents, strict=True))),
            merkle.node_hash(dict(zip(places, vectors, strict=True))),
        )
