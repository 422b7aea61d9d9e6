"""How is a text embedded by an endpoint?

Any server that speaks OpenAI's `POST /embeddings`. Nothing in an answer is taken on trust: a
vector that lands at another text would never be noticed later.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import httpx

from quire.core.types import EmbedSettings
from quire.embed.quantise import quantise
from quire.embed.wellformed import well_formed
from quire.errors import ConfigError, EmbedError
from quire.llm.http import Endpoint, bearer_header

_PROBE = "quire"


class HttpEmbedder:
    """Embeds text through an OpenAI-compatible endpoint."""

    def __init__(
        self, settings: EmbedSettings, *, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._endpoint = Endpoint(
            "embed",
            settings.url,
            "embeddings",
            key_env=settings.key_env,
            headers=bearer_header,
            timeout=settings.timeout,
            retries=settings.retries,
            sleep=sleep,
        )
        self._asked_model = _checked(settings).model
        self._query_prefix = settings.query_prefix or ""
        self._batch = settings.batch
        self._dims: int | None = None

    @property
    def model(self) -> str:
        """The name that stands for these vectors; asks the endpoint once for their dimensions."""
        return f"http:{self._asked_model}/{self.dims}"

    @property
    def dims(self) -> int:
        """How many numbers a vector has; asks the endpoint if no answer has told it yet."""
        return self._dims or len(self.embed([_PROBE])[0])

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Give one int8 vector for each text, in order."""
        # Some endpoints refuse an empty text.
        ready = [well_formed(text) or " " for text in texts]
        vectors: list[bytes] = []
        for start in range(0, len(ready), self._batch):
            vectors += self._ask(ready[start : start + self._batch])
        return vectors

    def embed_query(self, text: str) -> bytes:
        """Give the int8 vector of a question."""
        return self.embed([self._query_prefix + text])[0]

    def close(self) -> None:
        """Close the connections."""
        self._endpoint.close()

    def _ask(self, texts: list[str]) -> list[bytes]:
        if self._endpoint.closed:
            raise EmbedError("this embedder is closed; open another one")
        question = {"model": self._asked_model, "input": texts, "encoding_format": "float"}
        return self._vectors(self._endpoint.post(question), len(texts))

    def _vectors(self, response: httpx.Response, count: int) -> list[bytes]:
        answer = self._endpoint.json(response)
        entries = answer.get("data") if isinstance(answer, dict) else None
        if not isinstance(entries, list):
            raise self._endpoint.failure(
                f"its answer has no list `data`: {self._endpoint.excerpt(response)}"
            )
        if len(entries) != count:
            raise self._endpoint.failure(
                f"{count} texts were sent and {len(entries)} vectors came back"
            )
        vectors: dict[int, bytes] = {}
        for entry in entries:
            index = entry.get("index") if isinstance(entry, dict) else None
            if type(index) is not int or not 0 <= index < count or index in vectors:
                raise self._endpoint.failure(
                    f"an entry has the index {index!r:.20}; 0 to {count - 1} must come once each"
                )
            vectors[index] = self._vector(entry.get("embedding"))
        lengths = {len(vector) for vector in vectors.values()} | {self._dims or len(vectors[0])}
        if len(lengths) > 1:
            raise self._endpoint.failure(
                f"vectors of different dimensions came back: {sorted(lengths)}"
            )
        self._dims = len(vectors[0])
        return [vectors[index] for index in range(count)]

    def _vector(self, numbers: object) -> bytes:
        if not isinstance(numbers, list) or any(type(n) not in {int, float} for n in numbers):
            raise self._endpoint.failure("an entry's `embedding` is not a list of numbers")
        try:
            return quantise(numbers)
        except EmbedError as error:
            raise self._endpoint.failure(str(error)) from error


def _checked(settings: EmbedSettings) -> EmbedSettings:
    if not settings.model:
        raise ConfigError("embed.provider is `http`, but embed.model is missing")
    if settings.batch < 1:
        raise ConfigError(f"embed.batch is {settings.batch}; it must be 1 or more")
    return settings
