"""How does one file serve as a store?"""

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
from quire.store.sqlite.connection import Connections
from quire.store.sqlite.database import Connection
from quire.store.sqlite.rules import DEFAULT
from quire.store.sqlite.snapshot import Caches, Snapshot
from quire.store.sqlite.transaction import ORIGINS, Change, Space, read_space
from quire.store.sqlite.view import SqliteView
from quire.store.sqlite.writer import SqliteWriter

WAIT_SECONDS = 30.0
EMBED_BATCH = 256


class SqliteStore:
    """A store in one SQLite file: many readers, one writer, each write whole or absent."""

    def __init__(self, path: Path, *, create: bool = True, wait: float = WAIT_SECONDS) -> None:
        self._connections = Connections(path, create=create, wait=wait)
        self._caches = Caches()
        for space in self._written_under_other_rules():
            with self._changing(space):
                pass  # that alone builds its postings anew

    @property
    def path(self) -> Path:
        """Where the file is."""
        return self._connections.path

    @contextmanager
    def view(self, viewer: Viewer, space: str = MAIN) -> Iterator[SqliteView]:
        """Open a snapshot for a viewer."""
        with self._connections.reading() as connection:
            found = read_space(connection, space) or _EMPTY
            viewer = _with_groups(connection, found.id, viewer)
            classes = frozenset(
                number
                for number, acl in connection.rows(
                    "SELECT id, acl FROM class WHERE space = ?", (found.id,)
                )
                if access.may_read(viewer, acl)
            )
            snapshot = Snapshot(connection, found, classes, self._caches)
            view = SqliteView(snapshot, viewer, self._size() if viewer.owner else 0)
            try:
                yield view
            finally:
                view.end()

    @contextmanager
    def write(self, space: str = MAIN) -> Iterator[SqliteWriter]:
        """Open the one write transaction; waits for another writer, then gives up clearly."""
        with self._changing(space) as change:
            writer = SqliteWriter(change)
            try:
                yield writer
            finally:
                writer.end()

    def model(self, space: str = MAIN) -> str | None:
        """Tell which model's vectors the space holds."""
        with self._connections.reading() as connection:
            found = read_space(connection, space)
            return found.model if found else None

    def missing_vectors(self, space: str = MAIN) -> Iterator[list[tuple[str, str]]]:
        """Go through what has no vector yet: batches of (key, text to embed)."""
        with self._connections.reading() as connection:
            found = read_space(connection, space)
            if found is None:
                return
            table = self._caches.columns(connection, found).table
            lacking = np.flatnonzero((table[ACCESS] >= 0) & (table[SLOT] < 0)).tolist()
        met: set[bytes] = set()
        for at in range(0, len(lacking), EMBED_BATCH):
            batch: list[tuple[str, str]] = []
            with self._connections.reading() as connection:
                for row in lacking[at : at + EMBED_BATCH]:
                    text = connection.row(
                        "SELECT vector_key, title, text FROM chunk WHERE key = ?",
                        (rows.key_of(found.id, row),),
                    )
                    if text is not None and text[0] not in met:
                        met.add(text[0])
                        batch.append(
                            (text[0].hex(), f"{text[1]}\n{text[2]}" if text[1] else text[2])
                        )
            yield batch

    def stamps(self, space: str = MAIN, under: str = "") -> dict[str, Stamp]:
        """Tell what files looked like when they were indexed."""
        with self._connections.reading() as connection:
            found = connection.rows(
                "SELECT s.path, s.size, s.mtime, s.digest, s.record FROM stamp s "
                "JOIN space p ON p.id = s.space WHERE p.name = ?1 "
                "AND (?2 = '' OR s.path = ?2 OR substr(s.path, 1, length(?2) + 1) = ?2 || '/')",
                (space, under),
            )
        return {row[0]: Stamp(*row) for row in found}

    def rules(self, space: str = MAIN) -> dict[str, tuple[AccessRule, ...]]:
        """Tell the access rules by origin."""
        with self._connections.reading() as connection:
            found = connection.rows(
                "SELECT r.origin, r.glob, r.acl FROM rule r JOIN space p ON p.id = r.space "
                "WHERE p.name = ? ORDER BY r.position",
                (space,),
            )
        return {
            wanted: tuple(
                AccessRule(glob, access.parse(acl)) for at, glob, acl in found if at == wanted
            )
            for wanted in ORIGINS
        }

    def groups(self, space: str = MAIN) -> dict[str, dict[str, tuple[str, ...]]]:
        """Tell the groups by origin."""
        with self._connections.reading() as connection:
            found = connection.rows(
                "SELECT m.origin, m.name, m.user FROM member m JOIN space p ON p.id = m.space "
                "WHERE p.name = ? ORDER BY m.name, m.user",
                (space,),
            )
        told: dict[str, dict[str, tuple[str, ...]]] = {origin: {} for origin in ORIGINS}
        for origin, group, user in found:
            told[origin][group] = (*told[origin].get(group, ()), user)
        return told

    def note(self, key: str, space: str = MAIN) -> str | None:
        """Read a setting of the space."""
        with self._connections.reading() as connection:
            row = connection.row(
                "SELECT n.value FROM note n JOIN space p ON p.id = n.space "
                "WHERE p.name = ? AND n.key = ?",
                (space, key),
            )
        return None if row is None else str(row[0])

    def merge(self, space: str = MAIN) -> None:
        """Fold small writes together; changes no result."""
        with self._changing(space) as change:
            maintenance.merge(change)

    def purge(self, ids: Sequence[str], space: str = MAIN) -> int:
        """Remove records so that no byte of them is left in the file."""
        with self._changing(space) as change:
            removed = maintenance.erase(change, ids)
        with self._connections.plain() as connection:
            maintenance.rewrite(connection)
        self._caches.clear()
        return removed

    def check(self, *, repair: bool = False) -> list[Problem]:
        """Check everything; repair what can be derived again."""
        with self._connections.plain() as connection:
            problems = maintenance.check(connection, repair=repair)
        self._caches.clear()
        return problems

    def close(self) -> None:
        """Close the store."""
        self._connections.close()
        self._caches.clear()

    def _written_under_other_rules(self) -> list[str]:
        with self._connections.reading() as connection:
            found = connection.rows(
                "SELECT name FROM space WHERE analyzer != ? ORDER BY name", (analyzer.ANALYZER,)
            )
        return [name for (name,) in found]

    @contextmanager
    def _changing(self, space: str) -> Iterator[Change]:
        with self._connections.writing() as connection:
            found = _make_space(connection, space)
            change = Change(connection, found, self._caches.columns(connection, found))
            if found.analyzer != analyzer.ANALYZER:
                derive.rebuild(change)
            yield change
            columns = change.finish()
        if columns is not None:
            self._caches.keep(found.id, columns)

    def _size(self) -> int:
        files = (self.path, Path(f"{self.path}-wal"))
        return sum(file.stat().st_size for file in files if file.exists())


_EMPTY = Space(
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


def _make_space(connection: Connection, name: str) -> Space:
    found = read_space(connection, name)
    if found is None:
        if not name or len(name) > 200 or not name.isprintable():
            raise InputError(f"{name!r} is no name for a space: use a few printable characters")
        connection.execute(
            "INSERT INTO space (name, analyzer, access_default) VALUES (?, ?, ?)",
            (name, analyzer.ANALYZER, access.canonical(DEFAULT)),
        )
        found = read_space(connection, name)
        assert found is not None, "a space that was just made"
    return found


def _with_groups(connection: Connection, space: int, viewer: Viewer) -> Viewer:
    """Add the groups that the store knows, as they are now."""
    held = connection.rows(
        "SELECT DISTINCT name FROM member WHERE space = ? AND user = ?", (space, viewer.name)
    )
    groups = {*viewer.groups, *(name for (name,) in held)}
    return replace(viewer, groups=tuple(sorted(groups)))
