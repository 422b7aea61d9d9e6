"""The writer: what can be changed inside one transaction."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from quire.core.types import AccessRule, Chunk, Event, Link, Outline, Record, Stamp
from quire.errors import InputError
from quire.store.sql import access_rules, records, vector_blocks, waiting_vectors
from quire.store.sql.transaction import Transaction


class SqlWriter:
    """One write transaction on one space: all of it is kept, or none of it."""

    def __init__(self, transaction: Transaction) -> None:
        self._open: Transaction | None = transaction

    @property
    def _transaction(self) -> Transaction:
        if self._open is None:
            raise InputError("the writer is closed", hint="open another with `write()`")
        return self._open

    def close(self) -> None:
        """Refuse all further calls: the transaction is over, and its connection is reused."""
        self._open = None

    def put(
        self,
        record: Record,
        chunks: Sequence[Chunk],
        links: Sequence[Link] = (),
        outline: Outline | None = None,
    ) -> bool:
        """Add a record with its chunks, outgoing links and outline, or replace it."""
        return records.put(self._transaction, record, chunks, links, outline)

    def update(self, record: Record) -> bool:
        """Replace what is said of a record, but not its chunks, links and outline."""
        return records.update(self._transaction, record)

    def set_modified(self, times: Mapping[str, int | None]) -> None:
        """Set the modification times of records; absent ones are skipped."""
        records.set_modified(self._transaction, times)

    def remove(self, ids: Iterable[str]) -> int:
        """Remove records with all that belongs to them; return how many existed."""
        return records.remove(self._transaction, ids)

    def put_vectors(
        self, model: str, vectors: Mapping[str, bytes], chunks: Collection[str] | None = None
    ) -> None:
        """Store vectors by their key, for all chunks of their texts or for the readers of some."""
        vector_blocks.put(self._transaction, model, vectors, chunks)

    def drop_vectors(self) -> None:
        """Delete all vectors and the model."""
        vector_blocks.delete_all(self._transaction)

    def put_waiting_vectors(self, model: str, vectors: Mapping[str, bytes]) -> None:
        """Keep vectors that will replace all others; no search sees them before."""
        waiting_vectors.put(self._transaction, model, vectors)

    def switch_vectors(self, model: str) -> bool:
        """Replace all vectors by the waiting ones of a model, if no text lacks one."""
        return waiting_vectors.switch(self._transaction, model)

    def drop_waiting_vectors(self) -> None:
        """Delete the vectors that wait."""
        waiting_vectors.delete_all(self._transaction)

    def put_events(self, events: Iterable[Event]) -> None:
        """Add events; a repeated event is stored once."""
        records.put_events(self._transaction, events)

    def set_rules(self, origin: str, rules: Sequence[AccessRule]) -> None:
        """Replace the access rules of one origin (`config`, then `command`) with effect now."""
        access_rules.set_rules(self._transaction, origin, rules)

    def set_groups(self, origin: str, groups: Mapping[str, Sequence[str]]) -> None:
        """Replace the groups of one origin."""
        access_rules.set_groups(self._transaction, origin, groups)

    def set_default(self, acl: tuple[str, ...]) -> None:
        """Set who may read what no rule matches."""
        access_rules.set_default(self._transaction, acl)

    def stamp(self, stamps: Iterable[Stamp]) -> None:
        """Record the state of files."""
        space = self._transaction.space.id
        self._transaction.connection.executemany(
            "INSERT INTO stamp (space, path, size, mtime, digest, record) "
            "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (space, path) DO UPDATE "
            "SET size = excluded.size, mtime = excluded.mtime, digest = excluded.digest, "
            "record = excluded.record",
            [
                (space, stamp.path, stamp.size, stamp.mtime, stamp.digest, stamp.record_id)
                for stamp in stamps
            ],
        )

    def unstamp(self, paths: Iterable[str]) -> None:
        """Forget the state of files."""
        self._transaction.connection.executemany(
            "DELETE FROM stamp WHERE space = ? AND path = ?",
            [(self._transaction.space.id, path) for path in paths],
        )

    def set_note(self, key: str, value: str | None) -> None:
        """Store a setting of the space that is not part of its state; None deletes it."""
        if value is None:
            self._transaction.connection.execute(
                "DELETE FROM note WHERE space = ? AND key = ?", (self._transaction.space.id, key)
            )
            return
        self._transaction.connection.execute(
            "INSERT INTO note (space, key, value) VALUES (?, ?, ?) "
            "ON CONFLICT (space, key) DO UPDATE SET value = excluded.value",
            (self._transaction.space.id, key, value),
        )
