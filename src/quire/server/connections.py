"""Connections that do nothing: however many there are, whoever has a request gets through.

A connection is idle until a request is whole up to its headers, and again when it is answered. No
token is needed to open one, so only so many may be idle: a further one ends the one that is idle
for longest. Whoever opens connections by the thousand ends their own.
"""

from __future__ import annotations

import asyncio
import logging

from quire.mcp.http import make_protocol
from quire.server import metrics
from quire.server.limits import MAX_IDLE
from quire.system import clock, events

TOLD_EVERY = 1.0
"""Seconds between two events that tell of ended connections."""


class IdleConnections:
    """The idle connections of a process, the longest idle first."""

    def __init__(self, most: int = MAX_IDLE) -> None:
        self._most = most
        self._transports: dict[object, asyncio.Transport] = {}
        self._dropped = 0
        self._told = float("-inf")

    def __len__(self) -> int:
        return len(self._transports)

    def add(self, connection: object, transport: asyncio.Transport) -> None:
        """Note that a connection is idle; one that is known keeps its place."""
        self._transports.setdefault(connection, transport)
        while len(self._transports) > self._most:
            oldest = next(iter(self._transports))
            self._transports.pop(oldest).abort()
            self._dropped += 1
            metrics.REFUSED.labels("idle").inc()
        if self._dropped and clock.seconds_passed() - self._told >= TOLD_EVERY:
            events.emit("connections_dropped", events.WARNING, count=self._dropped)
            self._told, self._dropped = clock.seconds_passed(), 0

    def remove(self, connection: object) -> None:
        """Note that a connection has a request, or is gone."""
        self._transports.pop(connection, None)


def bounded_protocol(seconds: float, idle: IdleConnections) -> type[asyncio.Protocol]:
    """Return HTTP whose clients have a limited time, and whose idle connections are limited."""

    class BoundedProtocol(make_protocol(seconds)):  # type: ignore[misc]  # a class that is made
        """HTTP with a limited number of idle connections."""

        def connection_made(self, transport: asyncio.Transport) -> None:
            super().connection_made(transport)
            idle.add(self, transport)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._sort()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self._sort()

        def connection_lost(self, exc: Exception | None) -> None:
            idle.remove(self)
            super().connection_lost(exc)

        def _sort(self) -> None:
            if self.transport.is_closing() or (self.cycle and not self.cycle.response_complete):
                idle.remove(self)
            else:
                idle.add(self, self.transport)

    return BoundedProtocol


class _EventHandler(logging.Handler):
    """Tells of what the server logs as events, without what requests said."""

    def emit(self, record: logging.LogRecord) -> None:
        kind = record.exc_info[0] if record.exc_info else None
        level = events.ERROR if record.levelno >= logging.ERROR else events.WARNING
        # The message before its values are filled in: they may be of a request.
        facts = {"message": str(record.msg).strip(), "error": kind.__name__ if kind else ""}
        events.emit("server_logged", level, **facts)


def log_as_events() -> None:
    """Let the server's own messages be events, so that every line of the log is JSON."""
    for name in ("uvicorn", "uvicorn.error", "uvicorn.asgi"):
        logger = logging.getLogger(name)
        logger.handlers = [_EventHandler()] if name == "uvicorn" else []
        logger.propagate = name != "uvicorn"
