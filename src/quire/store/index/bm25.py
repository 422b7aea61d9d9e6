"""How well do words match, in whole numbers?

BM25 with k1 = 1.2 and b = 0.75 in fixed point: the same integers on every machine, so a score
can be compared, fused and proved without a tolerance. All statistics (how many chunks, how many
hold the word, how long they are) are those of what the viewer may read; the caller passes them.

    rarity(word)  = log2((2 N + 2) / (2 n + 1)), twelve binary places, rounded down
    norm(length)  = k1 (1 - b + b length / average), in 1/1024, the average in 1/16
    weight(word)  = times_asked * rarity * (tf (k1 + 1) / (tf + norm)), shifted right by eight
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int32]

RARITY_BITS = 12
UNIT = 1024
FLAT = 307  # k1 (1 - b) in 1/1024
SLOPE = 922  # k1 b in 1/1024
LIFT = 2253  # k1 + 1 in 1/1024
SHIFT = 8
MOST_TIMES = 255
"""A word that stands more often than this in one chunk counts as if it stood this often."""
MOST_ASKED = 4
"""A word repeated in a question counts at most so often."""


def log2_fixed(numerator: int, denominator: int) -> int:
    """Give log2(numerator / denominator) in 1/4096, rounded down; exact on every machine."""
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
    for _ in range(RARITY_BITS):
        mantissa = (mantissa * mantissa) >> precision
        result *= 2
        if mantissa >= 2 << precision:
            mantissa >>= 1
            result += 1
    return result


def rarity(chunks: int, holding: int) -> int:
    """Tell how much a word says that `holding` of `chunks` readable chunks contain."""
    return log2_fixed(2 * chunks + 2, 2 * holding + 1)


def norms(lengths: Ints, chunks: int, total: int) -> Ints:
    """Give each chunk's length normalisation for an average of total / chunks words."""
    average = max(1, 16 * total // max(1, chunks))
    wide = lengths.astype(np.int64)
    return ((FLAT * average + SLOPE * 16 * wide) // average).clip(max=2**30).astype(np.int32)


def weights(times: npt.NDArray[np.uint8], norm: Ints, asked: int, rare: int) -> Ints:
    """Give what a word adds to each chunk that holds it `times` often.

    All steps fit into 32 bits: 255 * 2253 * 1024 and 2253 * 4 * 2**17 are below 2**31.
    """
    tf = times.astype(np.int32)
    lifted = (tf * (LIFT * UNIT)) // (tf * UNIT + norm)
    return (lifted * (min(asked, MOST_ASKED) * rare)) >> SHIFT


def most(asked: int, rare: int) -> int:
    """Give what a word can add at most."""
    return (LIFT * min(asked, MOST_ASKED) * rare) >> SHIFT
