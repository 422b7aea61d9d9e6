"""A store whose tables are in a database that speaks SQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from quire.core.types import MAIN, AccessRule, HitCount, Problem, Reembedding, Stamp, Viewer
from quire.errors import InputError, StoreError, VectorIndexError
from quire.store import access
from quire.store.index import analyzer
from quire.store.index.columns import ACCESS, SLOT
from quire.store.index.vector_index import VectorIndex
from quire.store.sql import (
    access_rules,
    derive,
    maintenance,
    rows,
    vector_blocks,
    waiting_vectors,
)
from quire.store.sql.access_rules import DEFAULT
from quire.store.sql.connection import Connection, Connections, Row
from quire.store.sql.export import SqlExport
from quire.store.sql.snapshot import Caches, Snapshot, vector_state
from quire.store.sql.transaction import Space, Transaction, read_space
from quire.store.sql.view import SqlView
from quire.store.sql.writer import SqlWriter
from quire.system import events, retry

WAIT_SECONDS = 30.0
EMBED_BATCH = 256
MAX_SPACE_NAME = 200

Result = TypeVar("Result")


class SqlStore:
    """What all engines share: views and transactions of spaces, and the caches of what was read.

    An engine adds how a place is opened, and `shrink`, `purge` and `check`.
    """

    view_type: type[SqlView] = SqlView
    """What a view of this store is; a part of a space answers more."""

    def __init__(self, connections: Connections, index: VectorIndex | None = None) -> None:
        self._connections = connections
        self._index = index
        self._caches = Caches(index)
        for space in retry.again(self._outdated_spaces):
            self._change(space, lambda _: None)  # opening the transaction rebuilds the postings

    @contextmanager
    def view(self, viewer: Viewer, space: str = MAIN) -> Iterator[SqlView]:
        """Open a snapshot for a viewer."""
        with self._connections.read_transaction() as connection:
            stored = read_space(connection, space) or _EMPTY_SPACE
            viewer = _with_groups(connection, stored.id, viewer)
            audiences = connection.rows("SELECT id, acl FROM class WHERE space = ?", (stored.id,))
            classes, shared = (
                frozenset(number for number, acl in audiences if access.may_read(reader, acl))
                for reader in (viewer, replace(viewer, owner=False))
            )
            connection.restrict(viewer, classes)
            snapshot = Snapshot(connection, stored, classes, self._caches, classes - shared)
            place, room = self._connections.place, self._connections.count_bytes
            view = self.view_type(snapshot, viewer, place, room)
            try:
                yield view
                snapshot.damage.refuse_untold(self._connections.place)
            finally:
                view.close()

    @contextmanager
    def write(self, space: str = MAIN) -> Iterator[SqlWriter]:
        """Open the write transaction; wait for another writer, then give up."""
        with self._transaction(space) as transaction:
            writer = SqlWriter(transaction)
            try:
                yield writer
            finally:
                writer.close()

    def spaces(self) -> tuple[str, ...]:
        """Return the names of the spaces, sorted."""
        names = self._read(
            lambda connection: connection.rows("SELECT name FROM space ORDER BY name")
        )
        return tuple([name for (name,) in names])

    @contextmanager
    def export(self, space: str = MAIN) -> Iterator[SqlExport]:
        """Open a snapshot of all that a space holds, to be copied."""
        with self._connections.read_all() as connection:
            stored = read_space(connection, space) or _EMPTY_SPACE
            classes = connection.rows("SELECT id FROM class WHERE space = ?", (stored.id,))
            numbers = frozenset(number for (number,) in classes)
            export = SqlExport(Snapshot(connection, stored, numbers, self._caches))
            try:
                yield export
            finally:
                export.close()

    def model(self, space: str = MAIN) -> str | None:
        """Return the model of the space's vectors, or None if it has none."""
        stored = self._read(lambda connection: read_space(connection, space))
        return stored.model if stored else None

    def missing_vectors(
        self, space: str = MAIN, waiting_for: str | None = None
    ) -> Iterator[list[tuple[str, str]]]:
        """Yield the texts without a vector, in batches of (key, text to embed).

        With `waiting_for`, those without a waiting vector of this model.
        """
        if waiting_for is not None:
            yield from self._missing_waiting(space, waiting_for)
            return
        table = retry.again(partial(self._read_table, space))
        if table is None:
            return
        stored, columns = table
        missing = np.flatnonzero((columns[ACCESS] >= 0) & (columns[SLOT] < 0)).tolist()
        seen: set[bytes] = set()
        for start in range(0, len(missing), EMBED_BATCH):
            keys = [rows.key_of(stored.id, row) for row in missing[start : start + EMBED_BATCH]]
            batch: list[tuple[str, str]] = []
            for key, title, text in retry.again(partial(self._read_texts, stored.id, keys)):
                if key not in seen:
                    seen.add(key)
                    batch.append((key.hex(), _embedding_text(title, text)))
            yield batch

    def _read_texts(self, space: int, keys: Sequence[int]) -> list[Row]:
        """Return vector key, title and text of the chunks with these keys that are there."""
        with self._connections.read_all() as connection:
            found = (
                connection.row(
                    "SELECT vector_key, title, text FROM chunk WHERE space = ? AND key = ?",
                    (space, key),
                )
                for key in keys
            )
            return [chunk for chunk in found if chunk is not None]

    def _read_table(self, space: str) -> tuple[Space, npt.NDArray[np.int32]] | None:
        """Return a space with the columns of its rows; None if it does not exist."""
        with self._connections.read_transaction() as connection:
            stored = read_space(connection, space)
            if stored is None:
                return None
            return stored, self._caches.columns(connection, stored).table

    def _read(self, query: Callable[[Connection], Result]) -> Result:
        """Make one query, again if the server ended it."""

        def attempt() -> Result:
            with self._connections.read_once() as connection:
                return query(connection)

        return retry.again(attempt)

    def _missing_waiting(self, space: str, model: str) -> Iterator[list[tuple[str, str]]]:
        def find() -> tuple[int, list[bytes]]:
            with self._connections.read_all() as connection:
                stored = read_space(connection, space)
                if stored is None:
                    return 0, []
                return stored.id, waiting_vectors.missing_keys(connection, stored.id, model)

        def load(number: int, keys: Sequence[bytes]) -> list[tuple[str, str]]:
            batch: list[tuple[str, str]] = []
            with self._connections.read_all() as connection:
                for key in keys:
                    chunk = connection.row(
                        "SELECT title, text FROM chunk WHERE space = ? AND vector_key = ? LIMIT 1",
                        (number, key),
                    )
                    if chunk is not None:
                        batch.append((key.hex(), _embedding_text(*chunk)))
            return batch

        number, keys = retry.again(find)
        for start in range(0, len(keys), EMBED_BATCH):
            yield retry.again(partial(load, number, keys[start : start + EMBED_BATCH]))

    def reembedding(self, space: str = MAIN) -> Reembedding | None:
        """Return how many chunks have a waiting vector, or None if there is none."""

        def attempt() -> Reembedding | None:
            with self._connections.read_all() as connection:
                stored = read_space(connection, space)
                return None if stored is None else waiting_vectors.count(connection, stored.id)

        return retry.again(attempt)

    def stamps(self, space: str = MAIN, under: str = "") -> dict[str, Stamp]:
        """Return the recorded states of files, by path."""
        below = "AND (s.path = ?2 OR (s.path > ?2 || '/' AND s.path < ?2 || '0'))" if under else ""
        stored = self._read(
            lambda connection: connection.rows(
                "SELECT s.path, s.size, s.mtime, s.digest, s.record FROM stamp s "
                f"JOIN space p ON p.id = s.space WHERE p.name = ?1 {below}",  # `0` follows `/`
                (space, under) if under else (space,),
            )
        )
        return {row[0]: Stamp(*row) for row in stored}

    def rules(self, space: str = MAIN) -> dict[str, tuple[AccessRule, ...]]:
        """Return the access rules by origin."""
        return self._read(lambda connection: access_rules.read_rules(connection, space))

    def groups(self, space: str = MAIN) -> dict[str, dict[str, tuple[str, ...]]]:
        """Return the groups and their members by origin."""
        return self._read(lambda connection: access_rules.read_groups(connection, space))

    def note(self, key: str, space: str = MAIN) -> str | None:
        """Return a setting of the space, or None if it is not set."""
        row = self._read(
            lambda connection: connection.row(
                "SELECT n.value FROM note n JOIN space p ON p.id = n.space "
                "WHERE p.name = ? AND n.key = ?",
                (space, key),
            )
        )
        return None if row is None else str(row[0])

    def merge(self, space: str = MAIN) -> None:
        """Merge small writes; no result changes."""
        self._change(space, maintenance.merge)

    def old_vectors(self, space: str = MAIN) -> int:
        """Return how many vectors of texts are kept that are gone."""
        table = retry.again(partial(self._read_table, space))
        if table is None:
            return 0
        stored, columns = table
        return vector_blocks.count_old(columns, stored)

    def prune_vectors(self, keep: int, space: str = MAIN) -> int:
        """Delete vectors of texts that are gone, the oldest first, but for `keep` of them."""
        before = self.old_vectors(space)
        if before <= keep:
            return 0
        self._change(space, lambda transaction: vector_blocks.compact(transaction, keep))
        return before - self.old_vectors(space)

    def index_problem(self, space: str = MAIN) -> str | None:
        """Return why an index of vectors outside the store is not asked; None if it is."""
        try:
            return self._why_behind(space)
        except VectorIndexError as error:
            return str(error)

    @property
    def search_count(self) -> HitCount:
        """How many semantic searches there were, and how many the cache answered."""
        return self._caches.searches.count

    def close(self) -> None:
        """Close the store; what is open is closed when it ends."""
        self._connections.close()
        self._caches.clear()
        if self._index is not None:
            self._index.close()

    def _outdated_spaces(self) -> list[str]:
        """Return the names of spaces whose words were analyzed under other rules."""
        with self._connections.read_transaction() as connection:
            spaces = connection.rows(
                "SELECT name FROM space WHERE analyzer != ? ORDER BY name", (analyzer.ANALYZER,)
            )
        return [name for (name,) in spaces]

    @contextmanager
    def _transaction(self, space: str) -> Iterator[Transaction]:
        with self._connections.write_transaction(space) as connection:
            transaction = self._begin(connection, space)
            yield transaction
            changed = transaction.finish()
        if changed is not None:
            self._caches.put_columns(transaction.space.id, changed)
        if self._index is not None:
            self._follow(self._index, space)

    def _begin(self, connection: Connection, space: str) -> Transaction:
        """Begin to change a space, which is created if it does not exist."""
        stored = get_or_create_space(connection, space)
        transaction = Transaction(connection, stored, self._caches.columns(connection, stored))
        if stored.analyzer != analyzer.ANALYZER:
            derive.rebuild(transaction)
        return transaction

    def _follow(self, index: VectorIndex, space: str) -> None:
        """Bring an index of vectors to what is stored now, while nobody else writes.

        What was written is written: if this fails, or another writer is waited for too long, the
        index is behind until the next write, and searches scan the store's vectors.
        """
        try:
            self._bring_up(index, space)
        except StoreError as error:
            events.emit("vector_index_behind", events.WARNING, error=type(error).__name__)

    def _bring_up(self, index: VectorIndex, space: str) -> None:
        with self._connections.write_transaction(space) as connection:
            stored = read_space(connection, space)
            if stored is not None:
                columns = partial(self._caches.columns, connection, stored)
                index.follow(vector_state(connection, stored, columns))

    def _check_index(self, *, repair: bool) -> list[Problem]:
        """Tell for which spaces the index of vectors is behind; a repair brings it up to date."""
        if self._index is None:
            return []
        problems: list[Problem] = []
        with self._connections.read_transaction() as connection:
            names = [name for (name,) in connection.rows("SELECT name FROM space ORDER BY name")]
        for name in names:
            if behind := self._why_behind(name):
                if repair:
                    self._bring_up(self._index, name)
                problems.append(Problem("vectors", behind, repaired=repair))
        return problems

    def _why_behind(self, space: str) -> str | None:
        """Return what to tell of an index that is of another state than a space."""
        with self._connections.read_transaction() as connection:
            if self._index is None:
                return None
            stored = read_space(connection, space) or _EMPTY_SPACE
            columns = partial(self._caches.columns, connection, stored)
            state = vector_state(connection, stored, columns)
            if not state.dims or self._index.is_current(state):
                return None
        return f"the index of the vectors of {space} is behind; searches scan the store's"

    def _change(self, space: str, change: Callable[[Transaction], Result]) -> Result:
        """Make a change in a transaction of its own, again as a whole if the server ended it."""

        def attempt() -> Result:
            with self._transaction(space) as transaction:
                return change(transaction)

        return retry.again(attempt)

    def _erase(self, ids: Sequence[str], space: str) -> int:
        """Remove records from all tables; return how many existed."""
        removed = self._change(space, lambda transaction: maintenance.erase(transaction, ids))
        if self._index is not None:
            self._bring_up(self._index, space)  # which raises: the vectors must be gone there, too
        return removed


def _embedding_text(title: str, text: str) -> str:
    return f"{title}\n{text}" if title else text


_EMPTY_SPACE = Space(
    id=-1,
    generation=0,
    rows=0,
    model=None,
    dims=0,
    slots=0,
    epoch=0,
    analyzer="",
    access_default="",
)


def get_or_create_space(connection: Connection, name: str) -> Space:
    """Return a space by its name, which is created if it does not exist."""
    space = read_space(connection, name)
    if space is None:
        if not name or len(name) > MAX_SPACE_NAME or not name.isprintable():
            raise InputError(
                f"{name!r} is not a name for a space",
                value=name,
                hint=f"use 1 to {MAX_SPACE_NAME} printable characters",
            )
        connection.execute(
            "INSERT INTO space (name, analyzer, access_default) VALUES (?, ?, ?)",
            (name, analyzer.ANALYZER, access.canonical(DEFAULT)),
        )
        space = read_space(connection, name)
        assert space is not None, "a space that was just created"
    return space


def _with_groups(connection: Connection, space: int, viewer: Viewer) -> Viewer:
    """Return the viewer with the groups that the store knows, as they are now."""
    groups = connection.rows(
        'SELECT DISTINCT name FROM member WHERE space = ? AND "user" = ?', (space, viewer.name)
    )
    names = {*viewer.groups, *(name for (name,) in groups)}
    return replace(viewer, groups=tuple(sorted(names)))
