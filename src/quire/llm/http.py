"""How is an endpoint asked?

JSON over HTTP, with time-outs, retries of what may pass, and a key that comes from the environment,
goes into one header, and into no message.
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

_MAY_PASS = frozenset({408, 409, 429})
_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 60.0
_EXCERPT = 200

Sleep = Callable[[float], None]


class Endpoint:
    """One address that questions are posted to. `section` names its settings in errors."""

    def __init__(
        self,
        section: str,
        url: str | None,
        tail: str,
        *,
        key_env: str,
        headers: Callable[[str], Mapping[str, str]],
        timeout: float,
        retries: int,
        sleep: Sleep = time.sleep,
    ) -> None:
        self.address = f"{_address(section, url)}/{tail}"
        if retries < 0:
            raise ConfigError(f"{section}.retries is {retries}; it must be 0 or more")
        if not (timeout > 0 and math.isfinite(timeout)):
            raise ConfigError(f"{section}.timeout is {timeout}; it must be more than 0")
        self._tries = retries + 1
        self._sleep = sleep
        self._key = _key(key_env)
        sent = headers(self._key) if self._key else {}
        self._client = httpx.Client(headers=dict(sent), timeout=timeout)

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._client.is_closed

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def ask(self, question: Mapping[str, Any]) -> httpx.Response:
        """Post a question; gives an answer that says it is one, or raises EndpointError."""
        problem = ""
        for attempt in range(self._tries):
            pause = min(_FIRST_PAUSE * 2**attempt, _LONGEST_PAUSE)
            try:
                response = self._client.post(self.address, json=question)
            except httpx.TransportError as error:
                problem = str(error) or type(error).__name__
            except (httpx.RequestError, ValueError) as error:
                # An answer that cannot be unpacked, or a host that cannot be looked up.
                raise self.failure(f"the exchange failed: {error}") from error
            else:
                if response.is_success:
                    return response
                problem = f"status {response.status_code}: {self.excerpt(response)}"
                if response.status_code not in _MAY_PASS and response.status_code < 500:
                    raise self.failure(problem)
                pause = _retry_after(response, pause)
            if attempt + 1 < self._tries:
                self._sleep(pause)
        raise self.failure(f"gave up after {self._tries} tries; the last one: {problem}")

    def json(self, response: httpx.Response) -> Any:
        """Read an answer as JSON."""
        try:
            return response.json()
        except (ValueError, RecursionError) as error:
            raise self.failure(f"its answer is not JSON: {self.excerpt(response)}") from error

    def excerpt(self, response: httpx.Response) -> str:
        """Show how an answer begins."""
        words = " ".join(self._without_key(response.text).split())
        return words[:_EXCERPT] or "(nothing)"

    def failure(self, problem: str) -> EndpointError:
        """Say what went wrong with this endpoint."""
        return EndpointError(self._without_key(f"{self.address}: {problem}"))

    def _without_key(self, text: str) -> str:
        return text.replace(self._key, "***") if self._key else text


def bearer(key: str) -> Mapping[str, str]:
    """Give the header that carries a key to most endpoints."""
    return {"Authorization": f"Bearer {key}"}


def _address(section: str, url: str | None) -> str:
    if not url:
        raise ConfigError(f"{section}.url is missing: give the address, as in https://host/v1")
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL as error:
        raise ConfigError(f"{section}.url is not an address: {error}") from error
    if parsed.userinfo:
        # The address is left out: it holds a secret.
        raise ConfigError(
            f"{section}.url must not hold a name or password; put the key into the environment "
            f"variable that {section}.key_env names"
        )
    if parsed.scheme not in {"http", "https"} or not parsed.host:
        raise ConfigError(f"{section}.url is {url!r}; it must begin with http:// or https://")
    if parsed.port is not None and not 0 < parsed.port < 2**16:
        raise ConfigError(f"{section}.url is {url!r}; there is no port {parsed.port}")
    if parsed.query or parsed.fragment:
        raise ConfigError(f"{section}.url must end before any `?` or `#`, as in https://host/v1")
    return url.rstrip("/")


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
