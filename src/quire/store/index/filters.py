"""Filters: the rows that a search may return."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from quire.core import conditions
from quire.core.globs import literal_prefix
from quire.core.types import Filter, Record
from quire.store import access
from quire.store.index.columns import KIND, RECORD
from quire.store.index.snapshot import IndexSnapshot, Mask

PREFIX_COST = 2
"""This many paths are read from an index in the time that one takes to look up by its record."""


def check_filter(where: Filter) -> None:
    """Refuse an invalid glob, even if nothing is filtered: the error must not depend on data."""
    if where.paths:
        access.matcher(where.paths)
    if where.where:
        conditions.parse(where.where)


def matches_record(where: Filter, record: Record) -> bool:
    """Return whether a record passes a filter, its kind and its readers aside."""
    if where.where and not conditions.holds(conditions.parse(where.where), record.metadata):
        return False
    if where.alive_at is not None and record.expires is not None:
        return record.expires > where.alive_at and _matches(where, record.path, record.modified)
    return _matches(where, record.path, record.modified)


def _matches(where: Filter, path: str, modified: int | None) -> bool:
    """Return whether a record's path and modification time pass a filter."""
    if where.paths and not access.matcher(where.paths).match(path):
        return False
    if where.since is not None and (modified is None or modified < where.since):
        return False
    return where.until is None or (modified is not None and modified <= where.until)


def allowed_rows(snapshot: IndexSnapshot, where: Filter) -> Mask | None:
    """Return the mask of the rows that pass a filter; None if all do.

    The mask stays in the snapshot: the lexical and the semantic search of a query share it.
    """
    if where not in snapshot.filter_masks:
        snapshot.filter_masks[where] = _compute_mask(snapshot, where)
    return snapshot.filter_masks[where]


def _compute_mask(snapshot: IndexSnapshot, where: Filter) -> Mask | None:
    table = snapshot.columns.table
    mask: Mask | None = None
    if where.kinds:
        mask = np.isin(table[KIND], np.array(snapshot.kind_numbers(where.kinds), np.int32))
    if where.paths or where.since is not None or where.until is not None:
        readable = snapshot.access.rows if mask is None else snapshot.access.rows & mask
        records = np.unique(table[RECORD][readable])
        mask = readable & np.isin(table[RECORD], _matching_records(snapshot, where, records))
    if where.shared_only and (unshared := snapshot.unshared_records()).size:
        shared = np.isin(table[RECORD], unshared, invert=True)
        mask = shared if mask is None else mask & shared
    if where.where:
        passing = np.take(snapshot.passing_records(where.where), table[RECORD])
        passing &= snapshot.access.rows  # the number of a row without a record means nothing
        mask = passing if mask is None else mask & passing
    if where.alive_at is not None and (gone := snapshot.expired_records(where.alive_at)).size:
        alive = np.isin(table[RECORD], gone, invert=True)
        mask = alive if mask is None else mask & alive
    return mask


def _matching_records(
    snapshot: IndexSnapshot, where: Filter, records: npt.NDArray[np.int32]
) -> npt.NDArray[np.int32]:
    """Return those of some records whose path and modification time pass a filter."""
    if not records.size:
        return records
    prefix = literal_prefix(where.paths[0]) if len(where.paths) == 1 else ""
    dated = where.since is not None or where.until is not None
    limit = PREFIX_COST * int(records.size)
    paths = None
    if prefix.isascii() and prefix and not dated:  # half a surrogate pair cannot be looked up
        paths = snapshot.records_by_prefix(prefix, limit + 1)
    if paths is None or len(paths) > limit:
        paths = snapshot.record_paths(records)
    numbers = [
        number
        for number, path, modified in paths
        if path.startswith(prefix) and _matches(where, path, modified)
    ]
    # The lookup by prefix returns all records, also those that are not readable.
    return np.intersect1d(np.array(numbers, np.int32), records)
