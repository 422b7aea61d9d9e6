"""What is known that helps with the calls that pass by?

Each call is looked up while its tool runs. Whoever needs the answer waits no longer than a time
that counts from the call; whatever goes wrong is told on standard error, and there is no answer.
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

if TYPE_CHECKING:
    from quire.core.types import Context

WORKERS = 2
MOST = 1000
"""As many calls may be open; a server that never answers must not fill the memory."""
WARM_UP = {"tool": "quire", "params": {}}


class ContextLookup:
    """Looks up what is known of each call."""

    def __init__(self, asker: Session, *, cap: int, intent: str, seconds: float) -> None:
        self._asker = asker
        self._cap = cap
        self._intent = intent
        self._seconds = seconds
        self._asked: dict[str, tuple[Future[Context], float, str]] = {}
        self._lock = threading.Lock()
        self._workers = ThreadPoolExecutor(WORKERS)

    def warm_up(self) -> None:
        """Open the store and load the model, so that the first call need not wait for them."""
        self._workers.submit(self._look_up, WARM_UP)

    def ask(self, call: Call) -> None:
        """Begin to look up what is known of a call."""
        situation = {"tool": call.tool, "params": call.params, "intent": self._intent}
        made = self._workers.submit(self._look_up, situation)
        with self._lock:
            self._asked[call.key] = (made, time.monotonic() + self._seconds, call.tool)
            oldest = next(iter(self._asked)) if len(self._asked) > MOST else None
        if oldest is not None:
            self.forget(oldest)

    def forget(self, key: str) -> None:
        """Nobody waits for this call any more."""
        with self._lock:
            asked = self._asked.pop(key, None)
        if asked is not None:
            asked[0].cancel()

    @property
    def waiting(self) -> bool:
        """Whether calls are open."""
        return bool(self._asked)

    def item(self, key: str) -> dict[str, Any] | None:
        """Give what is known of a call as an item of its result; None where that is nothing."""
        with self._lock:
            asked = self._asked.pop(key, None)
        if asked is None:
            return None
        made, until, tool = asked
        try:
            context = made.result(max(0.0, until - time.monotonic()))
        except TimeoutError:
            made.cancel()
            late = f"it took longer than {self._seconds:g} s"
            log.note(f"quire mcp-proxy: no context for {tool}: {late}")
            return None
        except Exception as error:  # noqa: BLE001 - whatever it is, the result is to pass
            told = str(error) or type(error).__name__
            log.note(f"quire mcp-proxy: no context for {tool}: {told}")
            return None
        for failure in context.failed:
            told = f"{failure.source}: {failure.reason}"
            log.note(f"quire mcp-proxy: part of the context for {tool} is missing: {told}")
        if not context.sources:
            return None
        used = {"receipt": context.receipt["hash"], "tokens": context.tokens}
        return {"type": "text", "text": context.text, "_meta": {"contextUsed": used}}

    def close(self) -> None:
        """Let what runs end, begin nothing more, and close the store."""
        self._workers.shutdown(cancel_futures=True)
        self._asker.close()

    def _look_up(self, situation: dict[str, Any]) -> Context:
        return context_for(self._asker.quire(), situation, budget=self._cap)
