"""How near is a situation to a sentence?

By the embedder's vectors. A bare similarity says little: some situations are near to everything. So
what counts is how much nearer the sentence lies than ordinary sentences do. The threshold was
chosen on half of `tests/rules/judged.json`; what it holds on the rest is told in the guide.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from quire.core import hashing
from quire.core.lru import LRUCache
from quire.core.protocols import Embedder
from quire.core.types import Situation, Verdict
from quire.errors import ConfigError
from quire.rules.expression_eval import told

ORDINARY = (
    "the user asks a question",
    "a file is read",
    "a function is renamed",
    "a meeting is planned",
    "a text is written",
    "a command is run",
    "the weather is nice",
    "a picture is drawn",
    "something is changed",
    "a list is sorted",
    "a page is printed",
    "a name is chosen",
    "a value is computed",
    "a message is sent",
    "a tool is used",
    "a plan is made",
)
KEPT_SENTENCES = 1024
LONGEST = 2000
"""Characters of a situation that are compared; the model reads about so many."""


class SemanticJudge:
    """Judges by how much nearer a situation lies to a sentence than to ordinary ones."""

    def __init__(self, embedder: Embedder, threshold: float) -> None:
        if not (math.isfinite(threshold) and 0 <= threshold <= 2):
            raise ConfigError(f"judge.threshold is {threshold}; it must be from 0 to 2")
        self._embedder = embedder
        self._threshold = round(threshold * 1000)
        self._vectors: LRUCache[str, bytes] = LRUCache(KEPT_SENTENCES)

    @property
    def name(self) -> str:
        """The name that stands for these very verdicts."""
        wording = hashing.identifier("ordinary", ORDINARY)[:8]
        return f"semantic:{self._embedder.model}/{self._threshold}/{wording}"

    def judge(self, sentences: Sequence[str], situation: Situation) -> list[Verdict]:
        """Give one verdict for each sentence."""
        words = told(situation)[:LONGEST]
        if not words:
            return [Verdict(applies=False, reason="semantic: the situation says nothing")] * len(
                sentences
            )
        (here,) = self._embedder.embed([words])
        usual = sum(similarity(here, vector) for vector in self._of(ORDINARY)) // len(ORDINARY)
        return [self._verdict(similarity(here, one) - usual) for one in self._of(sentences)]

    def close(self) -> None:
        """Do nothing: the embedder is the caller's."""

    def _verdict(self, nearer: int) -> Verdict:
        held = nearer >= self._threshold
        sign = ">=" if held else "<"
        return Verdict(held, f"semantic: {nearer / 1000:.3f} {sign} {self._threshold / 1000:.3f}")

    def _of(self, sentences: Sequence[str]) -> list[bytes]:
        kept = {one: self._vectors.get(one) for one in sentences}
        lacking = [one for one, vector in kept.items() if vector is None]
        made = dict(zip(lacking, self._embedder.embed(lacking), strict=True))
        for one, vector in made.items():
            self._vectors.put(one, vector)
        return [kept[one] or made[one] for one in sentences]


def similarity(left: bytes, right: bytes) -> int:
    """Give the cosine of two int8 vectors in thousandths."""
    a = np.frombuffer(left, np.int8).astype(np.int64)
    b = np.frombuffer(right, np.int8).astype(np.int64)
    lengths = math.isqrt(int(a @ a) * int(b @ b))
    return int(a @ b) * 1000 // lengths if lengths else 0
