"""Connections to the file of a store, and what SQLite's errors mean to the user."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

import apsw

from quire.errors import (
    InputError,
    NoStoreError,
    StoreBusyError,
    StoreDamagedError,
    StoreError,
)
from quire.store.sqlite import page_checksums, schema
from quire.store.sqlite.database import OTHER_FILE, Connection, translate
from quire.system import platform

PAGE_CACHE_KIB = 64 * 1024
"""What all connections to a store together keep of the file in memory."""
MIN_PAGE_CACHE_KIB = 1024
"""What each of them may keep in any case."""
MAX_IDLE = 32
"""So many connections stay open that nobody uses."""
_MIN_DATABASE_BYTES = 512
"""No database is smaller."""
OWN_FOLDER = ".quire"
"""The folder of a project's store; a new one is hidden from git."""


@contextmanager
def translate_errors(place: str) -> Iterator[None]:
    """Turn SQLite's errors into Quire's: what was wrong, where, and what to do."""
    try:
        yield
    except (apsw.Error, UnicodeEncodeError) as error:
        raise translate(error, place) from error


class Connections:
    """Lends connections to one file: any number for reading, one for writing."""

    def __init__(self, path: Path, *, create: bool, wait: float) -> None:
        self.path = path
        self.place = str(path)
        self._wait = wait
        self._idle: list[Connection] = []
        self._opened = 0
        """How many connections are open, lent or idle."""
        self._closed = False
        self._lock = threading.Lock()
        self._write_lock = threading.Lock()
        self._writing_thread: int | None = None
        self._stamp: object = None
        with translate_errors(self.place):
            exists = _exists(path)
            self.read_only = exists and not platform.is_writable(path)
            """Whether this process may read the file, but not write it."""
            if exists:
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
                if self.read_only:
                    self._refuse_older(connection)
                elif schema.migrate(connection):
                    connection.close()
                    connection = self._open()
            except BaseException:
                connection.close()
                raise
        self._idle.append(connection)
        self._opened = 1

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
    def write_transaction(self, space: str = "") -> Iterator[Connection]:  # noqa: ARG002 - all wait
        """Lend a connection inside the write transaction, which is committed or rolled back."""
        with translate_errors(self.place), self._exclusive():
            self._refuse_to_write()
            connection = self._borrow()
            try:
                connection.execute("BEGIN IMMEDIATE")
                yield connection
                connection.execute("COMMIT")
                connection.checkpoint()
            finally:
                self._give_back(connection)

    def read_once(self) -> AbstractContextManager[Connection]:
        """Lend a connection for one query."""
        return self.read_transaction()

    def read_all(self) -> AbstractContextManager[Connection]:
        """Lend a connection inside a read transaction; every one sees all."""
        return self.read_transaction()

    def count_bytes(self, connection: Connection) -> int:  # noqa: ARG002 - the files tell
        """Return the size of the file and of its log."""
        files = (self.path, Path(f"{self.path}-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

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
            self._close_idle()

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
        connection = self._open_to_read()
        try:
            schema.check(connection, self.place)
        finally:
            connection.close()

    def _refuse_older(self, connection: Connection) -> None:
        """Refuse a file of an older format that cannot be upgraded."""
        if not schema.is_current(connection):
            raise StoreError(
                "an older Quire wrote this store, and it cannot be upgraded: the file cannot be "
                "written",
                place=self.place,
                hint="let somebody open it who may write it",
            )

    def _refuse_to_write(self) -> None:
        if self.read_only:
            raise StoreError(
                "the file cannot be written", place=self.place, hint="check its permissions"
            )

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise InputError("the store is closed", place=self.place, hint="open it again")

    def _borrow(self) -> Connection:
        with self._lock:
            self._refuse_if_closed()
            if self.read_only and self._stamp != (stamp := self._read_stamp()):
                # Opened as a file that nobody writes; somebody did.
                self._stamp = stamp
                self._close_idle()
            connection = self._idle.pop() if self._idle else None
        if connection is None:
            connection = self._open()
            with self._lock:
                self._opened += 1
                for each in self._idle:  # the others when they are lent again
                    each.limit_page_cache(self._part())
        connection.limit_page_cache(self._part())
        return connection

    def _part(self) -> int:
        """Return what each connection may keep of the file in memory, in KiB."""
        return max(MIN_PAGE_CACHE_KIB, PAGE_CACHE_KIB // max(1, self._opened))

    def _read_stamp(self) -> tuple[int, int, bool]:
        status = self.path.stat()
        return status.st_mtime_ns, status.st_size, Path(f"{self.path}-wal").exists()

    def _give_back(self, connection: Connection) -> None:
        with connection.lock:
            if connection.abandoned:
                with self._lock:
                    self._close(connection)
                return
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        with self._lock:
            if self._closed or len(self._idle) >= MAX_IDLE:
                self._close(connection)
            else:
                self._idle.append(connection)

    def _close_idle(self) -> None:
        while self._idle:
            self._close(self._idle.pop())

    def _close(self, connection: Connection) -> None:
        self._opened -= 1
        connection.close()

    def _open_to_read(self, vfs: str | None = None) -> Connection:
        """Open the file without writing anything: neither to it, nor a log beside it."""
        address = self.path.absolute().as_uri() + "?mode=ro"
        if not Path(f"{self.path}-wal").exists():
            address += "&immutable=1"  # nobody writes to it; so no log is created beside it either
        connection = Connection(
            address, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI, vfs=vfs
        )
        connection.set_busy_timeout(int(self._wait * 1000))
        return connection

    def _open(self) -> Connection:
        if self.read_only:
            connection = self._open_to_read(page_checksums.CHECKED)
        else:
            connection = Connection(self.place, vfs=page_checksums.CHECKED)
            connection.set_busy_timeout(int(self._wait * 1000))
            # Of a new or a rewritten file.
            connection.reserve_bytes("main", page_checksums.RESERVED)
            connection.pragma("journal_mode", "wal")
            connection.pragma("synchronous", "full")
        connection.limit_page_cache(PAGE_CACHE_KIB)
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
                "a folder cannot be a store in one file",
                place=str(path),
                hint="name a file with {store}, or a folder NAME.N.shards",
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
        if path.parent.name == OWN_FOLDER and not any(path.parent.iterdir()):
            with suppress(FileExistsError):  # another process was faster
                platform.create_new(path.parent / ".gitignore", b"*\n")
    except OSError as error:
        raise StoreError(f"cannot be created: {error.strerror}", place=str(path.parent)) from error
    try:
        platform.create_private(path)
    except OSError as error:
        raise StoreError(f"cannot be created: {error.strerror}", place=str(path)) from error
