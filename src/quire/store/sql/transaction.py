"""The state of a write transaction, from its first statement to its last."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from quire.core.types import AccessRule, Event
from quire.store import access
from quire.store.index.columns import Columns, ColumnsDraft
from quire.store.index.postings import PostingBuilder
from quire.store.index.trees import Trees
from quire.store.sql import posting_lists, row_blocks
from quire.store.sql.connection import Connection
from quire.store.sql.tree_tables import TreeTables

ORIGINS = ("config", "command")
"""Where access rules come from; later origins take precedence."""


@dataclass(slots=True)
class Space:
    """A row of the table `space`, as a transaction sees and changes it."""

    id: int
    generation: int
    rows: int
    model: str | None
    dims: int
    slots: int
    epoch: int
    analyzer: str
    access_default: str


_FIELDS = "generation, rows, model, dims, slots, epoch, analyzer, access_default"


def read_space(connection: Connection, name: str) -> Space | None:
    """Return a space by its name, or None if it does not exist."""
    row = connection.row(
        f"SELECT id, {_FIELDS} FROM space WHERE name = ?",
        (name,),
    )
    return None if row is None else Space(*row)


class Transaction:
    """The state of one write transaction on one space."""

    def __init__(self, connection: Connection, space: Space, columns: Columns) -> None:
        self.connection = connection
        self.space = space
        self.draft = ColumnsDraft(columns)
        self.trees = Trees(TreeTables(connection, space.id))
        self.postings = PostingBuilder()
        self.changed = False
        """Set by changes that neither the trees nor the columns show."""
        self.rules = self.read_rules()
        self._numbers: dict[tuple[str, str], int] = {}
        self._event_classes: dict[tuple[str, int], int] = {}
        self._classes: dict[access.Audience, int] = {}
        self._has_events: bool | None = None

    @property
    def has_events(self) -> bool:
        """Whether there is any event in the space."""
        if self._has_events is None:
            found = self.connection.row(
                "SELECT 1 FROM event WHERE space = ? LIMIT 1", (self.space.id,)
            )
            self._has_events = found is not None
        return self._has_events

    def note_events(self, added: Collection[Event]) -> None:
        """Take note that events were added."""
        if added:
            self._has_events = True

    def access_class(self, audience: access.Audience) -> int:
        """Return the number of an access class, which is created when needed."""
        number = self._classes.get(audience)
        if number is None:
            number = self._classes[audience] = self.class_number(access.canonical(audience))
        return number

    def class_number(self, audience: str) -> int:
        """Return the number of the access class of a serialized audience."""
        return self._number("class", "acl", audience)

    def event_class(self, actor: str, record_class: int | None) -> int:
        """Return the access class of an event: its actor, while they may read the record.

        An event on a record that does not exist is for the owner alone.
        """
        if record_class is None:
            return self.access_class(access.OWNER_ONLY)
        number = self._event_classes.get((actor, record_class))
        if number is None:
            ((acl,),) = self.connection.rows(
                "SELECT acl FROM class WHERE space = ? AND id = ?", (self.space.id, record_class)
            )
            number = self._number("class", "acl", access.canonical_event(actor, acl))
            self._event_classes[actor, record_class] = number
        return number

    def kind(self, name: str) -> int:
        """Return the number of a kind of chunk."""
        return self._number("kind", "name", name)

    def read_rules(self) -> access.Rules:
        """Read the access rules in force."""
        stored = self.connection.rows(
            "SELECT origin, glob, acl FROM rule WHERE space = ? ORDER BY position",
            (self.space.id,),
        )
        ordered = [
            AccessRule(glob, access.parse_acl(acl))
            for wanted in ORIGINS
            for origin, glob, acl in stored
            if origin == wanted
        ]
        return access.Rules(ordered, access.parse_acl(self.space.access_default))

    def flush_postings(self) -> None:
        """Write the words of new chunks, and merge segments where it is time."""
        posting_lists.add_segment(self.connection, self.space.id, self.postings)
        self.postings = PostingBuilder()
        posting_lists.merge_full_levels(self.connection, self.space.id, self.draft)

    def finish(self) -> Columns | None:
        """Write what was collected; return the new columns, or None if nothing changed."""
        self.flush_postings()
        if not (self.changed or self.trees.changed or self.draft.changed):
            return None
        self.trees.flush()
        space = self.space
        space.generation += 1
        space.rows = self.draft.rows
        columns = row_blocks.save(self.connection, space.id, self.draft, space.generation)
        self.connection.execute(
            f"UPDATE space SET ({_FIELDS}) = (?, ?, ?, ?, ?, ?, ?, ?) WHERE id = ?",
            (
                space.generation,
                space.rows,
                space.model,
                space.dims,
                space.slots,
                space.epoch,
                space.analyzer,
                space.access_default,
                space.id,
            ),
        )
        return columns

    def _number(self, table: str, column: str, name: str) -> int:
        number = self._numbers.get((table, name))
        if number is None:
            row = self.connection.row(
                f"SELECT id FROM {table} WHERE space = ? AND {column} = ?", (self.space.id, name)
            )
            if row is None:
                (row,) = self.connection.rows(
                    f"INSERT INTO {table} (space, {column}) VALUES (?, ?) RETURNING id",
                    (self.space.id, name),
                )
            number = self._numbers[table, name] = int(row[0])
        return number
