"""How is a record put in, replaced or taken out?

What did not change is left alone: putting the same record again writes nothing, and of an edited
file only the chunks that differ are written, indexed and hashed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from quire.core import hashing, merkle
from quire.core.types import Chunk, Event, Link, Outline, Record
from quire.errors import InputError
from quire.store import access
from quire.store.index import analyzer
from quire.store.index.columns import ACCESS, DEAD, NO_SLOT
from quire.store.sqlite import outlines, rows
from quire.store.sqlite import vector_blocks as vectors
from quire.store.sqlite.transaction import Change


def put(
    change: Change,
    record: Record,
    chunks: Sequence[Chunk],
    links: Sequence[Link],
    outline: Outline | None,
) -> None:
    """Add a record with its chunks, outgoing links and outline, or replace it."""
    _check(record, chunks, links)
    outlines.check(record, outline)
    reach = change.rules.audience(record)
    new = change.access_class(reach)
    known = change.connection.row(
        "SELECT number, class, own_acl IS NULL FROM record WHERE space = ? AND id = ?",
        (change.space.id, record.id),
    )
    key, content = merkle.record_leaf(record, reach, outline)
    if known is None:
        number, old, ruled = _insert(change, record, new), new, record.acl is None
        _move_events(change, record.id, None, new)
    else:
        number, old, ruled = known
    # Whether the rules decide does not show in the leaf, but it must not be missed.
    other_rule = bool(ruled) != (record.acl is None)
    if other_rule or old != new or change.trees.leaf(new, key) != (content, None):
        _update(change, number, record, new)
        if old != new:
            change.trees.remove(old, key)
            _move_events(change, record.id, old, new)
        change.trees.set(new, key, content)
        outlines.put(change, number, outline)
    _put_links(change, record.id, links, old, new)
    _put_chunks(change, number, chunks, old, new)


def set_modified(change: Change, times: Mapping[str, int | None]) -> None:
    """Say when records were modified; what is not there is passed over."""
    for record_id, modified in times.items():
        rows.check_values(f"record {record_id!r}", (record_id, modified))
        found = change.connection.row(
            f"SELECT {rows.RECORD}, r.number, r.class FROM record r WHERE r.space = ? AND r.id = ?",
            (change.space.id, record_id),
        )
        if found is None:
            continue
        *row, number, held = found
        record = replace(rows.record_of(row), modified=modified)
        change.connection.execute(
            "UPDATE record SET modified = ? WHERE number = ?", (modified, number)
        )
        outline = outlines.held(change, number)
        change.trees.set(held, *merkle.record_leaf(record, change.rules.audience(record), outline))


def remove(change: Change, ids: Iterable[str]) -> int:
    """Remove records with all that belongs to them; gives how many there were."""
    removed = 0
    for record_id in ids:
        known = change.connection.row(
            "SELECT number, class FROM record WHERE space = ? AND id = ?",
            (change.space.id, record_id),
        )
        if known is None:
            continue
        number, held = known
        _put_chunks(change, number, (), held, held)
        _put_links(change, record_id, (), held, held)
        _remove_events(change, record_id, held)
        outlines.put(change, number, None)
        change.connection.execute("DELETE FROM record WHERE number = ?", (number,))
        change.trees.remove(held, merkle.record_key(record_id))
        removed += 1
    return removed


def reclass(change: Change, number: int, record: Record, reach: access.Audience, old: int) -> None:
    """Move a record with all that belongs to it to the class of those who may read it."""
    new = change.access_class(reach)
    if new == old:
        return
    change.trees.remove(old, merkle.record_key(record.id))
    outline = outlines.held(change, number)
    change.trees.set(new, *merkle.record_leaf(record, reach, outline))
    change.connection.execute("UPDATE record SET class = ? WHERE number = ?", (new, number))
    for place, chunk_id in change.connection.rows(
        "SELECT key, id FROM chunk WHERE record = ?", (number,)
    ):
        _move_chunk(change, place, chunk_id, old, new)
    for link in _links(change, record.id):
        change.trees.move(old, new, merkle.link_leaf(link)[0])
    _move_events(change, record.id, old, new)


def put_events(change: Change, events: Iterable[Event]) -> None:
    """Add events; the same event twice is one event."""
    for event in events:
        access.access_list([f"user:{event.actor}"])  # refuses what is no name
        rows.check_values(f"an event of {event.actor}", (event.verb, event.record_id, event.at))
        change.connection.execute(
            "INSERT INTO event (space, at, actor, record, verb) VALUES (?, ?, ?, ?, ?) "
            "ON CONFLICT DO NOTHING",
            (change.space.id, event.at, event.actor, event.record_id, event.verb),
        )
        if change.connection.changes():
            known = change.connection.row(
                "SELECT class FROM record WHERE space = ? AND id = ?",
                (change.space.id, event.record_id),
            )
            held = change.event_class(event.actor, None if known is None else known[0])
            change.trees.set(held, *merkle.event_leaf(event))


def _check(record: Record, chunks: Sequence[Chunk], links: Sequence[Link]) -> None:
    if not record.id or "\0" in record.id or "\0" in record.path:
        raise InputError(f"record {record.id!r} at {record.path!r}: an id is needed, without NUL")
    own, named = f"record {record.id!r}", (record.id, record.kind, record.path, record.title)
    rows.check_values(own, (*named, record.parent, record.author, record.position, record.modified))
    rows.check_values(own, (*record.attrs, *record.attrs.values(), *record.paths))
    for chunk in chunks:
        if chunk.record_id != record.id or chunk.path != record.path:
            raise InputError(f"chunk {chunk.id} does not belong to record {record.id}")
        if chunk.id != hashing.chunk_id(record.id, chunk.sequence, chunk.text):
            raise InputError(f"chunk {chunk.id!r} of {own} is not named by its place and text")
        placed = (chunk.sequence, chunk.start, chunk.end, *chunk.lines)
        rows.check_values(own, (chunk.kind, chunk.title, chunk.text, *placed))
    if len({chunk.id for chunk in chunks}) != len(chunks):
        raise InputError(f"record {record.id}: two chunks have the same id")
    for link in links:
        if link.source != record.id:
            raise InputError(f"a link from {link.source} does not belong to record {record.id}")
        rows.check_values(own, (link.target, link.kind))


def _insert(change: Change, record: Record, held: int) -> int:
    change.connection.execute(
        "INSERT INTO record (id, kind, path, title, parent, position, modified, author, own_acl, "
        "attrs, paths, space, class) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (*rows.record_row(record), change.space.id, held),
    )
    return change.connection.last_insert_rowid()


def _update(change: Change, number: int, record: Record, held: int) -> None:
    change.connection.execute(
        "UPDATE record SET (id, kind, path, title, parent, position, modified, author, own_acl, "
        "attrs, paths, class) = (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) WHERE number = ?",
        (*rows.record_row(record), held, number),
    )


def _links(change: Change, record_id: str) -> set[Link]:
    found = change.connection.execute(
        "SELECT target, kind FROM link WHERE space = ? AND source = ?",
        (change.space.id, record_id),
    )
    return {Link(record_id, target, kind) for target, kind in found}


def _put_links(change: Change, record_id: str, links: Sequence[Link], old: int, new: int) -> None:
    known, wanted = _links(change, record_id), set(links)
    for link in known - wanted:
        change.trees.remove(old, merkle.link_leaf(link)[0])
    for link in known & wanted:
        change.trees.move(old, new, merkle.link_leaf(link)[0])
    for link in wanted - known:
        change.trees.set(new, *merkle.link_leaf(link))
    if known != wanted:
        at = (change.space.id, record_id)
        change.connection.execute("DELETE FROM link WHERE space = ? AND source = ?", at)
        change.connection.executemany(
            "INSERT INTO link (space, source, target, kind) VALUES (?, ?, ?, ?)",
            sorted((*at, link.target, link.kind) for link in wanted),
        )


def _put_chunks(change: Change, number: int, chunks: Sequence[Chunk], old: int, new: int) -> None:
    wanted = {bytes.fromhex(chunk.id): chunk for chunk in chunks}
    known = change.connection.rows("SELECT key, id FROM chunk WHERE record = ?", (number,))
    for place, chunk_id in known:
        chunk = wanted.get(chunk_id)
        leaf = change.trees.leaf(old, chunk_id)
        if chunk is not None and leaf and leaf[0] == merkle.chunk_leaf(chunk)[1]:
            del wanted[chunk_id]
            _move_chunk(change, place, chunk_id, old, new)
        else:
            change.connection.execute("DELETE FROM chunk WHERE key = ?", (place,))
            change.draft.set(rows.row_of(place), ACCESS, DEAD)
            change.trees.remove(old, chunk_id)
    for chunk_id, chunk in wanted.items():
        _insert_chunk(change, number, chunk_id, chunk, new)


def _insert_chunk(change: Change, number: int, chunk_id: bytes, chunk: Chunk, held: int) -> None:
    row = change.draft.take_row()
    vector_key = bytes.fromhex(chunk.vector_key)
    slot, vector = change.connection.row(
        "SELECT slot, hash FROM vector_slot WHERE space = ? AND key = ? AND class = ?",
        (change.space.id, vector_key, held),
    ) or (NO_SLOT, None)
    kind = change.kind(chunk.kind)
    change.connection.execute(
        "INSERT INTO chunk (key, id, space, record, kind, title, sequence, start, stop, "
        "first_line, last_line, vector_key, text) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            rows.key_of(change.space.id, row),
            chunk_id,
            change.space.id,
            number,
            kind,
            chunk.title,
            chunk.sequence,
            chunk.start,
            chunk.end,
            *chunk.lines,
            vector_key,
            chunk.text,
        ),
    )
    counts, length = analyzer.of_chunk(chunk)
    change.draft.fill(row, (length, held, number, slot, kind))
    change.gathered.add(row, counts)
    change.trees.set(held, *merkle.chunk_leaf(chunk), vector)


def _move_chunk(change: Change, place: int, chunk_id: bytes, old: int, new: int) -> None:
    if old != new:
        change.draft.set(rows.row_of(place), ACCESS, new)
        change.trees.move(old, new, chunk_id)
        vectors.move(change, place, chunk_id, old, new)


def _events(change: Change, record_id: str) -> list[Event]:
    found = change.connection.rows(
        "SELECT actor, verb, record, at FROM event WHERE space = ? AND record = ?",
        (change.space.id, record_id),
    )
    return [Event(*row) for row in found]


def _move_events(change: Change, record_id: str, old: int | None, new: int) -> None:
    for event in _events(change, record_id):
        change.trees.move(
            change.event_class(event.actor, old),
            change.event_class(event.actor, new),
            merkle.event_leaf(event)[0],
        )


def _remove_events(change: Change, record_id: str, held: int) -> None:
    for event in _events(change, record_id):
        change.trees.remove(change.event_class(event.actor, held), merkle.event_leaf(event)[0])
    change.connection.execute(
        "DELETE FROM event WHERE space = ? AND record = ?", (change.space.id, record_id)
    )
