"""Look up contexts for the calls that pass through the proxy.

A context is assembled while the tool runs. The wait for it is limited from the moment of the call;
on any failure there is no context, and standard error says why.
"""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from quire.integrations.tool_context import context_for
from quire.mcp import log
from quire.mcp.jsonrpc import Call
from quire.mcp.session import Session
from quire.system import events

if TYPE_CHECKING:
    from quire.core.types import Context

WORKERS = 2
MAX_OPEN_CALLS = 1000
"""A server that never answers must not fill the memory."""
WARM_UP = {"tool": "quire", "params": {}}


class ContextLookup:
    """Assembles a context for each call, in the background."""

    def __init__(self, session: Session, *, cap: int, intent: str, seconds: float) -> None:
        self._session = session
        self._cap = cap
        self._intent = intent
        self._seconds = seconds
        self._open_calls: dict[str, tuple[Future[Context], float, str]] = {}
        self._lock = threading.Lock()
        self._workers = ThreadPoolExecutor(WORKERS)

    def warm_up(self) -> None:
        """Open the store and load the model, so that the first call need not wait for them."""
        self._workers.submit(self._look_up, WARM_UP)

    def start(self, call: Call) -> None:
        """Start to assemble the context of a call."""
        situation = {"tool": call.tool, "params": call.params, "intent": self._intent}
        future = self._workers.submit(self._look_up, situation)
        with self._lock:
            self._open_calls[call.key] = (future, time.monotonic() + self._seconds, call.tool)
            oldest = (
                next(iter(self._open_calls)) if len(self._open_calls) > MAX_OPEN_CALLS else None
            )
        if oldest is not None:
            self.forget(oldest)

    def forget(self, key: str) -> None:
        """Give up a call that nobody waits for any more."""
        with self._lock:
            call = self._open_calls.pop(key, None)
        if call is not None:
            call[0].cancel()

    @property
    def has_open_calls(self) -> bool:
        """Whether calls wait for their result."""
        return bool(self._open_calls)

    def item(self, key: str) -> dict[str, Any] | None:
        """Return the context of a call as an item of its result; None if it is empty."""
        with self._lock:
            call = self._open_calls.pop(key, None)
        if call is None:
            return None
        future, deadline, tool = call
        try:
            context = future.result(max(0.0, deadline - time.monotonic()))
        except TimeoutError:
            future.cancel()
            reason = f"it took longer than {self._seconds:g} s"
            events.emit("lookup_timeout", events.WARNING, timeout_ms=round(self._seconds * 1000))
            log.note(f"quire mcp-proxy: no context for {tool}: {reason}")
            return None
        except Exception as error:  # noqa: BLE001 - the result passes whatever went wrong here
            reason = str(error) or type(error).__name__
            events.emit("lookup_failed", events.WARNING, error=type(error).__name__)
            log.note(f"quire mcp-proxy: no context for {tool}: {reason}")
            return None
        for failure in context.failed:
            reason = f"{failure.source}: {failure.reason}"
            log.note(f"quire mcp-proxy: part of the context for {tool} is missing: {reason}")
        if not context.sources:
            return None
        used = {"receipt": context.receipt["hash"], "tokens": context.tokens}
        return {"type": "text", "text": context.text, "_meta": {"contextUsed": used}}

    def close(self) -> None:
        """Wait for what runs, start nothing more, and close the store."""
        self._workers.shutdown(cancel_futures=True)
        self._session.close()

    def _look_up(self, situation: dict[str, Any]) -> Context:
        session = self._session
        return context_for(
            session.quire(), situation, budget=self._cap, shared_only=session.shared_only
        )
