"""How a request to an endpoint is answered: its arguments, its tag, its key, its page."""

from __future__ import annotations

import base64
import json
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from quire import __version__
from quire.core import hashing
from quire.core.serialize import to_plain
from quire.core.types import Context, Viewer
from quire.errors import InputError, QuireError, StoreBusyError, StoreInterruptedError
from quire.server import metrics
from quire.server.arguments import (
    JSON,
    LINES,
    PAGE,
    UnsupportedMediaError,
    read_arguments,
    take_viewer,
)
from quire.server.endpoint import (
    Call,
    Caller,
    ConflictError,
    Endpoint,
    NotAllowedError,
    viewer_key,
)
from quire.server.journal import KeptAnswer
from quire.server.problems import MEDIA_TYPE, of_error
from quire.server.service import BusyError, LateError, Service
from quire.system import clock, events, platform

PART = 65536
"""Bytes of a part of a long answer."""
MAX_KEY = 200
REPLAYED = "Idempotency-Replayed"
_running_keys: set[tuple[str, str]] = set()
_keys_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class RawRequest:
    """A request as it came in, but for its token."""

    path: Mapping[str, str]
    query: tuple[tuple[str, str], ...]
    target: str
    """The path and the query string as they were sent."""
    media_type: str
    accept: str
    body: bytes
    key: str | None
    """Of a write that may be repeated."""
    if_none_match: str
    request_id: str


@dataclass(frozen=True, slots=True)
class Answer:
    """A status, headers and a body."""

    status: int
    headers: Mapping[str, str]
    body: bytes = b""
    parts: Iterator[bytes] | None = None
    """Of a long answer: its body, which is made as it is sent."""


def answer(service: Service, endpoint: Endpoint, caller: Caller, raw: RawRequest) -> Answer:
    """Answer a request; an error becomes a problem."""
    try:
        return _answer(service, endpoint, caller, raw)
    except QuireError as error:
        return refuse(service, caller, error, raw)


def refuse(service: Service, caller: Caller, error: QuireError, raw: RawRequest) -> Answer:
    """Return the answer to a request that failed."""
    status = None
    headers: dict[str, str] = {}
    if isinstance(error, InputError) and error.value in raw.path.values() and not error.field:
        status = 404
    elif isinstance(error, UnsupportedMediaError):
        status = 415
    elif isinstance(error, LateError):
        status = 504
    elif isinstance(error, BusyError | StoreBusyError | StoreInterruptedError):
        status, headers["Retry-After"] = 503, "1"
    quire = service.quire
    places = (
        str(quire.root()),
        quire.config.store_name,
        str(quire.config.store),
        str(quire.config.root),
    )
    hide = () if caller.viewer.owner else places
    code, body = of_error(error, raw.request_id, status=status, hide=hide)
    if code >= 500:
        events.emit("request_refused", events.WARNING, error=type(error).__name__)
    return Answer(code, {"Content-Type": MEDIA_TYPE, **headers}, body)


def _answer(service: Service, endpoint: Endpoint, caller: Caller, raw: RawRequest) -> Answer:
    _check_scope(endpoint, caller)
    arguments = read_arguments(endpoint, raw.path, raw.query, raw.media_type, raw.body)
    viewer = take_viewer(caller, arguments)
    if endpoint.owner and not viewer.owner:
        raise NotAllowedError("only the owner may do this", hint="use an owner's token")
    call = Call(
        service.quire, service.journal, service.jobs, caller, viewer, arguments, clock.now()
    )
    if endpoint.writes and raw.key is not None:
        return _write_once(endpoint, call, raw)
    headers: dict[str, str] = {"Cache-Control": "no-store"}
    if endpoint.tagged:
        tag = _tag(service, viewer, raw)
        headers = _tagged(tag)
        if _matches(raw.if_none_match, tag):
            return Answer(304, headers)
    result = endpoint.run(call)
    if isinstance(result, Context):
        metrics.CONTEXT_TOKENS.inc(result.tokens)
    if endpoint.listed:
        if raw.accept.startswith(LINES):
            rest = _after_cursor(result, arguments)[: arguments.get("limit")]
            return Answer(endpoint.status, {**headers, "Content-Type": LINES}, parts=_lines(rest))
        result = _page(result, arguments)
    body = write_json(result)
    if endpoint.hashed:
        named = hashing.identifier("etag", viewer_key(viewer), raw.target, body.hex())
        headers = _tagged(f'"{named}"')
        if _matches(raw.if_none_match, headers["ETag"]):
            return Answer(304, headers)
    return Answer(endpoint.status, {**headers, "Content-Type": JSON}, body)


def _check_scope(endpoint: Endpoint, caller: Caller) -> None:
    if not caller.allows(endpoint.scope):
        raise NotAllowedError(
            f"this needs a token with the scope `{endpoint.scope}`",
            field="scope",
            value=caller.scope,
            hint="whoever runs the service creates one with `quire token create --scope`",
        )
    if endpoint.owner and not caller.viewer.owner:
        raise NotAllowedError("only the owner may do this", hint="use an owner's token")


def write_json(value: Any) -> bytes:
    """Write a result as JSON."""
    plain = to_plain(value)
    try:
        return json.dumps(plain, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:  # a name on disk that is no Unicode
        return json.dumps(plain, separators=(",", ":")).encode()


# --- tags ----------------------------------------------------------------------------------------


def _tag(service: Service, viewer: Viewer, raw: RawRequest) -> str:
    """Return the tag of an answer: it changes when anything changes that the viewer may read."""
    root = service.quire.roots(viewer).state
    named = hashing.identifier(
        "etag", __version__, viewer_key(viewer), root, raw.target, raw.accept
    )
    return f'"{named}"'


def _tagged(tag: str) -> dict[str, str]:
    return {"Cache-Control": "private, no-cache", "ETag": tag, "Vary": "Authorization"}


def _matches(sent: str, tag: str) -> bool:
    names = [name.strip().removeprefix("W/") for name in sent.split(",")]
    return "*" in names or tag in names


# --- pages ---------------------------------------------------------------------------------------


def _page(items: Sequence[Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    rest, size = _after_cursor(items, arguments), arguments.get("limit", PAGE)
    shown = rest[:size]
    more = len(rest) > size
    return {"items": shown, "next": _write_cursor(item_id(shown[-1])) if more and shown else None}


def _after_cursor(items: Sequence[Any], arguments: Mapping[str, Any]) -> Sequence[Any]:
    """Return the items that come after the cursor; all of them without one."""
    if "cursor" not in arguments:
        return items
    names = [item_id(item) for item in items]
    after = _read_cursor(arguments["cursor"])
    if after not in names:
        raise InputError(
            "the item that this page begins after is gone, or is not an item of this list",
            field="cursor",
            value=arguments["cursor"],
            hint="begin with the first page again",
        )
    return items[names.index(after) + 1 :]


def item_id(item: Any) -> str:
    """Return the id of an item of a list."""
    if isinstance(item, Mapping):
        return str(item["id"]) if "id" in item else item_id(item["block"])
    return str(item.id)


def _write_cursor(name: str) -> str:
    return base64.urlsafe_b64encode(json.dumps({"after": name}).encode()).decode().rstrip("=")


def _read_cursor(text: str) -> str:
    try:
        padded = text + "=" * (-len(text) % 4)
        return str(json.loads(base64.urlsafe_b64decode(padded))["after"])
    except (ValueError, KeyError, TypeError, RecursionError):
        raise InputError(
            "not a cursor", field="cursor", value=text, hint="send `next` of the page before"
        ) from None


def _lines(items: Sequence[Any]) -> Iterator[bytes]:
    """Yield items as lines, some of them at a time."""
    part = b""
    for item in items:
        part += write_json(item) + b"\n"
        if len(part) >= PART:
            yield part
            part = b""
    if part:
        yield part


# --- writes that may be repeated -----------------------------------------------------------------


def _write_once(endpoint: Endpoint, call: Call, raw: RawRequest) -> Answer:
    """Write, unless the same write was made before: then its answer is sent again."""
    key = raw.key or ""
    if not key or len(key) > MAX_KEY or not key.isprintable() or not key.isascii():
        raise InputError(
            f"expected 1 to {MAX_KEY} printable characters",
            field="Idempotency-Key",
            value=key[:MAX_KEY],
        )
    owner = f"{call.caller.token}:{viewer_key(call.viewer)}"
    request = hashing.identifier("write", endpoint.method, raw.target, raw.body.hex())
    with _keys_lock:
        if (owner, key) in _running_keys:
            raise _still_running()
        _running_keys.add((owner, key))
    try:
        known = call.journal.begin_answer(owner, key, request, call.at)
        if known is not None:
            if known.request != request:
                raise InputError(
                    "this key was used for another request",
                    field="Idempotency-Key",
                    value=key,
                    hint="use a new key for each write",
                )
            if known.status is not None:
                return Answer(known.status, {"Content-Type": JSON, REPLAYED: "true"}, known.body)
            if _runs_elsewhere(known):
                raise _still_running()
            call = replace(call, at=known.at)  # as if it had not been interrupted
        try:
            body = write_json(endpoint.run(call))
        except QuireError:
            call.journal.drop_answer(owner, key)
            raise
        call.journal.finish_answer(owner, key, endpoint.status, body)
        return Answer(endpoint.status, {"Content-Type": JSON, "Cache-Control": "no-store"}, body)
    finally:
        with _keys_lock:
            _running_keys.discard((owner, key))


def _runs_elsewhere(known: KeptAnswer) -> bool:
    return known.pid != os.getpid() and platform.is_running(known.pid)


def _still_running() -> ConflictError:
    return ConflictError(
        "the write with this key is still running",
        field="Idempotency-Key",
        hint="repeat it in a second",
    )
