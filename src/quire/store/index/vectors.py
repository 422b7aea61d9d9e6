"""Which vectors are nearest, in whole numbers?

Vectors are int8 and scores are their dot products. Up to `SCAN_LIMIT` rows every one is scored.
Above it a first pass keeps the rows whose sign codes differ least (Hamming distance), every row
at the threshold included, and the second scores those exactly: approximate, but the same on
every machine and after any history.

The dot products run in float32 for the speed of BLAS and are exact all the same: quantised
vectors have a squared length below 2**24 (the embedder sees to that), so by Cauchy-Schwarz no
partial sum leaves the range in which float32 holds every integer.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from quire.core import hashing

Matrix = npt.NDArray[np.int8]
Codes = npt.NDArray[np.uint64]
Scores = npt.NDArray[np.int32]

SCAN_LIMIT = 200_000
FIRST_PASS = 10_000
"""How many rows the first pass keeps, at least."""
FIRST_PASS_PER_HIT = 100
LARGEST_NORM = 1 << 24
_STRIP = 1024 * 384
"""Numbers converted and multiplied at once: few enough for the cache, and for BLAS to stay on the
calling thread. With twice as many it wakes others, and on a busy machine waits for them."""
_CODE_STRIP = 1 << 16


def dot(matrix: Matrix, query: bytes) -> Scores:
    """Give the dot product of the query with each row."""
    wanted = np.frombuffer(query, np.int8).astype(np.float32)
    scores = np.empty(matrix.shape[0], np.int32)
    strip = max(1, _STRIP // wanted.size)
    for at in range(0, matrix.shape[0], strip):
        scores[at : at + strip] = matrix[at : at + strip].astype(np.float32) @ wanted
    return scores


def fits(vector: bytes) -> bool:
    """Tell whether a vector is short enough for its dot products to be exact."""
    numbers = np.frombuffer(vector, np.int8).astype(np.int64)
    return int(numbers @ numbers) < LARGEST_NORM


def first_pass_size(k: int) -> int:
    """Tell how many rows the first pass keeps for a request of k."""
    return max(FIRST_PASS, FIRST_PASS_PER_HIT * k)


def distances(codes: Codes, query: Codes) -> npt.NDArray[np.uint16]:
    """Give the Hamming distance of the query's code to each code; fast if columns are whole."""
    total = np.zeros(codes.shape[0], np.uint16)
    for at in range(0, codes.shape[0], _CODE_STRIP):
        strip = slice(at, at + _CODE_STRIP)
        for word in range(codes.shape[1]):
            total[strip] += np.bitwise_count(codes[strip, word] ^ query[word])
    return total


def threshold(distance: npt.NDArray[np.uint16], keep: int) -> int:
    """Give the smallest distance within which at least `keep` rows lie."""
    reached = np.cumsum(np.bincount(distance))
    return int(np.searchsorted(reached, keep))


def code_words(dims: int) -> int:
    """Tell how many 64-bit words a code of so many dimensions has."""
    return _span(dims) // 64


def encode(matrix: Matrix) -> Codes:
    """Give each row's code: the signs after a fixed rotation.

    The rotation (fixed sign flips, then a Walsh-Hadamard transform, in integers) spreads what
    a few strong dimensions hold over all bits.
    """
    rows, dims = matrix.shape
    span = _span(dims)
    work = np.zeros((rows, span), np.int32)
    work[:, :dims] = matrix
    work *= _flips(span)
    step = 1
    while step < span:
        paired = work.reshape(rows, span // (2 * step), 2, step)
        left, right = paired[:, :, 0, :].copy(), paired[:, :, 1, :]
        paired[:, :, 0, :] += right
        paired[:, :, 1, :] = left - right
        step *= 2
    bits = np.packbits(work > 0, axis=1, bitorder="little")
    return bits.view("<u8").astype(np.uint64, copy=False)


def _span(dims: int) -> int:
    return max(64, 1 << (dims - 1).bit_length())


@lru_cache
def _flips(span: int) -> npt.NDArray[np.int32]:
    """Fixed signs from a hash: the same on every machine and in every version."""
    seed = b"".join(hashing.digest("flips", part) for part in range(-(-span // 256)))
    bits = np.unpackbits(np.frombuffer(seed, np.uint8))[:span]
    return np.where(bits, 1, -1).astype(np.int32)
