"""Which rows are best, when only whole numbers count?"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

_GROUPS = 8
"""Scores are looked at in so many groups for each one that is wanted."""


def contenders(scores: npt.NDArray[Any], k: int) -> npt.NDArray[np.int64]:
    """Give the positions of all scores that may belong to the best k.

    Every score equal to the k-th best is among them: which of those win is decided by their
    places in the total order, never by the order in which they happen to stand here.
    """
    if k <= 0:
        return np.zeros(0, np.int64)
    if scores.size <= k:
        return np.arange(scores.size)
    return np.flatnonzero(scores >= kth_best(scores, k))


def kth_best(scores: npt.NDArray[Any], k: int) -> int:
    """Give the k-th best of at least k scores."""
    groups = _GROUPS * k
    whole = scores.size - scores.size % groups
    if whole < 2 * groups:
        return int(np.partition(scores, scores.size - k)[scores.size - k])
    # The k-th best among the groups' best scores cannot be above the k-th best score: what is
    # not above it needs no sorting. (Each column is a group: that is fast to take the best of.)
    best = scores[:whole].reshape(-1, groups).max(axis=0)
    floor = np.partition(best, groups - k)[groups - k]
    above = scores[scores > floor]
    return int(np.partition(above, above.size - k)[above.size - k] if above.size >= k else floor)
