"""What the worker processes of a service share: receipts, answers to repeated writes, index jobs.

A SQLite file beside the store, or in the user's state folder if the store is on a server: the
project may be read-only then. Nothing in it is needed to read the store: without it, receipts that
were not fetched are gone and a repeated write is a second one.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from quire.config import Config
from quire.core import hashing
from quire.core.serialize import to_plain
from quire.core.types import ALL, RECEIPT_PARTS, Context
from quire.errors import ConfigError, StoreBusyError, StoreDamagedError
from quire.indexing.project import SERVICE
from quire.system import platform
from quire.system.rollback_journals import refuse_foreign_journal

Parsed = TypeVar("Parsed", dict[str, Any], list[Any])
FOLDER = "services"
MAX_RECEIPTS = 10_000
"""Receipts that are kept for each viewer."""
MAX_QUERY = 200
"""Characters of a query that a list shows."""
_SIZE = "length(receipt) + length(text) + length(chunks)"
KEPT_ANSWERS = 24 * 60 * 60
"""Seconds for which a repeated write gets its first answer."""
KEPT_JOBS = 1000
_DELETE_OLD_ANSWERS = "DELETE FROM answers WHERE at < ?"
BUSY_MS = 10_000
_PRUNE_EVERY = 256
"""Receipts of a viewer that are added between two prunings."""
_SCHEMA = """
CREATE TABLE IF NOT EXISTS receipts (
    viewer TEXT NOT NULL, id TEXT NOT NULL, at INTEGER NOT NULL, receipt TEXT NOT NULL,
    text TEXT NOT NULL, chunks TEXT NOT NULL, about TEXT NOT NULL DEFAULT '{}',
    PRIMARY KEY (viewer, id)
) WITHOUT ROWID;
DROP INDEX IF EXISTS receipts_at;
CREATE INDEX IF NOT EXISTS receipts_of_viewer ON receipts (viewer, at);
CREATE TABLE IF NOT EXISTS answers (
    caller TEXT NOT NULL, key TEXT NOT NULL, request TEXT NOT NULL, at INTEGER NOT NULL,
    pid INTEGER NOT NULL, status INTEGER, body BLOB, PRIMARY KEY (caller, key)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS answers_at ON answers (at);
CREATE TABLE IF NOT EXISTS jobs (
    id TEXT PRIMARY KEY, at INTEGER NOT NULL, pid INTEGER NOT NULL, beat REAL NOT NULL,
    state TEXT NOT NULL, cancel INTEGER NOT NULL DEFAULT 0, request TEXT NOT NULL,
    progress TEXT NOT NULL DEFAULT '{}', result TEXT, error TEXT
);
"""


@dataclass(frozen=True, slots=True)
class KeptReceipt:
    """A receipt, the text that it is of, and the chunks of which they tell."""

    receipt: dict[str, Any]
    text: str
    chunks: tuple[str, ...]
    at: int


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """The answer to a write with a key; no status: it was begun, and nobody knows how it ended."""

    request: str
    at: int
    pid: int
    """The process that began it."""
    status: int | None
    body: bytes


def journal_file(config: Config, environment: Mapping[str, str]) -> Path:
    """Return the file that the workers of a service share."""
    store = config.store
    if not config.server:
        return store.with_name(f"{store.name}{SERVICE}")
    above = platform.user_state_folder(environment)
    if above is None:
        raise ConfigError(
            "there is no place to keep receipts", hint="set HOME or XDG_STATE_HOME to a folder"
        )
    name = hashing.identifier("service", str(store.absolute()))
    return above / "quire" / FOLDER / f"{name}.db"


NO_FACTS: Mapping[str, Any] = {"query": None, "recipe": None, "tokens": None, "available": None}
"""Of a receipt that an earlier version kept."""


def _about(context: Context) -> str:
    """Return what a list tells of a receipt, as JSON."""
    receipt: Mapping[str, Any] = context.receipt
    facts = {
        "query": receipt["request"]["query"][:MAX_QUERY],
        "recipe": receipt["recipe"]["name"],
        "tokens": context.tokens,
        "available": context.available,
    }
    return json.dumps(facts)


class Journal:
    """The shared file, open in one process; any of its threads may use it."""

    def __init__(self, path: Path, max_bytes: int = ALL) -> None:
        self.path = path
        self._max_bytes = max_bytes
        self._refuse_link()
        refuse_foreign_journal(str(path))
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            platform.create_private(path)
            platform.restrict(path)
        except OSError as error:
            raise ConfigError(
                f"the service cannot keep receipts: {error.strerror or error}",
                place=str(path),
                hint="let the service write there; with a store on a server, set XDG_STATE_HOME",
            ) from error
        self._lock = threading.Lock()
        self._added: dict[str, int] = {}
        with self._errors():
            self._db = sqlite3.connect(
                self.path, timeout=BUSY_MS / 1000, isolation_level=None, check_same_thread=False
            )
            self._db.execute("PRAGMA trusted_schema = OFF")
            self._refuse_programs()
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._db.executescript(_SCHEMA)
            known = {row[1] for row in self._db.execute("PRAGMA table_info(receipts)")}
            if "about" not in known:  # of an earlier version
                self._db.execute("ALTER TABLE receipts ADD COLUMN about TEXT NOT NULL DEFAULT '{}'")

    def _refuse_link(self) -> None:
        """Refuse a link: a project can come with one, which leads to a file of somebody else."""
        if self.path.is_symlink():
            raise ConfigError(
                "the service's own file is a link, which is not followed",
                place=str(self.path),
                hint="delete it: the service makes a file in its place",
            )

    def _refuse_programs(self) -> None:
        """Refuse triggers and views: a project can come with a file that has some."""
        if self._db.execute(
            "SELECT 1 FROM sqlite_master WHERE type IN ('trigger', 'view')"
        ).fetchall():
            self._db.close()
            raise ConfigError(
                "the service's own file holds triggers or views, which no service made",
                place=str(self.path),
                hint="delete it: no document is in it",
            )

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    # --- receipts ------------------------------------------------------------------------------

    def keep_receipt(self, viewer: str, context: Context, chunks: Sequence[str], at: int) -> None:
        """Keep the receipt of a context for its viewer, whose oldest ones are dropped."""
        name = str(context.receipt["hash"])
        if self._rows("SELECT 1 FROM receipts WHERE viewer = ? AND id = ?", viewer, name):
            return
        whole = context.receipt
        # As it is handed out: without the parts that are made again from the store.
        receipt = json.dumps(
            {part: to_plain(whole[part]) for part in whole if part not in RECEIPT_PARTS}
        )
        self._rows(
            "INSERT OR REPLACE INTO receipts VALUES (?, ?, ?, ?, ?, ?, ?)",
            *(viewer, name, at, receipt, context.text, json.dumps(chunks), _about(context)),
        )
        added = self._added.get(viewer, 0)
        self._added[viewer] = added + 1
        if added % _PRUNE_EVERY == 0:
            self._prune_receipts(viewer)

    def prune(self, at: int) -> None:
        """Delete receipts over the limits and old answers, and give the room back."""
        for (viewer,) in self._rows("SELECT DISTINCT viewer FROM receipts ORDER BY viewer"):
            self._prune_receipts(viewer)
        self._rows(_DELETE_OLD_ANSWERS, at - KEPT_ANSWERS)
        self._rows("VACUUM")

    def _prune_receipts(self, viewer: str) -> None:
        """Delete the oldest receipts of a viewer with too many, and of those with most bytes."""
        self._rows(
            "DELETE FROM receipts WHERE viewer = ? AND id IN (SELECT id FROM receipts "
            "WHERE viewer = ? ORDER BY at DESC, id LIMIT -1 OFFSET ?)",
            *(viewer, viewer, MAX_RECEIPTS),
        )
        while self._max_bytes != ALL:
            used = self._rows(
                f"SELECT viewer, sum({_SIZE}) AS used FROM receipts "  # noqa: S608 - a constant  # nosec B608
                "GROUP BY viewer ORDER BY used DESC, viewer"
            )
            if sum(size for _, size in used) <= self._max_bytes:
                return
            # The older half of whoever has most: nobody's receipts go because of another's.
            viewer, size = used[0]
            self._rows(
                "DELETE FROM receipts WHERE viewer = ? AND id IN (SELECT id FROM (SELECT id, "  # noqa: S608 - a constant  # nosec B608
                f"sum({_SIZE}) OVER (ORDER BY at DESC, id) AS used "
                "FROM receipts WHERE viewer = ?) WHERE used > ?)",
                *(viewer, viewer, size // 2),
            )

    def receipt(self, viewer: str, name: str) -> KeptReceipt | None:
        """Return a receipt of a viewer by its hash."""
        rows = self._rows(
            "SELECT receipt, text, chunks, at FROM receipts WHERE viewer = ? AND id = ?",
            *(viewer, name),
        )
        for receipt, text, chunks, at in rows:
            kept, pieces = self.parse(receipt, dict), self.parse(chunks, list)
            return KeptReceipt(kept, text, tuple(pieces), at)
        return None

    def receipts(self, viewer: str) -> list[dict[str, Any]]:
        """List a viewer's receipts, the newest first: ids, times, and what was asked for."""
        rows = self._rows(
            "SELECT id, at, about FROM receipts WHERE viewer = ? ORDER BY at DESC, id", viewer
        )
        return [
            {"id": name, "at": at, **NO_FACTS, **self.parse(about, dict)}
            for name, at, about in rows
        ]

    # --- answers -------------------------------------------------------------------------------

    def begin_answer(self, caller: str, key: str, request: str, at: int) -> KeptAnswer | None:
        """Reserve a key for a write; return what is known if it was reserved before."""
        self._rows(_DELETE_OLD_ANSWERS, at - KEPT_ANSWERS)
        added = self._rows(
            "INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?, ?, NULL, NULL) RETURNING 1",
            *(caller, key, request, at, os.getpid()),
        )
        if added:
            return None
        rows = self._rows(
            "SELECT request, at, pid, status, body FROM answers WHERE caller = ? AND key = ?",
            *(caller, key),
        )
        return KeptAnswer(*rows[0]) if rows else None

    def finish_answer(self, caller: str, key: str, status: int, body: bytes) -> None:
        """Keep the answer to a write."""
        self._rows(
            "UPDATE answers SET status = ?, body = ? WHERE caller = ? AND key = ?",
            *(status, body, caller, key),
        )

    def drop_answer(self, caller: str, key: str) -> None:
        """Forget a key whose write was refused: nothing was written."""
        self._rows("DELETE FROM answers WHERE caller = ? AND key = ?", caller, key)

    # --- jobs ----------------------------------------------------------------------------------

    def rows(self, statement: str, *values: Any) -> list[Any]:
        """Run a statement on the table of jobs, in one transaction."""
        return self._rows(statement, *values)

    def parse(self, text: Any, form: type[Parsed]) -> Parsed:
        """Return the JSON of a column; the file may have come with a project, from anybody."""
        try:
            parsed = json.loads(text)
        except (TypeError, ValueError, RecursionError) as error:
            raise self._damaged("a row is no JSON") from error
        if not isinstance(parsed, form):
            raise self._damaged("a row is of another form")
        return parsed

    def _damaged(self, what: object) -> StoreDamagedError:
        return StoreDamagedError(
            f"the service's own file is damaged: {what}",
            place=str(self.path),
            hint="stop the service and delete it: no document is in it",
        )

    def _rows(self, statement: str, *values: Any) -> list[Any]:
        with self._lock, self._errors():
            return self._db.execute(statement, values).fetchall()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            raise StoreBusyError(f"the service's own file is not available: {error}") from error
        except sqlite3.DatabaseError as error:
            raise self._damaged(error) from error
