"""The tables `outline` and `mention`: what records consist of, and the names in them.

An outline is stored as one value. Each name that it defines or uses is a row of its own, so that
the records with a name are found without reading all outlines.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from quire.core.types import WHOLE, Outline, Record
from quire.errors import InputError
from quire.store.sql import rows
from quire.store.sql.transaction import Transaction

DEFINE = "define"
NAMED_KINDS = frozenset({"module", "class", "interface", "type", "function", "method"})
"""The kinds of entities that others refer to by name."""


class LazyOutlines(Mapping[str, Outline]):
    """Outlines by record, each decoded when it is first used: few of them are."""

    def __init__(self, bodies: Mapping[str, bytes]) -> None:
        self._bodies = bodies
        self._decoded: dict[str, Outline] = {}

    def __getitem__(self, record_id: str) -> Outline:
        if record_id not in self._decoded:
            self._decoded[record_id] = rows.outline_of(self._bodies[record_id])
        return self._decoded[record_id]

    def __contains__(self, record_id: object) -> bool:
        return record_id in self._bodies  # that of `Mapping` would decode it

    def __iter__(self) -> Iterator[str]:
        return iter(self._bodies)

    def __len__(self) -> int:
        return len(self._bodies)


def check(record: Record, outline: Outline | None) -> None:
    """Refuse an outline that cannot be stored, or whose entities do not form a tree."""
    if outline is None:
        return
    place = f"the outline of record {record.id!r}"
    root, *parts = outline.entities or (None,)
    if root is None or root.parent is not None:
        raise InputError("the first entity must be the whole record", place=place)
    for index, entity in enumerate(outline.entities):
        rows.check_values(place, (entity.kind, entity.name, entity.qualified, entity.signature))
        rows.check_values(place, (entity.summary, *entity.decorators, *entity.attrs))
        rows.check_values(place, (*entity.attrs.values(), entity.start, entity.end, *entity.lines))
        inside = index == WHOLE or (entity.parent is not None and 0 <= entity.parent < index)
        if not inside or not 0 <= entity.start <= entity.end:
            raise InputError(f"entity {entity.qualified!r} is not inside its parent", place=place)
    for use in outline.references:
        rows.check_values(place, (use.name, use.kind, use.count))
        if not 0 <= use.within <= len(parts) or use.kind == DEFINE:
            raise InputError(f"no entity contains the reference {use.name!r}", place=place)


def read(transaction: Transaction, number: int) -> Outline | None:
    """Return the outline of a record, or None if it has none."""
    row = transaction.connection.row(
        "SELECT body FROM outline WHERE /*! space = ?1 AND */ record = ?2",
        (transaction.space.id, number),
    )
    return None if row is None else rows.outline_of(row[0])


def remove(transaction: Transaction, number: int) -> None:
    """Delete the outline of a record, if it has one."""
    old = read(transaction, number)
    if old is not None:
        transaction.connection.executemany(
            "DELETE FROM mention WHERE space = ? AND name = ? AND kind = ? AND record = ?",
            [(transaction.space.id, name, kind, number) for name, kind, _ in _count_mentions(old)],
        )
        transaction.connection.execute(
            "DELETE FROM outline WHERE /*! space = ?1 AND */ record = ?2",
            (transaction.space.id, number),
        )


def add(transaction: Transaction, number: int, outline: Outline | None) -> None:
    """Add the outline of a record that has none."""
    if outline is not None:
        transaction.connection.execute(
            "INSERT INTO outline (/*! space, */ record, body) VALUES (/*! ?1, */ ?2, ?3)",
            (transaction.space.id, number, rows.outline_body(outline)),
        )
        add_mentions(transaction, number, outline)


def add_mentions(transaction: Transaction, number: int, outline: Outline | None) -> None:
    """Add the names of an outline to the table `mention`."""
    if outline is not None:
        transaction.connection.executemany(
            "INSERT INTO mention (space, name, kind, record, entity, count) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            [
                (transaction.space.id, name, kind, number, entity, count)
                for (name, kind, entity), count in sorted(_count_mentions(outline).items())
            ],
        )


def _count_mentions(outline: Outline) -> dict[tuple[str, str, int], int]:
    counts: dict[tuple[str, str, int], int] = {
        (entity.name, DEFINE, index): 1
        for index, entity in enumerate(outline.entities)
        if entity.kind in NAMED_KINDS and entity.name
    }
    for use in outline.references:
        key = (use.name, use.kind, use.within)
        counts[key] = counts.get(key, 0) + use.count
    return counts
