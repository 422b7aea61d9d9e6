"""Posting lists: which rows contain a word, and how often.

A posting list has two columns, ascending row numbers and counts. It is stored as row differences
in the narrowest width that fits them all, so that decoding is one cumulative sum. Most words are
rare and there are many of them, so lists are encoded and merged thousands at a time: numpy's
overhead for a single list exceeds the cost of the list itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from quire.store.damage import damaged
from quire.store.index.bm25 import MAX_COUNT

Rows = npt.NDArray[np.int32]
Counts = npt.NDArray[np.uint8]
Posting = tuple[Rows, Counts]

_WIDTHS: tuple[np.dtype[Any], ...] = (np.dtype("<u1"), np.dtype("<u2"), np.dtype("<u4"))
_HEADS = (b"\0", b"\1", b"\2")
_DAMAGED = "a posting list is damaged"
EMPTY: Posting = (np.zeros(0, np.int32), np.zeros(0, np.uint8))


def encode(rows: Rows, counts: Counts) -> bytes:
    """Encode a posting list: the width, then the row differences, then the counts."""
    encoded = _encode_lists([""], np.zeros(rows.size, np.int32), rows, counts)
    return b"".join(data for _, data in encoded)


def decode(data: bytes) -> Posting:
    """Decode a posting list."""
    if not data or data[0] >= len(_WIDTHS):
        raise damaged(_DAMAGED)
    dtype = _WIDTHS[data[0]]
    size = (len(data) - 1) // (dtype.itemsize + 1)
    steps = np.frombuffer(data, dtype, size, 1)
    counts = np.frombuffer(data, np.uint8, size, 1 + size * dtype.itemsize)
    return np.cumsum(steps, dtype=np.int32), counts


def join(postings: Iterable[Posting]) -> Posting:
    """Join the posting lists of one word, which share no row, into one."""
    lists = sorted((each for each in postings if each[0].size), key=lambda each: int(each[0][0]))
    if not lists:
        return EMPTY
    if len(lists) == 1:
        rows, counts = lists[0]
        # Counts that were decoded are a part of the bytes that were read, and would hold them all.
        return lists[0] if counts.base is None else (rows, counts.copy())
    rows = np.concatenate([each[0] for each in lists])
    counts = np.concatenate([each[1] for each in lists])
    # Rows are allocated in ascending order, so lists rarely overlap.
    if any(left[0][-1] > right[0][0] for left, right in pairwise(lists)):
        order = np.argsort(rows, kind="stable")
        rows, counts = rows[order], counts[order]
    return rows, counts


def merge(
    words: Sequence[str], lists: Sequence[bytes], dead: npt.NDArray[np.bool_]
) -> Iterator[tuple[str, bytes]]:
    """Merge the encoded lists of ascending words, where a word may repeat.

    Dead rows are left out, and with them words that no other row contains.
    """
    widths = np.array([data[0] if data else len(_WIDTHS) for data in lists], np.int64)
    lengths = np.array([len(data) for data in lists], np.int64) - 1
    if (widths >= len(_WIDTHS)).any() or (lengths % ((1 << widths) + 1)).any():
        raise damaged(_DAMAGED)
    sizes = lengths // ((1 << widths) + 1)
    ends = (1 + (sizes << widths)).tolist()
    steps = np.empty(int(sizes.sum()), np.int64)
    for width, dtype in enumerate(_WIDTHS):
        chosen = np.flatnonzero(widths == width).tolist()
        joined = b"".join([lists[index][1 : ends[index]] for index in chosen])
        steps[np.repeat(widths == width, sizes)] = np.frombuffer(joined, dtype)
    counts = np.frombuffer(
        b"".join([data[end:] for data, end in zip(lists, ends, strict=True)]), np.uint8
    )
    sums = np.cumsum(steps)
    starts = np.cumsum(sizes) - sizes
    rows = (sums - np.repeat(sums[starts] - steps[starts], sizes)).astype(np.int32)
    names = list(dict.fromkeys(words))
    numbers = dict(zip(names, range(len(names)), strict=True))
    word_numbers = np.repeat(np.array([numbers[word] for word in words], np.int32), sizes)
    if rows.size and int(rows.max()) >= dead.size:
        raise damaged(_DAMAGED)
    living = ~dead[rows]
    return _encode_lists(names, word_numbers[living], rows[living], counts[living])


def _encode_lists(
    words: Sequence[str], word_numbers: npt.NDArray[np.int32], rows: Rows, counts: Counts
) -> Iterator[tuple[str, bytes]]:
    """Encode the lists of many words; `word_numbers` holds the index of each row's word."""
    # No row occurs twice under a word, so the order is total.
    order = np.argsort(word_numbers.astype(np.int64) << 32 | rows)
    rows, counts = rows[order], counts[order]
    sizes = np.bincount(word_numbers, minlength=len(words))
    ends = np.cumsum(sizes)
    starts = ends - sizes
    steps = np.diff(rows, prepend=np.int32(0))
    first = starts[sizes > 0]
    steps[first] = rows[first]
    largest = np.zeros(len(words), np.int32)
    largest[sizes > 0] = np.maximum.reduceat(steps, first) if first.size else 0
    widths = (largest >= 1 << 8).astype(np.int8) + (largest >= 1 << 16)
    encoded_steps = [steps.astype(dtype).tobytes() for dtype in _WIDTHS]
    encoded_counts = counts.tobytes()
    for word, width, start, end in zip(
        words, widths.tolist(), starts.tolist(), ends.tolist(), strict=True
    ):
        if start < end:
            data = encoded_steps[width][start << width : end << width]
            yield word, _HEADS[width] + data + encoded_counts[start:end]


class PostingBuilder:
    """Collects the words of new chunks until they are written as one segment."""

    def __init__(self) -> None:
        self.rows: list[int] = []
        self._sizes: list[int] = []
        self._words: list[str] = []
        self._counts: list[int] = []

    def add(self, row: int, counts: Counter[str]) -> None:
        """Add the words of a row."""
        self.rows.append(row)
        self._sizes.append(len(counts))
        self._words.extend(counts)
        self._counts.extend(counts.values())

    def lists(self) -> Iterator[tuple[str, bytes]]:
        """Yield each word with its encoded list, in the order of the words."""
        names = sorted(set(self._words))
        numbers = dict(zip(names, range(len(names)), strict=True))
        word_numbers = np.array([numbers[word] for word in self._words], np.int32)
        rows = np.repeat(np.array(self.rows, np.int32), self._sizes)
        counts = np.array(self._counts, np.int64).clip(max=MAX_COUNT).astype(np.uint8)
        return _encode_lists(names, word_numbers, rows, counts)
