"""Connections to a server: a small pool, transactions, and one writer for each space."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import psycopg
from psycopg import conninfo, pq

from quire.core import hashing, servers
from quire.errors import InputError, QuireError, StoreBusyError, StoreError, StoreInterruptedError
from quire.store.postgres import schema, values
from quire.store.postgres.database import SEE_ALL, Connection, Raw
from quire.store.postgres.errors import refusal, translate

MAX_IDLE = 8
"""So many connections are kept open that nobody uses."""
CONNECT_SECONDS = 10
MAX_PORT = 65535
READ_SECONDS = 60
"""A query of a view that takes longer is ended by the server."""
PATIENCE_SECONDS = 75
"""After so long its answer is not waited for: a server that hangs ends nothing itself."""
MIN_ANALYZE, MAX_ANALYZE = 1_000, 100_000
"""After so many statements of writers the statistics of the planner are brought up to date."""
DELAYS = (0.0, 0.1, 0.5, 2.0)
"""How long to wait before each further attempt to begin a transaction: a server restarts."""

_IDLE = pq.TransactionStatus.IDLE
_OPEN = (pq.TransactionStatus.INTRANS, pq.TransactionStatus.INERROR)


def check_url(url: str) -> str:
    """Refuse a URL that is not valid; return it without its password."""
    if not _is_valid(url):
        raise InputError(
            "this is not a URL of a PostgreSQL database",
            field="store",
            hint="write postgresql://USER@HOST:PORT/DATABASE",
        )
    return servers.public_name(url)


def _is_valid(url: str) -> bool:
    try:
        ports = str(conninfo.conninfo_to_dict(url).get("port") or "")
    except psycopg.Error:  # its words quote the URL, and with it the password
        return False
    return all(
        not port or (port.isdecimal() and 0 < int(port) <= MAX_PORT) for port in ports.split(",")
    )


class Connections:
    """Lends connections to one database: any number for reading, one for writing a space."""

    def __init__(self, url: str, *, create: bool, wait: float) -> None:
        self.place = check_url(url)
        self._url = url
        self._wait = wait
        self._idle: list[Connection] = []
        self._closed = False
        self._lock = threading.Lock()
        self._freed = threading.Condition(self._lock)
        self._writing: dict[str, int] = {}
        self._pause = threading.Event()
        self._written = 0
        self._analyze_at = MIN_ANALYZE
        self._reads_as_role = False
        with self._translated():
            self._prepare(create=create)

    def _prepare(self, *, create: bool) -> None:
        """Create or upgrade the tables, and find out how they may be read."""

        def prepare(connection: Connection) -> None:
            schema.prepare(connection.raw, self.place, create=create)
            self._reads_as_role = schema.can_read_as_role(connection.raw)

        # The first connection is not waited for: no server may be there at all.
        self._idle.append(Connection(self._connect()))
        try:
            self._begin(prepare).raw.close()
        except BaseException:
            self._drop_idle()
            raise

    @contextmanager
    def read_transaction(self) -> Iterator[Connection]:
        """Lend a connection inside a read transaction, which sees no text before `restrict`."""
        with self._translated(), self._lend(self._begin_reading) as connection:
            yield connection

    @contextmanager
    def read_once(self) -> Iterator[Connection]:
        """Lend a connection for one query that sees all, without the trips of a transaction."""
        with self._translated(), self._lend(lambda _: None) as connection:
            connection.raw.patience = PATIENCE_SECONDS
            connection.sees_all = True
            try:
                yield connection
            finally:
                connection.sees_all = False

    @contextmanager
    def read_all(self) -> Iterator[Connection]:
        """Lend a connection inside a read transaction that sees the texts of all viewers."""
        with self.read_transaction() as connection:
            connection.execute(SEE_ALL)
            yield connection

    @contextmanager
    def write_transaction(self, space: str) -> Iterator[Connection]:
        """Lend a connection inside the write transaction of a space."""
        with (
            self._translated(),
            self._exclusive(space),
            self._lend(lambda connection: self._begin_writing(connection, space)) as connection,
        ):
            yield connection
            if connection.undo:
                connection.undo = False
                connection.execute("ROLLBACK")
            else:
                self._commit(connection)

    @contextmanager
    def maintenance(self) -> Iterator[Connection]:
        """Lend a connection outside any transaction."""
        with self._translated(), self._lend(lambda _: None) as connection:
            connection.execute(f"SET lock_timeout = {self._wait_milliseconds}")
            try:
                yield connection
            finally:
                with suppress(psycopg.Error):
                    connection.execute("RESET lock_timeout")

    def count_bytes(self, connection: Connection) -> int:
        """Return how much room the tables take, with their indexes."""
        row = connection.row(
            "SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class "
            "WHERE relnamespace = to_regnamespace(?) AND relkind = 'r'",
            (schema.SCHEMA,),
        )
        return 0 if row is None else int(row[0])

    def close(self) -> None:
        """Close all idle connections now, and each lent one when it is given back."""
        with self._lock:
            self._closed = True
        self._drop_idle()

    # --- transactions ----------------------------------------------------------------------------

    @property
    def _wait_milliseconds(self) -> int:
        return max(1, int(self._wait * 1000))

    def _begin_reading(self, connection: Connection) -> None:
        connection.raw.patience = PATIENCE_SECONDS
        connection.raw.execute(
            "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; "
            f"SET LOCAL statement_timeout = {READ_SECONDS * 1000}; {_PLAN}"
        )

    def _begin_writing(self, connection: Connection, space: str) -> None:
        # Each statement sees what is committed when it begins: also what the writer before
        # committed while this one waited for the lock.
        connection.raw.execute(
            "BEGIN ISOLATION LEVEL READ COMMITTED; "
            f"SET LOCAL lock_timeout = {self._wait_milliseconds}; {_PLAN}; {SEE_ALL}"
        )
        connection.execute("SELECT pg_advisory_xact_lock(?)", (_lock_of(space),))

    def _commit(self, connection: Connection) -> None:
        try:
            connection.execute("COMMIT")
        except psycopg.OperationalError as error:
            raise StoreInterruptedError(
                "the connection was lost while the write was committed: all of it was kept, or "
                "nothing",
                place=self.place,
                hint="run the same command again; what was kept is not written twice",
            ) from error
        self._update_statistics(connection)

    def _update_statistics(self, connection: Connection) -> None:
        """Tell the planner what the tables hold when they have grown: it knows nothing of new ones.

        The server does so by itself a minute later, which is long for whoever asks meanwhile.
        """
        with self._lock:
            self._written += connection.statements
            connection.statements = 0
            if self._written < self._analyze_at:
                return
            self._written, self._analyze_at = 0, min(2 * self._analyze_at, MAX_ANALYZE)
        with suppress(psycopg.Error):  # nothing depends on it but speed
            connection.execute(f"ANALYZE {', '.join(schema.SEARCHED)}")

    @contextmanager
    def _exclusive(self, space: str) -> Iterator[None]:
        """Wait until no other thread writes to a space: a thread must not wait for itself."""
        me = threading.get_ident()
        with self._freed:
            if me in self._writing.values():
                raise StoreBusyError(
                    "this thread is already writing to this store",
                    place=self.place,
                    hint="end the open write first",
                )
            if not self._freed.wait_for(lambda: space not in self._writing, self._wait):
                raise StoreBusyError(
                    "another thread is writing to this space",
                    place=self.place,
                    hint="try again when it is done",
                )
            self._writing[space] = me
        try:
            yield
        finally:
            with self._freed:
                del self._writing[space]
                self._freed.notify_all()

    # --- the pool --------------------------------------------------------------------------------

    @contextmanager
    def _lend(self, begin: Callable[[Connection], None]) -> Iterator[Connection]:
        connection = self._begin(begin)
        try:
            yield connection
        finally:
            self._give_back(connection)

    def _begin(self, begin: Callable[[Connection], None]) -> Connection:
        """Begin a transaction, again if the server has gone: nothing was done in it yet."""
        failure: QuireError | None = None
        for delay in DELAYS:
            self._pause.wait(delay)
            connection: Connection | None = None
            try:
                connection = self._borrow()
                begin(connection)
            except psycopg.OperationalError as error:
                raw = None if connection is None else connection.raw
                lost = raw is not None and (raw.broken or raw.hangs)
                if connection is not None:
                    self._give_back(connection)
                if not lost:
                    raise
                self._drop_idle()
                failure = translate(error, self.place)
            except _NoServerError as error:
                failure = error.reason
            except BaseException:
                if connection is not None:
                    self._give_back(connection)
                raise
            else:
                return connection
        assert failure is not None, "every attempt failed"
        raise failure

    def _borrow(self) -> Connection:
        with self._lock:
            if self._closed:
                raise InputError("the store is closed", place=self.place, hint="open it again")
            if self._idle:
                return self._idle.pop()
        try:
            raw = self._connect()
        except StoreBusyError:
            raise
        except StoreError as error:
            raise _NoServerError(error) from error
        return Connection(raw, reads_as_role=self._reads_as_role)

    def _give_back(self, connection: Connection) -> None:
        with connection.lock:
            raw = connection.raw
            if not connection.abandoned and raw.info.transaction_status in _OPEN:
                with suppress(psycopg.Error):
                    raw.execute("ROLLBACK")
            usable = not connection.abandoned and raw.info.transaction_status == _IDLE
            if not usable:
                # Whoever waits for an answer while it is closed would wait for ever.
                raw.close()
        if raw.hangs:
            self._drop_idle()  # which would hang as well
        connection.scope, connection.failure, raw.patience = "", None, None
        with self._lock:
            if usable and not self._closed and len(self._idle) < MAX_IDLE:
                self._idle.append(connection)
                return
        raw.close()

    def _drop_idle(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.raw.close()

    def _connect(self) -> Raw:
        try:
            raw = Raw.connect(
                self._url,
                autocommit=True,
                connect_timeout=CONNECT_SECONDS,
                application_name="quire",
                client_encoding="utf8",
                keepalives_idle=30,
                keepalives_interval=10,
                keepalives_count=3,
                tcp_user_timeout=30_000,
            )
        except psycopg.OperationalError as error:
            raise refusal(error, self.place) from None  # its words may quote the URL
        try:
            with self._translated():
                raw.execute(f"SET search_path = {schema.SCHEMA}")
                values.register(raw)
        except BaseException:
            raw.close()
            raise
        return raw

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (psycopg.Error, UnicodeEncodeError) as error:
            translated = translate(error, self.place)
            assert translated is not None, "an error of PostgreSQL"
            raise translated from error


class _NoServerError(Exception):
    """No connection could be opened; the server may be about to start."""

    def __init__(self, reason: StoreError) -> None:
        super().__init__(str(reason))
        self.reason = reason


_PLAN = "SET LOCAL join_collapse_limit = 1"
"""Statements are written in the order in which little is read; joins keep to it."""


def _lock_of(space: str) -> int:
    """Return the number of the advisory lock of a space's writer."""
    return int.from_bytes(hashing.digest("space", space)[:8], "big", signed=True)
