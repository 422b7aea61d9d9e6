"""A database connection that several threads may share."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import apsw

from quire.errors import InputError, StoreDamagedError
from quire.store.damage import damaged

CHECKPOINT_PAGES = 1000
"""A log of so many pages is written into the file."""


class Connection(apsw.Connection):
    """A connection that returns plain rows, and that one thread uses at a time."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.lock = threading.RLock()
        """Held by whoever reads: several threads may read one snapshot."""
        self.abandoned = False
        """Set if a thread still reads for a closed view: the connection must not be reused."""
        pages = self._log_pages = [0]
        self.set_wal_hook(lambda _, __, count: pages.__setitem__(0, count) or 0)

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

    def stream(self, sql: str, bindings: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query one by one, for results too large to hold at once."""
        with self.lock:
            yield from self.execute(sql, tuple(bindings))

    def row(self, sql: str, bindings: Sequence[Any] = ()) -> tuple[Any, ...] | None:
        """Return the first row of a query, or None if there is none."""
        try:
            with self.lock:
                return self.execute(sql, tuple(bindings)).fetchone()
        except UnicodeError as error:
            raise _translate(error) from error


def _translate(error: UnicodeError) -> InputError | StoreDamagedError:
    if isinstance(error, UnicodeEncodeError):
        return invalid_text()
    return damaged(f"a text in the store is damaged ({error})")


def invalid_text(place: str = "") -> InputError:
    """Return the error for a text that is not valid Unicode."""
    return InputError(
        "the text contains half of a surrogate pair",
        hint="remove or replace that character",
        place=place,
    )
