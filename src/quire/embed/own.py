"""An embedder of the caller's own: an object, or a function from texts to vectors.

Every answer is checked: nobody would notice later if a vector was assigned to another text, or if
two models were mixed. The name and the number of dimensions are the name of the vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from quire.core import guard
from quire.embed.quantize import check_quantized, quantize
from quire.embed.wellformed import well_formed
from quire.errors import EmbedError, InputError, PluginError

PROBE = "quire"
BATCH = 64
"""How many texts are embedded by one call."""
BATCH_TIMEOUTS = 10
"""A batch may take this many times as long as a query."""
NAME_ATTRIBUTES = ("name", "model")


class OwnEmbedder:
    """Embeds with what the caller passed.

    Args:
        given: A function from texts to vectors, an object with `embed` (and `embed_query`, where
            queries differ), or a pair of a name and one of these. Vectors are numbers, or int8
            bytes.
        timeout: Seconds for a query; a batch of texts may take ten times as long. 0: no limit.
        prefix: What its name begins with.
    """

    def __init__(self, given: Any, timeout: float = 0, prefix: str = guard.OWN) -> None:
        self._name, plugin = guard.split_pair("embedder", given, NAME_ATTRIBUTES)
        embed = getattr(plugin, "embed", plugin)
        if not callable(embed):
            raise InputError(
                f"expected a function from texts to vectors, or an object with `embed`, not "
                f"{plugin!r:.80}",
                field="embedder",
            )
        self._embed: Callable[[list[str]], Any] = embed
        self._embed_query: Callable[[str], Any] | None = getattr(plugin, "embed_query", None)
        self._described = f"the embedder {self._name!r}"
        self._timeout = timeout
        self._prefix = prefix
        self._dims = 0

    @property
    def name(self) -> str:
        """The name that the caller gave it."""
        return self._name

    @property
    def model(self) -> str:
        """The name of its vectors; the first use embeds a word to learn their dimensions."""
        return f"{self._prefix}:{self._name}/{self.dims}"

    @property
    def dims(self) -> int:
        """The number of dimensions."""
        return self._dims or len(self.embed([PROBE])[0])

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Return one int8 vector for each text, in order."""
        inputs = [well_formed(text) or " " for text in texts]
        vectors: list[bytes] = []
        for start in range(0, len(inputs), BATCH):
            batch = inputs[start : start + BATCH]
            answer = self._call(partial(self._embed, batch), self._timeout * BATCH_TIMEOUTS)
            vectors += self._checked(answer, len(batch))
        return vectors

    def embed_query(self, text: str) -> bytes:
        """Return the int8 vector of a query."""
        query, ask = well_formed(text) or " ", self._embed_query
        if ask is None:
            answer = self._call(partial(self._embed, [query]), self._timeout)
            return self._checked(answer, 1)[0]
        return self._checked([self._call(partial(ask, query), self._timeout)], 1)[0]

    def close(self) -> None:
        """Do nothing: what the caller opened, the caller closes."""

    def _call(self, function: Callable[[], Any], timeout: float) -> Any:
        try:
            return guard.call(self._described, function, timeout)
        except PluginError as error:  # as every failure of an embedder
            raise EmbedError(error.message) from error

    def _checked(self, answer: Any, count: int) -> list[bytes]:
        try:
            rows = list(answer)
        except TypeError:
            raise self._failure(f"answered with {answer!r:.60}, not with a list") from None
        if len(rows) != count:
            raise self._failure(f"was given {count} texts and returned {len(rows)} vectors")
        vectors = [self._vector(row) for row in rows]
        expected = self._dims or len(vectors[0])
        for vector in vectors:
            if len(vector) != expected:
                raise self._failure(
                    f"returned vectors of different dimensions: {expected} and {len(vector)}"
                )
        self._dims = expected
        return vectors

    def _vector(self, row: Any) -> bytes:
        try:
            if isinstance(row, bytes | bytearray):
                return check_quantized(bytes(row))
            return quantize(row)
        except EmbedError as error:
            raise self._failure(f"returned what is no vector: {error.message}") from error

    def _failure(self, reason: str) -> EmbedError:
        return EmbedError(f"{self._described} {reason}")
