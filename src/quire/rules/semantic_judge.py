"""Judge that compares a sentence with the situation by their embeddings.

A bare similarity says little, because some situations are similar to everything. What counts is how
much more similar the sentence is than ordinary sentences are. Words that both share count in its
favour; a situation that only looks where the sentence wants an action counts against it. Weights
and threshold were chosen on half of `bench/judge/grids.json`, where about one rule in ten holds;
the guide states the accuracy on the other half.
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
from quire.rules.situation import describe_situation
from quire.rules.wording import (
    ACTIONS,
    COMMON_WORDS,
    ENDINGS,
    LOOKING_WORDS,
    only_looks,
    shared_words,
)

ORDINARY_SENTENCES = (
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
CACHE_SIZE = 1024
"""Sentences whose vectors are cached."""
MAX_LENGTH = 2000
"""Characters of a situation that are compared: about as many as the model reads."""


SHARED_WORDS = 80
"""Added, in thousandths, if the situation names everything that the sentence names."""
ONLY_LOOKS = 60
"""Taken off if the situation only asks to know something, and the sentence wants an action."""


class SemanticJudge:
    """Judge by how much more similar a situation is to a sentence than to ordinary ones."""

    def __init__(self, embedder: Embedder, threshold: float) -> None:
        if not (math.isfinite(threshold) and 0 <= threshold <= 2):
            raise ConfigError(
                f"must be from 0 to 2, not {threshold}", field="judge.threshold", value=threshold
            )
        self._embedder = embedder
        self._threshold = round(threshold * 1000)
        self._vectors: LRUCache[str, bytes] = LRUCache(CACHE_SIZE)

    @property
    def name(self) -> str:
        """Return the name that identifies these verdicts: model, threshold, sentences."""
        weights = (SHARED_WORDS, ONLY_LOOKS)
        words = tuple(tuple(sorted(words)) for words in (COMMON_WORDS, LOOKING_WORDS, ACTIONS))
        wording = hashing.identifier("ordinary", ORDINARY_SENTENCES, weights, words, ENDINGS)[:8]
        return f"semantic:{self._embedder.model}/{self._threshold}/{wording}"

    def judge(self, sentences: Sequence[str], situation: Situation) -> list[Verdict]:
        """Return one verdict for each sentence."""
        text = describe_situation(situation)[:MAX_LENGTH]
        if not text:
            return [Verdict(applies=False, reason="semantic: the situation says nothing")] * len(
                sentences
            )
        (target,) = self._embedder.embed([text])
        ordinary = [similarity(target, vector) for vector in self._embed(ORDINARY_SENTENCES)]
        baseline = sum(ordinary) // len(ordinary)
        return [
            self._decide(
                similarity(target, vector) - baseline + _adjustment(sentence, situation, text)
            )
            for sentence, vector in zip(sentences, self._embed(sentences), strict=True)
        ]

    def close(self) -> None:
        """Do nothing: the embedder is the caller's."""

    def _decide(self, score: int) -> Verdict:
        applies = score >= self._threshold
        sign = ">=" if applies else "<"
        reason = f"semantic: {score / 1000:.3f} {sign} {self._threshold / 1000:.3f}"
        return Verdict(applies, reason)

    def _embed(self, sentences: Sequence[str]) -> list[bytes]:
        cached = {sentence: self._vectors.get(sentence) for sentence in sentences}
        missing = [sentence for sentence, vector in cached.items() if vector is None]
        computed = dict(zip(missing, self._embedder.embed(missing), strict=True))
        for sentence, vector in computed.items():
            self._vectors.put(sentence, vector)
        return [cached[sentence] or computed[sentence] for sentence in sentences]


def _adjustment(sentence: str, situation: Situation, text: str) -> int:
    """Return what the words of a sentence and a situation add to their similarity."""
    shared, named = shared_words(sentence, text)
    looks = ONLY_LOOKS if only_looks(sentence, situation) else 0
    return SHARED_WORDS * shared // max(1, named) - looks


def similarity(left: bytes, right: bytes) -> int:
    """Return the cosine of two int8 vectors in thousandths."""
    a = np.frombuffer(left, np.int8).astype(np.int64)
    b = np.frombuffer(right, np.int8).astype(np.int64)
    lengths = math.isqrt(int(a @ a) * int(b @ b))
    return int(a @ b) * 1000 // lengths if lengths else 0
