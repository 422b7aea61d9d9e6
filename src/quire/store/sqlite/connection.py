"""Connections to the file of a store, and what SQLite's errors mean to the user."""

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
from quire.store.damage import REPAIR
from quire.store.sqlite import page_checksums, schema
from quire.store.sqlite.database import Connection, invalid_text
from quire.system import platform

PAGE_CACHE_KIB = 64 * 1024
_MIN_DATABASE_BYTES = 512
"""No database is smaller."""
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


@contextmanager
def translate_errors(place: str) -> Iterator[None]:
    """Turn SQLite's errors into Quire's: what was wrong, where, and what to do."""
    try:
        yield
    except (apsw.Error, UnicodeEncodeError) as error:
        raise translate(error, place) from error


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


class Connections:
    """Lends connections to one file: any number for reading, one for writing."""

    def __init__(self, path: Path, *, create: bool, wait: float) -> None:
        self.path = path
        self.place = str(path)
        self._wait = wait
        self._idle: list[Connection] = []
        self._closed = False
        self._lock = threading.Lock()
        self._write_lock = threading.Lock()
        self._writing_thread: int | None = None
        with translate_errors(self.place):
            if _exists(path):
                self._refuse_other_files()
            elif not create:
                raise NoStoreError(
                    f"no store at {path}",
                    value=self.place,
                    hint="create one with `quire index`, or name another with {store}",
                )
            else:
                _create(path)
            connection = self._open()
            try:
                schema.check(connection, self.place)
                if schema.migrate(connection):
                    connection.close()
                    connection = self._open()
            except BaseException:
                connection.close()
                raise
        self._idle.append(connection)

    @contextmanager
    def read_transaction(self) -> Iterator[Connection]:
        """Lend a connection inside a read transaction: one consistent snapshot."""
        with translate_errors(self.place):
            connection = self._borrow()
            try:
                connection.execute("BEGIN")
                yield connection
            finally:
                self._give_back(connection)

    @contextmanager
    def write_transaction(self) -> Iterator[Connection]:
        """Lend a connection inside the write transaction, which is committed or rolled back."""
        with translate_errors(self.place), self._exclusive():
            connection = self._borrow()
            try:
                connection.execute("BEGIN IMMEDIATE")
                yield connection
                connection.execute("COMMIT")
                connection.checkpoint()
            finally:
                self._give_back(connection)

    @contextmanager
    def maintenance(self) -> Iterator[Connection]:
        """Lend a connection outside any transaction while no other thread writes."""
        with translate_errors(self.place), self._exclusive():
            self._refuse_if_closed()
            connection = self._open()
            try:
                yield connection
            finally:
                connection.close()

    def close(self) -> None:
        """Close all idle connections now, and each lent one when it is given back."""
        with self._lock:
            self._closed = True
            while self._idle:
                self._idle.pop().close()

    @contextmanager
    def _exclusive(self) -> Iterator[None]:
        """Wait until no other thread writes."""
        if self._writing_thread == threading.get_ident():
            raise StoreBusyError(
                "this thread is already writing to this store",
                place=self.place,
                hint="end the open write first",
            )
        if not self._write_lock.acquire(timeout=self._wait):
            raise StoreBusyError(
                "another thread is writing to this store",
                place=self.place,
                hint="try again when it is done",
            )
        self._writing_thread = threading.get_ident()
        try:
            yield
        finally:
            self._writing_thread = None
            self._write_lock.release()

    def _refuse_other_files(self) -> None:
        """Check the file before anything is written: it may belong to another application."""
        head = _read_head(self.path)
        if not head or schema.is_store(head):
            return
        if len(head) < _MIN_DATABASE_BYTES or not head.startswith(b"SQLite format 3\0"):
            # SQLite takes a file that is too short for an empty one, and would overwrite it.
            raise StoreDamagedError("not a Quire store", place=self.place, hint=OTHER_FILE)
        address = self.path.absolute().as_uri() + "?mode=ro"
        if not Path(f"{self.path}-wal").exists():
            address += "&immutable=1"  # nobody writes to it; so no log is created beside it either
        connection = Connection(address, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
        try:
            connection.set_busy_timeout(int(self._wait * 1000))
            schema.check(connection, self.place)
        finally:
            connection.close()

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise InputError("the store is closed", place=self.place, hint="open it again")

    def _borrow(self) -> Connection:
        with self._lock:
            self._refuse_if_closed()
            if self._idle:
                return self._idle.pop()
        return self._open()

    def _give_back(self, connection: Connection) -> None:
        with connection.lock:
            if connection.abandoned:
                connection.close()
                return
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        with self._lock:
            if self._closed:
                connection.close()
            else:
                self._idle.append(connection)

    def _open(self) -> Connection:
        connection = Connection(self.place, vfs=page_checksums.CHECKED)
        connection.set_busy_timeout(int(self._wait * 1000))
        connection.reserve_bytes("main", page_checksums.RESERVED)  # of a new or a rewritten file
        connection.pragma("journal_mode", "wal")
        connection.pragma("synchronous", "full")
        connection.pragma("cache_size", -PAGE_CACHE_KIB)
        connection.pragma("temp_store", "memory")
        # A store may come with a project that somebody else wrote: nothing in it is run. The
        # tables have neither triggers nor views.
        connection.pragma("trusted_schema", 0)
        for option in (apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, apsw.SQLITE_DBCONFIG_ENABLE_VIEW):
            connection.config(option, 0)
        return connection


def _exists(path: Path) -> bool:
    if "\0" in str(path):
        raise InputError(
            f"{str(path)!r} contains NUL and cannot be a file", value=str(path), hint=OTHER_FILE
        )
    try:
        if path.is_dir():
            raise StoreError(
                "a directory cannot be a store", place=str(path), hint="name a file with {store}"
            )
        return path.exists()
    except OSError as error:
        raise StoreError(f"cannot be opened: {error.strerror}", place=str(path)) from error


def _read_head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_MIN_DATABASE_BYTES)
    except OSError as error:
        raise StoreError(f"cannot be opened: {error.strerror}", place=str(path)) from error


def _create(path: Path) -> None:
    """Create the file and its directory for their owner alone; SQLite's log gets the same mode."""
    try:
        platform.make_private_folder(path.parent)
    except OSError as error:
        raise StoreError(f"cannot be created: {error.strerror}", place=str(path.parent)) from error
    try:
        platform.create_private(path)
    except OSError as error:
        raise StoreError(f"cannot be created: {error.strerror}", place=str(path)) from error
