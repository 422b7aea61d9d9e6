"""Collecting for several sections at the same time, each with a time limit.

Every task runs in a thread of its own. A task that fails or does not finish in time becomes a
failure that is shown, and the others still answer. A thread cannot be stopped: one that is too late
ends by itself, and its result is ignored.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextvars import copy_context
from dataclasses import dataclass

from quire.retrieval.collectors import WHOLE, Collected, describe_failure, failed
from quire.system import events


@dataclass(frozen=True, slots=True)
class Task:
    """Something to collect, and how long to wait for it."""

    name: str
    collect: Callable[[], Collected]
    timeout: int = 0
    """Milliseconds; 0: no limit."""


def run_all(tasks: Sequence[Task]) -> list[Collected]:
    """Run all tasks at the same time and return their results in order."""
    threads = [_TaskThread(task) for task in tasks]
    started = time.monotonic()
    for thread in threads:
        thread.start()
    return [thread.result(started) for thread in threads]


class _TaskThread(threading.Thread):
    """A thread that keeps the result or the error of its task."""

    def __init__(self, task: Task) -> None:
        super().__init__(name=f"quire-{task.name}", daemon=True)
        self._task = task
        self._context = copy_context()
        self._collected: Collected | None = None
        self._error: Exception | None = None

    def run(self) -> None:
        try:
            self._collected = self._context.run(self._task.collect)
        except Exception as error:  # noqa: BLE001 - whatever a task raises, the others answer
            self._error = error

    def result(self, started: float) -> Collected:
        """Wait for the result; a failure takes its place where there is none."""
        name, timeout = self._task.name, self._task.timeout
        remaining = max(0.0, timeout / 1000 - (time.monotonic() - started))
        self.join(remaining if timeout else None)
        if self.is_alive():
            events.emit("source_timeout", events.WARNING, source=name, timeout_ms=timeout)
            return failed(name, f"no answer within {timeout} ms")
        if isinstance(self._error, WHOLE):
            raise self._error
        if self._error is not None:
            events.emit(
                "source_failed", events.WARNING, source=name, error=type(self._error).__name__
            )
            return failed(name, describe_failure(self._error))
        assert self._collected is not None, "a result or an error"
        return self._collected
