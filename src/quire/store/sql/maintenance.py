"""Maintenance of the tables: merging, erasing, checking and repairing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from quire.core import hashing
from quire.core.types import Problem
from quire.errors import StoreDamagedError
from quire.store.index import columns, vectors
from quire.store.index.columns import Columns
from quire.store.sql import (
    derive,
    posting_lists,
    records,
    row_blocks,
    rows,
    vector_blocks,
    waiting_vectors,
)
from quire.store.sql.connection import Connection
from quire.store.sql.transaction import Space, Transaction, read_space


def merge(transaction: Transaction) -> None:
    """Merge all posting lists, and delete unused vectors, waiting ones included."""
    transaction.flush_postings()
    posting_lists.merge_all(transaction.connection, transaction.space.id, transaction.draft)
    vector_blocks.compact(transaction)
    waiting_vectors.delete_unused(transaction)


def erase(transaction: Transaction, ids: Sequence[str]) -> int:
    """Remove records from all tables; return how many existed."""
    removed = records.remove(transaction, ids)
    transaction.connection.executemany(
        "DELETE FROM stamp WHERE space = ? AND record = ?",
        [(transaction.space.id, record_id) for record_id in ids],
    )
    merge(transaction)
    return removed


def check_space(connection: Connection, name: str, *, repair: bool) -> tuple[list[Problem], bool]:
    """Check the primary and the derived data of a space inside a write transaction.

    Returns what was found, and whether the transaction is to be committed: else it must be rolled
    back, since checking writes what is derived anew.
    """
    space = read_space(connection, name)
    assert space is not None, "a space that was just listed"
    transaction = Transaction(connection, space, _load_columns(connection, space))
    problems = _check_strays(transaction, repair=repair)
    problems += _check_outlines(transaction, repair=repair)
    problems += _check_chunks(transaction, repair=repair)
    problems += _check_vectors(transaction, repair=repair)
    problems += _check_derived(transaction, repair=repair)
    if repair and problems:
        transaction.finish()
        return problems, True
    return problems, False


def _load_columns(connection: Connection, space: Space) -> Columns:
    try:
        return row_blocks.load(connection, space.id, space.generation, space.rows)
    except StoreDamagedError:  # they are rebuilt with the rest
        rows = derive.allocated_rows(connection, space.id)
        return Columns(space.generation, columns.empty_table(rows))


def _check_strays(transaction: Transaction, *, repair: bool) -> list[Problem]:
    """Delete what belongs to no record; without `repair` the transaction is rolled back."""
    problems: list[Problem] = []
    records_here = "FROM record WHERE space = ?1"
    without_record = (  # in all spaces: in a file, outlines have none
        "NOT EXISTS (SELECT 1 FROM record r "
        "WHERE /*! r.space = outline.space AND */ r.number = outline.record)"
    )
    for what, sql in (
        ("chunks", f"chunk WHERE space = ?1 AND record NOT IN (SELECT number {records_here})"),
        ("links", f"link WHERE space = ?1 AND source NOT IN (SELECT id {records_here})"),
        ("outlines", f"outline WHERE {without_record}"),
    ):
        bindings = () if what == "outlines" else (transaction.space.id,)
        strays = transaction.connection.rows(f"DELETE FROM {sql} RETURNING 1", bindings)
        if strays:
            detail = f"{len(strays)} {what} belong to no record"
            problems.append(Problem("records", detail, repaired=repair))
    return problems


def _check_chunks(transaction: Transaction, *, repair: bool) -> list[Problem]:
    """Find chunks whose text was altered: it does not match their id."""
    problems: list[Problem] = []
    for chunk_id, record_id, path, sequence, text, vector_key, title in transaction.connection.rows(
        "SELECT c.id, r.id, r.path, c.sequence, c.text, c.vector_key, c.title FROM chunk c "
        f"JOIN {rows.CHUNK_RECORD} WHERE c.space = ? ORDER BY r.path, c.sequence",
        (transaction.space.id,),
    ):
        intact = hashing.chunk_id(record_id, sequence, text) == chunk_id.hex()
        if intact and hashing.vector_key(title, text) == vector_key.hex():
            continue
        detail = f"{path}: chunk {sequence} was altered after it was indexed"
        if repair:
            detail += _remove_damaged(transaction, record_id)
        problems.append(Problem("text", detail, repaired=repair))
    return problems


def _check_outlines(transaction: Transaction, *, repair: bool) -> list[Problem]:
    """Remove records whose outline cannot be read; without `repair` that is rolled back."""
    problems: list[Problem] = []
    for number, record_id, path, body in transaction.connection.rows(
        "SELECT r.number, r.id, r.path, o.body FROM outline o "
        "JOIN record r ON /*! r.space = o.space AND */ r.number = o.record "
        "WHERE r.space = ? ORDER BY r.path, r.id",
        (transaction.space.id,),
    ):
        try:
            rows.outline_of(body)
        except StoreDamagedError:
            row = (transaction.space.id, number)
            transaction.connection.execute(
                "DELETE FROM outline WHERE /*! space = ?1 AND */ record = ?2", row
            )
            transaction.connection.execute(
                "DELETE FROM mention WHERE space = ? AND record = ?", row
            )
            detail = f"{path}: its outline cannot be read"
            removed = _remove_damaged(transaction, record_id)
            detail += removed if repair else ""
            problems.append(Problem("outlines", detail, repaired=repair))
    return problems


def _remove_damaged(transaction: Transaction, record_id: str) -> str:
    records.remove(transaction, [record_id])
    transaction.connection.execute(
        "DELETE FROM stamp WHERE space = ? AND record = ?", (transaction.space.id, record_id)
    )
    return "; the file was removed, run `quire index` to read it again"


def _check_vectors(transaction: Transaction, *, repair: bool) -> list[Problem]:
    space = transaction.space
    if not space.slots:
        return []
    if _are_vectors_intact(transaction.connection, space):
        return []
    detail = "the vectors were altered"
    if repair:
        vector_blocks.delete_all(transaction)
        detail += "; they were deleted, run `quire index` to embed again"
    return [Problem("vectors", detail, repaired=repair)]


def _are_vectors_intact(connection: Connection, space: Space) -> bool:
    try:
        matrix, codes = vector_blocks.read_all(connection, space)
    except StoreDamagedError:
        return False
    slots = connection.rows(
        "SELECT DISTINCT slot, hash FROM vector_slot WHERE space = ? ORDER BY slot", (space.id,)
    )
    complete = [slot for slot, _ in slots] == list(range(space.slots)) and all(
        hashing.digest_bytes(matrix[slot].tobytes()) == expected for slot, expected in slots
    )
    return complete and np.array_equal(codes, vectors.sign_codes(matrix))


def _check_derived(transaction: Transaction, *, repair: bool) -> list[Problem]:
    transaction.trees.flush()
    before = derive.fingerprints(transaction)
    derive.rebuild(transaction)
    after = derive.fingerprints(transaction)
    return [
        Problem(name, "the stored data does not match the records", repaired=repair)
        for name in before
        if before[name] != after[name]
    ]
