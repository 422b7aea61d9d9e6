"""What follows from the records, and does the store say the same?

Posting lists, row numbers, leaves and roots can all be made again from the records, chunks,
links, events, rules and vectors. That is how they are checked, and how they are repaired.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from blake3 import blake3

from quire.core import hashing, merkle
from quire.core.types import Event, Link
from quire.errors import StoreDamagedError
from quire.store import access
from quire.store.index import analyzer
from quire.store.index.columns import ACCESS, DEAD, Columns, Draft, blank
from quire.store.sqlite import outlines, rows, rules
from quire.store.sqlite import posting_lists as segments
from quire.store.sqlite.transaction import Change

_SEGMENT_ROWS = 50_000
_NO_VECTOR = (-1, None)


def rebuild(change: Change) -> None:
    """Make everything that is derived anew."""
    space = change.space.id
    change.space.analyzer = analyzer.ANALYZER
    segments.drop_all(change.connection, space)
    for table in ("leaf", "bucket", "node", "root", "row_block", "mention"):
        change.connection.execute(f"DELETE FROM {table} WHERE space = ?", (space,))
    change.trees.forget()
    change.draft = Draft(Columns(change.space.generation, blank(_handed_out(change))))
    classes = _rebuild_records(change)
    _rebuild_chunks(change, classes)
    change.draft.settle()
    for source, target, kind in change.connection.rows(
        "SELECT source, target, kind FROM link WHERE space = ?", (space,)
    ):
        change.trees.set(classes[source], *merkle.link_leaf(Link(source, target, kind)))
    for actor, verb, record, at in change.connection.rows(
        "SELECT actor, verb, record, at FROM event WHERE space = ?", (space,)
    ):
        event = Event(actor, verb, record, at)
        held = change.event_class(actor, classes.get(record))
        change.trees.set(held, *merkle.event_leaf(event))
    for name, value in rules.settings(change).items():
        if value:
            owner = change.access_class(access.OWNER_ONLY)
            change.trees.set(owner, *merkle.setting_leaf(name, value))
    change.flush_postings()
    change.trees.flush()
    change.changed = True


def fingerprints(change: Change) -> dict[str, bytes]:
    """Hash what is derived, each part on its own, whatever row numbers or segments it has."""
    space = change.space.id
    table = change.draft.table
    living = [
        (rows.key_of(space, row), *map(int, table[:, row]))
        for row in range(change.draft.rows)
        if table[ACCESS, row] >= 0
    ]
    found = {
        "rows": _hash(living),
        "words": _words(change),
        "access": _hash(
            change.connection.execute(
                "SELECT id, class FROM record WHERE space = ? ORDER BY id", (space,)
            )
        ),
    }
    found["names"] = _hash(
        change.connection.execute(
            "SELECT name, kind, record, entity, count FROM mention WHERE space = ? "
            "ORDER BY name, kind, record, entity",
            (space,),
        )
    )
    for name in ("leaf", "bucket", "node", "root"):
        order = {"leaf": ", key", "root": ""}.get(name, f", {name}")
        found[name] = _hash(
            change.connection.execute(
                f"SELECT * FROM {name} WHERE space = ? ORDER BY class{order}",
                (space,),
            )
        )
    return found


def _words(change: Change) -> bytes:
    held = change.draft.table[ACCESS]
    try:
        rows_named = segments.named(change.connection, change.space.id)
        kept = rows_named[held[rows_named] >= 0]
        lists = segments.living(change.connection, change.space.id, held == DEAD)
        return _hash([(kept.tobytes(),), *lists])
    except (StoreDamagedError, IndexError, ValueError):
        return b"lists that cannot be read"


def _hash(items: Iterable[Any]) -> bytes:
    whole = blake3()
    for item in items:
        whole.update(hashing.digest("row", tuple(item)))
    return whole.digest()


def _handed_out(change: Change) -> int:
    first = rows.key_of(change.space.id, 0)
    row = change.connection.rows(
        "SELECT max(key) FROM chunk WHERE key >= ? AND key < ?",
        (first, rows.key_of(change.space.id + 1, 0)),
    )[0][0]
    return 0 if row is None else rows.row_of(row) + 1


def _rebuild_records(change: Change) -> dict[str, int]:
    classes: dict[str, int] = {}
    for *row, number, held in change.connection.rows(
        f"SELECT {rows.RECORD}, r.number, r.class FROM record r WHERE r.space = ?",
        (change.space.id,),
    ):
        record = rows.record_of(row)
        reach = change.rules.audience(record)
        classes[record.id] = change.access_class(reach)
        if classes[record.id] != held:
            change.connection.execute(
                "UPDATE record SET class = ? WHERE number = ?", (classes[record.id], number)
            )
        outline = outlines.held(change, number)
        outlines.mention(change, number, outline)
        change.trees.set(classes[record.id], *merkle.record_leaf(record, reach, outline))
    return classes


def _rebuild_chunks(change: Change, classes: dict[str, int]) -> None:
    space = change.space.id
    known = {
        (key, held): (slot, vector)
        for key, held, slot, vector in change.connection.rows(
            "SELECT key, class, slot, hash FROM vector_slot WHERE space = ?", (space,)
        )
    }
    every = change.connection.rows(
        f"SELECT {rows.CHUNK}, c.key, c.kind, c.record, c.vector_key FROM {rows.CHUNK_TABLES} "
        "WHERE c.space = ? ORDER BY c.key",
        (space,),
    )
    for *row, place, kind, number, vector_key in every:
        chunk = rows.chunk_of(row)
        counts, length = analyzer.of_chunk(chunk)
        held = classes[chunk.record_id]
        slot, vector = known.get((vector_key, held), _NO_VECTOR)
        change.draft.fill(rows.row_of(place), (length, held, number, slot, kind))
        change.gathered.add(rows.row_of(place), counts)
        change.trees.set(held, *merkle.chunk_leaf(chunk), vector)
        if len(change.gathered.rows) >= _SEGMENT_ROWS:
            change.flush_postings()
