"""A database connection that several threads may share, and what its errors mean to the user."""

from __future__ import annotations

import threading
from collections.abc import Collection, Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import apsw

from quire.core.types import Viewer
from quire.errors import (
    InputError,
    QuireError,
    StoreBusyError,
    StoreDamagedError,
    StoreError,
    StoreFullError,
)
from quire.store.damage import REPAIR, damaged
from quire.store.sql.connection import invalid_text
from quire.system.rollback_journals import refuse_foreign_journal

CHECKPOINT_PAGES = 1000
"""A log of so many pages is written into the file."""
OTHER_FILE = "name another file with {store}"

# What SQLite's errors mean to the user; the first that matches applies.
_TRANSLATIONS: tuple[tuple[type[Exception], type[QuireError], str, str], ...] = (
    (
        apsw.BusyError,
        StoreBusyError,
        "another process is writing to this store",
        "try again when it is done",
    ),
    (
        apsw.FullError,
        StoreFullError,
        "the disk is full; the last write was undone, and everything before it was kept",
        "free some space and run the same command again",
    ),
    (apsw.NotADBError, StoreDamagedError, "not a Quire store", OTHER_FILE),
    (apsw.CorruptError, StoreDamagedError, "the file is damaged ({error})", REPAIR),
    (apsw.ReadOnlyError, StoreError, "the file cannot be written", "check its permissions"),
    (
        apsw.CantOpenError,
        StoreError,
        "the file cannot be opened",
        "check that its directory exists and is writable",
    ),
    (apsw.IOError, StoreError, "the disk failed ({error}); the last write was undone", ""),
    (apsw.Error, StoreError, "{error}", ""),
)


class Connection(apsw.Connection):
    """A connection that returns plain rows, and that one thread uses at a time."""

    damage = (apsw.CorruptError, StoreDamagedError)
    scope = ""
    is_distant = False

    def __init__(self, place: str, **options: Any) -> None:
        refuse_foreign_journal(place)  # at a URI, which is only read, none is played back
        super().__init__(place, **options)
        self.lock = threading.RLock()
        """Held by whoever reads: several threads may read one snapshot."""
        self.abandoned = False
        """Set if a thread still reads for a closed view: the connection must not be reused."""
        self._page_cache_kib = 0
        pages = self._log_pages = [0]
        self.set_wal_hook(lambda _, __, count: pages.__setitem__(0, count) or 0)

    def limit_page_cache(self, kib: int) -> None:
        """Set how much of the file it keeps in memory; what is beyond that is forgotten."""
        if kib != self._page_cache_kib:
            self.pragma("cache_size", -kib)
            self._page_cache_kib = kib

    def checkpoint(self) -> None:
        """Write a log that has grown into the file, after a commit; it may fail without a loss.

        SQLite would do so inside the commit, and a failure would look like one of the commit.
        """
        if self._log_pages[0] >= CHECKPOINT_PAGES:
            self._log_pages[0] = 0
            with suppress(apsw.Error):
                self.execute("PRAGMA wal_checkpoint(PASSIVE)")

    def close(self, force: bool = False) -> None:
        """Close the connection; that the log cannot be written into the file is no loss."""
        with suppress(apsw.FullError, apsw.IOError, apsw.CorruptError):
            super().close(force)

    def rows(self, sql: str, bindings: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""
        try:
            with self.lock:
                return self.execute(sql, tuple(bindings)).fetchall()
        except UnicodeError as error:
            raise _translate(error) from error

    def stream_each(
        self, sql: str, bindings: Sequence[tuple[Any, ...]]
    ) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query that is run once for each tuple of values, one by one."""
        return self.executemany(sql, bindings)

    def stream(
        self, sql: str, bindings: Sequence[Any] = ()
    ) -> Generator[tuple[Any, ...], None, None]:
        """Yield the rows of a query one by one, for results too large to hold at once."""
        with self.lock:
            cursor = self.execute(sql, tuple(bindings))
        # The lock is not held between rows: whoever stops early, in whatever thread, holds nothing.
        while True:
            with self.lock:
                row = next(cursor, None)
            if row is None:
                return
            yield row

    def row(self, sql: str, bindings: Sequence[Any] = ()) -> tuple[Any, ...] | None:
        """Return the first row of a query, or None if there is none."""
        try:
            with self.lock:
                return self.execute(sql, tuple(bindings)).fetchone()
        except UnicodeError as error:
            raise _translate(error) from error

    def array(self, values: Collection[Any]) -> object:
        """Return values as a parameter of `carray(?)`: an array of numpy, or a tuple."""
        return apsw.carray(values)

    def scalar(self, value: str | float) -> str | float:
        """Return a value of metadata as it is kept."""
        return value

    def plain(self, kind: str, scalar: str | float) -> str | float:  # noqa: ARG002 - kept as it is
        """Return a value of metadata from what is kept."""
        return scalar

    def restrict(self, viewer: Viewer, classes: Iterable[int]) -> None:
        """Do nothing: a file has no users."""

    def translate(self, error: BaseException, place: str) -> QuireError | None:
        """Return Quire's error for one of SQLite's; None for any other."""
        if isinstance(error, (apsw.Error, UnicodeEncodeError)):
            return translate(error, place)
        return None


def _translate(error: UnicodeError) -> InputError | StoreDamagedError:
    if isinstance(error, UnicodeEncodeError):
        return invalid_text()
    return damaged(f"a text in the store is damaged ({error})")


def translate(error: apsw.Error | UnicodeEncodeError, place: str) -> QuireError:
    """Return Quire's error for one of SQLite's."""
    if isinstance(error, UnicodeEncodeError):
        return invalid_text()
    kind = _kind_of(error)
    _, quire_error, message, hint = next(row for row in _TRANSLATIONS if issubclass(kind, row[0]))
    return quire_error(message.format(error=error), place=place, hint=hint)


def _kind_of(error: apsw.Error) -> type[Exception]:
    # The shared-memory file beside the log could not grow: the disk is full, too.
    full = getattr(error, "extendedresult", 0) == apsw.SQLITE_IOERR_SHMSIZE
    return apsw.FullError if full else type(error)
