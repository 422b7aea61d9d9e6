"""Recovery of a damaged file: what can be read is written to a new one, which takes its place.

Rows are read through the table and through each of its indexes, forwards and backwards, so that a
damaged page costs no more than the rows on it. Everything derived is built anew. Who may read what
must be known completely: without it, nothing is recovered, since less of it could show more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from quire.core.types import Problem
from quire.errors import StoreBusyError
from quire.store.sqlite import page_checksums, schema
from quire.store.sqlite.database import Connection
from quire.system import platform

ACCESS = ("space", "class", "kind", "rule", "member")
"""What must be read completely: who may read what, and what kinds of texts there are."""
KEYED = {"record": "number", "chunk": "key", "outline": "record"}
"""Tables whose rows have a number, and its column."""
LISTED = {
    "stamp": ("what is known of files is lost in part; `quire index` reads them again", True),
    "note": ("settings of the store are lost in part; `quire index` writes them again", True),
    "event": ("LOST: some of what users viewed and edited", False),
    "link": (
        "LOST: some links of blocks and memories; `quire index` reads all files again",
        False,
    ),
}
"""Tables of which less than all is of use, and what it means that some is lost."""
DERIVED = frozenset(
    {"rows", "words", "access", "names", "metadata", "leaf", "bucket", "node", "root"}
)
"""What a new file lacks and gets: no problem of the old one."""
BUSY_MILLISECONDS = 30_000
VECTORS = ("vector_slot", "vector_block")
UNREADABLE = (*Connection.damage, UnicodeDecodeError)
_UNKNOWN = "a record whose name is lost"


class Recovery:
    """Copies what is left of a damaged file."""

    def __init__(self, source: Connection, target: Connection) -> None:
        self._source = source
        self._target = target
        self.lost: dict[str, bool] = {}
        """The paths of records that are gone, and whether each was read from a file."""
        self.problems: list[Problem] = []

    def copy(self) -> bool:
        """Copy all tables; return whether what decides over access is complete."""
        for table in ACCESS:
            if not self._copy(table):
                self.problems.append(
                    Problem("access", f"the table {table} is damaged; {_HOPELESS}")
                )
                return False
        missing = {table: self._copy_keyed(table, key) for table, key in KEYED.items()}
        for table, (detail, repaired) in LISTED.items():
            if not self._copy(table):
                self.problems.append(Problem(table, detail, repaired=repaired))
                if table == "link":
                    self._target.execute("DELETE FROM stamp")
        self._copy_vectors()
        self._drop_incomplete(missing)
        self._continue_counters()
        return True

    def _copy_vectors(self) -> None:
        if all(self._copy(table) for table in VECTORS):
            return
        for table in VECTORS:
            self._target.execute(f"DELETE FROM {table}")
        self._target.execute("UPDATE space SET model = NULL, dims = 0, slots = 0")
        detail = "vectors are damaged; all were deleted, run `quire index` to embed again"
        self.problems.append(Problem("vectors", detail, repaired=True))

    def _copy_keyed(self, table: str, key: str) -> set[int]:
        """Copy the rows of a table by their numbers; return the numbers of those that are lost."""
        if self._copy(table):
            return set()
        numbers = {number for (number,) in self._by_indexes(table, key)}
        if table == "outline":  # it has no index, but every outline belongs to a record
            numbers |= {number for (number,) in self._target.rows("SELECT number FROM record")}
        copied = {number for (number,) in self._target.rows(f"SELECT {key} FROM {table}")}
        lost: set[int] = set()
        for number in sorted(numbers - copied):
            try:
                self._insert(
                    table, self._source.rows(f"SELECT * FROM {table} WHERE {key} = ?", (number,))
                )
            except UNREADABLE:
                lost.add(number)
        return lost

    def _drop_incomplete(self, missing: dict[str, set[int]]) -> None:
        """Take out records that are not whole any more, so that their files are read again."""
        owners = dict(self._by_indexes("chunk", "key, record"))
        paths = dict(self._by_indexes("record", "number, path"))
        ids = dict(self._by_indexes("record", "number, id"))
        kept = dict(self._target.rows("SELECT number, path FROM record"))
        names = dict(self._target.rows("SELECT number, id FROM record"))
        stamped = {name for (name,) in self._target.rows("SELECT record FROM stamp")}
        broken = missing["record"] | missing["outline"]
        broken |= {owners[key] for key in missing["chunk"] if key in owners}
        if missing["chunk"] - owners.keys():
            self.problems.append(Problem("text", "pieces are lost whose record is not known"))
        for number in sorted(broken):
            name = names.get(number) or ids.get(number)
            path = kept.get(number) or paths.get(number) or _UNKNOWN
            self.lost[path] = name in stamped
            self._target.execute("DELETE FROM record WHERE number = ?", (number,))
            for table in ("chunk", "outline"):
                self._target.execute(f"DELETE FROM {table} WHERE record = ?", (number,))
            self._target.execute("DELETE FROM link WHERE source = ?", (name,))
            self._target.execute("DELETE FROM stamp WHERE record = ?", (name,))

    def _continue_counters(self) -> None:
        """Use no number again that the caches of an open store are keyed by."""
        used = [(0,)]
        with suppress(*Connection.damage):
            used += self._source.rows("SELECT seq FROM sqlite_sequence")
        self._target.execute("INSERT INTO sqlite_sequence VALUES ('segment', ?)", (max(used)[0],))
        self._target.execute("UPDATE space SET generation = generation + 1, epoch = epoch + 1")

    def report(self) -> list[Problem]:
        """Return what was found: what is lost, what is to be read again, what was made again."""
        lost = [
            Problem(
                "text",
                f"{path}: damaged and taken out; its file is read again by `quire index`"
                if from_file
                else f"{path}: LOST; it was damaged, and no file has it",
                repaired=from_file,
            )
            for path, from_file in sorted(self.lost.items())
        ]
        rebuilt = Problem(
            "file", "damaged; a new one was made of what could be read", repaired=True
        )
        return [rebuilt, *lost, *(each for each in self.problems if each.check not in DERIVED)]

    # --- reading -------------------------------------------------------------------------------

    def _copy(self, table: str) -> bool:
        """Copy the rows of a table that can be read; return whether these are all."""
        columns = ", ".join(self._columns(table))
        for order in ("NOT INDEXED", *self._orders(table)):
            try:
                self._insert(table, self._source.stream(f"SELECT {columns} FROM {table} {order}"))
            except UNREADABLE:
                continue
            return True
        return False

    def _by_indexes(self, table: str, columns: str) -> set[tuple[Any, ...]]:
        """Return some columns of all rows, as far as any index or the table itself has them."""
        rows: set[tuple[Any, ...]] = set()
        for order in self._orders(table):
            with suppress(*UNREADABLE):
                for row in self._source.stream(f"SELECT {columns} FROM {table} {order}"):
                    rows.add(row)
        return rows

    def _orders(self, table: str) -> Iterator[str]:
        """Yield the ways through a table: by its own order and by each index, both ways."""
        key = ", ".join(self._key(table))
        yield f"NOT INDEXED ORDER BY {key}"
        yield f"NOT INDEXED ORDER BY {', '.join(f'{name} DESC' for name in self._key(table))}"
        for _, name, _, _, partial in self._target.rows(f"PRAGMA index_list({table})"):
            columns = [row[2] for row in self._target.rows(f"PRAGMA index_info({name})")]
            if not partial and not (name.startswith("sqlite_") and key == ", ".join(columns)):
                yield f"INDEXED BY {name} ORDER BY {', '.join(columns)}"
                yield f"INDEXED BY {name} ORDER BY {', '.join(f'{each} DESC' for each in columns)}"

    def _columns(self, table: str) -> list[str]:
        return [row[1] for row in self._target.rows(f"PRAGMA table_info({table})")]

    def _key(self, table: str) -> list[str]:
        info = self._target.rows(f"PRAGMA table_info({table})")
        return [row[1] for row in sorted(info, key=lambda row: row[5]) if row[5]]

    def _insert(self, table: str, rows: Iterable[tuple[Any, ...]]) -> None:
        marks = ", ".join("?" * len(self._columns(table)))
        statement = f"INSERT OR IGNORE INTO {table} VALUES ({marks})"
        for row in rows:  # one by one: what was read before an error is kept
            self._target.execute(statement, row)


_HOPELESS = (
    "what it says cannot be guessed, and without it texts could be shown to others; restore a "
    "backup, or delete the file and index again"
)


def unreadable_tables(connection: Connection) -> list[str]:
    """Return the names of the tables and indexes that cannot be read to their end."""
    names = []
    for (name,) in connection.rows(
        "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"
    ):
        try:
            connection.rows(f"PRAGMA quick_check({name})")
        except UNREADABLE:
            names.append(name)
    return names


def recover(
    connection: Connection, place: str, check: Callable[[Connection], list[Problem]]
) -> list[Problem]:
    """Replace a damaged file by what can be read of it; return what was found, and what is lost.

    `check` repairs the new file, in which all that is derived is missing.
    """
    path = Path(f"{place}-recovered")
    path.unlink(missing_ok=True)
    platform.create_private(path)
    try:
        with closing(Connection(str(path), vfs=page_checksums.CHECKED)) as target:
            target.reserve_bytes("main", page_checksums.RESERVED)
            target.pragma("journal_mode", "off")
            schema.migrate(target)
            before = connection.pragma("data_version")
            recovery = Recovery(connection, target)
            target.execute("BEGIN")
            complete = recovery.copy()
            target.execute("COMMIT")
            if not complete:
                return recovery.problems
            recovery.problems += check(target)
            if connection.pragma("data_version") != before:
                raise StoreBusyError(
                    "the store was written to while it was repaired",
                    place=place,
                    hint="run the same command again",
                )
            _replace(place, target)
    finally:
        path.unlink(missing_ok=True)
    return recovery.report()


def _replace(place: str, source: Connection) -> None:
    """Write a whole file over another, in one transaction."""
    with closing(Connection(place, vfs=page_checksums.UNCHECKED)) as target:
        target.set_busy_timeout(BUSY_MILLISECONDS)
        with target.backup("main", source, "main") as backup:
            while not backup.done:
                backup.step()
        target.rows("PRAGMA wal_checkpoint(TRUNCATE)")
