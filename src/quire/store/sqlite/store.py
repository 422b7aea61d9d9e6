"""The SQLite engine: a store in one file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from quire.core.types import MAIN, Problem
from quire.errors import StoreDamagedError
from quire.store.index.vector_index import VectorIndex
from quire.store.sql.store import WAIT_SECONDS, SqlStore
from quire.store.sqlite import maintenance
from quire.store.sqlite.connection import Connections

NOTES_OF_SHARDS = "shards."
"""How the names of notes begin that are kept in the files of a store in shards alone."""


class SqliteStore(SqlStore):
    """A store in one SQLite file: many readers, one writer, each write whole or absent."""

    def __init__(
        self,
        path: Path,
        *,
        create: bool = True,
        wait: float = WAIT_SECONDS,
        index: VectorIndex | None = None,
    ) -> None:
        self._file = Connections(path, create=create, wait=wait)
        super().__init__(self._file, index)

    @property
    def path(self) -> Path:
        """The file."""
        return self._file.path

    def is_part(self) -> bool:
        """Return whether this is one of the files of a store in shards."""
        with suppress(StoreDamagedError), self._connections.read_once() as connection:
            found = connection.row(
                "SELECT 1 FROM space s JOIN note n ON n.space = s.id "
                "WHERE n.key >= ? AND n.key < ? LIMIT 1",
                (NOTES_OF_SHARDS, f"{NOTES_OF_SHARDS}\U0010ffff"),
            )
            return found is not None
        return False

    def backup(self, path: Path, report: Callable[[int, int], None]) -> None:
        """Write the whole store as of this moment to a file that does not exist.

        Writers go on meanwhile. `report` is called with the pages that are written, of how many.
        """
        with self._file.read_transaction() as source:
            maintenance.backup(source, path, report)

    def shrink(self) -> None:
        """Give the room of what was deleted back to the file system."""
        with self._file.maintenance() as connection:
            connection.execute("VACUUM")
            connection.rows("PRAGMA wal_checkpoint(TRUNCATE)")
        self._caches.clear()

    def purge(self, ids: Sequence[str], space: str = MAIN) -> int:
        """Remove records so that no byte of them is left in the file."""
        removed = self._erase(ids, space)
        with self._file.maintenance() as connection:
            maintenance.rewrite(connection)
        self._caches.clear()
        return removed

    def check(self, *, repair: bool = False) -> list[Problem]:
        """Check everything, and repair what can be derived again."""
        with self._file.maintenance() as connection:
            problems = maintenance.check(connection, self._file.place, repair=repair)
        self._caches.clear()
        return problems + self._check_index(repair=repair)
