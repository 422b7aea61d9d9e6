"""What stands between the network and the MCP server over HTTP.

Every request must name this server by a name of its own (`Host`), and a browser must come from a
page of the same names (`Origin`): otherwise any page could reach the server by pointing a name of
its own at this address (DNS rebinding). Sessions, connections and the time to send a request are
limited, so that clients that go away or stall hold nothing for long.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Collection, Iterable, MutableMapping
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from typing import Any
from urllib.parse import urlsplit

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from quire.errors import InputError

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

SESSION_HEADER = "mcp-session-id"
REVISION_HEADER = "mcp-protocol-version"
MAX_PORT = 65535
LOOPBACK = ("127.0.0.1", "localhost", "::1")
ANY_ADDRESS = ("0.0.0.0", "::")  # nosec B104  # noqa: S104 - compared with, not bound to
MAX_BODY = 4 * 1024 * 1024
"""Bytes of a message, over HTTP and in a line."""
MAX_CONNECTIONS = 512
MAX_SHOWN = 100
_INVALID_REQUEST = -32600
_FIRST_ERROR, _FORBIDDEN, _NOT_FOUND, _MISDIRECTED = 400, 403, 404, 421


@dataclass(frozen=True, slots=True)
class HttpOptions:
    """Where a server listens, which names it answers to, and how long it waits."""

    address: str
    allow_hosts: tuple[str, ...]
    """Names and addresses, with or without a port, that requests may name it by."""
    session_timeout: float
    """Seconds without a request after which a session ends."""
    request_timeout: float
    """Seconds in which a client must have sent a whole request."""
    max_sessions: int


def parse_address(address: str) -> tuple[str, int]:
    """Return the host and port of an address; the default host is the loopback interface."""
    host, _, port = address.rpartition(":")
    if not _is_port(port):
        raise InputError(
            f"{address!r} is not an address",
            field="http",
            value=address,
            hint="write PORT, or HOST:PORT as in 127.0.0.1:8000",
        )
    return host.strip("[]") or LOOPBACK[0], int(port)


# --- names ---------------------------------------------------------------------------------------


class Names:
    """The names that a server answers to."""

    def __init__(self, bound: str, allowed: Iterable[str] = ()) -> None:
        own = () if bound in ANY_ADDRESS else (bound,)
        self._hosts = {_normal(host) for host in (*LOOPBACK, *own)}
        self._pairs: set[tuple[str, int]] = set()
        for text in allowed:
            parsed = _split_host(text)
            if parsed is None:
                raise InputError(
                    f"{text!r} is not the name of a host",
                    field="allow_hosts",
                    value=text,
                    hint="write a name or an address, with or without a port: example.com:8000",
                )
            host, port = parsed
            if port is None:
                self._hosts.add(host)
            else:
                self._pairs.add((host, port))

    def admits(self, text: str, reached: str = "") -> bool:
        """Tell whether a `Host` names this server, which was reached at an address of its own."""
        parsed = _split_host(text)
        if parsed is None:
            return False
        host, port = parsed
        # A name can be pointed at any address; an address is what it is.
        at_address = bool(reached) and host == _normal(reached)
        return host in self._hosts or at_address or (port is not None and parsed in self._pairs)

    def admits_origin(self, text: str, reached: str = "") -> bool:
        """Tell whether a page of this origin may use the server."""
        try:
            parts = urlsplit(text)
        except ValueError:
            return False
        scheme_ports = {"http": 80, "https": 443}
        if parts.scheme not in scheme_ports or not parts.netloc or "@" in parts.netloc:
            return False
        host = parts.netloc
        default = f"{host}:{scheme_ports[parts.scheme]}"
        return self.admits(host, reached) or self.admits(default, reached)


def _split_host(text: str) -> tuple[str, int | None] | None:
    """Return the name and the port of a `Host`; None if it is not one."""
    host, colon, port = text.rpartition(":")
    if not colon or text.endswith("]"):
        host, port = text, ""
    elif not _is_port(port):
        return None
    bracketed = host.startswith("[") and host.endswith("]")
    name = host[1:-1] if bracketed else host
    if not name or not name.isascii() or not name.isprintable() or set(name) & set(" /?#@,[]\\"):
        return None
    if (":" in name) is not bracketed:
        return None
    return _normal(name), int(port) if port else None


def _normal(host: str) -> str:
    """Return a name or an address in one spelling."""
    name = host.lower().removesuffix(".")
    try:
        address = ip_address(name.partition("%")[0])
    except ValueError:
        return name
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return str(mapped or address)


def _is_port(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 5 and int(text) <= MAX_PORT


# --- requests ------------------------------------------------------------------------------------


class Guard:
    """An ASGI application before another: checks names, and limits the number of sessions."""

    def __init__(
        self, app: App, names: Names, max_sessions: int, revisions: Collection[str] = ()
    ) -> None:
        """Guard an application; `revisions` are those of the protocol that have sessions."""
        self._app = app
        self._names = names
        self._max_sessions = max_sessions
        self._revisions = frozenset(revisions)
        self._running: dict[str, int] = {}
        """Requests that run, by session; the session used longest ago is the first."""
        self._opening = 0
        """Requests that run and may open a session."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if refusal is not None:
            await _refuse(send, *refusal)
            return
        session = next(iter(header(scope, SESSION_HEADER)), "")
        if session:
            await self._run(session, scope, receive, send)
        elif self._may_open(scope):
            await self._open(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        reached = str((scope.get("server") or ("",))[0])
        hosts = header(scope, "host")
        if len(hosts) != 1 or not self._names.admits(hosts[0], reached):
            shown = ", ".join(hosts)[:MAX_SHOWN] or "no name"
            return _MISDIRECTED, (
                f"this server does not answer to {shown!r}; whoever runs it can allow a name with "
                "`quire mcp --allow-host NAME`"
            )
        for origin in header(scope, "origin"):
            if not self._names.admits_origin(origin, reached):
                return _FORBIDDEN, (
                    f"pages of {origin[:MAX_SHOWN]!r} may not use this server; whoever runs it can "
                    "allow their host with `quire mcp --allow-host NAME`"
                )
        return None

    def _may_open(self, scope: Scope) -> bool:
        """Tell whether a request that names no session may open one."""
        revisions = header(scope, REVISION_HEADER)
        return scope["method"] == "POST" and self._revisions.issuperset(revisions)

    async def _run(self, session: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request of a session, which is in use for as long.

        A name that this server did not give out is no session, whatever is answered.
        """
        if session not in self._running:
            await self._app(scope, receive, send)
            return
        gone = scope["method"] == "DELETE"

        async def watch(message: Message) -> None:
            nonlocal gone
            if message["type"] == "http.response.start" and message["status"] == _NOT_FOUND:
                gone = True
            await send(message)

        self._begin(session)
        try:
            await self._app(scope, receive, watch)
        finally:
            self._finish(session, gone=gone)

    async def _open(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request that may open a session, for which an idle one may have to end."""
        opened = ""

        async def watch(message: Message) -> None:
            nonlocal opened
            if message["type"] == "http.response.start" and message["status"] < _FIRST_ERROR:
                values = [value for name, value in message["headers"] if _is(name, SESSION_HEADER)]
                if values:
                    opened = values[0].decode("latin-1")
                    self._begin(opened)
            await send(message)

        self._opening += 1
        try:
            if len(self._running) + self._opening > self._max_sessions:
                await self._end_oldest(scope)
            await self._app(scope, receive, watch)
        finally:
            self._opening -= 1
            if opened:
                self._finish(opened, gone=False)

    def _begin(self, session: str) -> None:
        self._running[session] = self._running.pop(session, 0) + 1

    def _finish(self, session: str, *, gone: bool) -> None:
        left = self._running.pop(session, 1) - 1
        if not gone:
            self._running[session] = left

    async def _end_oldest(self, scope: Scope) -> None:
        """End the session that is idle for longest, as its client would; none if all are busy."""
        idle = next((name for name, running in self._running.items() if not running), None)
        if idle is None:
            return
        del self._running[idle]
        headers = [(key, value) for key, value in scope["headers"] if _is(key, "host")]
        headers.append((SESSION_HEADER.encode(), idle.encode("latin-1")))
        await self._app({**scope, "method": "DELETE", "headers": headers}, _nothing, _ignore)


async def _nothing() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _ignore(_: Message) -> None:
    pass


async def _refuse(send: Send, status: int, message: str) -> None:
    error = {"code": _INVALID_REQUEST, "message": message}
    body = json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def header(scope: Scope, name: str) -> list[str]:
    """Return all values of a header of a request."""
    return [value.decode("latin-1") for key, value in scope["headers"] if _is(key, name)]


def _is(key: bytes, name: str) -> bool:
    return key.lower() == name.encode()


# --- connections ---------------------------------------------------------------------------------


def make_protocol(seconds: float) -> type[H11Protocol]:
    """Return a protocol that closes a connection whose request is not whole in time."""

    class PunctualProtocol(H11Protocol):
        """HTTP whose clients have a limited time to send each request."""

        _deadline: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._watch()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._watch()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self._watch()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop()
            super().connection_lost(exc)

        def _watch(self) -> None:
            """Start the clock when a request is awaited; more bytes do not set it back."""
            if self.conn.their_state not in {h11.IDLE, h11.SEND_BODY}:
                self._stop()
            elif self._deadline is None:
                self._deadline = self.loop.call_later(seconds, self.transport.abort)

        def _stop(self) -> None:
            if self._deadline is not None:
                self._deadline.cancel()
                self._deadline = None

    return PunctualProtocol
