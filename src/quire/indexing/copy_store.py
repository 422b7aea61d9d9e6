"""Copying spaces from one store to another, whatever their engines.

A space is read as of one moment (`Store.export`) and written in transactions of bounded size, in
the order of paths. A note in the target says how far it is, and is written with each of them: a
copy that was ended anywhere goes on there. At the end both have the same roots, or an error names
the first difference.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import TypeVar

from quire.core import stored_json
from quire.core.protocols import Export, Store, Writer
from quire.core.types import Entry, Event, Place, Progress, Roots, SpaceState
from quire.errors import InputError, StoreError, unknown
from quire.indexing.progress import Report
from quire.system import retry

NOTE = "copy"
"""The note of a copy that is under way: the state that is copied, and the last record of it."""
BATCH_CHUNKS = 1000
BATCH_BYTES = 4_000_000
BATCH_EVENTS = 5000
"""A transaction ends when one of these is reached."""
STAGE = "copy"

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class CopiedSpace:
    """What became of a space."""

    space: str
    records: int
    chunks: int
    vectors: int
    roots: Roots
    copied: int
    """Records that this run wrote; the others were there."""
    resumed: bool = False
    """Whether an interrupted copy was continued."""


def copy_store(
    source: Store,
    target: Store,
    spaces: Sequence[str] = (),
    *,
    force: bool = False,
    report: Report = lambda _: None,
) -> list[CopiedSpace]:
    """Copy spaces, or all of them, to another store; each ends with equal roots.

    Args:
        source: The store to read.
        target: The store to write to.
        spaces: The names of the spaces; none: all of them.
        force: Whether a space that already holds something else is made equal to the source's.
        report: Called with each step, by chunks.

    Raises:
        InputError: A space does not exist, or holds something else and `force` is not set.
        StoreError: The roots differ at the end.
    """
    names = readable_spaces(source, spaces)
    if not force:  # before anything is written
        for name in names:
            _refuse_other_content(source, target, name)
    return [_copy_space(source, target, name, report) for name in names]


def readable_spaces(source: Store, spaces: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the spaces that are to be copied; refuse those that cannot be read."""
    known = source.spaces()
    for space in spaces:
        if space not in known:
            raise unknown("space", space, known)
    for space in spaces or known:
        with source.export(space):
            pass
    return tuple(spaces) or known


def why_incomplete(store: Store, space: str) -> str | None:
    """Return what to tell whoever opens a space that a copy has not filled; None: it is whole."""
    if store.note(NOTE, space) is None:
        return None
    return (
        f"a copy into the space {space!r} has not ended, so a part is missing: if none is running, "
        "run the same `quire copy` or `quire restore` again"
    )


def forget_copy(store: Store, space: str) -> None:
    """Take a space that a copy has not filled for what it is."""
    with store.write(space) as writer:
        writer.set_note(NOTE, None)


def _copy_space(source: Store, target: Store, space: str, report: Report) -> CopiedSpace:
    with source.export(space) as export:
        roots, count, state = export.roots(), export.count(), export.state()
        last, done = _progress(target, space, roots)
        copied = 0
        if last is None:
            _begin(target, space, export, state, roots)
        report(Progress(STAGE, done, count.chunks))
        for batch in _batches(export.entries(last)):
            done += sum(len(entry.chunks) for entry in batch)
            put = partial(_put, entries=batch, model=state.model, roots=roots, chunks=done)
            copied += retry.write(target, space, put)
            paths = tuple(entry.record.path for entry in batch)
            report(Progress(STAGE, done, count.chunks, paths))
        _finish(target, space, state)
        _replace_other_vectors(target, space, export, state, roots)
        with target.export(space) as result:
            difference = None if result.roots() == roots else _difference(space, export, result)
        with target.write(space) as writer:
            if difference is None:
                writer.set_note(NOTE, None)
            else:  # the next run compares everything
                _set_progress(writer, roots, None)
        if difference is not None:
            raise difference
        records = sum(1 for _ in export.places())
    return CopiedSpace(space, records, count.chunks, count.vectors, roots, copied, last is not None)


def _put(
    writer: Writer, *, entries: Sequence[Entry], model: str | None, roots: Roots, chunks: int
) -> int:
    """Write some records with all that belongs to them; return how many were not there."""
    written = 0
    for entry in entries:
        written += writer.put(entry.record, entry.chunks, entry.links, entry.outline)
    _put_vectors(writer, model, entries)
    _set_progress(writer, roots, entries[-1].place, chunks)
    return written


def _refuse_other_content(source: Store, target: Store, space: str) -> None:
    with target.export(space) as existing:
        roots, is_empty = existing.roots(), next(existing.places(), None) is None
        is_own = NOTE in existing.state().notes
    if is_empty or is_own:
        return
    with source.export(space) as export:
        if export.roots() == roots:
            return
    raise InputError(
        f"the space {space!r} of the target already holds something else",
        value=space,
        hint="name another target, or make it equal to the source with {force}: what is only in "
        "the target is deleted",
    )


def _begin(target: Store, space: str, export: Export, state: SpaceState, roots: Roots) -> None:
    """Set the access rules before any record is written, and remove what the source has not."""
    with target.export(space) as existing:
        present, model = {name for _, name in existing.places()}, existing.state().model
    present.difference_update(name for _, name in export.places() if present)
    with target.write(space) as writer:
        for origin, rules in state.rules.items():
            writer.set_rules(origin, rules)
        for origin, groups in state.groups.items():
            writer.set_groups(origin, groups)
        writer.set_default(state.access_default)
        if model not in {None, state.model}:
            writer.drop_vectors()
        writer.remove(sorted(present))
        _set_progress(writer, roots, None)


def _finish(target: Store, space: str, state: SpaceState) -> None:
    """Write what belongs to the space rather than to a record."""
    for events in _split(state.events, BATCH_EVENTS):
        retry.write(target, space, partial(_put_events, events=events))
    with target.export(space) as existing:
        before = existing.state()
    with target.write(space) as writer:
        writer.unstamp(sorted(before.stamps.keys() - state.stamps.keys()))
        writer.stamp(state.stamps.values())
        for key in before.notes.keys() - state.notes.keys() - {NOTE}:
            writer.set_note(key, None)
        for key, value in state.notes.items():
            if key != NOTE:
                writer.set_note(key, value)


def _put_events(writer: Writer, events: Sequence[Event]) -> None:
    writer.put_events(events)


def _put_vectors(writer: Writer, model: str | None, entries: Iterable[Entry]) -> None:
    """Store the vectors of chunks; those of equal texts may differ between access lists."""
    rounds: list[tuple[dict[str, bytes], set[str]]] = []
    for entry in entries:
        for chunk in entry.chunks:
            vector = entry.vectors.get(chunk.id)
            if vector is None:
                continue
            for vectors, chunks in rounds:
                if vectors.setdefault(chunk.vector_key, vector) == vector:
                    chunks.add(chunk.id)
                    break
            else:
                rounds.append(({chunk.vector_key: vector}, {chunk.id}))
    for vectors, chunks in rounds:
        assert model is not None, "vectors have a model"
        writer.put_vectors(model, vectors, chunks)


def _replace_other_vectors(
    target: Store, space: str, export: Export, state: SpaceState, roots: Roots
) -> None:
    """Make the vectors equal if the target had others of the same texts."""
    with target.export(space) as result:
        now = result.roots()
    if now.content != roots.content or now.state == roots.state:
        return
    with target.write(space) as writer:
        writer.drop_vectors()
    for batch in _batches(export.entries()):
        retry.write(target, space, partial(_put_vectors, model=state.model, entries=batch))


def _progress(target: Store, space: str, roots: Roots) -> tuple[Place | None, int]:
    """Return the last record that an interrupted copy of the same state wrote, and its chunks."""
    progress = stored_json.read_object(target.note(NOTE, space))
    if progress.get("state") != roots.state:
        return None, 0
    match progress.get("after"), progress.get("chunks"):
        case [str(path), str(name)], int(chunks):
            return (path, name), chunks
    return None, 0


def _set_progress(writer: Writer, roots: Roots, after: Place | None, chunks: int = 0) -> None:
    writer.set_note(NOTE, json.dumps({"state": roots.state, "after": after, "chunks": chunks}))


def _batches(entries: Iterable[Entry]) -> Iterator[list[Entry]]:
    batch: list[Entry] = []
    chunks = size = 0
    for entry in entries:
        batch.append(entry)
        chunks += len(entry.chunks)
        size += sum(len(chunk.text) for chunk in entry.chunks)
        if chunks >= BATCH_CHUNKS or size >= BATCH_BYTES or len(batch) >= BATCH_CHUNKS:
            yield batch
            batch, chunks, size = [], 0, 0
    if batch:
        yield batch


def _split(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    remaining = iter(items)
    while part := list(islice(remaining, size)):
        yield part


def _difference(space: str, source: Export, result: Export) -> StoreError:
    """Return the error that names the first difference between two spaces."""
    return StoreError(
        f"the copy of the space {space!r} is not equal: {_first_difference(source, result)}",
        value=space,
        hint="run the same command again when nobody writes to the target; if it stays so, check "
        "both with `quire doctor`",
    )


def _first_difference(source: Export, result: Export) -> str:
    pairs = zip(_and_end(source.entries()), _and_end(result.entries()), strict=False)
    for wanted, found in pairs:
        if wanted is None and found is None:
            break
        if wanted is None or found is None or wanted.place != found.place:
            if found is None or (wanted is not None and wanted.place < found.place):
                assert wanted is not None, "one of both is a record"
                return f"{wanted.record.path} is missing"
            return f"{found.record.path} is only in the target"
        for name in ("record", "chunks", "links", "outline", "vectors"):
            if getattr(wanted, name) != getattr(found, name):
                return f"the {name} of {wanted.record.path} differ"
    ours, theirs = (replace(each.state(), notes={}, stamps={}) for each in (source, result))
    for name in ("rules", "groups", "access_default", "model", "events"):
        if getattr(ours, name) != getattr(theirs, name):
            return f"its {name.replace('_', ' ')} differ"
    return "the hashes differ, but no record does: one of the stores is damaged"


def _and_end(entries: Iterator[Entry]) -> Iterator[Entry | None]:
    yield from entries
    yield None
