"""The application: a route for each endpoint, MCP, metrics and the inspector's files."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any

from mcp.server.transport_security import TransportSecuritySettings
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Match, Mount, Route
from starlette.staticfiles import StaticFiles

from quire.config.access_tokens import TokenFile, default_file
from quire.errors import QuireError
from quire.mcp.http import (
    SESSION_HEADER,
    App,
    Guard,
    Message,
    Names,
    Receive,
    Scope,
    Send,
    header,
)
from quire.mcp.server import QuireServer
from quire.mcp.session import Session
from quire.server import metrics, openapi
from quire.server.answer import Answer, RawRequest, answer, refuse, write_json
from quire.server.chat import ChatForwarder
from quire.server.endpoint import ADMIN, WRITE, Caller, Endpoint, NotAllowedError
from quire.server.gate import Gate, caller_of, note_failure
from quire.server.problems import MAX_VALUE, MEDIA_TYPE, problem
from quire.server.service import Service
from quire.server.table import ENDPOINTS

INSPECTOR = Path(__file__).with_name("inspector")
"""The inspector's files, if they are installed."""
MCP_PATH = "/mcp"
MCP_SESSIONS = 100
MCP_IDLE = 1800
MAX_OWNERS = 10_000
_POLL = 0.25
"""Seconds between two looks at a job."""
_KEEP_ALIVE = 15.0
Handler = Callable[[Request], Awaitable[Response]]


def make_app(service: Service) -> App:
    """Return the whole application of one worker process."""
    settings = service.settings
    chat = ChatForwarder(service)
    mcp = _McpMount(service)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with mcp.running(), chat.running(), service.tidying():
            yield
        await asyncio.get_running_loop().run_in_executor(None, service.close)

    routes: list[Route | Mount] = [
        Route("/healthz", _healthz),
        Route("/readyz", _labelled("/readyz", partial(_readyz, service))),
        Route("/openapi.json", _labelled("/openapi.json", partial(_openapi, _document()))),
        Route("/metrics", _labelled("/metrics", partial(_metrics, service))),
        Route(
            "/v1/index/{id}/events",
            _labelled("/v1/index/{id}/events", partial(_job_events, service)),
        ),
        Route(
            "/v1/chat/completions",
            _labelled("/v1/chat/completions", chat.answer),
            methods=["POST"],
        ),
        Route("/v1/models", _labelled("/v1/models", chat.list_models)),
        *(_route(service, path) for path in _paths()),
    ]
    if INSPECTOR.is_dir():
        drawn: list[str | tuple[str, str]] = [
            ("quire.report", "assets")
        ]  # what the inspector shares with a report
        routes.append(Mount("/", StaticFiles(directory=INSPECTOR, packages=drawn, html=True)))
    app = Starlette(
        routes=routes,
        lifespan=lifespan,
        exception_handlers={HTTPException: _http_error},
    )
    tokens = None
    if not settings.no_token:
        config = service.quire.config
        tokens = TokenFile(default_file(config.store, config.space, os.environ))
    names = Names(settings.host, settings.allow_hosts)
    return Gate(mcp.before(app, names), names, settings.limits, tokens, _route_of)


# --- endpoints -----------------------------------------------------------------------------------


def _paths() -> list[str]:
    """Return the paths of all endpoints, a fixed one before one with an id in its place."""
    return sorted({each.path for each in ENDPOINTS}, key=lambda path: ("{" in path, path))


def _route(service: Service, path: str) -> Route:
    by_method = {each.method: each for each in ENDPOINTS if each.path == path}

    async def handle(request: Request) -> Response:
        method = "GET" if request.method == "HEAD" else request.method
        return await _handle(service, by_method[method], request)

    return Route(path, _labelled(path, handle), methods=list(by_method))


async def _handle(service: Service, endpoint: Endpoint, request: Request) -> Response:
    caller = caller_of(request.scope)
    raw = await read_request(request)
    try:
        result = await service.run(partial(answer, service, endpoint, caller, raw))
    except QuireError as error:
        result = refuse(service, caller, error, raw)
    return to_response(result)


async def read_request(request: Request) -> RawRequest:
    """Read a request to its end."""
    headers = request.headers
    keys = headers.getlist("idempotency-key")
    query = request.url.query
    return RawRequest(
        path=dict(request.path_params),
        query=tuple(request.query_params.multi_items()),
        target=f"{request.url.path}?{query}" if query else request.url.path,
        media_type=headers.get("content-type", ""),
        accept=headers.get("accept", ""),
        body=await request.body(),
        key=", ".join(keys) if keys else None,
        if_none_match=headers.get("if-none-match", ""),
        request_id=request.scope["quire.request_id"],
    )


def to_response(result: Answer) -> Response:
    """Return an answer as Starlette sends it."""
    if result.parts is not None:
        return StreamingResponse(result.parts, result.status, dict(result.headers))
    return Response(result.body, result.status, dict(result.headers))


async def _job_events(service: Service, request: Request) -> Response:
    """Follow a job until it ends."""
    caller = caller_of(request.scope)
    raw = await read_request(request)
    name = raw.path["id"]
    try:
        if not (caller.allows(ADMIN) and caller.viewer.owner):
            raise NotAllowedError(f"this needs an owner's token with the scope `{ADMIN}`")
        first = await service.run(partial(service.jobs.get, name))
    except QuireError as error:
        return to_response(refuse(service, caller, error, raw))

    async def follow() -> AsyncIterator[bytes]:
        job, sent, quiet = first, b"", 0.0
        while True:
            data = write_json(job)
            if data != sent:
                kind = "progress" if job["state"] == "running" else job["state"]
                yield b"event: " + kind.encode() + b"\ndata: " + data + b"\n\n"
                sent, quiet = data, 0.0
            elif quiet >= _KEEP_ALIVE:
                yield b": still running\n\n"
                quiet = 0.0
            if job["state"] != "running":
                return
            await asyncio.sleep(_POLL)
            quiet += _POLL
            job = await service.run(partial(service.jobs.get, name))

    return StreamingResponse(
        follow(), media_type="text/event-stream", headers={"Cache-Control": "no-store"}
    )


# --- of the service itself -----------------------------------------------------------------------


def _document() -> bytes:
    return json.dumps(openapi.document()).encode()


async def _openapi(document: bytes, _: Request) -> Response:
    return Response(document, media_type="application/json")


async def _healthz(_: Request) -> Response:
    return JSONResponse({"status": "ok"})


async def _readyz(service: Service, request: Request) -> Response:
    if not await service.is_ready():
        body = problem(
            503,
            "the store cannot be read, or the service is busy",
            request.scope["quire.request_id"],
        )
        return Response(body, 503, {"Content-Type": MEDIA_TYPE})
    return JSONResponse({"status": "ok"})


async def _metrics(service: Service, request: Request) -> Response:
    caller = caller_of(request.scope)
    if not caller.allows(ADMIN):
        error = NotAllowedError(f"this needs a token with the scope `{ADMIN}`", field="scope")
        return to_response(refuse(service, caller, error, await read_request(request)))
    data, content_type = await service.run(metrics.write)
    return Response(data, headers={"Content-Type": content_type})


async def _http_error(request: Request, error: Exception) -> Response:
    """Answer for a path or a method that does not exist."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    detail = error.detail if isinstance(error, HTTPException) else "failed inside Quire"
    headers = (error.headers if isinstance(error, HTTPException) else None) or {}
    facts: dict[str, Any] = {}
    if status == HTTPStatus.NOT_FOUND and _methods_at(request):
        status = HTTPStatus.METHOD_NOT_ALLOWED  # the inspector's files were looked at as well
    if status == HTTPStatus.NOT_FOUND:
        detail = "there is nothing at this path"
        facts = {"value": request.url.path[:MAX_VALUE], "hint": "see /openapi.json"}
    elif status == HTTPStatus.METHOD_NOT_ALLOWED:
        allowed = _methods_at(request) or ["GET", "HEAD"]  # of a file
        headers = {**headers, "Allow": ", ".join(allowed)}
        detail = f"this path does not take {metrics.method_name(request.method)}"
        facts = {"value": metrics.method_name(request.method), "allowed": allowed}
        facts["hint"] = "see /openapi.json"
    body = problem(status, detail, request.scope["quire.request_id"], facts=facts)
    return Response(body, status, {"Content-Type": MEDIA_TYPE, **headers})


def _methods_at(request: Request) -> list[str]:
    """Return the methods that a path takes, if there are endpoints at it that take others."""
    routes = [route for route in request.app.routes if isinstance(route, Route)]
    found = {
        method
        for route in routes
        if route.matches(request.scope)[0] is Match.PARTIAL
        for method in route.methods or ()
    }
    return sorted(found)


def _labelled(route: str, handler: Handler) -> Handler:
    """Return a handler whose requests are counted under its route."""

    async def handle(request: Request) -> Response:
        request.scope["quire.route"] = route
        try:
            return await handler(request)
        except HTTPException:
            raise
        except Exception as error:  # noqa: BLE001 - a client gets one sentence for any defect
            note_failure(error)
            detail = "failed inside Quire; the log has the kind and the place of the error"
            body = problem(500, detail, request.scope["quire.request_id"])
            return Response(body, 500, {"Content-Type": MEDIA_TYPE})

    return handle


def _route_of(scope: Scope) -> str:
    return str(scope.get("quire.route", "other"))


# --- MCP -----------------------------------------------------------------------------------------


class _McpMount:
    """The MCP server, whose clients read and write as their tokens say."""

    def __init__(self, service: Service) -> None:
        self._session = Session.of_quire(service.quire)
        self._owners: dict[str, str] = {}
        """The tokens of sessions."""
        self._server = QuireServer(self._session, self._session_of)
        self._app = self._server.server.streamable_http_app(
            streamable_http_path=MCP_PATH,
            max_request_body_size=service.settings.limits.body,
            # A session lives in one process; of several, any may get the next request.
            stateless_http=service.settings.workers > 1,
            session_idle_timeout=None if service.settings.workers > 1 else MCP_IDLE,
            max_sessions=MCP_SESSIONS,
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serve until the application stops."""
        async with self._app.router.lifespan_context(self._app):
            yield

    def before(self, app: App, names: Names) -> App:
        """Return an application that answers MCP itself, and leaves the rest to another."""
        guard = Guard(self._app, names, MCP_SESSIONS, HANDSHAKE_PROTOCOL_VERSIONS)

        async def dispatch(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] == "http" and scope["path"] == MCP_PATH:
                scope["quire.route"] = MCP_PATH
                await self._run(guard, scope, receive, send)
            else:
                await app(scope, receive, send)

        return dispatch

    async def _run(self, app: App, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request of MCP; a session can be used with the token alone that opened it."""
        token = caller_of(scope).token
        session = next(iter(header(scope, SESSION_HEADER)), "")
        if session and self._owners.get(session, token) != token:
            body = problem(404, "there is no such session", scope["quire.request_id"])
            await Response(body, 404, {"Content-Type": MEDIA_TYPE})(scope, receive, send)
            return

        async def watch(message: Message) -> None:
            if message["type"] == "http.response.start":
                for name, value in message["headers"]:
                    if name.lower() == SESSION_HEADER.encode():
                        self._owners[value.decode("latin-1")] = token
                while len(self._owners) > MAX_OWNERS:
                    self._owners.pop(next(iter(self._owners)))
            await send(message)

        await app(scope, receive, watch)

    def _session_of(self, request: Any, client: str) -> Session:
        caller: Caller = caller_of(request.scope)
        return self._session.of_reader(
            f"{caller.token}:{client}", caller.viewer, may_write=caller.allows(WRITE)
        )
