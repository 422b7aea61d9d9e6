"""Quantize vectors to int8, so that they compare the same on every machine.

A vector is normalized to length 1, multiplied by a scale that depends on its dimensions alone, and
rounded to int8. Because the scale is fixed, the dot product of two such vectors divided by the
scale squared is their cosine. The scale leaves room for a component of eleven times the average
size, so that almost nothing is clipped.

Invariant: the squares of a quantized vector sum to less than 2**24. By Cauchy-Schwarz the absolute
products of two such vectors then sum to less than 2**24 too, so that every partial sum of their dot
product is an integer that float32 represents exactly. The result is the same whatever the order of
summation, the number of threads or the library. (Rounding moves a component by half a step at most,
so the sum is at most dims * (127 / 11 + 1 / 2) ** 2: 594,350 for 4,096 dimensions.)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from quire.errors import EmbedError

if TYPE_CHECKING:
    from numpy.typing import NDArray

VERSION = 1
"""Part of an embedder's name; raise it when the same vector gives other bytes."""

_MAX_STEP = 127
_HEADROOM = 11
_FLOAT32_EXACT = 2**24


def scale(dims: int) -> float:
    """Return the factor by which a vector of length 1 is multiplied before it is rounded."""
    return _MAX_STEP * math.sqrt(dims) / _HEADROOM


def quantize(vector: Sequence[float] | NDArray[Any]) -> bytes:
    """Return the int8 bytes of a vector, one for each dimension; its length must not be zero."""
    import numpy as np

    try:
        values = np.asarray(vector, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise EmbedError(f"a vector must be a list of numbers: {error}") from error
    if values.ndim != 1 or values.size == 0:
        raise EmbedError(f"a vector must be one row of numbers, not of shape {values.shape}")
    if not np.isfinite(values).all():
        raise EmbedError("a vector contains an infinite number or NaN")
    peak = float(np.abs(values).max())
    if peak == 0.0:
        raise EmbedError("a vector is all zeros and has no direction")
    # Dividing by the peak first keeps the squares of very large and very small numbers finite.
    # `fsum` rounds once, so that the length does not depend on how a CPU adds.
    relative = values / peak
    length = math.sqrt(math.fsum(np.square(relative).tolist()))
    rounded = np.rint(relative / length * scale(values.size))
    steps = np.clip(rounded, -_MAX_STEP, _MAX_STEP).astype(np.int8)
    return check_quantized(steps.tobytes())


def check_quantized(vector: bytes) -> bytes:
    """Return an int8 vector that can be compared exactly; refuse another."""
    import numpy as np

    steps = np.frombuffer(vector, np.int8).astype(np.int64)
    if not steps.any():
        raise EmbedError("a vector is all zeros and has no direction")
    if int(np.square(steps).sum()) >= _FLOAT32_EXACT:
        raise EmbedError(
            f"a vector of {steps.size} dimensions is too long to be compared exactly",
            hint="use a model with fewer dimensions",
        )
    return vector
