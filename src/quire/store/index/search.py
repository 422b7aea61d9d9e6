"""What matches, among what may be read?

Both searches give the best k in a total order: score, then path, sequence, offset and id. The
row numbers behind them depend on the store's history; nothing that is returned does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import apsw
import numpy as np
import numpy.typing as npt

from quire.core.globs import beginning
from quire.core.types import Filter, Hit, Hits
from quire.errors import InputError
from quire.store import access
from quire.store.index import bm25, proximity, topk, vectors
from quire.store.index.columns import KIND, RECORD, SLOT
from quire.store.index.terms import Places, Term, holding_all, terms_of
from quire.store.sqlite import rows
from quire.store.sqlite.snapshot import Snapshot

Mask = npt.NDArray[np.bool_]

PRUNE_FROM = 20_000
"""Long posting lists are only looked into where a row can still win; from this length on."""
FEW_OF_ALL = 64
"""If fewer than one row in so many holds any of the words, only those rows are looked at."""


INDEXED = 2
"""So many paths are read from their index in the time in which one is looked up by its record."""


def lexical(snapshot: Snapshot, query: str, k: int, where: Filter, reach: int = 0) -> Hits:
    """Find the k chunks whose words match best."""
    _check_k(k)
    check_filter(where)
    proximity.check_reach(reach)
    terms = terms_of(snapshot, query)
    allowed = _allowed(snapshot, where)
    found, scores = _matching(snapshot, terms, allowed, k)
    if reach and found.size:
        seeds, _ = _winners(snapshot, found, scores, k)
        found, scores = proximity.scored(snapshot, terms, seeds, reach)
        if allowed is not None:
            found, scores = found[allowed[found]], scores[allowed[found]]
    return Hits(_best(snapshot, found, scores, k))


def match_all(
    snapshot: Snapshot, names: Sequence[str], most: int, where: Filter
) -> list[tuple[Hit, ...]]:
    """Find for each name the chunks that hold all its words; none if more than `most` do."""
    check_filter(where)
    allowed = _allowed(snapshot, where)
    found: list[tuple[Hit, ...]] = []
    for name in names:
        held = holding_all(snapshot, name)
        rarity = bm25.rarity(snapshot.readable.chunks, held.size)
        if held.size > most:
            held = held[:0]
        elif allowed is not None:
            held = held[allowed[held]]
        found.append(_best(snapshot, held, np.full(held.size, rarity), max(1, held.size)))
    return found


def _matching(
    snapshot: Snapshot, terms: list[Term], allowed: Mask | None, k: int
) -> tuple[Places, npt.NDArray[Any]]:
    """Find the rows that may belong to the k best by their own words, with their scores."""
    norms = snapshot.readable.norms
    if sum(term.rows.size for term in terms) * FEW_OF_ALL >= norms.size:
        return _scored(terms, norms, allowed, k)
    # Rare words: all that follows looks at the rows that hold them, and at no others.
    none = np.zeros(0, np.int32)
    held = np.unique(np.concatenate([none, *(term.rows for term in terms)])).astype(np.int64)
    kept = None if allowed is None else allowed[held]
    places, scores = _scored([term.within(held) for term in terms], norms[held], kept, k)
    return held[places], scores


def _scored(
    terms: list[Term], norms: npt.NDArray[np.int32], allowed: Mask | None, k: int
) -> tuple[Places, npt.NDArray[Any]]:
    """Give the rows that may belong to the best k, with their scores."""
    whole = rest = sum(term.most for term in terms)
    scores: npt.NDArray[Any] = np.zeros(norms.size, np.int32 if whole < 1 << 31 else np.int64)
    able: Places | None = None
    for term in terms:
        if term.rows.size >= PRUNE_FROM and rest < whole - rest:
            able = _able(scores, able, allowed, k, rest)
        counted = term
        if able is not None and able.size < scores.size // 4:
            counted = term.among(able, scores)
        counted.add_to(scores, norms)
        rest -= term.most
    if able is None and allowed is not None:
        able = np.flatnonzero(allowed)
    reached = scores if able is None else scores[able]
    least = topk.kth_best(reached, k) if reached.size > k else 0
    picked = np.flatnonzero(reached >= max(1, least))
    return picked if able is None else able[picked], reached[picked]


def semantic(
    snapshot: Snapshot, vector: bytes, k: int, where: Filter, *, exact: bool = False
) -> Hits:
    """Find the k chunks whose vectors are nearest."""
    _check_k(k)
    check_filter(where)
    readable = snapshot.readable
    if not readable.vectors:
        return Hits(())
    if len(vector) != snapshot.space.dims:
        raise InputError(
            f"the query's vector has {len(vector)} numbers, the store's have {snapshot.space.dims}"
        )
    if not vectors.fits(vector):
        raise InputError("the query's vector is too long: scale its numbers down")
    slots = snapshot.columns.table[SLOT]
    held = readable.mask & (slots >= 0)
    allowed = _allowed(snapshot, where)
    able = np.flatnonzero(held if allowed is None else held & allowed)
    places = np.take(slots, able)
    matrix, codes = snapshot.vectors()
    scanned = exact or able.size <= vectors.SCAN_LIMIT
    if not scanned:
        code = vectors.encode(np.frombuffer(vector, np.int8)[None])[0]
        distance = np.take(vectors.distances(codes, code), places)
        most = vectors.threshold(distance, vectors.first_pass_size(k))
        near = np.flatnonzero(distance <= most)
        able, places = able[near], places[near]
    # What was written together lies together: only the stretch that holds all of it is scored.
    first, last = (places.min(), places.max()) if places.size else (0, -1)
    if places.size * 3 < last - first:
        scores = vectors.dot(np.take(matrix, places, axis=0), vector)
    else:
        scores = np.take(vectors.dot(matrix[first : last + 1], vector), places - first)
    return Hits(_best(snapshot, able, scores, k), exact=scanned)


def check_filter(where: Filter) -> None:
    """Refuse a glob that is none, whatever there is to filter: else the error would tell."""
    if where.paths:
        access.matcher(where.paths)


def record_passes(where: Filter, path: str, modified: int | None) -> bool:
    """Tell whether a record's path and time pass a filter."""
    if where.paths and not access.matcher(where.paths).match(path):
        return False
    if where.since is not None and (modified is None or modified < where.since):
        return False
    return where.until is None or (modified is not None and modified <= where.until)


def _check_k(k: int) -> None:
    if k < 1:
        raise InputError(f"k is {k}: ask for at least one result")


def _able(
    scores: npt.NDArray[Any], able: Places | None, allowed: Mask | None, k: int, rest: int
) -> Places | None:
    """Give the rows that can still be among the best k when at most `rest` is added; None: all."""
    reached = scores if able is None else scores[able]
    if allowed is not None:
        reached = np.where(allowed if able is None else allowed[able], reached, 0)
    least = topk.kth_best(reached, k) if reached.size > k else 0
    if least <= rest:
        return able
    # No row outside can reach the k-th best any more, not even a tie.
    still = np.flatnonzero(reached >= least - rest)
    return still if able is None else able[still]


def _allowed(snapshot: Snapshot, where: Filter) -> Mask | None:
    """Give the rows that pass a filter; None if all do. Both searches of a question ask for it."""
    if where not in snapshot.passing:
        snapshot.passing[where] = _passing(snapshot, where)
    return snapshot.passing[where]


def _passing(snapshot: Snapshot, where: Filter) -> Mask | None:
    table = snapshot.columns.table
    passing: Mask | None = None
    if where.kinds:
        marks = ",".join("?" * len(where.kinds))
        kinds = snapshot.connection.rows(
            f"SELECT id FROM kind WHERE space = ? AND name IN ({marks})",
            (snapshot.space.id, *where.kinds),
        )
        passing = np.isin(table[KIND], np.array([number for (number,) in kinds], np.int32))
    if where.paths or where.since is not None or where.until is not None:
        able = snapshot.readable.mask if passing is None else snapshot.readable.mask & passing
        records = np.unique(table[RECORD][able])
        passing = able & np.isin(table[RECORD], _fitting(snapshot, where, records))
    return passing


def _fitting(
    snapshot: Snapshot, where: Filter, records: npt.NDArray[np.int32]
) -> npt.NDArray[np.int32]:
    """Give those of some records whose path and time pass a filter."""
    if not records.size:
        return records
    begins = beginning(where.paths[0]) if len(where.paths) == 1 else ""
    dated = where.since is not None or where.until is not None
    told = None
    if begins.isascii() and begins and not dated:  # half of a surrogate pair cannot be asked for
        told = _beginning_with(snapshot, begins, INDEXED * records.size)
    if told is None:
        told = snapshot.connection.rows(
            "SELECT r.number, r.path, r.modified FROM carray(?) v "
            "CROSS JOIN record r ON r.number = v.value",
            (apsw.carray(records.astype(np.int64)),),
        )
    numbers = [
        number
        for number, path, modified in told
        if path.startswith(begins) and record_passes(where, path, modified)
    ]
    # The index knows of all records, also of those that were not asked for.
    return np.intersect1d(np.array(numbers, np.int32), records)


def _beginning_with(
    snapshot: Snapshot, begins: str, most: int
) -> list[tuple[int, str, None]] | None:
    """Read from the index which records' paths begin so, and no dates; None if too many do."""
    found = snapshot.connection.rows(
        "SELECT number, path, NULL FROM record WHERE space = ? AND path GLOB ? LIMIT ?",
        (snapshot.space.id, f"{begins}*", most + 1),
    )
    return None if len(found) > most else found


def _best(snapshot: Snapshot, found: Places, scores: npt.NDArray[Any], k: int) -> tuple[Hit, ...]:
    """Give the best k of the scored rows in their total order."""
    found, scores = _winners(snapshot, found, scores, k)
    if not found.size:
        return ()
    first = rows.key_of(snapshot.space.id, 0)
    known = dict(zip((found + first).tolist(), scores.tolist(), strict=True))
    fetched = snapshot.connection.rows(
        "SELECT c.key, r.path, c.sequence, c.start, c.id FROM carray(?) v "
        "CROSS JOIN chunk c ON c.key = v.value CROSS JOIN record r ON r.number = c.record",
        (apsw.carray(found + first),),
    )
    ordered = sorted((-known[key], *place) for key, *place in fetched)
    return tuple(
        [
            Hit(name.hex(), -negated, path, sequence, start)
            for negated, path, sequence, start, name in ordered
        ]
    )


def _winners(
    snapshot: Snapshot, found: Places, scores: npt.NDArray[Any], k: int
) -> tuple[Places, npt.NDArray[Any]]:
    """Give the k best of the scored rows, in no order; what is equal is told apart by its place."""
    picked = topk.contenders(scores, k)
    found, scores = found[picked], scores[picked]
    if found.size <= k:
        return found, scores
    least = scores.min()
    sure = np.flatnonzero(scores > least)
    equal = found[scores == least]
    first = rows.key_of(snapshot.space.id, 0)
    fetched = snapshot.connection.rows(
        "SELECT c.key FROM carray(?) v "
        "CROSS JOIN chunk c ON c.key = v.value CROSS JOIN record r ON r.number = c.record "
        "ORDER BY r.path, c.sequence, c.start, c.id LIMIT ?",
        (apsw.carray(equal + first), k - sure.size),
    )
    taken = np.array([rows.row_of(key) for (key,) in fetched], np.int64)
    return (
        np.concatenate([found[sure], taken]),
        np.concatenate([scores[sure], np.full(taken.size, least)]),
    )
