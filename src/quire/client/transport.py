"""Send calls: with a token, again where that is safe, and problems as errors."""

from __future__ import annotations

import random
import secrets
from collections.abc import Mapping
from typing import Any, TypeVar

import httpx

from quire import errors
from quire.client.call import Call, encode_body
from quire.errors import InputError, QuireError, ServiceError

PAGE = 1000
FIRST_PAUSE = 0.2
MAX_PAUSE = 30.0
_RETRIED = frozenset({429, 502, 503})
_STILL_RUNNING = 409
_CALLERS_FAULT = frozenset({400, 404, 413, 415, 422})
_FACTS = {"field": str, "value": object, "allowed": list, "hint": str, "place": str}
Result = TypeVar("Result")


class Sender:
    """What a client needs to know to send a call, and to read its answer."""

    def __init__(self, url: str, token: str, *, retries: int) -> None:
        parsed = httpx.URL(url)
        if parsed.scheme not in {"http", "https"} or not parsed.host or parsed.userinfo:
            raise InputError(
                "expected the address of a service",
                field="url",
                value=str(parsed.copy_with(userinfo=b"")),
                hint="write http://HOST:PORT or https://HOST",
            )
        self.url = url.rstrip("/")
        self.headers = {"Accept": "application/json"}
        if token:
            self.headers["Authorization"] = f"Bearer {token}"
        self.tries = max(0, retries) + 1

    def request(self, call: Call[Any], cursor: str | None) -> dict[str, Any]:
        """Return the arguments with which httpx sends a call."""
        headers: dict[str, str] = {}
        parameters = {name: _text(value) for name, value in call.parameters.items()}
        if call.paged:
            parameters["limit"] = str(PAGE)
            if cursor is not None:
                parameters["cursor"] = cursor
        sent: dict[str, Any] = {"params": parameters, "headers": headers}
        if call.body is not None:
            headers["Content-Type"] = "application/json"
            sent["content"] = encode_body(call.body)
        elif call.lines is not None:
            headers["Content-Type"] = "application/x-ndjson"
            sent["content"] = b"\n".join(call.lines)
        return {"method": call.method, "url": call.path, **sent}

    @staticmethod
    def new_key() -> str:
        """Return a key for a write, which stays the same when it is sent again."""
        return secrets.token_hex(16)

    def pause(self, attempt: int, response: httpx.Response | None) -> float | None:
        """Return for how long to wait before a call is sent again; None: it is not."""
        if attempt + 1 >= self.tries:
            return None
        if response is not None and not _may_retry(response):
            return None
        after = "" if response is None else response.headers.get("retry-after", "")
        base = float(after) if after.isdigit() else FIRST_PAUSE * 2**attempt
        jitter = 1 + random.random() / 4  # noqa: S311  # nosec B311 - spreads clients, guards nothing
        return min(base * jitter, MAX_PAUSE)

    def unreachable(self, error: Exception) -> ServiceError:
        """Return the error for a service that does not answer."""
        return ServiceError(
            f"{self.url} does not answer: {str(error) or type(error).__name__}",
            hint="check the address, and that `quire serve` runs there",
        )

    @staticmethod
    def read(response: httpx.Response) -> Any:
        """Return the data of an answer; raise the error that it tells of."""
        try:
            data = response.json()
        except (ValueError, RecursionError) as error:
            raise ServiceError(
                f"status {response.status_code}, and the answer is not JSON: is this a service of "
                "Quire?"
            ) from error
        if response.is_success:
            return data
        raise error_of(response.status_code, data)

    @staticmethod
    def understand(call: Call[Result], data: Any) -> Result:
        """Return the result of a call; refuse data that no service of this version sends."""
        try:
            return call.read(data)
        except (TypeError, ValueError, LookupError, AttributeError) as error:
            raise _not_understood() from error

    @staticmethod
    def add_page(items: list[Any], page: Any, cursor: str | None) -> str | None:
        """Add the items of a page; return the cursor of the next one, if there is one."""
        try:
            new, following = list(page["items"]), page["next"]
        except (TypeError, LookupError) as error:
            raise _not_understood() from error
        if following is not None and (following == cursor or not new):
            raise ServiceError("the pages of the answer never end: is this a service of Quire?")
        items += new
        return None if following is None else str(following)


def _not_understood() -> ServiceError:
    return ServiceError(
        "the answer has another form than this version expects",
        hint="check that the service is one of Quire, and of the same version",
    )


def error_of(status: int, problem: Any) -> QuireError:
    """Return the error that a problem tells of: the one that an open store would have raised."""
    data: Mapping[str, Any] = problem if isinstance(problem, dict) else {}
    kind = getattr(errors, str(data.get("error", "")), None)
    if not (isinstance(kind, type) and issubclass(kind, QuireError)):
        kind = InputError if status in _CALLERS_FAULT else ServiceError
    facts = {name: data[name] for name, kind_of in _FACTS.items() if _is_a(data, name, kind_of)}
    message = data.get("message") or data.get("detail") or f"status {status}"
    return kind(str(message), **facts)


def _is_a(data: Mapping[str, Any], name: str, kind: type) -> bool:
    value = data.get(name)
    if kind is list:
        return isinstance(value, list) and all(isinstance(each, str) for each in value)
    return name in data and isinstance(value, kind)


def _may_retry(response: httpx.Response) -> bool:
    if response.status_code in _RETRIED:
        return True
    # Another connection sends the same write: its answer comes.
    return response.status_code == _STILL_RUNNING and "Idempotency-Key" in response.text


def _text(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    return list(value) if isinstance(value, list | tuple) else str(value)
