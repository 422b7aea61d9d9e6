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
_SMALLEST = 512
"""No database has fewer bytes."""


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
        kind = _kind(error)
        for met, ours, words in _MEANINGS:
            if issubclass(kind, met):
                raise ours(words.format(place=place, error=error)) from error
        raise


def _kind(error: Exception) -> type[Exception]:
    # The file beside the log could not grow: that is a full disk, too.
    full = getattr(error, "extendedresult", 0) == apsw.SQLITE_IOERR_SHMSIZE
    return apsw.FullError if full else type(error)


class Connections:
    """Hands out connections to one file: many for reading, one for writing."""

    def __init__(self, path: Path, *, create: bool, wait: float) -> None:
        self.path = path
        self._wait = wait
        self._idle: list[Connection] = []
        self._lock = threading.Lock()
        self._writing = threading.RLock()
        with explained(str(path)):
            if _exists(path):
                self._refuse_others()
            elif not create:
                raise NoStoreError(
                    f"there is no store at {path}; make one with `quire index`, or name another "
                    "with --store"
                )
            else:
                _make_folder(path.parent)
            connection = self._open()
            try:
                schema.check(connection, str(path))
                schema.migrate(connection)
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
        with explained(str(self.path)), self._turn():
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
        with explained(str(self.path)), self._turn():
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

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Wait until no other thread writes."""
        if not self._writing.acquire(timeout=self._wait):
            raise StoreBusyError(f"{self.path}: somebody else is writing to this store; try again")
        try:
            yield
        finally:
            self._writing.release()

    def _refuse_others(self) -> None:
        """Look before anything is touched: the file may be another application's."""
        head = _head(self.path)
        if not head or schema.is_store(head):
            return
        if len(head) < _SMALLEST or not head.startswith(b"SQLite format 3\0"):
            # SQLite takes a file that is too short for an empty one, and would write over it.
            raise StoreDamagedError(f"{self.path} is no Quire store; name another with --store")
        address = self.path.absolute().as_uri() + "?mode=ro"
        if not Path(f"{self.path}-wal").exists():
            address += "&immutable=1"  # nobody writes to it; so no log is begun beside it, either
        connection = Connection(address, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
        try:
            connection.set_busy_timeout(int(self._wait * 1000))
            schema.check(connection, str(self.path))
        finally:
            connection.close()

    def _give_back(self, connection: Connection) -> None:
        with connection.turn:
            if connection.spent:
                connection.close()
                return
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


def _exists(path: Path) -> bool:
    if "\0" in str(path):
        raise InputError(f"{str(path)!r} holds NUL, so it is no file; name another with --store")
    try:
        if path.is_dir():
            raise StoreError(f"{path} is a folder, so it is no store; name a file with --store")
        return path.exists()
    except OSError as error:
        raise StoreError(f"{path} cannot be opened: {error.strerror}") from error


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_SMALLEST)
    except OSError as error:
        raise StoreError(f"{path} cannot be opened: {error.strerror}") from error


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{folder} cannot be made: {error.strerror}") from error
