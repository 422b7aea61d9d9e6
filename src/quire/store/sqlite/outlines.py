"""What is a record made of, and which names does it define or use?

The outline itself is kept as one text; the names in it are rows of their own, so that whoever asks
for a name finds the records without reading all outlines.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from quire.core.types import WHOLE, Outline, Record
from quire.errors import InputError
from quire.store.sqlite import rows
from quire.store.sqlite.transaction import Change

DEFINE = "define"
NAMED_BY = frozenset({"module", "class", "interface", "type", "function", "method"})
"""The kinds of entities that others use by their names."""


class Read(Mapping[str, Outline]):
    """Outlines by record, each put together when it is looked at: of what is found, few are."""

    def __init__(self, bodies: Mapping[str, bytes]) -> None:
        self._bodies = bodies
        self._made: dict[str, Outline] = {}

    def __getitem__(self, name: str) -> Outline:
        if name not in self._made:
            self._made[name] = rows.outline_of(self._bodies[name])
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._bodies)

    def __len__(self) -> int:
        return len(self._bodies)


def check(record: Record, outline: Outline | None) -> None:
    """Refuse an outline that could not be kept, or that is none."""
    if outline is None:
        return
    own = f"the outline of record {record.id!r}"
    whole, *parts = outline.entities or (None,)
    if whole is None or whole.parent is not None:
        raise InputError(f"{own} does not begin with the whole record")
    for place, entity in enumerate(outline.entities):
        rows.check_values(own, (entity.kind, entity.name, entity.qualified, entity.signature))
        rows.check_values(own, (entity.summary, *entity.decorators, *entity.attrs))
        rows.check_values(own, (*entity.attrs.values(), entity.start, entity.end, *entity.lines))
        inside = place == WHOLE or (entity.parent is not None and 0 <= entity.parent < place)
        if not inside or not 0 <= entity.start <= entity.end:
            raise InputError(f"{own}: {entity.qualified!r} does not lie in what is around it")
    for use in outline.references:
        rows.check_values(own, (use.name, use.kind, use.count))
        if not 0 <= use.within <= len(parts) or use.kind == DEFINE:
            raise InputError(f"{own}: {use.name!r} is used by nothing in it")


def held(change: Change, number: int) -> Outline | None:
    """Read the outline of a record."""
    row = change.connection.row("SELECT body FROM outline WHERE record = ?", (number,))
    return None if row is None else rows.outline_of(row[0])


def put(change: Change, number: int, outline: Outline | None) -> None:
    """Keep an outline in place of the one that was there; None: of nothing."""
    old = held(change, number)
    if old is not None:
        change.connection.executemany(
            "DELETE FROM mention WHERE space = ? AND name = ? AND kind = ? AND record = ?",
            [(change.space.id, name, kind, number) for name, kind, _ in _mentions(old)],
        )
        change.connection.execute("DELETE FROM outline WHERE record = ?", (number,))
    if outline is not None:
        change.connection.execute(
            "INSERT INTO outline (record, body) VALUES (?, ?)",
            (number, rows.outline_body(outline)),
        )
        mention(change, number, outline)


def mention(change: Change, number: int, outline: Outline | None) -> None:
    """Make the names of an outline known."""
    if outline is not None:
        change.connection.executemany(
            "INSERT INTO mention (space, name, kind, record, entity, count) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            [
                (change.space.id, name, kind, number, entity, count)
                for (name, kind, entity), count in sorted(_mentions(outline).items())
            ],
        )


def _mentions(outline: Outline) -> dict[tuple[str, str, int], int]:
    found: dict[tuple[str, str, int], int] = {
        (entity.name, DEFINE, place): 1
        for place, entity in enumerate(outline.entities)
        if entity.kind in NAMED_BY and entity.name
    }
    for use in outline.references:
        at = (use.name, use.kind, use.within)
        found[at] = found.get(at, 0) + use.count
    return found
