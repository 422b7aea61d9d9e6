"""All that a space holds, read in one transaction to be copied to another place."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from quire.core import merkle
from quire.core.types import (
    Chunk,
    Coverage,
    Entry,
    Event,
    Link,
    Outline,
    Place,
    Record,
    Roots,
    SpaceState,
    Stamp,
)
from quire.errors import InputError
from quire.store import access
from quire.store.damage import damaged
from quire.store.index.columns import ACCESS, SLOT
from quire.store.sql import access_rules, rows
from quire.store.sql.snapshot import Snapshot

PAGE = 200
"""So many records are read at once."""
_START: Place = ("", "")
"""Before every record: an id is never empty."""


class SqlExport:
    """A snapshot of all that a space holds, whoever may read it."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._open: Snapshot | None = snapshot

    def close(self) -> None:
        """Refuse all further calls: the snapshot ends."""
        self._open = None

    @property
    def _snapshot(self) -> Snapshot:
        if self._open is None:
            raise InputError("the export is closed", hint="open another with `export()`")
        return self._open

    def roots(self) -> Roots:
        """Return the hashes over everything."""
        roots, model = self._snapshot.roots, self._snapshot.space.model
        content = merkle.view_root(content for content, _ in roots)
        state = merkle.state_root(content, (vector for _, vector in roots), model)
        return Roots(content.hex(), state.hex())

    def count(self) -> Coverage:
        """Return how many chunks and vectors there are."""
        table = self._snapshot.columns.table
        living = table[ACCESS] >= 0
        vectors = int(np.count_nonzero(living & (table[SLOT] >= 0)))
        return Coverage(int(np.count_nonzero(living)), vectors, self._snapshot.space.model)

    def state(self) -> SpaceState:
        """Return what the space holds beside its records."""
        space, connection = self._snapshot.space, self._snapshot.connection
        named = connection.rows("SELECT name FROM space WHERE id = ?", (space.id,))
        name = named[0][0] if named else ""
        stamps = self._rows("path, size, mtime, digest, record", "stamp", "path")
        events = self._rows("actor, verb, record, at", "event", "at, actor, record, verb")
        return SpaceState(
            rules=access_rules.read_rules(connection, name),
            groups=access_rules.read_groups(connection, name),
            access_default=access.parse_acl(space.access_default)
            if space.access_default
            else access_rules.DEFAULT,
            model=space.model,
            notes=dict(self._rows("key, value", "note", "key")),
            stamps={row[0]: Stamp(*row) for row in stamps},
            events=tuple(Event(*row) for row in events),
        )

    def note(self, key: str) -> str | None:
        """Return a setting of the space, or None if it is not set."""
        found = self._snapshot.connection.row(
            "SELECT value FROM note WHERE space = ? AND key = ?", (self._snapshot.space.id, key)
        )
        return None if found is None else str(found[0])

    def places(self) -> Iterator[Place]:
        """Yield path and id of each record by path, then id."""
        last = _START
        while page := self._page("r.path, r.id", last):
            yield from page
            last = page[-1]

    def entries(self, after: Place | None = None) -> Iterator[Entry]:
        """Yield all records with all that belongs to them, by path, then id."""
        last = after or _START
        while page := self._page(f"{rows.RECORD}, r.number", last):
            records = {number: rows.record_of(row) for *row, number in page}
            yield from self._with_contents(records)
            end = records[page[-1][-1]]
            last = end.path, end.id

    def _page(self, columns: str, after: Place) -> list[tuple[Any, ...]]:
        return self._snapshot.connection.rows(
            f"SELECT {columns} FROM record r WHERE r.space = ? AND (r.path, r.id) > (?, ?) "
            f"ORDER BY r.path, r.id LIMIT {PAGE}",
            (self._snapshot.space.id, *after),
        )

    def _rows(self, columns: str, table: str, order: str) -> list[tuple[Any, ...]]:
        return self._snapshot.connection.rows(
            f"SELECT {columns} FROM {table} WHERE space = ? ORDER BY {order}",
            (self._snapshot.space.id,),
        )

    def _with_contents(self, records: dict[int, Record]) -> Iterator[Entry]:
        chunks, slots = self._chunks(records)
        links, outlines = self._links(records), self._outlines(records)
        for number, record in records.items():
            yield Entry(
                record,
                tuple(chunks[number]),
                tuple(links[record.id]),
                outlines.get(number),
                {
                    chunk.id: self._vectors[slots[chunk.id]].tobytes()
                    for chunk in chunks[number]
                    if chunk.id in slots
                },
            )

    @cached_property
    def _vectors(self) -> Any:
        return self._snapshot.vectors()[0]

    def _chunks(self, records: dict[int, Record]) -> tuple[dict[int, list[Chunk]], dict[str, int]]:
        """Return the chunks of records by number, and the slots of their vectors."""
        chunks: dict[int, list[Chunk]] = defaultdict(list)
        slots: dict[str, int] = {}
        for *row, leaf, number, slot in self._snapshot.connection.rows(
            f"SELECT {rows.CHUNK}, l.content, c.record, s.slot FROM carray(?2) v "
            "CROSS JOIN chunk c ON /*! c.space = ?1 AND */ c.record = v.value "
            f"JOIN {rows.CHUNK_RECORD} JOIN {rows.CHUNK_KIND} {rows.LEAF} "
            "LEFT JOIN vector_slot s "
            "ON s.space = c.space AND s.key = c.vector_key AND s.class = r.class "
            "ORDER BY c.record, c.sequence, c.start, c.id",
            (self._snapshot.space.id, self._numbers(records)),
        ):
            chunk = rows.chunk_of(row)
            if merkle.chunk_leaf(chunk)[1] != leaf:
                raise damaged(f"the text of {chunk.path} is not as it was written")
            chunks[number].append(chunk)
            if slot is not None:
                slots[chunk.id] = slot
        return chunks, slots

    def _links(self, records: dict[int, Record]) -> dict[str, list[Link]]:
        links: dict[str, list[Link]] = defaultdict(list)
        ids = tuple([record.id for record in records.values()])
        for row in self._snapshot.connection.rows(
            "SELECT l.source, l.target, l.kind FROM carray(?) v "
            "CROSS JOIN link l ON l.space = ? AND l.source = v.value "
            "ORDER BY l.source, l.target, l.kind",
            (self._snapshot.connection.array(ids), self._snapshot.space.id),
        ):
            links[row[0]].append(Link(*row))
        return links

    def _outlines(self, records: dict[int, Record]) -> dict[int, Outline]:
        bodies = self._snapshot.connection.rows(
            "SELECT o.record, o.body FROM carray(?2) v "
            "CROSS JOIN outline o ON /*! o.space = ?1 AND */ o.record = v.value",
            (self._snapshot.space.id, self._numbers(records)),
        )
        return {number: rows.outline_of(body) for number, body in bodies}

    def _numbers(self, records: dict[int, Record]) -> Any:
        return self._snapshot.connection.array(np.array(list(records), np.int64))
