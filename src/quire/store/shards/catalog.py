"""The catalog of a sharded store: what concerns the whole.

It is a store of its own without records: which version of each shard the last write left, the trees
of hashes over all shards, notes and stamps. A write is whole as soon as the catalog has it: its
calls are in the table `shard_log` until all shards have made them.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from quire.core.servers import MAX_SHARDS
from quire.errors import StoreDamagedError
from quire.store.damage import damaged
from quire.store.index.trees import Trees
from quire.store.shards import encode
from quire.store.shards.part_write import Leaf
from quire.store.sql.connection import Connection
from quire.store.sql.export import SqlExport
from quire.store.sql.store import get_or_create_space
from quire.store.sql.transaction import Transaction
from quire.store.sql.tree_tables import TreeTables
from quire.store.sql.view import SqlView
from quire.store.sqlite.store import NOTES_OF_SHARDS, SqliteStore

MANIFEST = f"{NOTES_OF_SHARDS}manifest"
"""The note with the versions of the shards."""
LOGGED = frozenset(
    [
        "adopt",
        "drop_vectors",
        "drop_waiting_vectors",
        "erase",
        "expect",
        "forget_vectors",
        "merge",
        "put",
        "put_events",
        "put_vectors",
        "put_waiting_vectors",
        "remove",
        "set_default",
        "set_groups",
        "set_modified",
        "set_rules",
        "switch_vectors",
        "update",
    ]
)
"""The calls that a write logs; a file that came from somebody else may name any other."""
_TABLES = (
    """
    CREATE TABLE IF NOT EXISTS shard_setting (
        name TEXT PRIMARY KEY, value TEXT NOT NULL
    ) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE IF NOT EXISTS shard_log (
        number INTEGER PRIMARY KEY, space TEXT NOT NULL, shard INTEGER NOT NULL,
        call TEXT NOT NULL, args BLOB NOT NULL
    ) STRICT
    """,
)


@dataclass(frozen=True, slots=True)
class Manifest:
    """Which state of each shard is the last one of a space."""

    version: int
    """How many writes there were."""
    shards: tuple[int, ...]
    """For each shard the last write that changed it."""
    before: tuple[int, ...]
    """The same before the last write."""

    def next(self, changed: Iterable[int]) -> Manifest:
        """Return the manifest after a write that changed some shards."""
        own = {*changed}
        version = self.version + 1
        shards = tuple(
            version if number in own else known for number, known in enumerate(self.shards)
        )
        return Manifest(version, shards, self.shards)


class CatalogView(SqlView):
    """The catalog in the state of a view."""

    def manifest(self, count: int) -> Manifest:
        """Return the versions of the shards."""
        found = self._query(
            "SELECT value FROM note WHERE space = ? AND key = ?", (self._space.id, MANIFEST)
        )
        return _parse(found[0][0] if found else None, count)

    def model(self) -> str | None:
        """Return the model of the vectors."""
        return self._space.model

    def tree(self, acl: str, node: int) -> tuple[tuple[tuple[int, str], ...], ...]:
        """Return the children of a node of an audience's tree, and of its root."""
        with self._use as snapshot:
            row = snapshot.connection.row(
                "SELECT id FROM class WHERE space = ? AND acl = ?", (self._space.id, acl)
            )
            number = -1 if row is None else int(row[0])
            return snapshot.children(number, node), snapshot.children(number)

    def room(self) -> int:
        """Return the bytes that the catalog takes."""
        with self._use as snapshot:
            return self._room(snapshot.connection)

    def class_roots(self) -> list[bytes]:
        """Return the roots of the readable audiences' trees."""
        with self._use as snapshot:
            return [content for content, _ in snapshot.roots]


class Catalog(SqliteStore):
    """The catalog in its file."""

    view_type = CatalogView

    def __init__(self, path: Path, *, create: bool, wait: float, count: int) -> None:
        """Open it, or create it for so many shards."""
        super().__init__(path, create=create, wait=wait)
        settings = self._read_settings()
        if "count" not in settings:
            with self._connections.write_transaction("") as connection:
                for statement in _TABLES:
                    connection.execute(statement)
                connection.executemany(
                    "INSERT INTO shard_setting VALUES (?, ?) ON CONFLICT DO NOTHING",
                    [("count", str(count)), ("id", secrets.token_hex(8))],
                )
            settings = self._read_settings()
        self.count = _parse_count(settings.get("count", ""))
        self.id = settings.get("id", "")
        """Names this store in the files of its shards."""

    def _outdated_spaces(self) -> list[str]:
        """Return nothing: the catalog holds no words."""
        return []

    def _begin(self, connection: Connection, space: str) -> Transaction:
        stored = get_or_create_space(connection, space)
        return Transaction(connection, stored, self._caches.columns(connection, stored))

    @property
    def read_only(self) -> bool:
        """Whether this process may not write."""
        return self._file.read_only

    def _read_settings(self) -> dict[str, str]:
        with self._connections.read_once() as connection:
            known = connection.row("SELECT 1 FROM sqlite_schema WHERE name = 'shard_setting'")
            return dict(connection.rows("SELECT name, value FROM shard_setting")) if known else {}

    def written(self) -> frozenset[int]:
        """Return the shards that hold something: a write has changed them."""
        with self._connections.read_all() as connection:
            found = connection.rows("SELECT value FROM note WHERE key = ?", (MANIFEST,))
        shards = [_parse(text, self.count).shards for (text,) in found]
        return frozenset(number for each in shards for number, at in enumerate(each) if at)

    def manifest_of(self, export: SqlExport) -> Manifest:
        """Return the versions of the shards as of an export."""
        return _parse(export.note(MANIFEST), self.count)

    @contextmanager
    def writing(self, space: str) -> Iterator[CatalogWrite]:
        """Open the write transaction of a space."""
        with self._transaction(space) as transaction:
            yield CatalogWrite(transaction, space, self.count)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep all writers out."""
        with self._connections.write_transaction(""):
            yield

    def forget_log(self) -> None:
        """Delete the calls of all writes, which all shards have made."""
        with self._connections.write_transaction("") as connection:
            connection.execute("DELETE FROM shard_log")


class CatalogWrite:
    """The part of a write that concerns the whole."""

    def __init__(self, transaction: Transaction, space: str, count: int) -> None:
        self.transaction = transaction
        self._space = space
        self._connection = transaction.connection
        row = self._connection.row(
            "SELECT value FROM note WHERE space = ? AND key = ?", (transaction.space.id, MANIFEST)
        )
        self.manifest = _parse(row[0] if row else None, count)

    def logged(self, shard: int) -> list[tuple[str, tuple[Any, ...]]]:
        """Return the calls of the last write on a shard."""
        return _logged(self._connection, self._space, shard)

    def begin_log(self) -> None:
        """Forget the last write, which all shards have made."""
        self._connection.execute("DELETE FROM shard_log WHERE space = ?", (self._space,))

    def log(self, shard: int, name: str, args: tuple[Any, ...]) -> None:
        """Keep a call, to be made again if this process ends before the shard has committed it."""
        self._connection.execute(
            "INSERT INTO shard_log (space, shard, call, args) VALUES (?, ?, ?, ?)",
            (self._space, shard, name, encode.encode(args)),
        )

    def unstamp(self, ids: Sequence[str]) -> None:
        """Forget the state of the files of records."""
        self._connection.executemany(
            "DELETE FROM stamp WHERE space = ? AND record = ?",
            [(self.transaction.space.id, record_id) for record_id in ids],
        )

    def clear_vectors(self) -> None:
        """Remove the hashes of all vectors from the trees."""
        TreeTables(self._connection, self.transaction.space.id).clear_vectors()

    def fold(self, leaves: Mapping[tuple[str, int], Sequence[Leaf]]) -> None:
        """Hash buckets again, by audience and number, and everything above them."""
        numbered = {
            (self.transaction.class_number(acl), bucket): found
            for (acl, bucket), found in leaves.items()
        }
        trees = Trees(_Folded(self._connection, self.transaction.space.id, numbered))
        for number, places in groupby(sorted(numbered), key=itemgetter(0)):
            trees.update(number, [bucket for _, bucket in places])

    def discard_trees(self) -> None:
        """Delete all hashes, which are about to be made again."""
        for table in ("bucket", "node", "root"):
            self._connection.execute(
                f"DELETE FROM {table} WHERE space = ?", (self.transaction.space.id,)
            )

    def hashes(self) -> list[tuple[str, int, bytes, bytes]]:
        """Return audience, number, content and vector of all buckets, and of roots (as -1)."""
        found = self._connection.rows(
            "SELECT k.acl, b.bucket, b.content, b.vector FROM bucket b JOIN class k "
            "ON k.id = b.class WHERE b.space = ?1 UNION ALL SELECT k.acl, -1, r.content, r.vector "
            "FROM root r JOIN class k ON k.id = r.class WHERE r.space = ?1 ORDER BY 1, 2",
            (self.transaction.space.id,),
        )
        return [(acl, number, content, vector) for acl, number, content, vector in found]

    def finish(self, changed: Sequence[int], model: str | None) -> None:
        """Record that a write changed some shards; it is committed with the transaction."""
        if not changed:
            self.begin_log()
            return
        manifest = self.manifest.next(changed)
        self._connection.execute(
            "INSERT INTO note (space, key, value) VALUES (?, ?, ?) "
            "ON CONFLICT (space, key) DO UPDATE SET value = excluded.value",
            (
                self.transaction.space.id,
                MANIFEST,
                json.dumps([manifest.version, manifest.shards, manifest.before]),
            ),
        )
        for shard in {*range(len(manifest.shards))} - {*changed}:
            self._connection.execute(
                "DELETE FROM shard_log WHERE space = ? AND shard = ?", (self._space, shard)
            )
        self.transaction.space.model = model
        self.transaction.changed = True


class _Folded(TreeTables):
    """The trees of the catalog, whose leaves are in the shards."""

    def __init__(
        self,
        connection: Connection,
        space: int,
        leaves: Mapping[tuple[int, int], Sequence[Leaf]],
    ) -> None:
        super().__init__(connection, space)
        self._leaves = leaves

    def read_buckets(self, access: int, buckets: Sequence[int]) -> Iterator[Leaf]:
        """Yield the leaves of ascending buckets, in the order of their keys."""
        return (leaf for bucket in buckets for leaf in self._leaves[access, bucket])


def _logged(connection: Connection, space: str, shard: int) -> list[tuple[str, tuple[Any, ...]]]:
    calls = connection.rows(
        "SELECT call, args FROM shard_log WHERE space = ? AND shard = ? ORDER BY number",
        (space, shard),
    )
    if not LOGGED.issuperset(name for name, _ in calls):
        raise damaged("a write that was not finished names a call that there is not")
    return [(name, encode.decode(args)) for name, args in calls]


def _parse_count(text: str) -> int:
    count = int(text) if text.isdecimal() and len(text) < 4 else 0
    if not 1 <= count <= MAX_SHARDS:
        raise damaged("the number of the shards is damaged")
    return count


def _parse(text: str | None, count: int) -> Manifest:
    none = (0,) * count
    if text is None:
        return Manifest(0, none, none)
    try:
        version, shards, before = json.loads(text)
        return Manifest(int(version), tuple(map(int, shards)), tuple(map(int, before)))
    except (ValueError, TypeError) as error:
        raise StoreDamagedError("the list of the shards' versions is damaged") from error
