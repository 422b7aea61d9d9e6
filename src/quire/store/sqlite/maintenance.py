"""Maintenance of the file of a store: rewriting, checking and repairing it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

import apsw

from quire.core.types import Problem
from quire.errors import StoreBusyError
from quire.store.sql.maintenance import check_space
from quire.store.sqlite import recover
from quire.store.sqlite.database import Connection
from quire.store.sqlite.page_checksums import CHECKED, RESERVED, UNCHECKED
from quire.system import platform

BACKUP_PAGES = 1024
"""So many pages are copied at once."""


def rewrite(connection: Connection) -> None:
    """Rewrite the whole file, so that no deleted byte is left in it or in its log."""
    connection.pragma("temp_store", "file")
    connection.pragma("secure_delete", True)  # noqa: FBT003 - SQLite's name for it
    connection.execute("VACUUM")
    busy = connection.rows("PRAGMA wal_checkpoint(TRUNCATE)")[0][0]
    if busy:
        raise StoreBusyError(
            "the records were deleted, but the log still holds them because somebody reads it",
            hint="run the same command again when they are done, so that no byte is left",
        )


def backup(source: Connection, path: Path, report: Callable[[int, int], None]) -> None:
    """Write the state that a transaction sees to a new file."""
    source.rows("SELECT 1 FROM space LIMIT 1")  # from here on others may write: it sees none of it
    platform.create_private(path)
    with closing(Connection(str(path), vfs=CHECKED)) as target:
        target.reserve_bytes("main", RESERVED)
        with target.backup("main", source, "main") as copy:
            while not copy.done:
                copy.step(BACKUP_PAGES)
                report(copy.page_count - copy.remaining, copy.page_count)
        target.pragma("journal_mode", "delete")  # one file, without a log beside it


def end_log(path: Path) -> bool:
    """Write the log of a store into its file, which then is all of it.

    Returns False if another process has the store open: then nothing changes.
    """
    with closing(Connection(str(path), vfs=UNCHECKED)) as connection:
        try:
            return bool(connection.pragma("journal_mode", "delete") == "delete")
        except apsw.BusyError:
            return False
        except apsw.Error:  # it is not a database, or not any more
            return True


def settle(path: Path) -> None:
    """Leave a store that nobody has open as one file that opening it does not change.

    A store that is opened gets a log, which the head of its file records. A backup has that head
    from the beginning: otherwise whoever reads one changes its checksum.
    """
    end_log(path)
    with closing(Connection(str(path), vfs=CHECKED)) as connection:
        connection.pragma("journal_mode", "wal")


def check(connection: Connection, place: str = "", *, repair: bool) -> list[Problem]:
    """Check the file, then the primary and the derived data of each space.

    A file that is broken is made anew of what can be read, if it is to be repaired.
    """
    try:
        broken = [text for (text,) in connection.rows("PRAGMA integrity_check") if text != "ok"]
    except apsw.CorruptError as error:  # a damaged page
        tables = ", ".join(recover.unreadable_tables(connection))
        broken = [f"{error}; damaged: {tables}" if tables else str(error)]
    if broken and repair and place:
        return recover.recover(connection, place, partial(check, repair=True))
    if broken:
        return [Problem("file", text) for text in broken]
    problems: list[Problem] = []
    for (name,) in connection.rows("SELECT name FROM space ORDER BY name"):
        connection.execute("BEGIN IMMEDIATE")
        in_space, changed = check_space(connection, name, repair=repair)
        connection.execute("COMMIT" if changed else "ROLLBACK")
        problems += in_space
    return problems
