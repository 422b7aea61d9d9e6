"""Derived data: rebuilding it, and comparing it with what is stored.

Posting lists, columns, mentions, values, leaves and roots all follow from the records, chunks,
links, events, rules and vectors. Rebuilding them is how they are checked and repaired.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from blake3 import blake3

from quire.core import hashing, merkle
from quire.core.languages import language_of
from quire.core.types import NO_METADATA, Event, Link
from quire.errors import StoreDamagedError
from quire.store import access
from quire.store.damage import damaged
from quire.store.index import analyzer, columns
from quire.store.index.columns import ACCESS, DEAD, Columns, ColumnsDraft
from quire.store.sql import access_rules, metadata_values, outlines, posting_lists, rows
from quire.store.sql.connection import Connection
from quire.store.sql.transaction import Transaction

_SEGMENT_ROWS = 50_000
_NO_VECTOR = (-1, None)
MAX_FREE_ROWS = 10_000_000
"""Rows without a chunk that a repair believes, where the blocks of rows are damaged."""


def rebuild(transaction: Transaction) -> None:
    """Rebuild everything that is derived."""
    space = transaction.space.id
    transaction.space.analyzer = analyzer.ANALYZER
    posting_lists.delete_all(transaction.connection, space)
    for table in ("leaf", "bucket", "node", "root", "row_block", "mention", "value"):
        transaction.connection.execute(f"DELETE FROM {table} WHERE space = ?", (space,))
    transaction.trees.discard()
    allocated = allocated_rows(transaction.connection, space, transaction.draft.rows)
    empty = columns.empty_table(allocated)
    transaction.draft = ColumnsDraft(Columns(transaction.space.generation, empty))
    classes, languages = _rebuild_records(transaction)
    _rebuild_chunks(transaction, classes, languages)
    transaction.draft.reset()
    for source, target, kind in transaction.connection.rows(
        "SELECT source, target, kind FROM link WHERE space = ?", (space,)
    ):
        transaction.trees.set(classes[source], *merkle.link_leaf(Link(source, target, kind)))
    for actor, verb, record, at in transaction.connection.rows(
        "SELECT actor, verb, record, at FROM event WHERE space = ?", (space,)
    ):
        event = Event(actor, verb, record, at)
        class_id = transaction.event_class(actor, classes.get(record))
        transaction.trees.set(class_id, *merkle.event_leaf(event))
    for name, value in access_rules.settings(transaction).items():
        if value:
            owner = transaction.access_class(access.OWNER_ONLY)
            transaction.trees.set(owner, *merkle.setting_leaf(name, value))
    transaction.flush_postings()
    transaction.trees.flush()
    transaction.changed = True


def fingerprints(transaction: Transaction) -> dict[str, bytes]:
    """Hash each part of the derived data, independently of row numbers and segments."""
    space = transaction.space.id
    table = transaction.draft.table
    living = [
        (rows.key_of(space, row), *map(int, table[:, row]))
        for row in range(transaction.draft.rows)
        if table[ACCESS, row] >= 0
    ]
    hashes = {
        "rows": _hash(living),
        "words": _words(transaction),
        "access": _hash(
            transaction.connection.execute(
                "SELECT id, class FROM record WHERE space = ? ORDER BY id", (space,)
            )
        ),
    }
    hashes["names"] = _hash(
        transaction.connection.execute(
            "SELECT name, kind, record, entity, count FROM mention WHERE space = ? "
            "ORDER BY name, kind, record, entity",
            (space,),
        )
    )
    hashes["metadata"] = _hash(
        (key, kind, repr(value), record)
        for key, kind, value, record in transaction.connection.execute(
            "SELECT key, kind, value, record FROM value WHERE space = ? "
            "ORDER BY key, kind, value, record",
            (space,),
        )
    )
    for name in ("leaf", "bucket", "node", "root"):
        order = {"leaf": ", key", "root": ""}.get(name, f", {name}")
        hashes[name] = _hash(
            transaction.connection.execute(
                f"SELECT * FROM {name} WHERE space = ? ORDER BY class{order}",
                (space,),
            )
        )
    return hashes


def _words(transaction: Transaction) -> bytes:
    access_column = transaction.draft.table[ACCESS]
    connection, space = transaction.connection, transaction.space.id
    try:
        rows_listed = posting_lists.segment_rows(connection, space)
        living = rows_listed[access_column[rows_listed] >= 0]
        lists = posting_lists.living_lists(connection, space, access_column == DEAD)
        return _hash([(living.tobytes(),), *lists])
    except (StoreDamagedError, IndexError, ValueError):
        return b"lists that cannot be read"


def _hash(items: Iterable[Any]) -> bytes:
    hasher = blake3()
    for item in items:
        hasher.update(hashing.digest("row", tuple(item)))
    return hasher.digest()


def allocated_rows(connection: Connection, space: int, known: int = 0) -> int:
    """Return how many rows the chunks of a space take, of which so many are known to be stored.

    Many more than there are chunks are damage: rows that are free again are used first.
    """
    last, count = connection.rows(
        "SELECT max(key), count(*) FROM chunk WHERE /*! space = ?1 AND */ key >= ?2 AND key < ?3",
        (space, rows.key_of(space, 0), rows.key_of(space + 1, 0)),
    )[0]
    allocated = 0 if last is None else rows.row_of(last) + 1
    if allocated > max(known, MAX_FREE_ROWS + count):
        raise damaged("there are fewer chunks than it says")
    return allocated


def _rebuild_records(transaction: Transaction) -> tuple[dict[str, int], dict[str, str]]:
    """Rebuild what follows from records; return their access classes and languages by id."""
    classes: dict[str, int] = {}
    languages: dict[str, str] = {}
    for *row, number, class_id in transaction.connection.rows(
        f"SELECT {rows.RECORD}, r.number, r.class FROM record r WHERE r.space = ?",
        (transaction.space.id,),
    ):
        record = rows.record_of(row)
        if language := language_of(record):
            languages[record.id] = language
        audience = transaction.rules.audience(record)
        classes[record.id] = transaction.access_class(audience)
        if classes[record.id] != class_id:
            transaction.connection.execute(
                "UPDATE record SET class = ? WHERE space = ? AND number = ?",
                (classes[record.id], transaction.space.id, number),
            )
        outline = outlines.read(transaction, number)
        outlines.add_mentions(transaction, number, outline)
        metadata_values.put(transaction, number, NO_METADATA, record.metadata)
        leaf = merkle.record_leaf(record, audience, outline)
        transaction.trees.set(classes[record.id], *leaf)
    return classes, languages


def _rebuild_chunks(
    transaction: Transaction, classes: dict[str, int], languages: dict[str, str]
) -> None:
    space = transaction.space.id
    slots = {
        (key, class_id): (slot, vector)
        for key, class_id, slot, vector in transaction.connection.rows(
            "SELECT key, class, slot, hash FROM vector_slot WHERE space = ?", (space,)
        )
    }
    chunks = transaction.connection.rows(
        f"SELECT {rows.CHUNK}, c.key, c.kind, c.record, c.vector_key FROM {rows.CHUNK_TABLES} "
        "WHERE c.space = ? ORDER BY c.key",
        (space,),
    )
    for *row, chunk_key, kind, number, vector_key in chunks:
        chunk = rows.chunk_of(row)
        counts, length = analyzer.count_chunk_words(chunk, languages.get(chunk.record_id, ""))
        class_id = classes[chunk.record_id]
        slot, vector = slots.get((vector_key, class_id), _NO_VECTOR)
        transaction.draft.set_row(rows.row_of(chunk_key), (length, class_id, number, slot, kind))
        transaction.postings.add(rows.row_of(chunk_key), counts)
        transaction.trees.set(class_id, *merkle.chunk_leaf(chunk), vector)
        if len(transaction.postings.rows) >= _SEGMENT_ROWS:
            transaction.flush_postings()
