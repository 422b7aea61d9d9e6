"""Writing records: adding, replacing and removing them with all that belongs to them.

Unchanged data is not touched: putting the same record again writes nothing, and of an edited file
only the chunks that differ are written, indexed and hashed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from quire.core import hashing, merkle, metadata
from quire.core.languages import language_in, language_of
from quire.core.types import NO_METADATA, Chunk, Event, Link, MetadataValue, Outline, Record
from quire.errors import InputError
from quire.store import access
from quire.store.index import analyzer
from quire.store.index.columns import ACCESS, DEAD, NO_SLOT
from quire.store.sql import metadata_values, outlines, rows, vector_blocks
from quire.store.sql.transaction import Transaction


def put(
    transaction: Transaction,
    record: Record,
    chunks: Sequence[Chunk],
    links: Sequence[Link],
    outline: Outline | None,
) -> bool:
    """Add a record with its chunks, outgoing links and outline, or replace it.

    Returns whether anything changed.
    """
    _check(record, chunks, links)
    outlines.check(record, outline)
    audience = transaction.rules.audience(record)
    new = transaction.access_class(audience)
    known = transaction.connection.row(
        "SELECT number, class, own_acl IS NULL, attrs, metadata FROM record "
        "WHERE space = ? AND id = ?",
        (transaction.space.id, record.id),
    )
    language = language_of(record)
    key, content = merkle.record_leaf(record, audience, outline)
    if known is None:
        number, old, ruled = _insert(transaction, record, new), new, record.acl is None
        stemmed_otherwise = False
        _move_events(transaction, record.id, None, new)
        stated: Mapping[str, MetadataValue] = NO_METADATA
        known_links: set[Link] = set()
        known_chunks: list[tuple[int, bytes]] = []
    else:
        number, old, ruled, attrs, encoded = known
        known_links = _links_of(transaction, record.id)
        known_chunks = _chunks_of(transaction, number)
        stated = NO_METADATA if encoded == "{}" else metadata.decode(encoded)
        # The words of chunks depend on it, though nothing of it shows in their leaves.
        stemmed_otherwise = language != language_in(rows.attributes_of(attrs))
    # Whether the rules decide does not show in the leaf, but it is a change as well.
    ruled_otherwise = bool(ruled) != (record.acl is None)
    changed = known is None or ruled_otherwise or old != new
    if changed or transaction.trees.leaf(new, key) != (content, None):
        changed = True
        if known is not None:
            _update(transaction, number, record, new)
        if stated != record.metadata:
            metadata_values.put(transaction, number, stated, record.metadata)
        if old != new:
            transaction.trees.remove(old, key)
            _move_events(transaction, record.id, old, new)
        transaction.trees.set(new, key, content)
        if known is not None:
            outlines.remove(transaction, number)
        outlines.add(transaction, number, outline)
    changed |= _put_links(transaction, record.id, known_links, links, old=old, new=new)
    if stemmed_otherwise:
        changed |= _put_chunks(transaction, number, known_chunks, (), old=old, new=new)
        known_chunks = []
    changed |= _put_chunks(
        transaction, number, known_chunks, chunks, old=old, new=new, language=language
    )
    return changed


def update(transaction: Transaction, record: Record) -> bool:
    """Replace what is said of a record, but not its chunks, links and outline.

    Returns whether anything changed; an absent record is left out.
    """
    _check(record, (), ())
    stored = transaction.connection.row(
        f"SELECT {rows.RECORD}, r.number, r.class FROM record r WHERE r.space = ? AND r.id = ?",
        (transaction.space.id, record.id),
    )
    if stored is None:
        return False
    *row, number, old = stored
    known = rows.record_of(row)
    if (known.kind, known.path) != (record.kind, record.path) or language_of(known) != language_of(
        record
    ):
        raise InputError("kind, path and language of a record change with its chunks")
    own = None if record.acl is None else access.access_list(record.acl)
    if known == replace(record, acl=own):
        return False
    audience = transaction.rules.audience(record)
    new = transaction.access_class(audience)
    _update(transaction, number, record, new)
    metadata_values.put(transaction, number, known.metadata, record.metadata)
    if new != old:
        _move(transaction, number, record.id, old, new)
    outline = outlines.read(transaction, number)
    transaction.trees.set(new, *merkle.record_leaf(record, audience, outline))
    transaction.changed = True  # whether the rules decide does not show in the leaf
    return True


def set_modified(transaction: Transaction, times: Mapping[str, int | None]) -> None:
    """Set the modification times of records; absent ones are skipped."""
    for record_id, modified in times.items():
        rows.check_values(f"record {record_id!r}", (record_id, modified))
        stored = transaction.connection.row(
            f"SELECT {rows.RECORD}, r.number, r.class FROM record r WHERE r.space = ? AND r.id = ?",
            (transaction.space.id, record_id),
        )
        if stored is None:
            continue
        *row, number, class_id = stored
        record = replace(rows.record_of(row), modified=modified)
        transaction.connection.execute(
            "UPDATE record SET modified = ? WHERE space = ? AND number = ?",
            (modified, transaction.space.id, number),
        )
        outline = outlines.read(transaction, number)
        audience = transaction.rules.audience(record)
        transaction.trees.set(class_id, *merkle.record_leaf(record, audience, outline))


def remove(transaction: Transaction, ids: Iterable[str]) -> int:
    """Remove records with all that belongs to them; return how many existed."""
    removed = 0
    for record_id in ids:
        known = transaction.connection.row(
            "SELECT number, class, metadata FROM record WHERE space = ? AND id = ?",
            (transaction.space.id, record_id),
        )
        if known is None:
            continue
        number, class_id, encoded = known
        if encoded != "{}":
            metadata_values.put(transaction, number, metadata.decode(encoded), NO_METADATA)
        known_chunks = _chunks_of(transaction, number)
        known_links = _links_of(transaction, record_id)
        _put_chunks(transaction, number, known_chunks, (), old=class_id, new=class_id)
        _put_links(transaction, record_id, known_links, (), old=class_id, new=class_id)
        _remove_events(transaction, record_id, class_id)
        outlines.remove(transaction, number)
        transaction.connection.execute(
            "DELETE FROM record WHERE space = ? AND number = ?", (transaction.space.id, number)
        )
        transaction.trees.remove(class_id, merkle.record_key(record_id))
        removed += 1
    return removed


def move_to_audience(
    transaction: Transaction, number: int, record: Record, audience: access.Audience, old: int
) -> None:
    """Move a record with all that belongs to it to the access class of its new audience."""
    new = transaction.access_class(audience)
    if new == old:
        return
    transaction.connection.execute(
        "UPDATE record SET class = ? WHERE space = ? AND number = ?",
        (new, transaction.space.id, number),
    )
    _move(transaction, number, record.id, old, new)
    outline = outlines.read(transaction, number)
    transaction.trees.set(new, *merkle.record_leaf(record, audience, outline))


def _move(transaction: Transaction, number: int, record_id: str, old: int, new: int) -> None:
    """Move all that belongs to a record to another access class; its own leaf is only removed."""
    transaction.trees.remove(old, merkle.record_key(record_id))
    for chunk_key, chunk_id in _chunks_of(transaction, number):
        _move_chunk(transaction, chunk_key, chunk_id, old, new)
    for link in _links_of(transaction, record_id):
        transaction.trees.move(old, new, merkle.link_leaf(link)[0])
    _move_events(transaction, record_id, old, new)


def put_events(transaction: Transaction, events: Iterable[Event]) -> None:
    """Add events; a repeated event is stored once."""
    given = list(events)
    for actor in {event.actor for event in given}:
        access.access_list([f"user:{actor}"])  # refuses an invalid name
    for event in given:
        rows.check_values(f"an event of {event.actor}", (event.verb, event.record_id, event.at))
    space = transaction.space.id
    added = transaction.connection.stream_each(
        "INSERT INTO event (space, at, actor, record, verb) VALUES (?, ?, ?, ?, ?) "
        "ON CONFLICT DO NOTHING RETURNING actor, verb, record, at",
        [(space, event.at, event.actor, event.record_id, event.verb) for event in given],
    )
    new = [Event(*row) for row in added]
    transaction.note_events(new)
    classes: dict[str, int] = dict(
        transaction.connection.stream_each(
            "SELECT id, class FROM record WHERE space = ? AND id = ?",
            [(space, record) for record in sorted({event.record_id for event in new})],
        )
    )
    for event in new:
        class_id = transaction.event_class(event.actor, classes.get(event.record_id))
        transaction.trees.set(class_id, *merkle.event_leaf(event))


def _check(record: Record, chunks: Sequence[Chunk], links: Sequence[Link]) -> None:
    place = f"record {record.id!r}"
    if not record.id:
        raise InputError("the id of a record must not be empty", place=record.path)
    if "\0" in record.id or "\0" in record.path:
        raise InputError(f"its id or path {record.path!r} contains NUL", place=place)
    names = (record.id, record.kind, record.path, record.title, record.parent, record.author)
    rows.check_values(place, (*names, record.position, record.modified))
    rows.check_values(place, (*record.attrs, *record.attrs.values(), *record.paths))
    rows.check_values(place, (record.expires, record.origin))
    if record.metadata and metadata.check_metadata(record.metadata) != record.metadata:
        raise InputError("its metadata are not in the form of `check_metadata`", place=place)
    for chunk in chunks:
        if chunk.record_id != record.id or chunk.path != record.path:
            raise InputError(f"chunk {chunk.id} belongs to another record", place=place)
        if chunk.id != hashing.chunk_id(record.id, chunk.sequence, chunk.text):
            raise InputError(
                f"the id of chunk {chunk.id!r} does not match its position and text", place=place
            )
        span = (chunk.sequence, chunk.start, chunk.end, *chunk.lines)
        rows.check_values(place, (chunk.kind, chunk.title, chunk.text, *span))
    if len({chunk.id for chunk in chunks}) != len(chunks):
        raise InputError("two chunks have the same id", place=place)
    for link in links:
        if link.source != record.id:
            raise InputError(f"a link from {link.source} belongs to another record", place=place)
        rows.check_values(place, (link.target, link.kind))


def _insert(transaction: Transaction, record: Record, class_id: int) -> int:
    inserted = transaction.connection.rows(
        "INSERT INTO record (id, kind, path, title, parent, position, modified, author, own_acl, "
        "attrs, paths, metadata, expires, origin, space, class) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING number",
        (*rows.record_row(record), transaction.space.id, class_id),
    )
    return int(inserted[0][0])


def _update(transaction: Transaction, number: int, record: Record, class_id: int) -> None:
    transaction.connection.execute(
        "UPDATE record SET (id, kind, path, title, parent, position, modified, author, own_acl, "
        "attrs, paths, metadata, expires, origin, class) = "
        "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) WHERE space = ? AND number = ?",
        (*rows.record_row(record), class_id, transaction.space.id, number),
    )


def _links_of(transaction: Transaction, record_id: str) -> set[Link]:
    links = transaction.connection.rows(
        "SELECT target, kind FROM link WHERE space = ? AND source = ?",
        (transaction.space.id, record_id),
    )
    return {Link(record_id, target, kind) for target, kind in links}


def _put_links(
    transaction: Transaction,
    record_id: str,
    known: set[Link],
    links: Sequence[Link],
    *,
    old: int,
    new: int,
) -> bool:
    wanted = set(links)
    for link in known - wanted:
        transaction.trees.remove(old, merkle.link_leaf(link)[0])
    for link in known & wanted:
        transaction.trees.move(old, new, merkle.link_leaf(link)[0])
    for link in wanted - known:
        transaction.trees.set(new, *merkle.link_leaf(link))
    if known != wanted:
        source = (transaction.space.id, record_id)
        if known:
            transaction.connection.execute(
                "DELETE FROM link WHERE space = ? AND source = ?", source
            )
        transaction.connection.executemany(
            "INSERT INTO link (space, source, target, kind) VALUES (?, ?, ?, ?)",
            sorted((*source, link.target, link.kind) for link in wanted),
        )
    return known != wanted


def _put_chunks(
    transaction: Transaction,
    number: int,
    known: Iterable[tuple[int, bytes]],
    chunks: Sequence[Chunk],
    *,
    old: int,
    new: int,
    language: str = "",
) -> bool:
    """Replace the known chunks of a record; return whether any was added or removed."""
    changed = False
    wanted = {bytes.fromhex(chunk.id): chunk for chunk in chunks}
    for chunk_key, chunk_id in known:
        chunk = wanted.get(chunk_id)
        leaf = transaction.trees.leaf(old, chunk_id)
        if chunk is not None and leaf and leaf[0] == merkle.chunk_leaf(chunk)[1]:
            del wanted[chunk_id]
            _move_chunk(transaction, chunk_key, chunk_id, old, new)
        else:
            changed = True
            transaction.connection.execute(
                "DELETE FROM chunk WHERE space = ? AND key = ?", (transaction.space.id, chunk_key)
            )
            transaction.draft.set(rows.row_of(chunk_key), ACCESS, DEAD)
            transaction.trees.remove(old, chunk_id)
    transaction.connection.executemany(
        "INSERT INTO chunk (key, id, space, record, kind, title, sequence, start, stop, "
        "first_line, last_line, vector_key, text) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            _index_chunk(transaction, number, chunk_id, chunk, new, language=language)
            for chunk_id, chunk in wanted.items()
        ],
    )
    return changed or bool(wanted)


def _chunks_of(transaction: Transaction, number: int) -> list[tuple[int, bytes]]:
    """Return key and id of the chunks of a record."""
    chunks = transaction.connection.rows(
        "SELECT key, id FROM chunk WHERE /*! space = ?1 AND */ record = ?2",
        (transaction.space.id, number),
    )
    return [(chunk_key, chunk_id) for chunk_key, chunk_id in chunks]


def _index_chunk(
    transaction: Transaction,
    number: int,
    chunk_id: bytes,
    chunk: Chunk,
    class_id: int,
    *,
    language: str,
) -> tuple[Any, ...]:
    """Index a new chunk; return its columns."""
    space = transaction.space
    row = transaction.draft.allocate_row()
    vector_key = bytes.fromhex(chunk.vector_key)
    slot, vector = NO_SLOT, None
    if space.slots:
        slot, vector = transaction.connection.row(
            "SELECT slot, hash FROM vector_slot WHERE space = ? AND key = ? AND class = ?",
            (space.id, vector_key, class_id),
        ) or (NO_SLOT, None)
    kind = transaction.kind(chunk.kind)
    counts, length = analyzer.count_chunk_words(chunk, language)
    transaction.draft.set_row(row, (length, class_id, number, slot, kind))
    transaction.postings.add(row, counts)
    transaction.trees.set(class_id, *merkle.chunk_leaf(chunk), vector)
    return (
        rows.key_of(space.id, row),
        chunk_id,
        space.id,
        number,
        kind,
        chunk.title,
        chunk.sequence,
        chunk.start,
        chunk.end,
        *chunk.lines,
        vector_key,
        chunk.text,
    )


def _move_chunk(
    transaction: Transaction, chunk_key: int, chunk_id: bytes, old: int, new: int
) -> None:
    if old != new:
        transaction.draft.set(rows.row_of(chunk_key), ACCESS, new)
        transaction.trees.move(old, new, chunk_id)
        vector_blocks.move(transaction, chunk_key, chunk_id, old, new)


def _events_of(transaction: Transaction, record_id: str) -> list[Event]:
    if not transaction.has_events:
        return []
    events = transaction.connection.rows(
        "SELECT actor, verb, record, at FROM event WHERE space = ? AND record = ?",
        (transaction.space.id, record_id),
    )
    return [Event(*row) for row in events]


def _move_events(transaction: Transaction, record_id: str, old: int | None, new: int) -> None:
    for event in _events_of(transaction, record_id):
        transaction.trees.move(
            transaction.event_class(event.actor, old),
            transaction.event_class(event.actor, new),
            merkle.event_leaf(event)[0],
        )


def _remove_events(transaction: Transaction, record_id: str, class_id: int) -> None:
    for event in _events_of(transaction, record_id):
        event_class = transaction.event_class(event.actor, class_id)
        transaction.trees.remove(event_class, merkle.event_leaf(event)[0])
    transaction.connection.execute(
        "DELETE FROM event WHERE space = ? AND record = ?", (transaction.space.id, record_id)
    )
