"""How is a text embedded by an endpoint?

Any server that speaks OpenAI's `POST /embeddings`. Nothing in an answer is taken on trust: a
vector that lands at another text would never be noticed later. The key comes from the
environment, goes into one header, and into no message.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Sequence
from email.utils import parsedate_to_datetime

import httpx

from quire.embed.quantise import quantise
from quire.embed.wellformed import well_formed
from quire.errors import ConfigError, EmbedError, EndpointError
from quire.values import EmbedSettings

_PROBE = "quire"
_MAY_PASS = frozenset({408, 409, 429})
_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 60.0
_EXCERPT = 200


class HttpEmbedder:
    """Embeds text through an OpenAI-compatible endpoint."""

    def __init__(
        self, settings: EmbedSettings, *, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._endpoint = _endpoint(settings.url)
        self._asked_model = _checked(settings).model
        self._query_prefix = settings.query_prefix or ""
        self._batch = settings.batch
        self._tries = settings.retries + 1
        self._sleep = sleep
        self._key = _key(settings.key_env)
        self._dims: int | None = None
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        self._client = httpx.Client(headers=headers, timeout=settings.timeout)

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
        self._client.close()

    def _ask(self, texts: list[str]) -> list[bytes]:
        if self._client.is_closed:
            raise EmbedError("this embedder is closed; open another one")
        question = {"model": self._asked_model, "input": texts, "encoding_format": "float"}
        problem = ""
        for attempt in range(self._tries):
            pause = min(_FIRST_PAUSE * 2**attempt, _LONGEST_PAUSE)
            try:
                response = self._client.post(self._endpoint, json=question)
            except httpx.TransportError as error:
                problem = str(error) or type(error).__name__
            except (httpx.RequestError, ValueError) as error:
                # An answer that cannot be unpacked, or a host that cannot be looked up.
                raise self._failure(f"the exchange failed: {error}") from error
            else:
                if response.is_success:
                    return self._vectors(response, len(texts))
                problem = f"status {response.status_code}: {self._excerpt(response)}"
                if response.status_code not in _MAY_PASS and response.status_code < 500:
                    raise self._failure(problem)
                pause = _retry_after(response, pause)
            if attempt + 1 < self._tries:
                self._sleep(pause)
        raise self._failure(f"gave up after {self._tries} tries; the last one: {problem}")

    def _vectors(self, response: httpx.Response, count: int) -> list[bytes]:
        try:
            answer = response.json()
        except (ValueError, RecursionError) as error:
            raise self._failure(f"its answer is not JSON: {self._excerpt(response)}") from error
        entries = answer.get("data") if isinstance(answer, dict) else None
        if not isinstance(entries, list):
            raise self._failure(f"its answer has no list `data`: {self._excerpt(response)}")
        if len(entries) != count:
            raise self._failure(f"{count} texts were sent and {len(entries)} vectors came back")
        vectors: dict[int, bytes] = {}
        for entry in entries:
            index = entry.get("index") if isinstance(entry, dict) else None
            if type(index) is not int or not 0 <= index < count or index in vectors:
                raise self._failure(
                    f"an entry has the index {index!r:.20}; 0 to {count - 1} must come once each"
                )
            vectors[index] = self._vector(entry.get("embedding"))
        lengths = {len(vector) for vector in vectors.values()} | {self._dims or len(vectors[0])}
        if len(lengths) > 1:
            raise self._failure(f"vectors of different dimensions came back: {sorted(lengths)}")
        self._dims = len(vectors[0])
        return [vectors[index] for index in range(count)]

    def _vector(self, numbers: object) -> bytes:
        if not isinstance(numbers, list) or any(type(n) not in {int, float} for n in numbers):
            raise self._failure("an entry's `embedding` is not a list of numbers")
        try:
            return quantise(numbers)
        except EmbedError as error:
            raise self._failure(str(error)) from error

    def _excerpt(self, response: httpx.Response) -> str:
        words = " ".join(self._without_key(response.text).split())
        return words[:_EXCERPT] or "(nothing)"

    def _failure(self, problem: str) -> EndpointError:
        return EndpointError(self._without_key(f"{self._endpoint}: {problem}"))

    def _without_key(self, text: str) -> str:
        return text.replace(self._key, "***") if self._key else text


def _endpoint(url: str | None) -> str:
    if not url:
        raise ConfigError("embed.provider is `http`, but embed.url is missing")
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL as error:
        raise ConfigError(f"embed.url is not an address: {error}") from error
    if parsed.userinfo:
        # The address is left out: it holds a secret.
        raise ConfigError(
            "embed.url must not hold a name or password; put the key into the environment "
            "variable that embed.key_env names"
        )
    if parsed.scheme not in {"http", "https"} or not parsed.host:
        raise ConfigError(f"embed.url is {url!r}; it must begin with http:// or https://")
    if parsed.port is not None and not 0 < parsed.port < 2**16:
        raise ConfigError(f"embed.url is {url!r}; there is no port {parsed.port}")
    if parsed.query or parsed.fragment:
        raise ConfigError("embed.url must end before any `?` or `#`, as in https://host/v1")
    return f"{url.rstrip('/')}/embeddings"


def _checked(settings: EmbedSettings) -> EmbedSettings:
    if not settings.model:
        raise ConfigError("embed.provider is `http`, but embed.model is missing")
    if settings.batch < 1:
        raise ConfigError(f"embed.batch is {settings.batch}; it must be 1 or more")
    if settings.retries < 0:
        raise ConfigError(f"embed.retries is {settings.retries}; it must be 0 or more")
    if not (settings.timeout > 0 and math.isfinite(settings.timeout)):
        raise ConfigError(f"embed.timeout is {settings.timeout}; it must be more than 0")
    return settings


def _key(variable: str) -> str:
    key = os.environ.get(variable, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise ConfigError(f"the key in {variable} holds characters that no header can carry")
    return key


def _retry_after(response: httpx.Response, otherwise: float) -> float:
    """Read how long the endpoint wants to be left alone: seconds, or a date.

    A date is measured against the answer's own date, so that no clock is needed here.
    """
    asked = response.headers.get("retry-after", "")
    try:
        seconds = float(asked)
    except ValueError:
        try:
            then = parsedate_to_datetime(asked)
            seconds = (then - parsedate_to_datetime(response.headers["date"])).total_seconds()
        except (KeyError, TypeError, ValueError):
            return otherwise
    return min(max(seconds, 0.0), _LONGEST_PAUSE) if math.isfinite(seconds) else otherwise
