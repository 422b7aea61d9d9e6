"""The ages of vectors: which write brought the vector in a slot.

Vectors of texts that are gone are deleted the oldest first, over all shards. A shard knows for each
write that brought vectors how many slots there were after it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from quire.store.sql.connection import Connection
from quire.store.sqlite.store import NOTES_OF_SHARDS

NOTE = f"{NOTES_OF_SHARDS}vectors"
"""The note of a shard's space with its marks: pairs of a write and a number of slots."""
MAX_MARKS = 1000


def read_marks(connection: Connection, space: int) -> list[list[int]]:
    """Return the marks of a space, the oldest first."""
    row = connection.row("SELECT value FROM note WHERE space = ? AND key = ?", (space, NOTE))
    marks: list[list[int]] = json.loads(row[0]) if row else []
    return marks


def age_of(marks: Sequence[Sequence[int]], slot: int) -> int:
    """Return the write that filled a slot; of one without a mark the next to come."""
    return next((age for age, slots in marks if slot < slots), marks[-1][0] + 1 if marks else 0)


def stored(connection: Connection, space: int) -> list[tuple[int, str, str]]:
    """Return slot, key and hash of all vectors."""
    found = connection.rows(
        "SELECT DISTINCT slot, key, hash FROM vector_slot WHERE space = ? ORDER BY slot", (space,)
    )
    return [(slot, key.hex(), vector.hex()) for slot, key, vector in found]
