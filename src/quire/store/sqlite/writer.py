"""What may a writer do inside one transaction?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from quire.core.types import AccessRule, Chunk, Event, Link, Outline, Record, Stamp
from quire.errors import InputError
from quire.store.sqlite import records, rules
from quire.store.sqlite import vector_blocks as vector_table
from quire.store.sqlite.transaction import Change


class SqliteWriter:
    """One write transaction on one space: all of it is kept, or none of it."""

    def __init__(self, change: Change) -> None:
        self._open: Change | None = change

    @property
    def _change(self) -> Change:
        if self._open is None:
            raise InputError("this write is over, and what it wrote is decided: open another")
        return self._open

    def end(self) -> None:
        """Write no more: the transaction is over, and its connection serves others."""
        self._open = None

    def put(
        self,
        record: Record,
        chunks: Sequence[Chunk],
        links: Sequence[Link] = (),
        outline: Outline | None = None,
    ) -> None:
        """Add a record with its chunks, outgoing links and outline, or replace it."""
        records.put(self._change, record, chunks, links, outline)

    def set_modified(self, times: Mapping[str, int | None]) -> None:
        """Say when these records were modified; all else of them stays, absent ones are passed."""
        records.set_modified(self._change, times)

    def remove(self, ids: Iterable[str]) -> int:
        """Remove records with all that belongs to them; gives how many there were."""
        return records.remove(self._change, ids)

    def put_vectors(self, model: str, vectors: Mapping[str, bytes]) -> None:
        """Keep vectors by their key; the first ones set the space's model."""
        vector_table.put(self._change, model, vectors)

    def drop_vectors(self) -> None:
        """Forget all vectors and the model."""
        vector_table.drop(self._change)

    def put_events(self, events: Iterable[Event]) -> None:
        """Add events; the same event twice is one event."""
        records.put_events(self._change, events)

    def set_rules(self, origin: str, rules_: Sequence[AccessRule]) -> None:
        """Replace the access rules of one origin (`config`, then `command`); takes effect now."""
        rules.set_rules(self._change, origin, rules_)

    def set_groups(self, origin: str, groups: Mapping[str, Sequence[str]]) -> None:
        """Replace the groups of one origin."""
        rules.set_groups(self._change, origin, groups)

    def set_default(self, acl: tuple[str, ...]) -> None:
        """Say who may read files that no rule matches."""
        rules.set_default(self._change, acl)

    def stamp(self, stamps: Iterable[Stamp]) -> None:
        """Remember what files looked like."""
        space = self._change.space.id
        self._change.connection.executemany(
            "INSERT INTO stamp (space, path, size, mtime, digest, record) "
            "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET size = excluded.size, "
            "mtime = excluded.mtime, digest = excluded.digest, record = excluded.record",
            [
                (space, known.path, known.size, known.mtime, known.digest, known.record_id)
                for known in stamps
            ],
        )

    def unstamp(self, paths: Iterable[str]) -> None:
        """Forget files."""
        self._change.connection.executemany(
            "DELETE FROM stamp WHERE space = ? AND path = ?",
            [(self._change.space.id, path) for path in paths],
        )

    def set_note(self, key: str, value: str) -> None:
        """Keep a setting of the space that is not part of its state (its root directory)."""
        self._change.connection.execute(
            "INSERT INTO note (space, key, value) VALUES (?, ?, ?) "
            "ON CONFLICT DO UPDATE SET value = excluded.value",
            (self._change.space.id, key, value),
        )
