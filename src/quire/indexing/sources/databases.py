"""The rows of a query to a database: a file of SQLite, or a PostgreSQL server."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

from quire.core.types import IngestSettings, Skipped, SourceSettings
from quire.errors import ConfigError, MissingExtraError
from quire.indexing.sources.contract import DEFAULTS, Change, SourceError
from quire.indexing.sources.rows import RowReader

FETCHED = 500
"""Rows that are fetched from a server at once."""
_STEPS = 1_000_000
MAX_STEPS = 10_000_000_000
"""Steps of SQLite after which a query that returns no row is ended: a minute or more of work. A
query may come from a project that nobody trusted."""
_READING = (
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_RECURSIVE,
)


class Sqlite:
    """The rows of a query to a SQLite file, which is opened to be read only."""

    def __init__(
        self, name: str, settings: SourceSettings, root: Path, ingest: IngestSettings = DEFAULTS
    ) -> None:
        self._max_bytes = ingest.max_bytes
        self._rows = RowReader(name, settings)
        self._file = root / settings.location
        self._settings = settings
        self.resumable = bool(settings.cursor)

    def changes(self, since: str | None) -> Iterator[Change | Skipped]:
        """Yield the document of each row, of those at or after the cursor."""
        if not self._file.is_file():  # which SQLite would create
            raise SourceError(f"{self._file} is not a file")
        sql, values = _query(self._settings, since, "?")
        steps = _Steps()
        most = self._file.stat().st_size
        try:
            uri = f"{self._file.absolute().as_uri()}?mode=ro"
            with closing(sqlite3.connect(uri, uri=True)) as connection:
                connection.set_authorizer(_allow_reading)
                connection.set_progress_handler(steps.count, _STEPS)
                connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, self._max_bytes)
                cursor = connection.execute(sql, values)
                if cursor.description is None:
                    raise SourceError(f"{self._file}: the query returns no rows; use a SELECT")
                names = [column[0] for column in cursor.description]
                self._rows.check_columns(names)
                for number, row in enumerate(cursor, 1):
                    steps.since_row = 0
                    if number > most:
                        raise SourceError(
                            f"{self._file}: the query returns more rows than the file has bytes, "
                            "and was ended; give it a LIMIT"
                        )
                    plain = map(_plain, row)
                    yield self._rows.read(dict(zip(names, plain, strict=True)), number)
        except (sqlite3.Error, OSError, MemoryError) as error:
            if steps.since_row >= MAX_STEPS:
                raise SourceError(
                    f"{self._file}: the query was ended: it returned no row for very long"
                ) from error
            raise SourceError(f"{self._file}: {error}") from error


class _Steps:
    """How far a query has come since its last row.

    SQLite asks now and then whether to go on: else a query without an end could not even be
    interrupted from the keyboard.
    """

    def __init__(self) -> None:
        self.since_row = 0

    def count(self) -> bool:
        """Count steps; true ends the query."""
        self.since_row += _STEPS
        return self.since_row >= MAX_STEPS


def _allow_reading(action: int, *_: object) -> int:
    """Refuse whatever does not read: a query may come from a project that nobody trusted.

    To open a file to be read only does not suffice: `VACUUM INTO` writes another one.
    """
    return sqlite3.SQLITE_OK if action in _READING else sqlite3.SQLITE_DENY


class Postgresql:
    """The rows of a query to a PostgreSQL server, in a transaction that only reads."""

    def __init__(
        self, name: str, settings: SourceSettings, root: Path, ingest: IngestSettings = DEFAULTS
    ) -> None:
        del root, ingest
        self._rows = RowReader(name, settings)
        self._settings = settings
        self._name = name
        self.resumable = bool(settings.cursor)

    def changes(self, since: str | None) -> Iterator[Change | Skipped]:
        """Yield the document of each row, of those at or after the cursor."""
        try:
            import psycopg
        except ImportError as error:
            raise MissingExtraError(
                "PostgreSQL needs psycopg", hint="run `pip install 'quire-context[postgresql]'`"
            ) from error
        variable = self._settings.dsn_env
        dsn = os.environ.get(variable) if variable else None
        if not dsn:
            raise ConfigError(
                f"the environment variable {variable or 'dsn_env'} is not set",
                place=f"[sources.{self._name}]",
                hint="let it hold the connection string: postgresql://user@host/database",
            )
        # A per cent sign in the query stands for itself, as in LIKE 'a%'.
        settings = self._settings
        doubled = replace(
            settings,
            query=settings.query.replace("%", "%%"),
            cursor=settings.cursor.replace("%", "%%"),
        )
        sql, values = _query(doubled, since, "%s")
        try:
            psycopg.conninfo.conninfo_to_dict(dsn)
        except psycopg.Error:  # whose message has the text, which may be a password
            raise ConfigError(
                f"the environment variable {variable} holds no connection string",
                place=f"[sources.{self._name}]",
                hint="let it hold one: postgresql://user@host/database",
            ) from None
        try:
            with psycopg.connect(dsn) as connection:
                connection.read_only = True
                with connection.cursor(name="quire") as cursor:
                    cursor.itersize = FETCHED
                    # A query of the project's own settings, which a user has trusted.
                    cursor.execute(sql.encode(), values)
                    names: list[str] = []
                    for number, row in enumerate(cursor, 1):
                        if not names:
                            names = [column.name for column in cursor.description or ()]
                            self._rows.check_columns(names)
                        plain = map(_plain, row)
                        yield self._rows.read(dict(zip(names, plain, strict=True)), number)
        except psycopg.Error as error:
            # Its message may hold the address, never the password.
            raise SourceError(f"PostgreSQL: {str(error).strip()}") from error


def _query(settings: SourceSettings, since: str | None, mark: str) -> tuple[str, Sequence[Any]]:
    """Return the query for what is at or after a cursor, and its values.

    At, not only after it: rows with the same cursor may not all have been read.
    """
    query = settings.query.strip().rstrip(";")
    if not settings.cursor:
        return query, ()
    column = '"' + settings.cursor.replace('"', '""') + '"'
    # The query is a setting that the user wrote or trusted; the column is quoted above.
    chosen = f"SELECT * FROM ({query}) AS source"  # nosec B608  # noqa: S608 - see above
    if since is None:
        return f"{chosen} ORDER BY {column}", ()
    return f"{chosen} WHERE {column} >= {mark} ORDER BY {column}", (_read_cursor(since),)


def _read_cursor(since: str) -> str | int | float:
    """Return the value of a cursor; the store that keeps it may have come from anybody."""
    try:
        value = json.loads(since)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, str | int | float):
        raise SourceError("how far it was read is damaged; read all of it with `quire sync --full`")
    return value


def _plain(value: Any) -> Any:
    """Return a value of a database as JSON has it."""
    match value:
        case None | str() | int() | float() | bytes():
            plain: Any = value
        case memoryview():
            plain = bytes(value)
        case Decimal():
            plain = int(value) if value == value.to_integral_value() else float(value)
        case datetime() | date() | time():
            plain = value.isoformat()
        case Mapping():
            plain = {str(key): _plain(item) for key, item in value.items()}
        case Iterable():
            plain = [_plain(item) for item in value]
        case _:
            plain = str(value)
    return plain
