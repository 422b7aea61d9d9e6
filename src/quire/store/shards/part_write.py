"""The write transaction of one shard, which is prepared, and committed when all shards are.

What would be found by a look at the whole space, this transaction tells or is told: vectors of a
text belong to all chunks of it that the same people may read, in whatever shard they are.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, cast

from quire.core.types import AccessRule, Chunk, Event, Link, Outline, Record
from quire.store.index.columns import ACCESS, SLOT, Columns
from quire.store.shards import ages
from quire.store.shards.part_view import VERSION
from quire.store.sql import (
    access_rules,
    maintenance,
    records,
    rows,
    vector_blocks,
    waiting_vectors,
)
from quire.store.sql.transaction import Transaction

CALLS = frozenset(
    {
        "adopt", "drop_vectors", "drop_waiting_vectors", "erase", "expect", "forget_vectors",
        "merge", "put", "put_events", "put_vectors", "put_waiting_vectors", "remove", "set_default",
        "set_groups", "set_modified", "set_rules", "switch_vectors", "update",
    }
)  # fmt: skip
"""The calls that change something: a log may ask for no others."""

Need = tuple[str, str]
"""The key of a vector, and the audience of the chunks that it is for."""
Supply = tuple[str, str, bytes]
"""A need with the vector that meets it."""
Leaf = tuple[bytes, bytes, bytes | None]


@dataclass(frozen=True, slots=True)
class Effect:
    """What a call of a writer did in a shard, as far as other shards are concerned."""

    result: Any = None
    lacking: tuple[Need, ...] = ()
    """Chunks here lack these vectors; other shards may have them."""
    brought: tuple[Supply, ...] = ()
    """Chunks brought these vectors along to new readers; other shards may lack them."""
    unmade: tuple[str, ...] = ()
    """Keys of chunks without a waiting vector; other shards may have one."""


class PartWrite:
    """One write transaction on one shard of a space."""

    def __init__(self, stack: ExitStack, transaction: Transaction, mark: str) -> None:
        self._stack = stack
        self._mark = mark
        self._transaction = transaction
        self._connection = cast("Any", transaction.connection)
        self._before = self._connection.total_changes()
        self._epoch = transaction.space.epoch
        self._slots = transaction.space.slots
        self._ages: list[list[int]] | None = None
        self._has_vectors = False
        self._has_waiting = False
        self.columns: Columns | None = None
        self.changed = False
        """Whether there is anything to commit."""
        self.space = transaction.space.id

    # --- the calls of a writer ---------------------------------------------------------------

    def expect(self, vectors: bool, waiting: bool) -> None:
        """Say whether any shard has vectors, or waiting ones: else none is looked for."""
        self._has_vectors, self._has_waiting = vectors, waiting

    def put(
        self,
        record: Record,
        chunks: Sequence[Chunk],
        links: Sequence[Link],
        outline: Outline | None,
    ) -> Effect:
        """Add a record with all that belongs to it, or replace it."""
        before = self._class_of(record.id)
        changed = records.put(self._transaction, record, chunks, links, outline)
        return self._tell(record.id, before, changed) if changed else Effect(changed)

    def update(self, record: Record) -> Effect:
        """Replace what is said of a record."""
        before = self._class_of(record.id)
        changed = records.update(self._transaction, record)
        return self._tell(record.id, before, changed) if changed else Effect(changed)

    def set_modified(self, times: Mapping[str, int | None]) -> Effect:
        """Set the modification times of records."""
        records.set_modified(self._transaction, times)
        return Effect()

    def remove(self, ids: Sequence[str]) -> Effect:
        """Remove records; tell how many existed."""
        return Effect(records.remove(self._transaction, ids))

    def put_vectors(
        self, model: str, vectors: Mapping[str, bytes], needs: Collection[Need] | None
    ) -> Effect:
        """Store vectors for all chunks of their texts, or for those of some audiences."""
        if needs is None:
            vector_blocks.put(self._transaction, model, vectors)
            return Effect()
        return self.adopt(model, [(key, acl, vectors[key]) for key, acl in sorted(needs)])

    def adopt(self, model: str, supplies: Iterable[Supply]) -> Effect:
        """Store vectors for those audiences that hold chunks of their texts here and lack them."""
        classes = self._classes()
        wanted = [
            (bytes.fromhex(key), classes[acl], vector)
            for key, acl, vector in supplies
            if acl in classes
        ]
        vector_blocks.serve(self._transaction, model, wanted)
        return Effect()

    def drop_vectors(self) -> Effect:
        """Delete all vectors and the model."""
        vector_blocks.delete_all(self._transaction)
        return Effect()

    def put_waiting_vectors(self, model: str, vectors: Mapping[str, bytes]) -> Effect:
        """Keep vectors that will replace all others."""
        waiting_vectors.put(self._transaction, model, vectors)
        return Effect()

    def switch_vectors(self, model: str) -> Effect:
        """Replace all vectors by the waiting ones, if none is missing."""
        return Effect(waiting_vectors.switch(self._transaction, model))

    def drop_waiting_vectors(self) -> Effect:
        """Delete the vectors that wait."""
        waiting_vectors.delete_all(self._transaction)
        return Effect()

    def put_events(self, events: Sequence[Event]) -> Effect:
        """Add events."""
        records.put_events(self._transaction, events)
        return Effect()

    def set_rules(self, origin: str, rules: Sequence[AccessRule]) -> Effect:
        """Replace the access rules of one origin."""
        return self._set(lambda: access_rules.set_rules(self._transaction, origin, rules))

    def set_groups(self, origin: str, groups: Mapping[str, Sequence[str]]) -> Effect:
        """Replace the groups of one origin."""
        access_rules.set_groups(self._transaction, origin, groups)
        return Effect()

    def set_default(self, acl: tuple[str, ...]) -> Effect:
        """Set who may read what no rule matches."""
        return self._set(lambda: access_rules.set_default(self._transaction, acl))

    def _set(self, change: Callable[[], None]) -> Effect:
        """Change a setting of access; tell whether it is another one now."""
        before = access_rules.settings(self._transaction)
        change()
        return Effect(access_rules.settings(self._transaction) != before)

    def merge(self) -> Effect:
        """Merge small writes, and delete unused vectors."""
        return Effect(self._with_ages(lambda: maintenance.merge(self._transaction)))

    def erase(self, ids: Sequence[str]) -> Effect:
        """Remove records from all tables; tell how many existed."""
        return Effect(self._with_ages(lambda: maintenance.erase(self._transaction, ids)))

    def forget_vectors(self, kept: Collection[tuple[str, str]]) -> Effect:
        """Delete the vectors that no chunk uses but for some, by key and hash."""
        slots = [slot for slot, key, vector in self._stored() if (key, vector) in set(kept)]
        return Effect(
            self._with_ages(lambda: vector_blocks.compact(self._transaction, frozenset(slots)))
        )

    # --- what other shards need to know -------------------------------------------------------

    def state(self) -> tuple[str | None, int, str | None, int]:
        """Return model and dimensions of the vectors, and of those that wait."""
        waiting = self._connection.row(
            "SELECT model, length(vector) FROM vector_waiting WHERE space = ? LIMIT 1",
            (self.space,),
        )
        space = self._transaction.space
        return space.model, space.dims, *(waiting or (None, 0))

    def audiences_of(self, keys: Sequence[str], chunk_ids: Collection[str]) -> list[Need]:
        """Return the keys of texts with the audiences of some chunks that hold them."""
        names = {number: acl for acl, number in self._classes().items()}
        needs = set()
        for name in keys:
            for chunk_key, chunk_id in self._connection.rows(
                "SELECT key, id FROM chunk WHERE space = ? AND vector_key = ?",
                (self.space, bytes.fromhex(name)),
            ):
                if chunk_id.hex() in chunk_ids:
                    needs.add((name, names[self._field(chunk_key, ACCESS)]))
        return sorted(needs)

    def held_keys(self, keys: Sequence[str]) -> list[str]:
        """Return those of these keys whose text a chunk here has."""
        return [
            key
            for key in keys
            if self._connection.row(
                "SELECT 1 FROM chunk WHERE space = ? AND vector_key = ? LIMIT 1",
                (self.space, bytes.fromhex(key)),
            )
            is not None
        ]

    def find_vectors(self, needs: Iterable[Need]) -> list[Supply]:
        """Return those of these vectors that are here, in use or not."""
        classes = self._classes()
        found: list[Supply] = []
        for key, acl in needs:
            row = self._connection.row(
                "SELECT slot FROM vector_slot WHERE space = ? AND key = ? AND class = ?",
                (self.space, bytes.fromhex(key), classes.get(acl, -1)),
            )
            if row is not None:
                found.append((key, acl, self._vector(row[0])))
        return found

    def find_waiting(self, keys: Iterable[str]) -> dict[str, bytes]:
        """Return those of these waiting vectors that are here."""
        found = {}
        for key in keys:
            row = self._connection.row(
                "SELECT vector FROM vector_waiting WHERE space = ? AND key = ?",
                (self.space, bytes.fromhex(key)),
            )
            if row is not None:
                found[key] = row[0]
        return found

    def lacks_waiting(self, model: str) -> bool:
        """Return whether a text has no waiting vector of a model."""
        return bool(waiting_vectors.missing_keys(self._connection, self.space, model))

    def lacking(self) -> list[Need]:
        """Return the needs of all chunks without a vector."""
        table = self._transaction.draft.table
        names = {number: acl for acl, number in self._classes().items()}
        needs: set[Need] = set()
        for chunk_key, key in self._connection.rows(
            "SELECT key, vector_key FROM chunk WHERE space = ?", (self.space,)
        ):
            row = rows.row_of(chunk_key)
            if table[SLOT, row] < 0:
                needs.add((key.hex(), names[int(table[ACCESS, row])]))
        return sorted(needs)

    def version(self) -> str | None:
        """Return what the shard says of the last write that changed it."""
        row = self._connection.row(
            "SELECT value FROM note WHERE space = ? AND key = ?", (self.space, VERSION)
        )
        return None if row is None else row[0]

    # --- the two phases of a commit -----------------------------------------------------------

    def prepare(self, version: int) -> list[tuple[str, int]] | None:
        """Write all that was collected; return what changed of the tree, or None if nothing did.

        What changed are the numbers of buckets by their audience.
        """
        transaction = self._transaction
        self.columns = transaction.finish()
        if self._connection.total_changes() == self._before:
            return None
        self.changed = True
        self._save_ages(version)
        self._set_note(VERSION, f"{version} {self._mark}".rstrip())
        names = {number: acl for acl, number in self._classes().items()}
        return sorted((names[number], bucket) for number, bucket in transaction.trees.flushed)

    def buckets(self, wanted: Iterable[tuple[str, int]]) -> list[list[Leaf]]:
        """Return the leaves of buckets, by audience and number."""
        classes, trees = self._classes(), self._transaction.trees
        return [
            trees.stored_bucket(classes[acl], number) if acl in classes else []
            for acl, number in wanted
        ]

    def all_buckets(self) -> list[tuple[str, int]]:
        """Return audience and number of all buckets that are not empty."""
        names = {number: acl for acl, number in self._classes().items()}
        found = self._connection.rows(
            "SELECT class, bucket FROM bucket WHERE space = ?", (self.space,)
        )
        return sorted((names[number], bucket) for number, bucket in found)

    def commit(self) -> None:
        """Commit."""
        self._stack.close()

    def roll_back(self) -> None:
        """Undo everything."""
        error = RuntimeError("rolled back")
        self._stack.__exit__(type(error), error, None)

    # --- helpers ------------------------------------------------------------------------------

    def _class_of(self, record_id: str) -> int | None:
        row = self._connection.row(
            "SELECT class FROM record WHERE space = ? AND id = ?", (self.space, record_id)
        )
        return None if row is None else int(row[0])

    def _classes(self) -> dict[str, int]:
        """Return the numbers of all audiences."""
        return dict(
            self._connection.rows("SELECT acl, id FROM class WHERE space = ?", (self.space,))
        )

    def _field(self, chunk_key: int, field: int) -> int:
        return int(self._transaction.draft.table[field, rows.row_of(chunk_key)])

    def _vector(self, slot: int) -> bytes:
        block, place = divmod(slot, vector_blocks.BLOCK)
        dims = self._transaction.space.dims
        (data,) = self._connection.row(
            "SELECT substr(vectors, ?, ?) FROM vector_block WHERE space = ? AND block = ?",
            (place * dims + 1, dims, self.space, block),
        )
        return bytes(data)

    def _tell(self, record_id: str, before: int | None, changed: bool) -> Effect:
        if not (self._has_vectors or self._has_waiting):
            return Effect(changed)
        now = self._class_of(record_id)
        (acl,) = self._connection.row("SELECT acl FROM class WHERE id = ?", (now,))
        chunks = self._connection.rows(
            "SELECT c.key, c.vector_key FROM record r JOIN chunk c ON c.record = r.number "
            "WHERE r.space = ? AND r.id = ?",
            (self.space, record_id),
        )
        slots = {key.hex(): self._field(chunk_key, SLOT) for chunk_key, key in chunks}
        moved = before is not None and before != now
        unmade: tuple[str, ...] = ()
        if self._has_waiting:
            unmade = tuple(sorted({*slots} - {*self.find_waiting(slots)}))
        return Effect(
            changed,
            lacking=tuple((key, acl) for key, slot in slots.items() if slot < 0),
            brought=tuple(
                (key, acl, self._vector(slot)) for key, slot in slots.items() if slot >= 0 and moved
            ),
            unmade=unmade,
        )

    # --- the ages of vectors ------------------------------------------------------------------

    def _stored(self) -> list[tuple[int, str, str]]:
        return ages.stored(self._connection, self.space)

    def _with_ages(self, change: Callable[[], Any]) -> Any:
        """Make a change that numbers slots anew, and keep the ages of their vectors."""
        marks_before = self._read_ages()
        epoch = self._transaction.space.epoch
        known = {
            (key, vector): ages.age_of(marks_before, slot) for slot, key, vector in self._stored()
        }
        result = change()
        if self._transaction.space.epoch != epoch:
            marks: list[list[int]] = []
            for slot, key, vector in self._stored():
                age = max(known[key, vector], marks[-1][0] if marks else 0)
                if marks and marks[-1][0] == age:
                    marks[-1][1] = slot + 1
                else:
                    marks.append([age, slot + 1])
            self._ages = marks
            self._epoch, self._slots = self._transaction.space.epoch, self._transaction.space.slots
        return result

    def _read_ages(self) -> list[list[int]]:
        if self._ages is not None:
            return self._ages
        return ages.read_marks(self._connection, self.space)

    def _save_ages(self, version: int) -> None:
        space = self._transaction.space
        if self._ages is None and (space.epoch, space.slots) == (self._epoch, self._slots):
            return
        marks = self._read_ages() if space.epoch == self._epoch else []
        if not marks or marks[-1][1] < space.slots:
            marks = [*marks, [version, space.slots]]
        if len(marks) > ages.MAX_MARKS:  # the oldest become alike
            marks = marks[len(marks) // 2 :]
        self._set_note(ages.NOTE, json.dumps(marks))

    def _set_note(self, key: str, value: str) -> None:
        self._connection.execute(
            "INSERT INTO note (space, key, value) VALUES (?, ?, ?) "
            "ON CONFLICT (space, key) DO UPDATE SET value = excluded.value",
            (self.space, key, value),
        )
