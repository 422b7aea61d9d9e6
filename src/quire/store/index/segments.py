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
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from quire.store.index import postings
from quire.store.index.postings import Posting

FANOUT = 8
"""The number of segments of one level that are merged."""
MIN_ROWS = 64
"""Segments of fewer rows have the lowest level."""
CACHE_BYTES = 128 * 1024 * 1024
MERGE_BYTES = 256 * 1024
"""Lists are merged in portions of about this size; the arrays for one take ten times as much."""
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


@dataclass(frozen=True, slots=True)
class _Kept:
    """The list of a word in some segments, and the list in the first of them that it grew from."""

    segments: tuple[int, ...]
    posting: Posting
    base_segments: tuple[int, ...]
    """Those of the list as it was read at first: they are large, and the merges of small writes
    leave them alone."""
    base: Posting

    @property
    def size(self) -> int:
        """The bytes that it takes in memory, about."""
        return _size(self.posting) + (0 if self.base is self.posting else _size(self.base))


class PostingCache:
    """The decoded posting lists that were used last; segments never change, so neither do they.

    A write adds a segment: a list is extended by it, and takes the place of the one before, or a
    store that is written to would fill the cache with lists that nobody asks for again.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lists: OrderedDict[tuple[int, str], _Kept] = OrderedDict()
        self._bytes = 0

    @property
    def size(self) -> int:
        """The bytes that the lists take in memory, about."""
        return self._bytes

    def read(
        self,
        space: int,
        word: str,
        segments: Sequence[int],
        load: Callable[[int, str], Iterable[bytes]],
    ) -> Posting:
        """Return all rows that contain a word in these segments.

        Args:
            space: The number of the space.
            word: The word.
            segments: The numbers of its segments, in ascending order.
            load: Reads the encoded list of a word from one segment, if it has one.
        """
        wanted = tuple(segments)
        key = space, word
        with self._lock:
            kept = self._lists.get(key, _NOTHING)
            if kept is not _NOTHING:
                self._lists.move_to_end(key)
                if kept.segments == wanted:
                    return kept.posting
        known = kept.segments, kept.posting
        if not _begins(known[0], wanted):
            known = kept.base_segments, kept.base
        if not _begins(known[0], wanted):
            known = (), postings.EMPTY
        added = (
            postings.decode(data)
            for segment in wanted[len(known[0]) :]
            for data in load(segment, word)
        )
        posting = postings.join([known[1], *added])
        is_new = not known[0]
        entry = _Kept(
            wanted,
            posting,
            wanted if is_new else kept.base_segments,
            posting if is_new else kept.base,
        )
        self._keep(key, entry)
        return posting

    def _keep(self, key: tuple[int, str], entry: _Kept) -> None:
        with self._lock:
            before = self._lists.get(key)
            if before is not None:
                if before.segments[-1:] >= entry.segments[-1:]:
                    return  # an older state was read, or another thread was faster
                self._bytes -= before.size
            self._lists[key] = entry
            self._lists.move_to_end(key)
            self._bytes += entry.size
            while self._bytes > CACHE_BYTES:
                self._bytes -= self._lists.popitem(last=False)[1].size

    def missing(self, space: int, words: Iterable[str], segments: Sequence[int]) -> list[str]:
        """Return those of these words whose lists are not here for these segments, each once."""
        wanted = tuple(segments)
        with self._lock:
            return [
                word
                for word in dict.fromkeys(words)
                if self._lists.get((space, word), _NOTHING).segments != wanted
            ]

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._lists.clear()
            self._bytes = 0


_NOTHING = _Kept((), postings.EMPTY, (), postings.EMPTY)


def _begins(segments: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    """Tell whether some segments are the first of those that are wanted."""
    return wanted[: len(segments)] == segments


def _size(posting: Posting) -> int:
    return posting[0].nbytes + posting[1].nbytes + _ENTRY_BYTES
