"""What is a connection to the database?"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import apsw

from quire.errors import InputError, StoreDamagedError

REPAIR = "run `quire doctor`, restore a backup, or delete the file and index again"


class Connection(apsw.Connection):
    """A connection that gives plain rows, to one thread after the other."""

    def __init__(self, *told: Any, **named: Any) -> None:
        super().__init__(*told, **named)
        self.turn = threading.RLock()
        """Whoever reads has it: a snapshot may be asked from several threads."""
        self.spent = False
        """Somebody still reads for a snapshot that is over: no other may begin on it."""

    def rows(self, sql: str, bindings: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Fetch all rows of a query."""
        try:
            with self.turn:
                return self.execute(sql, tuple(bindings)).fetchall()
        except UnicodeError as error:
            raise _told(error) from error

    def row(self, sql: str, bindings: Sequence[Any] = ()) -> tuple[Any, ...] | None:
        """Fetch the first row of a query, if there is one."""
        try:
            with self.turn:
                return self.execute(sql, tuple(bindings)).fetchone()
        except UnicodeError as error:
            raise _told(error) from error


def _told(error: UnicodeError) -> InputError | StoreDamagedError:
    if isinstance(error, UnicodeEncodeError):
        return InputError("half of a surrogate pair is no character; replace it first")
    return StoreDamagedError(f"a text in the store is damaged ({error}): {REPAIR}")
