"""How is the file opened, and what do its failures mean?"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from quire.errors import (
    InputError,
    NoStoreError,
    QuireError,
    StoreBusyError,
    StoreDamagedError,
    StoreError,
    StoreFullError,
)
from quire.store.sqlite import schema
from quire.store.sqlite.database import Connection

PAGE_CACHE_KIB = 64 * 1024


# What each of SQLite's failures means to the user; the first that fits is told.
_MEANINGS: tuple[tuple[type[Exception], type[QuireError], str], ...] = (
    (
        apsw.BusyError,
        StoreBusyError,
        "{place}: another process is writing to this store; try again when it is done",
    ),
    (
        apsw.FullError,
        StoreFullError,
        (
            "{place}: the disk is full; the last write was undone and all before it is kept. "
            "Free some room and run the same command again"
        ),
    ),
    (
        apsw.NotADBError,
        StoreDamagedError,
        "{place} is no Quire store; name another file with --store",
    ),
    (
        apsw.CorruptError,
        StoreDamagedError,
        (
            "{place} is damaged ({error}); run `quire doctor`, restore a backup, or delete "
            "the file and index again"
        ),
    ),
    (apsw.ReadOnlyError, StoreError, "{place} cannot be written: check its permissions"),
    (
        apsw.CantOpenError,
        StoreError,
        "{place} cannot be opened: check that its folder exists and may be written",
    ),
    (apsw.IOError, StoreError, "{place}: the disk failed ({error}); the last write was undone"),
    (apsw.Error, StoreError, "{place}: {error}"),
    (
        UnicodeEncodeError,
        InputError,
        "a text holds half of a surrogate pair, which is no character; replace it first",
    ),
)


@contextmanager
def explained(place: str) -> Iterator[None]:
    """Turn SQLite's failures into ours: what was wrong, where, and what to do."""
    try:
        yield
    except (apsw.Error, UnicodeEncodeError) as error:
        for met, ours, words in _MEANINGS:
            if isinstance(error, met):
                raise ours(words.format(place=place, error=error)) from error
        raise


class Connections:
    """Hands out connections to one file: many for reading, one for writing."""

    def __init__(self, path: Path, *, create: bool, wait: float) -> None:
        self.path = path
        self._wait = wait
        self._idle: list[Connection] = []
        self._lock = threading.Lock()
        self._writing = threading.RLock()
        if not create and not path.exists():
            raise NoStoreError(
                f"there is no store at {path}; make one with `quire index`, or name another "
                "with --store"
            )
        with explained(str(path)):
            if create:
                try:
                    path.parent.mkdir(parents=True, exist_ok=True)
                except OSError as error:
                    raise StoreError(f"{path.parent} cannot be made: {error.strerror}") from error
            connection = self._open()
            try:
                schema.prepare(connection, str(path))
            except BaseException:
                connection.close()
                raise
        self._idle.append(connection)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Lend a connection inside a read transaction: one consistent snapshot."""
        with explained(str(self.path)):
            with self._lock:
                connection = self._idle.pop() if self._idle else None
            connection = connection or self._open()
            try:
                connection.execute("BEGIN")
                yield connection
            finally:
                self._give_back(connection)

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Lend a connection inside the write transaction: kept whole, or not at all."""
        with explained(str(self.path)), self._writing:
            with self._lock:
                connection = self._idle.pop() if self._idle else None
            connection = connection or self._open()
            try:
                connection.execute("BEGIN IMMEDIATE")
                yield connection
                connection.execute("COMMIT")
            finally:
                self._give_back(connection)

    @contextmanager
    def plain(self) -> Iterator[Connection]:
        """Lend a connection outside any transaction, for upkeep."""
        with explained(str(self.path)), self._writing:
            connection = self._open()
            try:
                yield connection
            finally:
                connection.close()

    def close(self) -> None:
        """Close all idle connections."""
        with self._lock:
            while self._idle:
                self._idle.pop().close()

    def _give_back(self, connection: Connection) -> None:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        with self._lock:
            self._idle.append(connection)

    def _open(self) -> Connection:
        connection = Connection(str(self.path))
        connection.set_busy_timeout(int(self._wait * 1000))
        connection.pragma("journal_mode", "wal")
        connection.pragma("synchronous", "full")
        connection.pragma("cache_size", -PAGE_CACHE_KIB)
        connection.pragma("temp_store", "memory")
        return connection
