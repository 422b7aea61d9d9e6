"""What each worker process of the service runs: made from settings that come by the environment."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading

from quire.mcp.http import App
from quire.server.app import make_app
from quire.server.connections import IdleConnections, bounded_protocol, log_as_events
from quire.server.limits import Limits
from quire.server.service import Service, Settings
from quire.system import events, platform, tracing

VARIABLE = "QUIRE_SERVE"


def settings() -> Settings:
    """Return the settings of this worker process."""
    return Settings.from_json(os.environ[VARIABLE])


def make() -> App:
    """Make the application; uvicorn calls it in each process."""
    given = settings()
    platform.share_arenas(os.environ)
    if given.log_json:
        events.write_json()
        log_as_events()
    if given.workers > 1:
        _end_with_parent()
    tracing.export(os.environ)
    return make_app(Service(given))


def _end_with_parent() -> None:
    """Stop this process in good order when the one that started it is gone: it would never end."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        parent.join()  # returns at once if it ended before this process was ready
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True).start()


_LIMITS = settings().limits if VARIABLE in os.environ else Limits()
Protocol = bounded_protocol(_LIMITS.send_seconds, IdleConnections())
"""HTTP whose clients have a limited time to send each request, and do not block others."""
