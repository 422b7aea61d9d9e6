"""What PostgreSQL's errors mean to the user.

Of the server's own words only the first line is passed on: its details quote rows.
"""

from __future__ import annotations

import re

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


class NoAnswerError(psycopg.OperationalError):
    """The server did not answer in time; what becomes of the statement is not known."""


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
        (
            *(errors.UndefinedTable, errors.UndefinedColumn, errors.InvalidSchemaName),
            *(errors.DuplicateTable, errors.DuplicateColumn, errors.DuplicateObject),
        ),
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
        (errors.DuplicatePreparedStatement, errors.InvalidSqlStatementName),
        StoreError,
        "something between Quire and the server shares its connections between transactions",
        "name the server itself, or share them between sessions (`pool_mode = session`)",
    ),
    (
        (NoAnswerError,),
        StoreInterruptedError,
        "the server did not answer in time",
        "run the same command again when it is well",
    ),
    (
        (psycopg.OperationalError,),
        StoreInterruptedError,
        "the connection to the server was lost; what was not committed is undone",
        "run the same command again when the server answers",
    ),
    ((psycopg.Error,), StoreError, "{error}", ""),
)

_CHECK_USER = "check the user, and the password in the URL, PGPASSWORD or ~/.pgpass"
_ASK = "let its administrator allow it"

# libpq has no codes for what goes wrong before a connection stands, only words. The first row of
# which all words are there applies.
_REFUSALS: tuple[tuple[tuple[str, ...], type[StoreError], str, str], ...] = (
    (("password authentication failed",), StoreError, "the server refused the user", _CHECK_USER),
    (("no password supplied",), StoreError, "the server refused the user", _CHECK_USER),
    (
        ("database", "does not exist"),
        StoreError,
        "there is no such database",
        "create it with `createdb`",
    ),
    (("role", "does not exist"), StoreError, "the server refused the user", _CHECK_USER),
    (("is not permitted to log in",), StoreError, "the server refused the user", _CHECK_USER),
    (
        ("pg_hba.conf",),
        StoreError,
        "the server refused the user ({reason})",
        "check user, database and `sslmode`, or let its administrator allow it in pg_hba.conf",
    ),
    *(
        (
            (words,),
            StoreBusyError,
            "the server has no connection left",
            "try again, or raise its `max_connections`",
        )
        for words in ("too many clients", "remaining connection slots", "too many connections")
    ),
    (
        ("the database system is",),  # starting up, shutting down, in recovery mode
        StoreInterruptedError,
        "the server is not ready ({reason})",
        "run the same command again when it is",
    ),
    (
        ("invalid", "value"),
        StoreError,
        "a parameter in the URL is not valid ({reason})",
        "see the parameters of libpq, or leave it out",
    ),
    (("FATAL:",), StoreError, "the server refused the connection ({reason})", _ASK),
    (
        ("failed to resolve host",),
        StoreInterruptedError,
        "the name of its host is not known",
        "check the host in the URL, and that the network is there",
    ),
    *(
        (
            words,
            StoreError,
            "the connection cannot be made secure as the URL asks ({reason})",
            "check `sslmode` and the certificates that it names, or let the server offer TLS",
        )
        for words in (
            ("SSL", "required"),
            ("SSL error",),
            ("certificate",),
            ("GSSAPI", "required"),
        )
    ),
    (
        (),
        StoreInterruptedError,
        "no PostgreSQL server answers there ({reason})",
        "start it, or check the host and the port",
    ),
)
MAX_REASON = 200
"""So many characters of what a server or the driver says are passed on."""


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
    text = str(error)
    return next(
        kind(message.format(reason=_reason(text)), place=place, hint=hint)
        for words, kind, message, hint in _REFUSALS
        if all(word in text for word in words)
    )


def _reason(text: str) -> str:
    """Return what the first line says beside where it tried to connect."""
    line = text.partition("\n")[0]
    said = re.split(r" failed: |^connection is bad: ", line)[-1].removeprefix("FATAL:")
    return said.strip()[:MAX_REASON]


def _words(error: BaseException) -> str:
    primary = getattr(getattr(error, "diag", None), "message_primary", None)
    return primary or type(error).__name__
