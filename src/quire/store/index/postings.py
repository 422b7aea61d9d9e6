"""Which rows hold a word, and how often?

A posting list is two columns: ascending row numbers and counts. On disk the rows are kept as
differences in the narrowest width that holds them all, so decoding is one cumulative sum.
Most words are rare and there are many of them, so lists are written and merged thousands at a
time: what numpy does for one list costs more than the list.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from quire.errors import StoreDamagedError
from quire.store.index.bm25 import MOST_TIMES

Rows = npt.NDArray[np.int32]
Times = npt.NDArray[np.uint8]
Posting = tuple[Rows, Times]

_WIDTHS: tuple[np.dtype[Any], ...] = (np.dtype("<u1"), np.dtype("<u2"), np.dtype("<u4"))
_HEADS = (b"\0", b"\1", b"\2")
_DAMAGED = "a list of words is damaged: run `quire doctor`"
NONE: Posting = (np.zeros(0, np.int32), np.zeros(0, np.uint8))


def encode(rows: Rows, times: Times) -> bytes:
    """Pack a posting list: width, then the row differences, then the counts."""
    return b"".join(data for _, data in _pack([""], np.zeros(rows.size, np.int32), rows, times))


def decode(data: bytes) -> Posting:
    """Unpack a posting list."""
    if not data or data[0] >= len(_WIDTHS):
        raise StoreDamagedError(_DAMAGED)
    kind = _WIDTHS[data[0]]
    count = (len(data) - 1) // (kind.itemsize + 1)
    steps = np.frombuffer(data, kind, count, 1)
    times = np.frombuffer(data, np.uint8, count, 1 + count * kind.itemsize)
    return np.cumsum(steps, dtype=np.int32), times


def join(parts: Iterable[Posting]) -> Posting:
    """Merge the posting lists of one word into one."""
    lists = sorted((part for part in parts if part[0].size), key=lambda part: int(part[0][0]))
    if not lists:
        return NONE
    rows = np.concatenate([part[0] for part in lists])
    times = np.concatenate([part[1] for part in lists])
    # Rows are handed out in ascending order, so that lists rarely overlap.
    if any(left[0][-1] > right[0][0] for left, right in pairwise(lists)):
        order = np.argsort(rows, kind="stable")
        rows, times = rows[order], times[order]
    return rows, times


def merge(
    words: Sequence[str], lists: Sequence[bytes], gone: npt.NDArray[np.bool_]
) -> Iterator[tuple[str, bytes]]:
    """Merge the packed lists of ascending words, where a word may stand several times in a row.

    Rows that are gone are left out, and words that no other row holds.
    """
    widths = np.array([data[0] if data else len(_WIDTHS) for data in lists], np.int64)
    lengths = np.array([len(data) for data in lists], np.int64) - 1
    if (widths >= len(_WIDTHS)).any() or (lengths % ((1 << widths) + 1)).any():
        raise StoreDamagedError(_DAMAGED)
    sizes = lengths // ((1 << widths) + 1)
    ends = (1 + (sizes << widths)).tolist()
    steps = np.empty(int(sizes.sum()), np.int64)
    for width, kind in enumerate(_WIDTHS):
        chosen = np.flatnonzero(widths == width).tolist()
        joined = b"".join([lists[at][1 : ends[at]] for at in chosen])
        steps[np.repeat(widths == width, sizes)] = np.frombuffer(joined, kind)
    times = np.frombuffer(
        b"".join([data[end:] for data, end in zip(lists, ends, strict=True)]), np.uint8
    )
    reached = np.cumsum(steps)
    starts = np.cumsum(sizes) - sizes
    rows = (reached - np.repeat(reached[starts] - steps[starts], sizes)).astype(np.int32)
    names = list(dict.fromkeys(words))
    places = dict(zip(names, range(len(names)), strict=True))
    which = np.repeat(np.array([places[word] for word in words], np.int32), sizes)
    if rows.size and int(rows.max()) >= gone.size:
        raise StoreDamagedError(_DAMAGED)
    kept = ~gone[rows]
    return _pack(names, which[kept], rows[kept], times[kept])


def _pack(
    words: Sequence[str], which: npt.NDArray[np.int32], rows: Rows, times: Times
) -> Iterator[tuple[str, bytes]]:
    """Pack the lists of many words: `which` tells the word of each row by its place."""
    # No row stands twice under a word, so the order is total.
    order = np.argsort(which.astype(np.int64) << 32 | rows)
    rows, times = rows[order], times[order]
    sizes = np.bincount(which, minlength=len(words))
    ends = np.cumsum(sizes)
    starts = ends - sizes
    steps = np.diff(rows, prepend=np.int32(0))
    first = starts[sizes > 0]
    steps[first] = rows[first]
    largest = np.zeros(len(words), np.int32)
    largest[sizes > 0] = np.maximum.reduceat(steps, first) if first.size else 0
    widths = (largest >= 1 << 8).astype(np.int8) + (largest >= 1 << 16)
    packed = [steps.astype(kind).tobytes() for kind in _WIDTHS]
    counts = times.tobytes()
    every = zip(words, widths.tolist(), starts.tolist(), ends.tolist(), strict=True)
    for word, width, start, end in every:
        if start < end:
            lists = packed[width]
            yield (
                word,
                _HEADS[width] + lists[start << width : end << width] + counts[start:end],
            )


class Gathering:
    """Collects the words of new chunks until they are written as one segment."""

    def __init__(self) -> None:
        self.rows: list[int] = []
        self._sizes: list[int] = []
        self._words: list[str] = []
        self._times: list[int] = []

    def add(self, row: int, counts: Counter[str]) -> None:
        """Note that a row holds these words so often."""
        self.rows.append(row)
        self._sizes.append(len(counts))
        self._words.extend(counts)
        self._times.extend(counts.values())

    def lists(self) -> Iterator[tuple[str, bytes]]:
        """Give each word with its packed list, in the order of the words."""
        names = sorted(set(self._words))
        places = dict(zip(names, range(len(names)), strict=True))
        which = np.array([places[word] for word in self._words], np.int32)
        rows = np.repeat(np.array(self.rows, np.int32), self._sizes)
        times = np.array(self._times, np.int64).clip(max=MOST_TIMES).astype(np.uint8)
        return _pack(names, which, rows, times)
