"""Top-k selection over integer scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

_GROUPS = 8
"""Groups that the scores are divided into, for each wanted result."""


def top_indices(scores: npt.NDArray[Any], k: int) -> npt.NDArray[np.int64]:
    """Return the indices of all scores that may belong to the best k.

    Every score equal to the k-th best is included: ties are resolved by the documented total
    order of hits, never by the order in which the scores happen to come.
    """
    if k <= 0:
        return np.zeros(0, np.int64)
    if scores.size <= k:
        return np.arange(scores.size)
    return np.flatnonzero(scores >= kth_best(scores, k))


def kth_best(scores: npt.NDArray[Any], k: int) -> int:
    """Return the k-th best of at least k scores."""
    groups = _GROUPS * k
    divisible = scores.size - scores.size % groups
    if divisible < 2 * groups:
        return int(np.partition(scores, scores.size - k)[scores.size - k])
    # The k-th best of the groups' maxima is a lower bound of the k-th best score: only the
    # scores above it need sorting. (Each column is a group: its maximum is fast to compute.)
    best = scores[:divisible].reshape(-1, groups).max(axis=0)
    floor = np.partition(best, groups - k)[groups - k]
    above = scores[scores > floor]
    return int(np.partition(above, above.size - k)[above.size - k] if above.size >= k else floor)
