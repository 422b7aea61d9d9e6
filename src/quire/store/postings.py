"""Which rows hold a word, and how often?

A posting list is two columns: ascending row numbers and counts. On disk the rows are kept as
differences in the narrowest width that holds them all, so decoding is one cumulative sum.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from quire.store.bm25 import MOST_TIMES

Rows = npt.NDArray[np.int32]
Times = npt.NDArray[np.uint8]
Posting = tuple[Rows, Times]

_WIDTHS = (np.dtype("<u1"), np.dtype("<u2"), np.dtype("<u4"))
NONE: Posting = (np.zeros(0, np.int32), np.zeros(0, np.uint8))


def encode(rows: Rows, times: Times) -> bytes:
    """Pack a posting list: width, then the row differences, then the counts."""
    steps = np.diff(rows, prepend=np.int32(0))
    largest = int(steps.max(initial=0))
    width = 0 if largest < 1 << 8 else 1 if largest < 1 << 16 else 2
    return bytes([width]) + steps.astype(_WIDTHS[width]).tobytes() + times.tobytes()


def decode(data: bytes) -> Posting:
    """Unpack a posting list."""
    kind = _WIDTHS[data[0]]
    count = (len(data) - 1) // (kind.itemsize + 1)
    steps = np.frombuffer(data, kind, count, 1)
    times = np.frombuffer(data, np.uint8, count, 1 + count * kind.itemsize)
    return np.cumsum(steps, dtype=np.int32), times


def join(parts: Iterable[Posting], dropped: npt.NDArray[np.bool_] | None = None) -> Posting:
    """Merge posting lists into one, leaving out the dropped rows."""
    lists = [part for part in parts if part[0].size]
    if not lists:
        return NONE
    rows = np.concatenate([part[0] for part in lists])
    times = np.concatenate([part[1] for part in lists])
    if dropped is not None:
        kept = ~dropped[rows]
        rows, times = rows[kept], times[kept]
    if len(lists) > 1:
        order = np.argsort(rows, kind="stable")
        rows, times = rows[order], times[order]
    return rows, times


class Gathering:
    """Collects the words of new chunks until they are written as one segment."""

    def __init__(self) -> None:
        self._rows: dict[str, list[int]] = {}
        self._times: dict[str, list[int]] = {}
        self.rows: list[int] = []

    def add(self, row: int, counts: Counter[str]) -> None:
        """Note that a row holds these words so often."""
        self.rows.append(row)
        for word, count in counts.items():
            times = min(count, MOST_TIMES)
            rows = self._rows.get(word)
            if rows is None:
                self._rows[word] = [row]
                self._times[word] = [times]
            else:
                rows.append(row)
                self._times[word].append(times)

    def lists(self) -> Iterable[tuple[str, bytes]]:
        """Give each word with its packed list, in the order of the words."""
        for word in sorted(self._rows):
            rows = np.array(self._rows[word], np.int32)
            times = np.array(self._times[word], np.uint8)
            if rows.size > 1:
                order = np.argsort(rows, kind="stable")
                rows, times = rows[order], times[order]
            yield word, encode(rows, times)
