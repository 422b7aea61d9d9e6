"""BM25 in fixed-point arithmetic: how well words match.

k1 = 1.2 and b = 0.75. Scores are the same integers on every machine, so that they can be
compared, fused and proved without a tolerance. All statistics (the number of chunks, how many of
them contain a word, their lengths) cover only what the viewer may read; the caller passes them.

    idf(word)     = log2((2 N + 2) / (2 n + 1)), twelve binary places, rounded down
    norm(length)  = k1 (1 - b + b length / average), in 1/1024, the average in 1/16
    weight(word)  = query_count * idf * (tf (k1 + 1) / (tf + norm)), shifted right by eight
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int32]

IDF_BITS = 12
UNIT = 1024
K1 = 1.2
"""The saturation of term frequency: how much further occurrences of a word count."""
B = 0.75
"""The strength of length normalization: how much long chunks are penalized."""
FLAT, SLOPE, LIFT = (round(1024 * part) for part in (K1 * (1 - B), K1 * B, K1 + 1))
"""The coefficients k1 (1 - b), k1 b and k1 + 1, in 1/1024."""
SHIFT = 8
MAX_COUNT = 255
"""More occurrences of a word in a chunk count as this many."""
MAX_QUERY_COUNT = 4
"""More repetitions of a word in a query count as this many."""


def log2_fixed(numerator: int, denominator: int) -> int:
    """Return log2(numerator / denominator) in 1/4096, rounded down; exact on every machine."""
    if numerator <= denominator:
        return 0
    whole = 0
    while numerator >= denominator * 2:
        denominator *= 2
        whole += 1
    # The mantissa in [1, 2) is squared repeatedly; each overflow is one binary digit.
    precision = 64
    mantissa = (numerator << precision) // denominator
    result = whole
    for _ in range(IDF_BITS):
        mantissa = (mantissa * mantissa) >> precision
        result *= 2
        if mantissa >= 2 << precision:
            mantissa >>= 1
            result += 1
    return result


def idf(chunks: int, matching: int) -> int:
    """Return the inverse document frequency of a word in `matching` of `chunks` chunks."""
    return log2_fixed(2 * chunks + 2, 2 * matching + 1)


def norms(lengths: Ints, chunks: int, total: int) -> Ints:
    """Return each chunk's length normalization for an average of total / chunks words."""
    average = max(1, 16 * total // max(1, chunks))
    wide = lengths.astype(np.int64)
    return ((FLAT * average + SLOPE * 16 * wide) // average).clip(max=2**30).astype(np.int32)


def weights(counts: npt.NDArray[np.uint8], norm: Ints, query_count: int, idf: int) -> Ints:
    """Return what a word adds to the score of each chunk that contains it `counts` times.

    All steps fit into 32 bits: 255 * 2253 * 1024 and 2253 * 4 * 2**17 are below 2**31.
    """
    tf = counts.astype(np.int32)
    saturated = (tf * (LIFT * UNIT)) // (tf * UNIT + norm)
    return (saturated * (min(query_count, MAX_QUERY_COUNT) * idf)) >> SHIFT


def max_weight(query_count: int, idf: int) -> int:
    """Return the most that a word can add to a score."""
    return (LIFT * min(query_count, MAX_QUERY_COUNT) * idf) >> SHIFT
