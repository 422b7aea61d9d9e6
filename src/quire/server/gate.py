"""What stands between the network and the endpoints.

Every request gets an id. It must name the service by a name of its own, come from a page of the
same names if a browser sends it, bring a token unless the path is open to all, and keep within its
rate and size. A client that takes its answer too slowly is cut off. What is logged of a request is
its method, route, status and times; never what it said.
"""

from __future__ import annotations

import asyncio
import json
import re
import secrets
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.exceptions import HTTPException

from quire.config.access_tokens import ADMIN, TokenFile
from quire.core.types import OWNER
from quire.errors import ConfigError
from quire.mcp.http import App, Message, Names, Receive, Scope, Send
from quire.mcp.http import header as header_values
from quire.server import metrics
from quire.server.endpoint import Caller
from quire.server.limits import Limits, RateLimiter
from quire.server.problems import MEDIA_TYPE, problem
from quire.system import clock, events, tracing

REQUEST_ID = "x-request-id"
PROTECTED = ("/v1", "/mcp", "/metrics")
"""Paths that need a token, with all below them; others tell nothing of what the store holds."""
CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
_SECURITY_HEADERS = (
    (b"content-security-policy", CONTENT_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
)
_ID = re.compile(r"[0-9A-Za-z._-]{1,64}")
_MAX_SHOWN = 100


@dataclass(slots=True)
class _Answer:
    """What became of a request so far."""

    status: int = 0
    started: bool = False


class Gate:
    """An ASGI application before another: see the module."""

    def __init__(
        self,
        app: App,
        names: Names,
        limits: Limits,
        tokens: TokenFile | None,
        route_of: Callable[[Scope], str],
    ) -> None:
        """Guard an application; without tokens, everyone who passes is the owner."""
        self._app = app
        self._names = names
        self._limits = limits
        self._tokens = tokens
        self._rates = RateLimiter(limits.rate)
        self._route_of = route_of

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = self._request_id(scope)
        scope["quire.request_id"] = request_id
        answer = _Answer()
        started = clock.seconds_passed()
        with metrics.in_flight(), tracing.request(scope["headers"]) as span:
            try:
                await self._answer(scope, receive, self._sender(send, request_id, answer), answer)
            finally:
                self._note(scope, request_id, answer, clock.seconds_passed() - started)
                method = metrics.method_name(scope["method"])
                route = self._route_of(scope)
                tracing.end_request(span, method, route, answer.status, request_id)

    async def _answer(self, scope: Scope, receive: Receive, send: Send, answer: _Answer) -> None:
        refusal = self._refusal(scope)
        if refusal is not None:
            status, detail, headers = refusal
            await self._refuse(scope, send, status, detail, headers)
            return
        try:
            await self._app(scope, self._limited(receive), send)
        except Exception as error:
            note_failure(error)
            if not answer.started:
                detail = "failed inside Quire; the log has the kind of the error"
                await self._refuse(scope, send, 500, detail, ())
            else:
                raise

    # --- who may -------------------------------------------------------------------------------

    def _refusal(self, scope: Scope) -> tuple[int, str, tuple[tuple[bytes, bytes], ...]] | None:
        reached = str((scope.get("server") or ("",))[0])
        hosts = header_values(scope, "host")
        if len(hosts) != 1 or not self._names.admits(hosts[0], reached):
            shown = ", ".join(hosts)[:_MAX_SHOWN] or "no name"
            detail = (
                f"this service does not answer to {shown!r}; whoever runs it can allow a name with "
                "`quire serve --allow-host NAME`"
            )
            return 421, detail, ()
        for origin in header_values(scope, "origin"):
            if not self._names.admits_origin(origin, reached):
                return 403, f"pages of {origin[:_MAX_SHOWN]!r} may not use this service", ()
        length = header_values(scope, "content-length")
        if length and length[0].isdigit() and int(length[0]) > self._limits.body:
            return 413, self._too_large(), ((b"connection", b"close"),)
        if not _is_protected(scope["path"]):
            return None
        return self._admit(scope)

    def _admit(self, scope: Scope) -> tuple[int, str, tuple[tuple[bytes, bytes], ...]] | None:
        """Find out who asks, and whether they ask too often."""
        if self._tokens is None:
            caller = Caller("", OWNER, ADMIN, chat=True)
        else:
            sent = header_values(scope, "authorization")
            kind, _, text = sent[0].partition(" ") if len(sent) == 1 else ("", "", "")
            try:
                token = self._tokens.find(text.strip(), clock.now())
            except ConfigError as error:
                events.emit("tokens_unusable", events.ERROR, error=type(error).__name__)
                return 503, "the tokens cannot be read; whoever runs the service must look", ()
            if kind.lower() != "bearer" or token is None:
                return (
                    401,
                    "a valid token is needed: send `Authorization: Bearer TOKEN`",
                    ((b"www-authenticate", b'Bearer realm="quire"'),),
                )
            caller = Caller(token.id, token.reader, token.scope, token.chat)
        wait = self._rates.wait(caller.token, clock.seconds_passed())
        if wait > 0:
            after = str(max(1, round(wait + 0.5))).encode()
            return 429, "too many requests with this token", ((b"retry-after", after),)
        scope["quire.caller"] = caller
        return None

    # --- sizes and times -----------------------------------------------------------------------

    def _limited(self, receive: Receive) -> Receive:
        """Return what a body is read with: it stops where it becomes too large."""
        size = 0

        async def read() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > self._limits.body:
                raise HTTPException(413, self._too_large())
            return message

        return read

    def _too_large(self) -> str:
        return f"a request has at most {self._limits.body} bytes"

    def _sender(self, send: Send, request_id: str, answer: _Answer) -> Send:
        """Return what an answer is sent with: it adds headers, and gives up on a slow client."""
        seconds = self._limits.send_seconds

        async def write(message: Message) -> None:
            if message["type"] == "http.response.start":
                answer.started, answer.status = True, message["status"]
                known = {name.lower() for name, _ in message["headers"]}
                added = [each for each in _SECURITY_HEADERS if each[0] not in known]
                message["headers"] = [
                    *message["headers"],
                    *added,
                    (REQUEST_ID.encode(), request_id.encode()),
                ]
            await asyncio.wait_for(send(message), seconds)

        return write

    async def _refuse(
        self,
        scope: Scope,
        send: Send,
        status: int,
        detail: str,
        headers: tuple[tuple[bytes, bytes], ...],
    ) -> None:
        body = problem(status, detail, scope["quire.request_id"])
        head = [
            (b"content-type", MEDIA_TYPE.encode()),
            (b"content-length", str(len(body)).encode()),
            *headers,
        ]
        await send({"type": "http.response.start", "status": status, "headers": head})
        await send({"type": "http.response.body", "body": body})

    # --- what is told --------------------------------------------------------------------------

    @staticmethod
    def _request_id(scope: Scope) -> str:
        """Return the id that a proxy gave the request, if it is one, or a new one."""
        sent = header_values(scope, REQUEST_ID)
        return sent[0] if len(sent) == 1 and _ID.fullmatch(sent[0]) else secrets.token_hex(8)

    def _note(self, scope: Scope, request_id: str, answer: _Answer, seconds: float) -> None:
        route = self._route_of(scope)
        caller: Caller | None = scope.get("quire.caller")
        metrics.count_request(scope["method"], route, answer.status, seconds)
        events.emit(
            "request_finished",
            method=metrics.method_name(scope["method"]),
            route=route,
            status=answer.status,
            request_id=request_id,
            token=caller.token if caller else "",
            duration_ms=round(seconds * 1000),
        )


def note_failure(error: Exception) -> None:
    """Log a defect by its kind and place; its message may quote what nobody else may read."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    events.emit("request_failed", events.ERROR, error=type(error).__name__, place=place)


def _is_protected(path: str) -> bool:
    return any(path == start or path.startswith(f"{start}/") for start in PROTECTED)


def caller_of(scope: Scope) -> Caller:
    """Return who asks."""
    caller: Caller = scope["quire.caller"]
    return caller


def read_json(data: bytes) -> Any:
    """Parse a body; raise ValueError for what no JSON has, such as NaN."""

    def refuse(name: str) -> Any:
        raise ValueError(f"{name} is not JSON")

    return json.loads(data, parse_constant=refuse)
