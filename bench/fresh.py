"""Which questions are asked of everyone, each for the first time?"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from bench import queries

SHAPE = "eight terms, two frequent"
POOL = 1200
"""All questions that there are: whoever asks a few of them asks the same as who asks many."""
WARM = 10
"""So many are asked first, and do not count."""
MOST = 300
"""So many are set apart for one kind of measuring."""


class Fresh:
    """Questions that nobody has asked yet; the same ones, in the same order, in every process."""

    def __init__(self) -> None:
        self.all = [" ".join(words) for words in queries.shapes(POOL)[SHAPE]]
        assert len(set(self.all)) == POOL, "each is asked once"
        self._left: Iterator[str] = iter(self.all)

    def take(self, count: int, apart: int | None = None) -> list[str]:
        """Give the next ones; with `apart`, the first few of so many that are set apart."""
        taken = list(islice(self._left, apart or count))[:count]
        assert len(taken) == count, "as many as there are"
        return taken
