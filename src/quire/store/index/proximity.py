"""Which rows answer together with what stands around them?

A paragraph or a turn of a conversation is understood by its neighbours. So the chunks around the
best ones are looked at as well: for each word, a chunk has what the word is worth to it or, less a
quarter for each step, to a chunk nearby in the same record. A definition in code says what it says
by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import apsw
import numpy as np
import numpy.typing as npt

from quire.errors import InputError
from quire.store.index.columns import KIND, RECORD
from quire.store.index.terms import Places, Term
from quire.store.sqlite import rows
from quire.store.sqlite.snapshot import Snapshot

ALONE = "code"
"""Chunks of this kind have no neighbours."""
QUARTERS = 4
"""A word loses one of so many parts of its worth with each chunk that it is further away."""
AT_ONCE = 64
"""Words that are looked at together: few enough for the cache."""


def check_reach(reach: int) -> None:
    """Refuse a distance at which nothing is left of a word's worth."""
    if not 0 <= reach < QUARTERS:
        raise InputError(f"reach is {reach}: it must be from 0 to {QUARTERS - 1}")


def scored(
    snapshot: Snapshot, terms: Sequence[Term], seeds: Places, reach: int
) -> tuple[Places, npt.NDArray[np.int64]]:
    """Score the seeds and the rows within reach of them, by the words within reach of each."""
    around = _around(snapshot, seeds, reach)
    held, records, places = around
    wanted = np.isin(held, seeds)
    pairs = list(_pairs(records, places, reach))
    near = wanted.copy()
    for left, right, _ in pairs:
        near[left] |= wanted[right]
        near[right] |= wanted[left]
    scores = np.zeros(held.size, np.int64)
    norms = snapshot.readable.norms
    for at in range(0, len(terms), AT_ONCE):
        part = terms[at : at + AT_ONCE]
        own = np.array([term.worth(held, norms) for term in part], np.int32)
        best = own.copy()
        for left, right, share in pairs:
            best[:, left] = np.maximum(best[:, left], own[:, right] * share // QUARTERS)
            best[:, right] = np.maximum(best[:, right], own[:, left] * share // QUARTERS)
        scores += best.sum(axis=0, dtype=np.int64)
    return held[near], scores[near]


def _around(
    snapshot: Snapshot, seeds: Places, reach: int
) -> tuple[Places, npt.NDArray[Any], npt.NDArray[Any]]:
    """Find the rows near the seeds and those near to these: rows, records, places in them.

    They come in reading order; a row that stands alone seems to be in a record of its own.
    """
    first = rows.key_of(snapshot.space.id, 0)
    table = snapshot.columns.table
    (alone,) = snapshot.connection.rows(
        "SELECT coalesce(max(id), -1) FROM kind WHERE space = ? AND name = ?",
        (snapshot.space.id, ALONE),
    )[0]
    # Nothing is asked but what the index on records holds: no chunk itself is read for it.
    found = snapshot.connection.rows(
        "SELECT c.key, c.sequence FROM "
        "(SELECT c.record, c.sequence FROM carray(?1) v CROSS JOIN chunk c ON c.key = v.value) s "
        "CROSS JOIN chunk c "
        "ON c.record = s.record AND c.sequence BETWEEN s.sequence - ?2 AND s.sequence + ?2",
        (apsw.carray(np.sort(seeds) + first), 2 * reach),
    )
    met = np.fromiter(chain.from_iterable(found), np.int64, 2 * len(found)).reshape(-1, 2)
    held, at = np.unique(met[:, 0] - first, return_index=True)
    near = table[KIND, held] != alone
    held, places = held[near], met[at[near], 1]
    records = table[RECORD, held]
    order = np.lexsort((held, places, records))
    single = seeds[table[KIND, seeds] == alone]
    return (
        np.concatenate([single, held[order]]),
        np.concatenate([-1 - single, records[order]]),
        np.concatenate([np.zeros(single.size, np.int64), places[order]]),
    )


def _pairs(
    records: npt.NDArray[Any], places: npt.NDArray[Any], reach: int
) -> list[tuple[Places, Places, npt.NDArray[np.int32]]]:
    """Give all pairs of neighbours, and what is left of a word's worth between them."""
    pairs = []
    step = 1
    while step < records.size:
        apart = places[step:] - places[:-step]
        # A difference that is too large for 64 bits comes out negative.
        close = (apart >= 0) & (apart <= reach)
        left = np.flatnonzero((records[step:] == records[:-step]) & close)
        if not left.size:
            break
        pairs.append((left, left + step, (QUARTERS - apart[left]).astype(np.int32)))
        step += 1
    return pairs
