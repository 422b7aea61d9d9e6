"""How are several asked at once, and who is not waited for?

Each is asked in a thread of its own. One that fails or that does not answer in time is a failure
that is shown; the others answer all the same. Nobody can stop a thread: one that is too late ends
when its answer comes, and that answer is not looked at.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from quire.core.types import Failure
from quire.errors import InputError, QuireError
from quire.retrieval.collectors import Collected


@dataclass(frozen=True, slots=True)
class Task:
    """Someone to be asked, and how long to wait."""

    name: str
    ask: Callable[[], Collected]
    timeout: int = 0
    """Milliseconds; 0: as long as it takes."""


def at_once(tasks: Sequence[Task]) -> list[Collected]:
    """Ask all at the same time; gives their answers, in order."""
    threads = [_Asking(task) for task in tasks]
    begun = time.monotonic()
    for thread in threads:
        thread.start()
    return [thread.answer(begun) for thread in threads]


class _Asking(threading.Thread):
    """Asks, and keeps what comes of it."""

    def __init__(self, task: Task) -> None:
        super().__init__(name=f"quire-{task.name}", daemon=True)
        self._task = task
        self._found: Collected | None = None
        self._error: Exception | None = None

    def run(self) -> None:
        try:
            self._found = self._task.ask()
        except Exception as error:  # noqa: BLE001 - whatever a source raises, the others answer
            self._error = error

    def answer(self, begun: float) -> Collected:
        """Wait for what was found; what cannot be had is told in its place."""
        name, timeout = self._task.name, self._task.timeout
        left = max(0.0, timeout / 1000 - (time.monotonic() - begun))
        self.join(left if timeout else None)
        if self.is_alive():
            return failed(name, f"no answer within {timeout} ms")
        if isinstance(self._error, InputError):
            raise self._error
        if isinstance(self._error, QuireError):
            return failed(name, str(self._error))
        if self._error is not None:
            return failed(name, f"{type(self._error).__name__}: {self._error}")
        assert self._found is not None, "an answer, or an error"
        return self._found


def failed(name: str, reason: str) -> Collected:
    """Give the answer of someone who gave none."""
    return Collected({}, (Failure(name, reason),))
