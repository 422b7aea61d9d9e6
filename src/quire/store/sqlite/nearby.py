"""Which rows answer together with what stands around them?

A paragraph or a turn of a conversation is understood by its neighbours. So the chunks around the
best ones are looked at as well: for each word, a chunk has what the word is worth to it or, less a
quarter for each step, to a chunk nearby in the same record. A definition in code says what it says
by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import apsw
import numpy as np
import numpy.typing as npt

from quire.errors import InputError
from quire.store.sqlite import rows
from quire.store.sqlite.snapshot import Snapshot
from quire.store.sqlite.terms import Places, Term

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
    snapshot: Snapshot, terms: Sequence[Term], seeds: Sequence[int], reach: int
) -> tuple[Places, npt.NDArray[np.int64]]:
    """Score the seeds and the rows within reach of them, by the words within reach of each."""
    around = _around(snapshot, seeds, reach)
    held, records, places = around
    wanted = np.isin(held, np.array(seeds, np.int64))
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
    snapshot: Snapshot, seeds: Sequence[int], reach: int
) -> tuple[Places, npt.NDArray[Any], npt.NDArray[Any]]:
    """Find the rows near the seeds and those near to these: rows, records, places in them.

    They come in reading order; a row that stands alone seems to be in a record of its own.
    """
    first = rows.key_of(snapshot.space.id, 0)
    found = snapshot.connection.rows(
        "WITH alone (kind) AS (SELECT id FROM kind WHERE space = ?1 AND name = ?2), "
        "seed AS (SELECT c.key, c.record, c.sequence, c.kind FROM carray(?3) v "
        "CROSS JOIN chunk c ON c.key = v.value) "
        "SELECT c.key, c.record, c.sequence FROM seed s CROSS JOIN chunk c "
        "ON c.record = s.record AND c.sequence BETWEEN s.sequence - ?4 AND s.sequence + ?4 "
        "WHERE s.kind NOT IN alone AND c.kind NOT IN alone "
        "UNION SELECT s.key, -1 - s.key, 0 FROM seed s WHERE s.kind IN alone "
        "ORDER BY 2, 3, 1",
        (
            snapshot.space.id,
            ALONE,
            apsw.carray(np.array(seeds, np.int64) + first),
            2 * reach,
        ),
    )
    table = np.array(found, np.int64).reshape(-1, 3)
    return table[:, 0] - first, table[:, 1], table[:, 2]


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
