"""The table `vector_waiting`: vectors that will replace all others when they are complete.

No view sees them: a search compares vectors of one model only, and the old ones answer until every
text has a new one. They are kept by text alone; which access classes have them is decided when they
take the others' place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from quire.core.types import Reembedding
from quire.store.sql import vector_blocks
from quire.store.sql.connection import Connection
from quire.store.sql.transaction import Transaction

BATCH = 1024
"""Vectors that are read at a time when they take the place of others."""
_MISSING = (
    "FROM chunk c WHERE c.space = ? AND NOT EXISTS (SELECT 1 FROM vector_waiting w "
    "WHERE w.space = c.space AND w.key = c.vector_key AND w.model = ?)"
)


def put(transaction: Transaction, model: str, by_key: Mapping[str, bytes]) -> None:
    """Keep vectors of a model for later; those of another model are deleted.

    Vectors of texts that are gone are not kept: what was purged must not come back.
    """
    connection, space = transaction.connection, transaction.space.id
    connection.execute("DELETE FROM vector_waiting WHERE space = ? AND model != ?", (space, model))
    known = connection.row("SELECT vector FROM vector_waiting WHERE space = ? LIMIT 1", (space,))
    dims = len(known[0]) if known else len(next(iter(by_key.values()), b""))
    for name, data in by_key.items():
        vector_blocks.check_vector(name, data, dims)
    connection.executemany(
        "INSERT INTO vector_waiting (space, key, model, vector) SELECT ?1, ?2, ?3, ?4 "
        "WHERE EXISTS (SELECT 1 FROM chunk WHERE space = ?1 AND vector_key = ?2) "
        "ON CONFLICT (space, key) DO UPDATE SET vector = excluded.vector",
        [(space, bytes.fromhex(name), model, by_key[name]) for name in sorted(by_key)],
    )


def switch(transaction: Transaction, model: str) -> bool:
    """Replace all vectors by the waiting ones of a model, if no text lacks one; return whether."""
    connection, space = transaction.connection, transaction.space.id
    if connection.row(f"SELECT 1 {_MISSING} LIMIT 1", (space, model)) is not None:
        return False
    vector_blocks.delete_all(transaction)
    for batch in _batches(connection, space):
        vector_blocks.put(transaction, model, batch)
    delete_all(transaction)
    return True


def delete_all(transaction: Transaction) -> None:
    """Delete the waiting vectors."""
    transaction.connection.execute(
        "DELETE FROM vector_waiting WHERE space = ?", (transaction.space.id,)
    )


def delete_unused(transaction: Transaction) -> None:
    """Delete the waiting vectors of texts that are gone."""
    transaction.connection.execute(
        "DELETE FROM vector_waiting WHERE space = ?1 AND NOT EXISTS "
        "(SELECT 1 FROM chunk c WHERE c.space = ?1 AND c.vector_key = vector_waiting.key)",
        (transaction.space.id,),
    )


def count(connection: Connection, space: int) -> Reembedding | None:
    """Return how many chunks have a waiting vector; None if there is none."""
    row = connection.row("SELECT model FROM vector_waiting WHERE space = ? LIMIT 1", (space,))
    if row is None:
        return None
    counted = connection.row(
        "SELECT count(*), count(w.key) FROM chunk c LEFT JOIN vector_waiting w "
        "ON w.space = c.space AND w.key = c.vector_key WHERE c.space = ?",
        (space,),
    )
    assert counted is not None, "an aggregate has a row"
    return Reembedding(model=row[0], vectors=counted[1], chunks=counted[0])


def missing_keys(connection: Connection, space: int, model: str) -> list[bytes]:
    """Return the keys of the texts without a waiting vector of a model, in the order of chunks."""
    rows = connection.rows(
        f"SELECT c.vector_key {_MISSING} GROUP BY c.vector_key ORDER BY min(c.key)",
        (space, model),
    )
    return [key for (key,) in rows]


def _batches(connection: Connection, space: int) -> Iterator[dict[str, bytes]]:
    last = b""
    while True:
        rows = connection.rows(
            "SELECT key, vector FROM vector_waiting WHERE space = ? AND key > ? "
            "ORDER BY key LIMIT ?",
            (space, last, BATCH),
        )
        if not rows:
            return
        yield {key.hex(): vector for key, vector in rows}
        last = rows[-1][0]
