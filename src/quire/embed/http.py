"""An embedder that calls an endpoint.

It works with any server that implements OpenAI's `POST /embeddings`. Every response is validated:
nobody would notice later if a vector was assigned to another text.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import httpx

from quire.core.types import EmbedSettings
from quire.embed.quantize import quantize
from quire.embed.wellformed import well_formed
from quire.errors import ConfigError, EmbedError
from quire.llm.http import Endpoint, bearer_header

_PROBE = "quire"


class HttpEmbedder:
    """An embedder that calls an OpenAI-compatible endpoint."""

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
        self._model_name = _validate(settings).model
        self._query_prefix = settings.query_prefix or ""
        self._batch = settings.batch
        self._dims: int | None = None

    @property
    def model(self) -> str:
        """The name of these vectors; the first use calls the endpoint for their dimensions."""
        return f"http:{self._model_name}/{self.dims}"

    @property
    def dims(self) -> int:
        """The number of dimensions; calls the endpoint if no response has shown it yet."""
        return self._dims or len(self.embed([_PROBE])[0])

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Return one int8 vector for each text, in order."""
        # Some endpoints refuse an empty text.
        inputs = [well_formed(text) or " " for text in texts]
        vectors: list[bytes] = []
        for start in range(0, len(inputs), self._batch):
            vectors += self._embed_batch(inputs[start : start + self._batch])
        return vectors

    def embed_query(self, text: str) -> bytes:
        """Return the int8 vector of a query."""
        return self.embed([self._query_prefix + text])[0]

    def close(self) -> None:
        """Close the connections."""
        self._endpoint.close()

    def _embed_batch(self, texts: list[str]) -> list[bytes]:
        if self._endpoint.closed:
            raise EmbedError("the embedder is closed", hint="open another one")
        body = {"model": self._model_name, "input": texts, "encoding_format": "float"}
        return self._parse_vectors(self._endpoint.post(body), len(texts))

    def _parse_vectors(self, response: httpx.Response, count: int) -> list[bytes]:
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
                    f"an entry has the index {index!r:.20}; expected 0 to {count - 1}, once each"
                )
            vectors[index] = self._parse_vector(entry.get("embedding"))
        lengths = {len(vector) for vector in vectors.values()} | {self._dims or len(vectors[0])}
        if len(lengths) > 1:
            raise self._endpoint.failure(
                f"vectors of different dimensions came back: {sorted(lengths)}"
            )
        self._dims = len(vectors[0])
        return [vectors[index] for index in range(count)]

    def _parse_vector(self, numbers: object) -> bytes:
        if not isinstance(numbers, list) or any(type(n) not in {int, float} for n in numbers):
            raise self._endpoint.failure("an entry's `embedding` is not a list of numbers")
        try:
            return quantize(numbers)
        except EmbedError as error:
            raise self._endpoint.failure(str(error)) from error


def _validate(settings: EmbedSettings) -> EmbedSettings:
    if not settings.model:
        raise ConfigError("required with the provider `http`", field="embed.model")
    if settings.batch < 1:
        raise ConfigError(
            f"must be at least 1, not {settings.batch}", field="embed.batch", value=settings.batch
        )
    return settings
