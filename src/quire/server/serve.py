"""Start the service: one process, or several that share a socket and a store."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import tempfile
from dataclasses import replace

import uvicorn
from uvicorn.supervisors import Multiprocess

from quire.errors import InputError
from quire.mcp.http import LOOPBACK
from quire.server.connections import log_as_events
from quire.server.limits import MAX_CONNECTIONS
from quire.server.service import Settings

WORKER = "quire.server.worker"
VARIABLE = "QUIRE_SERVE"
METRICS_FOLDER = "PROMETHEUS_MULTIPROC_DIR"


def listen(host: str, port: int) -> socket.socket:
    """Open the socket that the service listens on."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except (OSError, OverflowError) as error:
        raise InputError(
            f"cannot listen on {host}:{port}: {error}",
            field="port",
            value=port,
            hint="name another {host} or {port}",
        ) from error


def serve(settings: Settings, listener: socket.socket) -> None:
    """Serve until the process is told to stop; then finish what runs."""
    if settings.no_token and settings.host not in LOOPBACK:
        raise InputError(
            f"everyone who reaches {settings.host} would be the owner",
            field="no_token",
            hint="listen on 127.0.0.1, or create tokens with `quire token create`",
        )
    port = listener.getsockname()[1]
    os.environ[VARIABLE] = replace(settings, port=port).to_json()
    config = uvicorn.Config(
        f"{WORKER}:make",
        factory=True,
        http=f"{WORKER}:Protocol",
        ws="none",
        lifespan="on",
        workers=settings.workers,
        limit_concurrency=MAX_CONNECTIONS,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=int(settings.limits.grace),
    )
    if settings.log_json:
        log_as_events()
    for number in (signal.SIGINT, signal.SIGTERM):
        # uvicorn stops in good order, and raises the signal once more: then all is done.
        signal.signal(number, lambda *_: None)
    if settings.workers == 1:
        uvicorn.Server(config).run(sockets=[listener])
        return
    folder = tempfile.mkdtemp(prefix="quire-metrics-")
    os.environ[METRICS_FOLDER] = folder
    try:
        Multiprocess(config, sockets=[listener]).run()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
