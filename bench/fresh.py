"""Which questions are asked of everyone, each for the first time?"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from bench import queries

SHAPE = "eight terms, two frequent"
WARM = 10
"""So many are asked first, and do not count."""


class Fresh:
    """Questions that nobody has asked yet; the same ones, in the same order, in every process."""

    def __init__(self, count: int) -> None:
        self.all = [" ".join(words) for words in queries.shapes(count)[SHAPE]]
        assert len(set(self.all)) == count, "each is asked once"
        self._left: Iterator[str] = iter(self.all)

    def take(self, count: int) -> list[str]:
        """Give the next ones."""
        taken = list(islice(self._left, count))
        assert len(taken) == count, "as many as were made"
        return taken
