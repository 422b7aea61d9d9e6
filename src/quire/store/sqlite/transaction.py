"""What does a write transaction carry from its first statement to its last?"""

from __future__ import annotations

from dataclasses import dataclass

from quire.core.types import AccessRule
from quire.store import access
from quire.store.index.columns import Columns, Draft
from quire.store.index.postings import Gathering
from quire.store.index.trees import Trees
from quire.store.sqlite import posting_lists as segments
from quire.store.sqlite.database import Connection

ORIGINS = ("config", "command")
"""Where access rules come from; later origins have the last word."""


@dataclass(slots=True)
class Space:
    """A space's own row, as a transaction sees and changes it."""

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
    """Look a space up by its name."""
    row = connection.row(
        f"SELECT id, {_FIELDS} FROM space WHERE name = ?",
        (name,),
    )
    return None if row is None else Space(*row)


class Change:
    """The state of one write transaction on one space."""

    def __init__(self, connection: Connection, space: Space, columns: Columns) -> None:
        self.connection = connection
        self.space = space
        self.draft = Draft(columns)
        self.trees = Trees(connection, space.id)
        self.gathered = Gathering()
        self.changed = False
        """Set by what neither the trees nor the columns would show."""
        self.rules = self.read_rules()
        self._numbers: dict[tuple[str, str], int] = {}

    def access_class(self, reach: access.Audience) -> int:
        """Give the number of an access class; a new one is made when needed."""
        return self._number("class", "acl", access.canonical(reach))

    def event_class(self, actor: str, record_class: int | None) -> int:
        """Give the class of what someone did to a record: theirs to know while they may read it.

        What was done to a record that is not there is for the owner alone.
        """
        if record_class is None:
            return self.access_class(access.OWNER_ONLY)
        acl = self.connection.rows("SELECT acl FROM class WHERE id = ?", (record_class,))[0][0]
        return self._number("class", "acl", access.deed(actor, acl))

    def kind(self, name: str) -> int:
        """Give the number of a kind of chunk."""
        return self._number("kind", "name", name)

    def read_rules(self) -> access.Rules:
        """Read the access rules in force."""
        found = self.connection.rows(
            "SELECT origin, glob, acl FROM rule WHERE space = ? ORDER BY position",
            (self.space.id,),
        )
        ordered = [
            AccessRule(glob, access.parse(acl))
            for wanted in ORIGINS
            for origin, glob, acl in found
            if origin == wanted
        ]
        return access.Rules(ordered, access.parse(self.space.access_default))

    def flush_postings(self) -> None:
        """Write the words of new chunks, and merge where it is time."""
        segments.add(self.connection, self.space.id, self.gathered)
        self.gathered = Gathering()
        segments.merge_full_levels(self.connection, self.space.id, self.draft)

    def finish(self) -> Columns | None:
        """Write what was collected; gives the new columns, or None if nothing changed."""
        self.flush_postings()
        if not (self.changed or self.trees.changed or self.draft.changed):
            return None
        self.trees.flush()
        space = self.space
        space.generation += 1
        space.rows = self.draft.rows
        columns = self.draft.save(self.connection, space.id, space.generation)
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
            self.connection.execute(
                f"INSERT INTO {table} (space, {column}) VALUES (?, ?) ON CONFLICT DO NOTHING",
                (self.space.id, name),
            )
            number = int(
                self.connection.rows(
                    f"SELECT id FROM {table} WHERE space = ? AND {column} = ?",
                    (self.space.id, name),
                )[0][0]
            )
            self._numbers[table, name] = number
        return number
