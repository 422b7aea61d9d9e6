"""Which rows are best, when only whole numbers count?"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def contenders(scores: npt.NDArray[Any], k: int) -> npt.NDArray[np.int64]:
    """Give the positions of all scores that may belong to the best k.

    Every score equal to the k-th best is among them: which of those win is decided by their
    places in the total order, never by the order in which they happen to stand here.
    """
    if k <= 0:
        return np.zeros(0, np.int64)
    if scores.size <= k:
        return np.arange(scores.size)
    least = np.partition(scores, scores.size - k)[scores.size - k]
    return np.flatnonzero(scores >= least)
