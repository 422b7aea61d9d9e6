"""Nearest vectors by integer dot product.

Vectors are int8 and a score is a dot product. Up to `SCAN_LIMIT` rows all of them are scored.
Above it a first pass selects the rows whose sign codes differ least from the query's (Hamming
distance), including every row at the threshold, and a second pass scores those exactly: the
result is approximate, but the same on every machine and after any history.

Dot products are exact (`products.py`).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from quire.core import hashing
from quire.store.index import products
from quire.store.index.products import MAX_SQUARED_NORM

Matrix = products.Matrix
Codes = npt.NDArray[np.uint64]
Scores = products.Scores

SCAN_LIMIT = 200_000
FIRST_PASS = 10_000
"""The least number of rows that the first pass selects."""
FIRST_PASS_PER_HIT = 100
_CODE_STRIP = 1 << 16


def dot(matrix: Matrix, query: bytes) -> Scores:
    """Return the dot product of the query with each row."""
    return products.dot(matrix, np.frombuffer(query, np.int8))


def score_slots(matrix: Matrix, query: bytes, slots: npt.NDArray[np.int32]) -> Scores:
    """Return the dot product of the query with the vector in each of these slots."""
    # Vectors written together are adjacent: score the range that covers all of them.
    first, last = (int(slots.min()), int(slots.max())) if slots.size else (0, -1)
    if slots.size * 3 < last - first:
        return dot(np.take(matrix, slots, axis=0), query)
    scores = dot(matrix[first : last + 1], query)
    if scores.size == slots.size and is_ascending(slots):
        return scores
    return np.take(scores, slots - first)


def is_ascending(slots: npt.NDArray[np.int32]) -> bool:
    """Tell whether each of these slots is higher than the one before."""
    return bool((slots[1:] > slots[:-1]).all())


def select_nearest(
    codes: Codes, query: bytes, slots: npt.NDArray[np.int32], k: int
) -> npt.NDArray[np.int64]:
    """Return the indices of the slots that the first pass selects for a request of k."""
    code = sign_codes(np.frombuffer(query, np.int8)[None])[0]
    distances = np.take(hamming_distances(codes, code), slots)
    return np.flatnonzero(distances <= distance_threshold(distances, first_pass_size(k)))


def has_exact_products(vector: bytes) -> bool:
    """Return whether a vector is short enough for its dot products to be exact."""
    numbers = np.frombuffer(vector, np.int8).astype(np.int64)
    return int(numbers @ numbers) < MAX_SQUARED_NORM


def first_pass_size(k: int) -> int:
    """Return how many rows the first pass selects for a request of k."""
    return max(FIRST_PASS, FIRST_PASS_PER_HIT * k)


def hamming_distances(codes: Codes, query: Codes) -> npt.NDArray[np.uint16]:
    """Return the distance of the query's code to each code; fast if columns are contiguous."""
    total = np.zeros(codes.shape[0], np.uint16)
    for start in range(0, codes.shape[0], _CODE_STRIP):
        strip = slice(start, start + _CODE_STRIP)
        for word in range(codes.shape[1]):
            total[strip] += np.bitwise_count(codes[strip, word] ^ query[word])
    return total


def distance_threshold(distances: npt.NDArray[np.uint16], size: int) -> int:
    """Return the smallest distance that at least `size` rows do not exceed."""
    return reached_at(np.bincount(distances), size)


def reached_at(counts: npt.NDArray[np.int64], size: int) -> int:
    """Return the smallest distance that at least `size` rows do not exceed, from their counts."""
    return int(np.searchsorted(np.cumsum(counts), size))


def code_words(dims: int) -> int:
    """Return the number of 64-bit words in a code of so many dimensions."""
    return _code_bits(dims) // 64


def sign_codes(matrix: Matrix) -> Codes:
    """Return each row's code: its signs after a fixed rotation.

    The rotation (fixed sign flips, then a Walsh-Hadamard transform, in integers) distributes the
    content of a few strong dimensions over all bits.
    """
    rows, dims = matrix.shape
    bits = _code_bits(dims)
    work = np.zeros((rows, bits), np.int32)
    work[:, :dims] = matrix
    work *= _flips(bits)
    step = 1
    while step < bits:
        paired = work.reshape(rows, bits // (2 * step), 2, step)
        left, right = paired[:, :, 0, :].copy(), paired[:, :, 1, :]
        paired[:, :, 0, :] += right
        paired[:, :, 1, :] = left - right
        step *= 2
    packed = np.packbits(work > 0, axis=1, bitorder="little")
    return packed.view("<u8").astype(np.uint64, copy=False)


def _code_bits(dims: int) -> int:
    return max(64, 1 << (dims - 1).bit_length())


@lru_cache
def _flips(bits: int) -> npt.NDArray[np.int32]:
    """Return fixed signs derived from a hash: the same on every machine and in every version."""
    seed = b"".join(hashing.digest("flips", part) for part in range(-(-bits // 256)))
    signs = np.unpackbits(np.frombuffer(seed, np.uint8))[:bits]
    return np.where(signs, 1, -1).astype(np.int32)
