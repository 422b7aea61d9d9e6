"""What is a connection to the database?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import apsw

from quire.errors import InputError, StoreDamagedError

REPAIR = "run `quire doctor`, restore a backup, or delete the file and index again"


class Connection(apsw.Connection):
    """A connection that gives plain rows."""

    def rows(self, sql: str, bindings: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Fetch all rows of a query."""
        try:
            return self.execute(sql, tuple(bindings)).fetchall()
        except UnicodeError as error:
            raise _told(error) from error

    def row(self, sql: str, bindings: Sequence[Any] = ()) -> tuple[Any, ...] | None:
        """Fetch the first row of a query, if there is one."""
        try:
            return self.execute(sql, tuple(bindings)).fetchone()
        except UnicodeError as error:
            raise _told(error) from error


def _told(error: UnicodeError) -> InputError | StoreDamagedError:
    if isinstance(error, UnicodeEncodeError):
        return InputError("half of a surrogate pair is no character; replace it first")
    return StoreDamagedError(f"a text in the store is damaged ({error}): {REPAIR}")
