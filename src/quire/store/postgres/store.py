"""The PostgreSQL engine: a store in a database that many machines share."""

from __future__ import annotations

from collections.abc import Sequence

from quire.core.types import MAIN, OWNER, Problem
from quire.errors import StoreBusyError
from quire.store.index.vector_index import VectorIndex
from quire.store.postgres import schema
from quire.store.postgres.connection import Connections
from quire.store.postgres.database import Connection
from quire.store.sql.maintenance import check_space
from quire.store.sql.store import WAIT_SECONDS, SqlStore

UNSECURED = (
    "row-level security does not hold for this user, who may pass it by; only the filters of Quire "
    "keep viewers apart: connect as a user that is neither a superuser nor has BYPASSRLS"
)


class PostgresStore(SqlStore):
    """A store in a PostgreSQL database: many readers, one writer for each space."""

    def __init__(
        self,
        url: str,
        *,
        create: bool = True,
        wait: float = WAIT_SECONDS,
        index: VectorIndex | None = None,
    ) -> None:
        self._server = Connections(url, create=create, wait=wait)
        super().__init__(self._server, index)

    def shrink(self) -> None:
        """Let the room of what was deleted be used again."""
        with self._server.maintenance() as connection:
            self._vacuum(connection, "VACUUM")

    def purge(self, ids: Sequence[str], space: str = MAIN) -> int:
        """Remove records so that no byte of them is left in the tables.

        The write-ahead log, replicas and backups keep them until they are recycled.
        """
        removed = self._erase(ids, space)
        try:
            with self._server.maintenance() as connection:
                # The statistics of the planner hold values of columns, too.
                self._vacuum(connection, "VACUUM (FULL, ANALYZE)")
        except StoreBusyError as error:
            raise StoreBusyError(
                "the records were deleted, but the tables still hold their bytes because somebody "
                "reads them",
                place=error.place,
                hint="run the same command again when they are done, so that no byte is left",
            ) from error
        self._caches.clear()
        return removed

    def check(self, *, repair: bool = False) -> list[Problem]:
        """Check everything, and repair what can be derived again."""
        problems = self._check_security()
        with self._server.read_transaction() as connection:
            names = [name for (name,) in connection.rows("SELECT name FROM space ORDER BY name")]
        for name in names:
            with self._server.write_transaction(name) as connection:
                in_space, changed = check_space(connection, name, repair=repair)
                connection.undo = not changed
            problems += in_space
        self._caches.clear()
        return problems + self._check_index(repair=repair)

    def _check_security(self) -> list[Problem]:
        with self._server.read_transaction() as connection:
            connection.restrict(OWNER, ())
            secured = schema.is_secured(connection)
        return [] if secured else [Problem("access", UNSECURED)]

    @staticmethod
    def _vacuum(connection: Connection, command: str) -> None:
        for (table,) in connection.rows(
            "SELECT tablename FROM pg_tables WHERE schemaname = ? ORDER BY tablename",
            (schema.SCHEMA,),
        ):
            connection.execute(f'{command} "{table}"')
