"""Measure how the time of a function grows with its input."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

SIZES = (250, 1_000, 4_000, 16_000)
"""Each is four times the one before, so that exponential growth shows before it takes hours."""
MEASURABLE = 0.03
"""Seconds; what takes less is as good as linear at these sizes."""
MAX_RATIO = 8
"""For four times the input; linear growth gives 4, quadratic growth 16."""
MAX_TRIES = 3


def find_growth(run: Callable[[str], object], make: Callable[[int], str]) -> str:
    """Return how the time grew, if faster than linearly; else an empty text."""
    before = ""
    for size in SIZES:
        text = make(size)
        if before and measure(run, text) > MEASURABLE:
            ratio = min(_ratio(run, before, text) for _ in range(MAX_TRIES))
            if ratio > MAX_RATIO:
                return f"{len(before)} to {len(text)} characters: {ratio:.0f} times the time"
        before = text
    return ""


def measure(run: Callable[[str], object], text: str) -> float:
    """Return the seconds of processor time that a call takes."""
    gc.collect(0)
    start = time.process_time()
    run(text)
    return time.process_time() - start


def _ratio(run: Callable[[str], object], short: str, long: str) -> float:
    fast = min(measure(run, short) for _ in range(5))
    slow = measure(run, long)
    if slow <= MEASURABLE:
        return 0
    # Of a short text a constant part is most of the time; it must not hide the growth.
    return slow / max(fast, 0.0005) * 4 * len(short) / len(long)
