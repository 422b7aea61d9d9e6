"""Errors as `application/problem+json` (RFC 9457), made from the facts that they carry."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any

from quire import errors
from quire.errors import CallerError, QuireError
from quire.server.endpoint import ConflictError, NotAllowedError, NotFoundError

MEDIA_TYPE = "application/problem+json"
MAX_VALUE = 500
"""Characters of a refused value that are sent back."""
STATUSES: tuple[tuple[type[QuireError], int], ...] = (
    (NotAllowedError, 403),
    (NotFoundError, 404),
    (errors.MissingDocumentError, 404),
    (ConflictError, 409),
    (errors.BudgetTooSmallError, 422),
    (errors.NoStoreError, 503),
    (errors.MissingExtraError, 501),
    (errors.ConfigError, 500),
    (errors.CallerError, 400),
    (errors.StoreBusyError, 503),
    (errors.StoreInterruptedError, 503),
    (errors.ShardError, 503),
    (errors.StoreFullError, 507),
    (errors.StoreError, 500),
    (errors.ContextAssemblyError, 422),
    (errors.UnansweredError, 502),
    (errors.EndpointError, 502),
    (errors.QuireError, 500),
)
"""The status of each error; the first that fits."""
HIDDEN = "…"


def status_of(error: QuireError) -> int:
    """Return the status that an error is answered with."""
    return next(status for kind, status in STATUSES if isinstance(error, kind))


def problem(
    status: int,
    detail: str,
    request_id: str,
    *,
    error: str = "",
    facts: Mapping[str, Any] | None = None,
) -> bytes:
    """Write a problem."""
    title = HTTPStatus(status).phrase
    name = error or "".join(title.title().split()) + "Error"
    data = {
        "type": "about:blank",
        "title": title,
        "status": status,
        "detail": detail,
        "error": name,
        **(facts or {}),
        "request_id": request_id,
    }
    return json.dumps(data).encode()


def of_error(
    error: QuireError, request_id: str, *, status: int | None = None, hide: Iterable[str] = ()
) -> tuple[int, bytes]:
    """Return the status of an error and its problem.

    `hide` are names of places on this machine, which concern the owner alone; an error of the
    service itself tells others nothing but its kind.
    """
    hidden = [name for name in hide if name]
    code = status or status_of(error)
    own = hidden and not isinstance(error, CallerError) and code >= HTTPStatus.INTERNAL_SERVER_ERROR
    if own or (hidden and isinstance(error, errors.ConfigError)):
        detail = "the service could not do it; whoever runs it finds the reason in its log"
        return code, problem(code, detail, request_id, error=type(error).__name__)
    facts = {
        "message": error.message,
        "field": error.field,
        "value": _plain(error.value),
        "allowed": list(error.allowed),
        "hint": error.worded_hint(),
        "place": error.place,
    }
    facts = {name: value for name, value in facts.items() if value not in ("", None, [])}
    data = problem(code, str(error), request_id, error=type(error).__name__, facts=facts).decode()
    for name in sorted(hidden, key=len, reverse=True):
        data = data.replace(json.dumps(name)[1:-1], HIDDEN)
    return code, data.encode()


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return value if len(value) <= MAX_VALUE else f"{value[:MAX_VALUE]}{HIDDEN}"
    try:
        written = json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        return str(type(value).__name__)
    return value if len(written) <= MAX_VALUE else f"{written[:MAX_VALUE]}{HIDDEN}"
