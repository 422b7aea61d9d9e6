"""What PostgreSQL's errors mean to the user.

Of the server's own words only the first line is passed on: its details quote rows.
"""

from __future__ import annotations

import psycopg
from psycopg import errors

from quire.errors import (
    InputError,
    QuireError,
    StoreBusyError,
    StoreDamagedError,
    StoreError,
    StoreFullError,
    StoreInterruptedError,
)
from quire.store.sql.connection import invalid_text

OTHER = "name another database with {store}"
_RESTORE = "restore a backup, or make a new database and index again"

# The first that matches applies.
_TRANSLATIONS: tuple[tuple[tuple[type[Exception], ...], type[QuireError], str, str], ...] = (
    (
        (errors.LockNotAvailable,),
        StoreBusyError,
        "another process is writing to this space",
        "try again when it is done",
    ),
    (
        (errors.SerializationFailure, errors.DeadlockDetected),
        StoreInterruptedError,
        "another process wrote at the same time; nothing of this write was kept",
        "run the same command again",
    ),
    (
        (errors.QueryCanceled,),
        StoreError,
        "a query took too long and was ended",
        "ask for less, or give the server more to work with",
    ),
    (
        (errors.DiskFull,),
        StoreFullError,
        "the server's disk is full; the last write was undone, and everything before it was kept",
        "free some space and run the same command again",
    ),
    (
        (errors.ReadOnlySqlTransaction,),
        StoreError,
        "this server takes no writes",
        "name the primary server, or let somebody write who may",
    ),
    (
        (errors.DataCorrupted, errors.IndexCorrupted),
        StoreDamagedError,
        "the database is damaged ({error})",
        _RESTORE,
    ),
    (
        (errors.UndefinedTable, errors.UndefinedColumn, errors.InvalidSchemaName),
        StoreDamagedError,
        "not a Quire store any more ({error})",
        _RESTORE,
    ),
    (
        (errors.InsufficientPrivilege,),
        StoreError,
        "the server refused it ({error})",
        "let the owner of the database grant it; docs/postgres.md says what is needed",
    ),
    (
        (errors.ProgramLimitExceeded,),
        InputError,
        "an id, a path or a name in it is too long for an index of PostgreSQL",
        "use one of at most 2,600 bytes",
    ),
    (
        (errors.TooManyConnections,),
        StoreBusyError,
        "the server has no connection left",
        "try again, or raise its `max_connections`",
    ),
    (
        (psycopg.OperationalError,),
        StoreInterruptedError,
        "the connection to the server was lost; what was not committed is undone",
        "run the same command again when the server answers",
    ),
    ((psycopg.Error,), StoreError, "{error}", ""),
)

# libpq has no codes for what goes wrong before a connection stands, only words.
_REFUSALS = (
    (
        ("password authentication failed", "no password supplied", "no pg_hba.conf entry"),
        "the server refused the user",
        "check the user, and the password in the URL, PGPASSWORD or ~/.pgpass",
    ),
    (
        ("role", "does not exist"),
        "the server refused the user",
        "check the user, and the password in the URL, PGPASSWORD or ~/.pgpass",
    ),
    (("database", "does not exist"), "there is no such database", "create it with `createdb`"),
)


def translate(error: BaseException, place: str) -> QuireError | None:
    """Return Quire's error for one of PostgreSQL's; None for any other."""
    if isinstance(error, UnicodeEncodeError):
        return invalid_text()
    for kinds, quire_error, message, hint in _TRANSLATIONS:
        if isinstance(error, kinds):
            return quire_error(message.format(error=_words(error)), place=place, hint=hint)
    return None


def refusal(error: psycopg.Error, place: str) -> StoreError:
    """Return the error for a connection that could not be opened."""
    words = str(error)
    refused, role, database = _REFUSALS
    if any(part in words for part in refused[0]):
        return StoreError(refused[1], place=place, hint=refused[2])
    for parts, message, hint in (database, role):
        if all(part in words for part in parts):
            return StoreError(message, place=place, hint=hint)
    if "too many clients" in words or "remaining connection slots" in words:
        return StoreBusyError(
            "the server has no connection left",
            place=place,
            hint="try again, or raise its `max_connections`",
        )
    return StoreInterruptedError(
        "no PostgreSQL server answers there",
        place=place,
        hint="start it, or check the host and the port",
    )


def _words(error: BaseException) -> str:
    primary = getattr(getattr(error, "diag", None), "message_primary", None)
    return primary or type(error).__name__
