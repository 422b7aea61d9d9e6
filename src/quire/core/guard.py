"""Call code that is not Quire's own: named, within a time limit, its failures as one error.

A plug-in may raise anything, hang, or answer with what nobody can use. Whoever calls one through
`call` gets its answer or a `PluginError` that names it, and nothing else.
"""

from __future__ import annotations

import inspect
import re
import threading
from collections.abc import Callable
from contextvars import copy_context
from typing import Any, Generic, TypeVar

from quire.errors import InputError, PluginError, QuireError

Result = TypeVar("Result")
OWN = "own"
"""The provider of what the caller passes to `quire.open`, and how its names begin."""
_NAME = re.compile(r"[\w.:/@+-]{1,100}")
_LAMBDA = "<lambda>"


def name_plugin(what: str, plugin: object, attributes: tuple[str, ...] = ("name",)) -> str:
    """Return the name of a plug-in: an attribute of it, or the name of a function."""
    for attribute in (*attributes, "__name__"):
        name = getattr(plugin, attribute, None)
        if isinstance(name, str) and name != _LAMBDA:
            return check_name(what, name)
    if isinstance(plugin, str | bytes | int | float):
        raise InputError(
            f"expected a function or an object, not {plugin!r:.80}",
            field=what,
            value=plugin,
            hint="what is known by its name is chosen in quire.toml or with `settings`",
        )
    raise InputError(
        f"{plugin!r:.80} has no name, which receipts record",
        field=what,
        hint=f'pass a pair: {what}=("my-name", function), or give it an attribute `name`',
    )


def check_name(what: str, name: object) -> str:
    """Return the name of a plug-in; refuse one that could not be told apart in a receipt."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InputError(
            f"the name {name!r:.120} cannot be used: letters, digits and .:/@+-_ are allowed, up "
            "to 100 of them",
            field=what,
            value=name,
        )
    return name


def split_pair(what: str, given: Any, attributes: tuple[str, ...] = ("name",)) -> tuple[str, Any]:
    """Return the name of what was given, and the plug-in itself: alone or as a pair."""
    if isinstance(given, tuple):
        if len(given) != 2:
            raise InputError(
                f"expected a pair of a name and a plug-in, not {len(given)} values", field=what
            )
        return check_name(what, given[0]), given[1]
    return name_plugin(what, given, attributes), given


def call(described: str, function: Callable[[], Result], timeout: float = 0) -> Result:
    """Call a plug-in; whatever goes wrong is a `PluginError` that begins with its description.

    With a timeout in seconds it runs in a thread of its own. A thread cannot be stopped: one that
    is too late ends by itself, and its answer is ignored.
    """
    if timeout <= 0:
        return _translate(described, function)
    worker = _Worker(described, function)
    worker.start()
    worker.join(timeout)
    if worker.is_alive():
        raise PluginError(f"{described} gave no answer within {timeout:g} s")
    if worker.error is not None:
        raise worker.error
    return worker.answer[0]


def _translate(described: str, function: Callable[[], Result]) -> Result:
    try:
        answer = function()
    except (QuireError, KeyboardInterrupt):
        raise
    except BaseException as error:  # whatever a plug-in raises, also the wish to exit, is its own
        reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise PluginError(f"{described} raised {reason:.300}") from error
    if inspect.iscoroutine(answer):
        answer.close()
        raise PluginError(f"{described} is asynchronous; pass a function that returns its answer")
    return answer


class _Worker(threading.Thread, Generic[Result]):
    """A thread that keeps the answer or the error of one call."""

    def __init__(self, described: str, function: Callable[[], Result]) -> None:
        super().__init__(name="quire-plugin", daemon=True)
        self._described = described
        self._function = function
        self._context = copy_context()
        self.answer: list[Result] = []
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            answer = self._context.run(_translate, self._described, self._function)
            self.answer.append(answer)
        except BaseException as error:  # noqa: BLE001 - raised again where the answer is awaited
            self.error = error
