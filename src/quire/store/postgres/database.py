"""A connection to a PostgreSQL server that several threads may share."""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Collection, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from functools import lru_cache
from itertools import count, islice
from typing import Any

import numpy as np
import psycopg
from psycopg.rows import TupleRow

from quire.core.types import Viewer
from quire.errors import QuireError, StoreDamagedError
from quire.store.postgres import values
from quire.store.postgres.errors import NoAnswerError, translate

FETCH_ROWS = 256
"""So many rows of a stream are fetched at once."""
SEND_ROWS = 1000
"""So many rows are sent at once."""
READER = "quire_reader"
"""The role of views: it owns no table and may only read."""
SEE_ALL = "SELECT set_config('quire.classes', '*', true), set_config('quire.actor', '*', true)"
"""Let row-level security hide nothing until the transaction ends."""

_PARAMETER = re.compile(r"\?(\d*)")
_WORDS = (
    (re.compile(r"/\*!([^*]*+)\*/"), r"\1"),  # SQLite needs no space to find a row by its number
    (re.compile(r"carray\((\?\d*)\) v\b"), r"unnest(\1) AS v(value)"),
    (re.compile(r"\bCROSS JOIN\b"), "JOIN"),
    (re.compile(r"\bORDER BY \+"), "ORDER BY "),
    (re.compile(r" INDEXED BY \w+"), ""),
    (re.compile(r"\bAS BLOB\b"), "AS BYTEA"),
)


# The driver warns of connections that were lost in a pipeline; an error is raised in any case.
logging.getLogger("psycopg").addHandler(logging.NullHandler())


class Raw(psycopg.Connection[TupleRow]):
    """A connection of the driver, which is closed with the store that nobody closed."""

    patience: float | None = None
    """How many seconds an answer is waited for; None: as long as it takes."""
    hangs = False
    """Set if an answer did not come in time."""

    def wait(self, gen: Generator[Any, Any, Any], *rest: Any, **named: Any) -> Any:
        """Wait for an answer, but not for ever: a server that hangs cannot end a query itself."""
        if self.patience is None:
            return super().wait(gen, *rest, **named)
        deadline = time.monotonic() + (0.0 if self.hangs else self.patience)
        try:
            return super().wait(_wait_until(gen, deadline), *rest, **named)
        except NoAnswerError:
            self.hangs = True
            raise

    def __del__(self) -> None:  # type: ignore[override]  # the driver warns there
        with suppress(AttributeError):  # it was never opened
            self.pgconn.finish()


def _wait_until(gen: Generator[Any, Any, Any], deadline: float) -> Generator[Any, Any, Any]:
    """Wait for what a step of the driver waits for, until a moment; return what it returns.

    Several times a second the driver sends that nothing has come.
    """
    try:
        state = next(gen)
        while True:
            if ready := (yield state):
                state = gen.send(ready)
            elif time.monotonic() > deadline:
                raise NoAnswerError
    except StopIteration as end:
        return end.value


@lru_cache(maxsize=1024)
def to_postgres(sql: str) -> bytes:
    """Translate a statement of `quire.store.sql` into PostgreSQL's words."""
    for pattern, words in _WORDS:
        sql = pattern.sub(words, sql)
    places = count(1)
    return _PARAMETER.sub(lambda match: f"${match[1] or next(places)}", sql).encode()


class Connection:
    """A connection inside a transaction, which one thread uses at a time."""

    damage: tuple[type[Exception], ...] = (StoreDamagedError,)
    is_distant = True

    def __init__(self, raw: Raw, *, reads_as_role: bool = False) -> None:
        self.raw = raw
        self.lock = threading.RLock()
        self.abandoned = False
        self.undo = False
        """Set if the write transaction is to be rolled back without an error."""
        self.sees_all = False
        """Set if each statement is a transaction of its own that sees the rows of all viewers."""
        self.scope = ""
        self.failure: psycopg.Error | None = None
        """What the server refused last."""
        self.statements = 0
        """How many statements were sent since this was last set."""
        self._reads_as_role = reads_as_role
        self._streams = count(1)

    def execute(self, sql: str, bindings: tuple[Any, ...] = (), /) -> list[tuple[Any, ...]]:
        """Run a statement; return its rows."""
        self.statements += 1
        with self.lock, self._remembering(), psycopg.RawCursor(self.raw) as cursor:
            # What is sent in one pipeline is one transaction, and one round trip.
            with self.raw.pipeline() if self.sees_all else nullcontext():
                if self.sees_all:
                    self.raw.execute(SEE_ALL)
                cursor.execute(to_postgres(sql), bindings, binary=True)
            return cursor.fetchall() if cursor.description is not None else []

    def executemany(self, sql: str, bindings: Iterable[tuple[Any, ...]], /) -> None:
        """Run a statement once for each tuple of values, without waiting for each."""
        remaining = iter(bindings)
        # Batches are collected first: they may be read through this very connection.
        while batch := list(islice(remaining, SEND_ROWS)):
            self.statements += len(batch)
            with self.lock, self._remembering(), psycopg.RawCursor(self.raw) as cursor:
                cursor.executemany(to_postgres(sql), batch)

    @contextmanager
    def _remembering(self) -> Iterator[None]:
        """Raise what ended the transaction once more for each statement that comes after it.

        The server says only that it is over, and whoever asked first may have gone on.
        """
        try:
            yield
        except psycopg.errors.InFailedSqlTransaction as error:
            raise self.failure or error from None
        except psycopg.Error as error:
            self.failure = error
            raise

    def rows(self, sql: str, bindings: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""
        return self.execute(sql, tuple(bindings))

    def stream_each(
        self, sql: str, bindings: Sequence[tuple[Any, ...]]
    ) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query that is run once for each tuple of values, one by one."""
        self.statements += len(bindings)
        for at in range(0, len(bindings), SEND_ROWS):
            batch = bindings[at : at + SEND_ROWS]
            with self.lock, self._remembering(), psycopg.RawCursor(self.raw) as cursor:
                cursor.executemany(to_postgres(sql), batch, returning=True)
                for _ in batch:
                    yield from cursor
                    cursor.nextset()

    def row(self, sql: str, bindings: Sequence[Any] = ()) -> tuple[Any, ...] | None:
        """Return the first row of a query, or None if there is none."""
        return next(iter(self.execute(sql, tuple(bindings))), None)

    def stream(
        self, sql: str, bindings: Sequence[Any] = ()
    ) -> Generator[tuple[Any, ...], None, None]:
        """Yield the rows of a query, some of which are fetched at once."""
        name = f"stream_{next(self._streams)}"
        self.execute(f"DECLARE {name} CURSOR FOR {sql}", tuple(bindings))
        # The lock is not held between rows: whoever stops early, in whatever thread, holds nothing,
        # and the cursor ends with its transaction.
        while rows := self.execute(f"FETCH {FETCH_ROWS} FROM {name}"):
            yield from rows
        self.execute(f"CLOSE {name}")

    def array(self, items: Collection[Any]) -> Any:
        """Return a list of whole numbers, texts or bytes as a parameter."""
        if isinstance(items, np.ndarray):
            return items
        return values.Texts(items) if isinstance(next(iter(items)), str) else values.Blobs(items)

    def scalar(self, value: str | float) -> bytes:
        """Return a value of metadata as it is kept."""
        return values.encode_scalar(value)

    def plain(self, kind: str, scalar: bytes) -> str | float:
        """Return a value of metadata from what is kept."""
        return values.decode_scalar(kind, scalar)

    def restrict(self, viewer: Viewer, classes: Iterable[int]) -> None:
        """Let row-level security hide what the viewer may not read, whatever is queried."""
        self.scope = ",".join(map(str, sorted(classes)))
        actor = "*" if viewer.owner else viewer.name
        settings = "SELECT set_config('quire.classes', ?, true), set_config('quire.actor', ?, true)"
        if self._reads_as_role:
            settings += f", set_config('role', '{READER}', true)"
        self.execute(settings, (self.scope, actor))

    def translate(self, error: BaseException, place: str) -> QuireError | None:
        """Return Quire's error for one of PostgreSQL's; None for any other."""
        return translate(error, place)
