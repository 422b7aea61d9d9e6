"""How is a question embedded among made-up vectors?

Made-up vectors belong to no model, so that a question's real vector would lie far from all of
them, and searching would be another work than it is. So the real model embeds the question, which
takes its time, and then a made-up vector of the kind that questions have is given for it.
"""

from __future__ import annotations

from collections.abc import Sequence

from bench import synthetic_vectors
from quire.core.types import EmbedSettings
from quire.embed import open_embedder


class QuestionModel:
    """Gives the made-up vectors of these questions, at the price of real ones if it is at work."""

    model = synthetic_vectors.MODEL
    dims = synthetic_vectors.DIMS

    def __init__(self, questions: Sequence[str]) -> None:
        made = synthetic_vectors.World().questions(len(questions))
        self._vectors = dict(zip(questions, made, strict=True))
        real = open_embedder(EmbedSettings())
        assert real is not None, "the local model"
        self._real = real
        self.at_work = False

    def embed_query(self, text: str) -> bytes:
        """Give the vector of one of the questions."""
        if self.at_work:
            self._real.embed_query(text)
        return self._vectors[text]

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Texts have their vectors already."""
        raise AssertionError(f"{len(texts)} texts were to be embedded")

    def close(self) -> None:
        """Let go of the real model."""
        self._real.close()
