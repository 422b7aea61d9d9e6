"""JSON over HTTP: one endpoint with time-outs, retries and a key.

Requests that failed for a reason that may pass are sent again. The key comes from the environment,
goes into one header and never into a message.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from quire.errors import ConfigError, EndpointError

_RETRIED_STATUSES = frozenset({408, 409, 429})
_FIRST_PAUSE = 0.5
_MAX_PAUSE = 60.0
_EXCERPT_LENGTH = 200

Sleep = Callable[[float], None]


class Endpoint:
    """An address that requests are posted to; `section` is the section of its settings."""

    def __init__(
        self,
        section: str,
        url: str | None,
        path: str,
        *,
        key_env: str,
        headers: Callable[[str], Mapping[str, str]],
        timeout: float,
        retries: int,
        sleep: Sleep = time.sleep,
    ) -> None:
        self.address = f"{check_address(section, url)}/{path}"
        if retries < 0:
            raise ConfigError(
                f"must be at least 0, not {retries}", field=f"{section}.retries", value=retries
            )
        if not (timeout > 0 and math.isfinite(timeout)):
            raise ConfigError(
                f"must be more than 0, not {timeout}", field=f"{section}.timeout", value=timeout
            )
        self._tries = retries + 1
        self._sleep = sleep
        self._key = read_key(key_env)
        key_headers = headers(self._key) if self._key else {}
        self._client = httpx.Client(headers=dict(key_headers), timeout=timeout)

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._client.is_closed

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def post(self, body: Mapping[str, Any]) -> httpx.Response:
        """Post JSON and return the successful response; raises EndpointError after the retries."""
        problem = ""
        for attempt in range(self._tries):
            pause = min(_FIRST_PAUSE * 2**attempt, _MAX_PAUSE)
            try:
                response = self._client.post(self.address, json=body)
            except httpx.TransportError as error:
                problem = str(error) or type(error).__name__
            except (httpx.RequestError, ValueError) as error:
                # A response that cannot be decoded, or a host name that is invalid.
                raise self.failure(f"the exchange failed: {error}") from error
            else:
                if response.is_success:
                    return response
                problem = f"status {response.status_code}: {self.excerpt(response)}"
                if response.status_code not in _RETRIED_STATUSES and response.status_code < 500:
                    raise self.failure(problem)
                pause = _retry_after(response, pause)
            if attempt + 1 < self._tries:
                self._sleep(pause)
        raise self.failure(f"gave up after {self._tries} tries; the last one: {problem}")

    def json(self, response: httpx.Response) -> Any:
        """Return the JSON of a response; raises EndpointError if it is not JSON."""
        try:
            return response.json()
        except (ValueError, RecursionError) as error:
            raise self.failure(f"its answer is not JSON: {self.excerpt(response)}") from error

    def excerpt(self, response: httpx.Response) -> str:
        """Return the beginning of a response, without the key."""
        words = " ".join(self._without_key(response.text).split())
        return words[:_EXCERPT_LENGTH] or "(nothing)"

    def failure(self, problem: str) -> EndpointError:
        """Return the error for a problem with this endpoint."""
        return EndpointError(self._without_key(f"{self.address}: {problem}"))

    def _without_key(self, text: str) -> str:
        return text.replace(self._key, "***") if self._key else text


def bearer_header(key: str) -> Mapping[str, str]:
    """Return the header that carries a key to most endpoints."""
    return {"Authorization": f"Bearer {key}"}


def check_address(section: str, url: str | None) -> str:
    """Return the address of an endpoint; raise `ConfigError` if it cannot be one."""
    field = f"{section}.url"
    if not url:
        raise ConfigError(
            "the address is missing", field=field, hint="set it, as in https://host/v1"
        )
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL as error:
        raise ConfigError(f"not an address: {error}", field=field) from error
    if parsed.userinfo:
        # The error does not carry the address: it contains a secret.
        raise ConfigError(
            "must not contain a name or password",
            field=field,
            hint=f"put the key into the environment variable that {section}.key_env names",
        )
    if parsed.scheme not in {"http", "https"} or not parsed.host:
        raise ConfigError(
            f"must begin with http:// or https://, not {url!r}", field=field, value=url
        )
    if parsed.port is not None and not 0 < parsed.port < 2**16:
        raise ConfigError(f"{parsed.port} is not a port", field=field, value=url)
    if parsed.query or parsed.fragment:
        raise ConfigError(
            "must end before any `?` or `#`, as in https://host/v1", field=field, value=url
        )
    return url.rstrip("/")


def read_key(variable: str) -> str:
    """Return the key that a variable holds, empty if it is not set."""
    key = os.environ.get(variable, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise ConfigError(f"the key in {variable} contains characters that no header can carry")
    return key


def _retry_after(response: httpx.Response, default: float) -> float:
    """Return the pause that the endpoint asks for, in seconds or by a date.

    A date is compared with the date of the response, so that no clock is needed here.
    """
    header = response.headers.get("retry-after", "")
    try:
        seconds = float(header)
    except ValueError:
        try:
            then = parsedate_to_datetime(header)
            seconds = (then - parsedate_to_datetime(response.headers["date"])).total_seconds()
        except (KeyError, TypeError, ValueError):
            return default
    return min(max(seconds, 0.0), _MAX_PAUSE) if math.isfinite(seconds) else default
