"""The SQLite engine: a store in one file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np

from quire.core.types import MAIN, AccessRule, Problem, Stamp, Viewer
from quire.errors import InputError
from quire.store import access
from quire.store.index import analyzer
from quire.store.index.columns import ACCESS, SLOT
from quire.store.sqlite import derive, maintenance, rows
from quire.store.sqlite.access_rules import DEFAULT
from quire.store.sqlite.connection import Connections
from quire.store.sqlite.database import Connection
from quire.store.sqlite.snapshot import Caches, Snapshot
from quire.store.sqlite.transaction import ORIGINS, Space, Transaction, read_space
from quire.store.sqlite.view import SqliteView
from quire.store.sqlite.writer import SqliteWriter

WAIT_SECONDS = 30.0
EMBED_BATCH = 256
MAX_SPACE_NAME = 200


class SqliteStore:
    """A store in one SQLite file: many readers, one writer, each write whole or absent."""

    def __init__(self, path: Path, *, create: bool = True, wait: float = WAIT_SECONDS) -> None:
        self._connections = Connections(path, create=create, wait=wait)
        self._caches = Caches()
        for space in self._outdated_spaces():
            with self._transaction(space):
                pass  # opening the transaction rebuilds the postings

    @property
    def path(self) -> Path:
        """The file."""
        return self._connections.path

    @contextmanager
    def view(self, viewer: Viewer, space: str = MAIN) -> Iterator[SqliteView]:
        """Open a snapshot for a viewer."""
        with self._connections.read_transaction() as connection:
            stored = read_space(connection, space) or _EMPTY_SPACE
            viewer = _with_groups(connection, stored.id, viewer)
            audiences = connection.rows("SELECT id, acl FROM class WHERE space = ?", (stored.id,))
            classes, shared = (
                frozenset(number for number, acl in audiences if access.may_read(reader, acl))
                for reader in (viewer, replace(viewer, owner=False))
            )
            snapshot = Snapshot(connection, stored, classes, self._caches, classes - shared)
            file_bytes = self._file_bytes() if viewer.owner else 0
            view = SqliteView(snapshot, viewer, self._connections.place, file_bytes)
            try:
                yield view
                snapshot.damage.refuse_untold(self._connections.place)
            finally:
                view.close()

    @contextmanager
    def write(self, space: str = MAIN) -> Iterator[SqliteWriter]:
        """Open the write transaction; wait for another writer, then give up."""
        with self._transaction(space) as transaction:
            writer = SqliteWriter(transaction)
            try:
                yield writer
            finally:
                writer.close()

    def model(self, space: str = MAIN) -> str | None:
        """Return the model of the space's vectors, or None if it has none."""
        with self._connections.read_transaction() as connection:
            stored = read_space(connection, space)
            return stored.model if stored else None

    def missing_vectors(self, space: str = MAIN) -> Iterator[list[tuple[str, str]]]:
        """Yield the texts without a vector, in batches of (key, text to embed)."""
        with self._connections.read_transaction() as connection:
            stored = read_space(connection, space)
            if stored is None:
                return
            table = self._caches.columns(connection, stored).table
            missing = np.flatnonzero((table[ACCESS] >= 0) & (table[SLOT] < 0)).tolist()
        seen: set[bytes] = set()
        for start in range(0, len(missing), EMBED_BATCH):
            batch: list[tuple[str, str]] = []
            with self._connections.read_transaction() as connection:
                for row in missing[start : start + EMBED_BATCH]:
                    chunk = connection.row(
                        "SELECT vector_key, title, text FROM chunk WHERE key = ?",
                        (rows.key_of(stored.id, row),),
                    )
                    if chunk is not None and chunk[0] not in seen:
                        key, title, text = chunk
                        seen.add(key)
                        batch.append((key.hex(), f"{title}\n{text}" if title else text))
            yield batch

    def stamps(self, space: str = MAIN, under: str = "") -> dict[str, Stamp]:
        """Return the recorded states of files, by path."""
        with self._connections.read_transaction() as connection:
            stored = connection.rows(
                "SELECT s.path, s.size, s.mtime, s.digest, s.record FROM stamp s "
                "JOIN space p ON p.id = s.space WHERE p.name = ?1 "
                "AND (?2 = '' OR s.path = ?2 OR substr(s.path, 1, length(?2) + 1) = ?2 || '/')",
                (space, under),
            )
        return {row[0]: Stamp(*row) for row in stored}

    def rules(self, space: str = MAIN) -> dict[str, tuple[AccessRule, ...]]:
        """Return the access rules by origin."""
        with self._connections.read_transaction() as connection:
            stored = connection.rows(
                "SELECT r.origin, r.glob, r.acl FROM rule r JOIN space p ON p.id = r.space "
                "WHERE p.name = ? ORDER BY r.position",
                (space,),
            )
        return {
            origin: tuple(
                AccessRule(glob, access.parse_acl(acl)) for of, glob, acl in stored if of == origin
            )
            for origin in ORIGINS
        }

    def groups(self, space: str = MAIN) -> dict[str, dict[str, tuple[str, ...]]]:
        """Return the groups and their members by origin."""
        with self._connections.read_transaction() as connection:
            stored = connection.rows(
                "SELECT m.origin, m.name, m.user FROM member m JOIN space p ON p.id = m.space "
                "WHERE p.name = ? ORDER BY m.name, m.user",
                (space,),
            )
        groups: dict[str, dict[str, tuple[str, ...]]] = {origin: {} for origin in ORIGINS}
        for origin, group, user in stored:
            groups[origin][group] = (*groups[origin].get(group, ()), user)
        return groups

    def note(self, key: str, space: str = MAIN) -> str | None:
        """Return a setting of the space, or None if it is not set."""
        with self._connections.read_transaction() as connection:
            row = connection.row(
                "SELECT n.value FROM note n JOIN space p ON p.id = n.space "
                "WHERE p.name = ? AND n.key = ?",
                (space, key),
            )
        return None if row is None else str(row[0])

    def merge(self, space: str = MAIN) -> None:
        """Merge small writes; no result changes."""
        with self._transaction(space) as transaction:
            maintenance.merge(transaction)

    def purge(self, ids: Sequence[str], space: str = MAIN) -> int:
        """Remove records so that no byte of them is left in the file."""
        with self._transaction(space) as transaction:
            removed = maintenance.erase(transaction, ids)
        with self._connections.maintenance() as connection:
            maintenance.rewrite(connection)
        self._caches.clear()
        return removed

    def check(self, *, repair: bool = False) -> list[Problem]:
        """Check everything, and repair what can be derived again."""
        with self._connections.maintenance() as connection:
            problems = maintenance.check(connection, self._connections.place, repair=repair)
        self._caches.clear()
        return problems

    def close(self) -> None:
        """Close the store; what is open is closed when it ends."""
        self._connections.close()
        self._caches.clear()

    def _outdated_spaces(self) -> list[str]:
        """Return the names of spaces whose words were analyzed under other rules."""
        with self._connections.read_transaction() as connection:
            spaces = connection.rows(
                "SELECT name FROM space WHERE analyzer != ? ORDER BY name", (analyzer.ANALYZER,)
            )
        return [name for (name,) in spaces]

    @contextmanager
    def _transaction(self, space: str) -> Iterator[Transaction]:
        with self._connections.write_transaction() as connection:
            stored = _get_or_create_space(connection, space)
            columns = self._caches.columns(connection, stored)
            transaction = Transaction(connection, stored, columns)
            if stored.analyzer != analyzer.ANALYZER:
                derive.rebuild(transaction)
            yield transaction
            changed = transaction.finish()
        if changed is not None:
            self._caches.put_columns(stored.id, changed)

    def _file_bytes(self) -> int:
        files = (self.path, Path(f"{self.path}-wal"))
        return sum(file.stat().st_size for file in files if file.exists())


_EMPTY_SPACE = Space(
    id=-1,
    generation=0,
    rows=0,
    model=None,
    dims=0,
    slots=0,
    epoch=0,
    analyzer="",
    access_default="",
)


def _get_or_create_space(connection: Connection, name: str) -> Space:
    space = read_space(connection, name)
    if space is None:
        if not name or len(name) > MAX_SPACE_NAME or not name.isprintable():
            raise InputError(
                f"{name!r} is not a name for a space",
                value=name,
                hint=f"use 1 to {MAX_SPACE_NAME} printable characters",
            )
        connection.execute(
            "INSERT INTO space (name, analyzer, access_default) VALUES (?, ?, ?)",
            (name, analyzer.ANALYZER, access.canonical(DEFAULT)),
        )
        space = read_space(connection, name)
        assert space is not None, "a space that was just created"
    return space


def _with_groups(connection: Connection, space: int, viewer: Viewer) -> Viewer:
    """Return the viewer with the groups that the store knows, as they are now."""
    groups = connection.rows(
        "SELECT DISTINCT name FROM member WHERE space = ? AND user = ?", (space, viewer.name)
    )
    names = {*viewer.groups, *(name for (name,) in groups)}
    return replace(viewer, groups=tuple(sorted(names)))
