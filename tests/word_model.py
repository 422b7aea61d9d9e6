"""An embedder for tests that need vectors, but no model."""

from __future__ import annotations

from collections.abc import Sequence

from quire.core import hashing


class WordModel:
    """An embedder without a model: the hash of each word adds to the vector."""

    def __init__(self, dims: int) -> None:
        self.model, self.dims = f"words/{dims}", dims

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> bytes:
        sums = [0] * self.dims
        for word in text.lower().split():
            for place, byte in enumerate(hashing.digest("word", word)[: self.dims]):
                sums[place] += byte % 7 - 3
        return bytes(max(-100, min(100, each)) % 256 for each in sums)

    def close(self) -> None:
        """Nothing is held."""
