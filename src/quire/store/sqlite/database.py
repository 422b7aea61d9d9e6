"""What is a connection to the database?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import apsw


class Connection(apsw.Connection):
    """A connection that gives plain rows."""

    def rows(self, sql: str, bindings: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Fetch all rows of a query."""
        return self.execute(sql, tuple(bindings)).fetchall()

    def row(self, sql: str, bindings: Sequence[Any] = ()) -> tuple[Any, ...] | None:
        """Fetch the first row of a query, if there is one."""
        return self.execute(sql, tuple(bindings)).fetchone()
