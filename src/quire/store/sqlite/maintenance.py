"""How is a store kept in order: merged, purged, checked and repaired?"""

from __future__ import annotations

from collections.abc import Sequence

import apsw
import numpy as np

from quire.core import hashing
from quire.core.types import Problem
from quire.errors import StoreBusyError, StoreDamagedError
from quire.store.index import columns, vectors
from quire.store.index.columns import Columns
from quire.store.sqlite import derive, records, rows
from quire.store.sqlite import posting_lists as segments
from quire.store.sqlite import vector_blocks as vector_table
from quire.store.sqlite.database import Connection
from quire.store.sqlite.transaction import Change, Space, read_space
from quire.store.sqlite.vector_blocks import Slots


def merge(change: Change) -> None:
    """Fold posting lists together, and forget vectors that nothing uses."""
    change.flush_postings()
    segments.merge_all(change.connection, change.space.id, change.draft)
    vector_table.compact(change)


def erase(change: Change, ids: Sequence[str]) -> int:
    """Remove records from everything that a transaction reaches."""
    removed = records.remove(change, ids)
    change.connection.executemany(
        "DELETE FROM stamp WHERE space = ? AND record = ?",
        [(change.space.id, record_id) for record_id in ids],
    )
    merge(change)
    return removed


def rewrite(connection: Connection) -> None:
    """Write the whole file anew, so that nothing deleted is left in it or in its log."""
    connection.pragma("temp_store", "file")
    connection.pragma("secure_delete", True)  # noqa: FBT003 - SQLite's name for it
    connection.execute("VACUUM")
    busy = connection.rows("PRAGMA wal_checkpoint(TRUNCATE)")[0][0]
    if busy:
        raise StoreBusyError(
            "everything was deleted, but another process still reads the old log; "
            "run the same command again when it is done, so that no byte is left"
        )


def check(connection: Connection, *, repair: bool) -> list[Problem]:
    """Check the file, then each space: what is true, and what follows from it."""
    try:
        broken = [text for (text,) in connection.rows("PRAGMA integrity_check") if text != "ok"]
    except apsw.CorruptError as error:  # damaged so badly that it cannot even be looked over
        broken = [str(error)]
    if broken:
        return [Problem("file", text) for text in broken]
    problems: list[Problem] = []
    for (name,) in connection.rows("SELECT name FROM space ORDER BY name"):
        connection.execute("BEGIN IMMEDIATE")
        space = read_space(connection, name)
        assert space is not None, "a space that was just listed"
        change = Change(connection, space, _columns(connection, space))
        found = _check_strays(change, repair=repair)
        found += _check_outlines(change, repair=repair)
        found += _check_chunks(change, repair=repair)
        found += _check_vectors(change, repair=repair)
        found += _check_derived(change, repair=repair)
        if repair and found:
            change.finish()
            connection.execute("COMMIT")
        else:
            connection.execute("ROLLBACK")
        problems += found
    return problems


def _columns(connection: Connection, space: Space) -> Columns:
    try:
        return columns.load(connection, space.id, space.generation, space.rows)
    except StoreDamagedError:
        return Columns(space.generation, columns.blank(space.rows))  # made anew with the rest


def _check_strays(change: Change, *, repair: bool) -> list[Problem]:
    """Whatever belongs to no record is taken out; without `repair` all is undone again."""
    problems: list[Problem] = []
    for what, sql in (
        ("chunks", "DELETE FROM chunk WHERE space = ?1 AND record NOT IN (SELECT number"),
        ("links", "DELETE FROM link WHERE space = ?1 AND source NOT IN (SELECT id"),
        ("outlines", "DELETE FROM outline WHERE record NOT IN (SELECT number"),
    ):
        mine = "" if what == "outlines" else " WHERE space = ?1"
        given = () if what == "outlines" else (change.space.id,)
        change.connection.execute(f"{sql} FROM record{mine})", given)
        if strays := change.connection.changes():
            detail = f"{strays} {what} belong to no record"
            problems.append(Problem("records", detail, repaired=repair))
    return problems


def _check_chunks(change: Change, *, repair: bool) -> list[Problem]:
    """A chunk is named by its text: a text that was altered does not fit its name."""
    problems: list[Problem] = []
    for chunk_id, record_id, path, sequence, text, vector_key, title in change.connection.rows(
        "SELECT c.id, r.id, r.path, c.sequence, c.text, c.vector_key, c.title FROM chunk c "
        "JOIN record r ON r.number = c.record WHERE c.space = ? ORDER BY r.path, c.sequence",
        (change.space.id,),
    ):
        named = hashing.chunk_id(record_id, sequence, text) == chunk_id.hex()
        if named and hashing.vector_key(title, text) == vector_key.hex():
            continue
        detail = f"{path}: chunk {sequence} is not what was indexed"
        if repair:
            detail += _take_out(change, record_id)
        problems.append(Problem("text", detail, repaired=repair))
    return problems


def _check_outlines(change: Change, *, repair: bool) -> list[Problem]:
    """An outline that cannot be read goes, and its record with it; that happens in any case."""
    problems: list[Problem] = []
    for number, record_id, path, body in change.connection.rows(
        "SELECT r.number, r.id, r.path, o.body FROM outline o JOIN record r ON r.number = o.record "
        "WHERE r.space = ? ORDER BY r.path, r.id",
        (change.space.id,),
    ):
        try:
            rows.outline_of(body)
        except StoreDamagedError:
            change.connection.execute("DELETE FROM outline WHERE record = ?", (number,))
            change.connection.execute("DELETE FROM mention WHERE record = ?", (number,))
            detail = f"{path}: its outline cannot be read"
            taken = _take_out(change, record_id)
            detail += taken if repair else ""
            problems.append(Problem("outlines", detail, repaired=repair))
    return problems


def _take_out(change: Change, record_id: str) -> str:
    records.remove(change, [record_id])
    change.connection.execute(
        "DELETE FROM stamp WHERE space = ? AND record = ?", (change.space.id, record_id)
    )
    return "; the file was taken out, run `quire index` to read it again"


def _check_vectors(change: Change, *, repair: bool) -> list[Problem]:
    space = change.space
    if not space.slots:
        return []
    if _sound(change.connection, space):
        return []
    detail = "vectors are not what was stored"
    if repair:
        vector_table.drop(change)
        detail += "; they were dropped, run `quire index` to embed again"
    return [Problem("vectors", detail, repaired=repair)]


def _sound(connection: Connection, space: Space) -> bool:
    try:
        matrix, codes = Slots().read(connection, space.id, space.epoch, space.slots, space.dims)
    except StoreDamagedError:
        return False
    known = connection.rows(
        "SELECT DISTINCT slot, hash FROM vector_slot WHERE space = ? ORDER BY slot", (space.id,)
    )
    named = [slot for slot, _ in known] == list(range(space.slots)) and all(
        hashing.digest_bytes(matrix[slot].tobytes()) == expected for slot, expected in known
    )
    return named and np.array_equal(codes, vectors.encode(matrix))


def _check_derived(change: Change, *, repair: bool) -> list[Problem]:
    change.trees.flush()
    before = derive.fingerprints(change)
    derive.rebuild(change)
    after = derive.fingerprints(change)
    return [
        Problem(name, f"{name} did not follow from the records", repaired=repair)
        for name in before
        if before[name] != after[name]
    ]
