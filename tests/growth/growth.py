"""Measure how the time of a function grows with its input."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence

SIZES = (250, 1_000, 4_000, 16_000)
"""Each is four times the one before. The last two are compared; the others are tried first, so that
exponential growth shows before it takes hours."""
MEASURABLE = 0.03
"""Seconds; what takes less is as good as linear at these sizes."""
TOO_LONG = 20.0
"""Seconds that no text of these sizes takes."""
MAX_RATIO = 8
"""For four times the input; linear growth gives 4, quadratic growth 16."""
MAX_TRIES = 3


def find_growth(
    run: Callable[[str], object], make: Callable[[int], str], sizes: Sequence[int] = SIZES
) -> str:
    """Return how the time grew, if faster than linearly; else an empty text."""
    texts = [make(size) for size in sizes]
    seconds = 0.0
    for text in texts:
        seconds = measure(run, text)
        if seconds > TOO_LONG:
            return f"{len(text)} characters: {seconds:.0f} seconds"
    if seconds > MEASURABLE:
        ratio = min(_ratio(run, *texts[-2:]) for _ in range(MAX_TRIES))
        if ratio > MAX_RATIO:
            return f"{len(texts[-2])} to {len(texts[-1])} characters: {ratio:.0f} times the time"
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
