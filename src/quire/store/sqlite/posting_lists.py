"""How are posting lists written, merged and read?

Each write adds one segment. Segments of about the same size are of one level; when eight of a
level have come together they are merged into one. So a word is never spread over more than a few
dozen lists, and a small write never rewrites large ones. Merging drops the rows of chunks that are
gone, and changes no result.
"""

from __future__ import annotations

import heapq
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

from quire.errors import StoreDamagedError
from quire.store.index import postings
from quire.store.index.columns import ACCESS, DEAD, Draft
from quire.store.index.postings import Gathering, Posting
from quire.store.sqlite.database import REPAIR, Connection

FANOUT = 8
TINY = 64
"""Segments of fewer rows are of the lowest level."""
CACHE_BYTES = 128 * 1024 * 1024
MERGED_BYTES = 4 * 1024 * 1024
"""Lists are merged in portions of about so many bytes."""
_DAMAGED = f"lists of words are damaged: {REPAIR}"


def add(connection: Connection, space: int, gathered: Gathering) -> None:
    """Write the words of new chunks as a segment."""
    if not gathered.rows:
        return
    _write(connection, space, np.sort(np.array(gathered.rows, np.int32)), gathered.lists())


def merge_full_levels(connection: Connection, space: int, draft: Draft) -> None:
    """Merge where a level has come to hold enough segments."""
    level = 0
    while True:
        found = _segments(connection, space, level)
        if len(found) >= FANOUT:
            _merge(connection, space, draft, found)
        elif not connection.row(
            "SELECT 1 FROM segment WHERE space = ? AND level > ?", (space, level)
        ):
            return
        level += 1


def merge_all(connection: Connection, space: int, draft: Draft) -> None:
    """Merge everything into one segment."""
    found = _segments(connection, space)
    if found:
        _merge(connection, space, draft, found)


def numbers(connection: Connection, space: int) -> list[int]:
    """Tell which segments there are."""
    found = connection.rows("SELECT id FROM segment WHERE space = ? ORDER BY id", (space,))
    return [number for (number,) in found]


def named(connection: Connection, space: int) -> npt.NDArray[np.int32]:
    """Tell which rows the segments say that they hold, in order."""
    parts = [rows for _, rows in _segments(connection, space)]
    return np.sort(np.concatenate(parts)) if parts else np.zeros(0, np.int32)


def living(
    connection: Connection, space: int, gone: npt.NDArray[np.bool_]
) -> Iterator[tuple[str, bytes]]:
    """Give every word with its whole list, in order, without the rows that are gone."""
    return _joined(connection, space, numbers(connection, space), gone)


def drop_all(connection: Connection, space: int) -> None:
    """Forget all posting lists (they are about to be written anew)."""
    connection.execute("DELETE FROM posting WHERE space = ?", (space,))
    connection.execute("DELETE FROM segment WHERE space = ?", (space,))


class Lists:
    """Reads posting lists, and keeps the unpacked ones that were asked for last."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, tuple[int, ...]], Posting] = OrderedDict()
        self._bytes = 0

    def read(
        self, connection: Connection, space: int, segments: Iterable[int], word: str
    ) -> Posting:
        """Give the rows that hold a word, over these segments."""
        asked = tuple(segments)
        at = (word, asked)
        with self._lock:
            # A write adds a segment to those that a list was last read from.
            up_to = next(
                (n for n in range(len(asked), 0, -1) if (word, asked[:n]) in self._kept), 0
            )
            known = self._kept.get((word, asked[:up_to]), postings.NONE)
            if at in self._kept:
                self._kept.move_to_end(at)
                return known
        newer = (
            postings.decode(data)
            for segment in asked[up_to:]
            for (data,) in connection.rows(
                "SELECT rows FROM posting WHERE space = ? AND segment = ? AND word = ?",
                (space, segment, word),
            )
        )
        found = postings.join([known, *newer])
        with self._lock:
            if at not in self._kept:
                self._kept[at] = found
                self._bytes += _size(found)
            while self._bytes > CACHE_BYTES:
                self._bytes -= _size(self._kept.popitem(last=False)[1])
        return found

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._kept.clear()
            self._bytes = 0


def _size(posting: Posting) -> int:
    return posting[0].nbytes + posting[1].nbytes + 200


def _segments(
    connection: Connection, space: int, level: int | None = None
) -> list[tuple[int, npt.NDArray[np.int32]]]:
    found = connection.rows(
        "SELECT id, rows FROM segment WHERE space = ?1 AND (?2 IS NULL OR level = ?2) ORDER BY id",
        (space, level),
    )
    try:
        return [(number, np.frombuffer(rows, "<i4")) for number, rows in found]
    except ValueError as error:
        raise StoreDamagedError(_DAMAGED) from error


def _level(rows: int) -> int:
    level = 0
    while rows >= TINY * FANOUT**level:
        level += 1
    return level


def _merge(
    connection: Connection,
    space: int,
    draft: Draft,
    merged: list[tuple[int, npt.NDArray[np.int32]]],
) -> None:
    rows = np.sort(np.concatenate([part for _, part in merged]))
    gone = draft.table[ACCESS, : draft.rows] == DEAD
    if rows.size and rows[-1] >= gone.size:
        raise StoreDamagedError(_DAMAGED)
    kept = rows[~gone[rows]]
    old = [number for number, _ in merged]
    _write(connection, space, kept, _joined(connection, space, old, gone))
    marks = ",".join("?" * len(old))
    for table, column in (("posting", "segment"), ("segment", "id")):
        connection.execute(
            f"DELETE FROM {table} WHERE space = ? AND {column} IN ({marks})",
            (space, *old),
        )
    draft.release(rows[gone[rows]])


def _joined(
    connection: Connection, space: int, segments: list[int], gone: npt.NDArray[np.bool_]
) -> Iterator[tuple[str, bytes]]:
    def listed(segment: int) -> Iterator[tuple[str, bytes]]:
        yield from connection.execute(
            "SELECT word, rows FROM posting WHERE space = ? AND segment = ? ORDER BY word",
            (space, segment),
        )

    # The words of each segment come sorted; equal words of several segments meet here.
    streams = heapq.merge(*(listed(segment) for segment in segments), key=lambda pair: pair[0])
    words: list[str] = []
    lists: list[bytes] = []
    size = 0
    for word, data in streams:
        if size >= MERGED_BYTES and word != words[-1]:
            yield from postings.merge(words, lists, gone)
            words, lists, size = [], [], 0
        words.append(word)
        lists.append(data)
        size += len(data)
    if words:
        yield from postings.merge(words, lists, gone)


def _write(
    connection: Connection,
    space: int,
    rows: npt.NDArray[np.int32],
    lists: Iterable[tuple[str, bytes]],
) -> None:
    if not rows.size:
        for _ in lists:
            raise StoreDamagedError(_DAMAGED)  # a posting list without a living row
        return
    connection.execute(
        "INSERT INTO segment (space, level, rows) VALUES (?, ?, ?)",
        (space, _level(rows.size), rows.astype("<i4").tobytes()),
    )
    number = connection.last_insert_rowid()
    connection.executemany(
        "INSERT INTO posting (space, segment, word, rows) VALUES (?, ?, ?, ?)",
        ((space, number, word, data) for word, data in lists),
    )
