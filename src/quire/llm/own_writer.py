"""A writer of the caller's own: an object, or a function from a task to a text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from quire.core import guard
from quire.core.types import WriteResult, WriteTask
from quire.errors import InputError, PluginError
from quire.llm.writer import MAX_CHARACTERS


class OwnWriter:
    """Writes with what the caller passed.

    Args:
        given: A function from a `WriteTask` to a text, an object with `write`
            (`core.protocols.TextWriter`), or a pair of a name and one of these.
        timeout: Seconds for one call; 0: no limit.
    """

    def __init__(self, given: Any, timeout: float = 0) -> None:
        name, plugin = guard.split_pair("writer", given)
        self.name = f"{guard.OWN}:{name}"
        write = getattr(plugin, "write", None)
        if not callable(write):
            write = _write_each(plugin)
        self._write: Callable[[Sequence[WriteTask]], Any] = write
        self._described = f"the writer {name!r}"
        self._timeout = timeout

    def write(self, tasks: Sequence[WriteTask]) -> list[WriteResult]:
        """Return one result for each task; one that failed says why."""
        try:
            answer = guard.call(self._described, lambda: self._write(tasks), self._timeout)
        except PluginError as error:
            return [WriteResult("", error.message)] * len(tasks)
        if not isinstance(answer, list | tuple) or len(answer) != len(tasks):
            reason = f"{self._described} was given {len(tasks)} tasks and answered otherwise"
            return [WriteResult("", reason)] * len(tasks)
        return [self._result(task, item) for task, item in zip(tasks, answer, strict=True)]

    def close(self) -> None:
        """Do nothing: what the caller opened, the caller closes."""

    def _result(self, task: WriteTask, item: object) -> WriteResult:
        if isinstance(item, WriteResult) and not item.text:
            return WriteResult("", f"{self._described}: {item.reason or 'nothing was written'}")
        text = item.text if isinstance(item, WriteResult) else item
        if not isinstance(text, str) or not text.strip():
            return WriteResult("", f"{self._described} wrote no text")
        plain, limit = " ".join(text.split()), task.tokens * MAX_CHARACTERS
        if len(plain) > limit:
            problem = f"wrote {len(plain)} characters, where {limit} are the most"
            return WriteResult("", f"{self._described} {problem}")
        return WriteResult(plain)


def _write_each(plugin: Any) -> Callable[[Sequence[WriteTask]], list[Any]]:
    if not callable(plugin):
        raise InputError(
            f"expected a function from a task to a text, or an object with `write`, not "
            f"{plugin!r:.80}",
            field="writer",
        )
    return lambda tasks: [plugin(task) for task in tasks]
