"""Segments: how posting lists are grouped, merged and cached.

Each write adds one segment. Segments of about the same size have the same level; when a level has
`FANOUT` of them they are merged into one. So a word is never spread over more than a few dozen
lists, and a small write never rewrites large ones. Merging drops the rows of removed chunks and
changes no result.
"""

from __future__ import annotations

import heapq
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from quire.store.index import postings
from quire.store.index.postings import Posting

FANOUT = 8
"""The number of segments of one level that are merged."""
MIN_ROWS = 64
"""Segments of fewer rows have the lowest level."""
CACHE_BYTES = 128 * 1024 * 1024
MERGE_BYTES = 4 * 1024 * 1024
"""Lists are merged in portions of about this size."""
_ENTRY_BYTES = 200
"""What a cached list needs beside its arrays, roughly."""


def level_of(rows: int) -> int:
    """Return the level of a segment with so many rows."""
    level = 0
    while rows >= MIN_ROWS * FANOUT**level:
        level += 1
    return level


def merge_streams(
    streams: Iterable[Iterator[tuple[str, bytes]]], dead: npt.NDArray[np.bool_]
) -> Iterator[tuple[str, bytes]]:
    """Merge the lists of several segments, each sorted by word; dead rows are left out."""
    words: list[str] = []
    lists: list[bytes] = []
    size = 0
    for word, data in heapq.merge(*streams, key=lambda pair: pair[0]):
        if size >= MERGE_BYTES and word != words[-1]:
            yield from postings.merge(words, lists, dead)
            words, lists, size = [], [], 0
        words.append(word)
        lists.append(data)
        size += len(data)
    if words:
        yield from postings.merge(words, lists, dead)


class PostingCache:
    """The decoded posting lists that were used last; segments never change, so neither do they."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lists: OrderedDict[tuple[str, tuple[int, ...]], Posting] = OrderedDict()
        self._bytes = 0

    def read(
        self,
        word: str,
        segments: Sequence[int],
        load: Callable[[int, str], Iterable[bytes]],
    ) -> Posting:
        """Return all rows that contain a word in these segments.

        Args:
            word: The word.
            segments: The numbers of the segments, in ascending order.
            load: Reads the encoded list of a word from one segment, if it has one.
        """
        wanted = tuple(segments)
        key = (word, wanted)
        with self._lock:
            # A write adds a segment to those that a list was last read from.
            cached = next(
                (n for n in range(len(wanted), 0, -1) if (word, wanted[:n]) in self._lists), 0
            )
            known = self._lists.get((word, wanted[:cached]), postings.EMPTY)
            if key in self._lists:
                self._lists.move_to_end(key)
                return known
        added = (
            postings.decode(data) for segment in wanted[cached:] for data in load(segment, word)
        )
        posting = postings.join([known, *added])
        with self._lock:
            if key not in self._lists:
                self._lists[key] = posting
                self._bytes += _size(posting)
            while self._bytes > CACHE_BYTES:
                self._bytes -= _size(self._lists.popitem(last=False)[1])
        return posting

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._lists.clear()
            self._bytes = 0


def _size(posting: Posting) -> int:
    return posting[0].nbytes + posting[1].nbytes + _ENTRY_BYTES
