"""A token counter of the caller's own: an object, or a function from a text to a number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from quire.core import guard
from quire.errors import InputError, PluginError

PROBE = "Quire counts tokens."


class OwnCounter:
    """Counts with what the caller passed.

    Args:
        given: A function from a text to its number of tokens, an object with `count`, or a pair
            of a name and one of these.
    """

    exact = True
    """The caller says how many tokens there are: nobody knows better."""
    note = None

    def __init__(self, given: Any) -> None:
        name, plugin = guard.split_pair("counter", given)
        count = getattr(plugin, "count", plugin)
        if not callable(count):
            raise InputError(
                f"expected a function from a text to a number, or an object with `count`, not "
                f"{plugin!r:.80}",
                field="counter",
            )
        self.name = f"{guard.OWN}:{name}"
        self._count: Callable[[str], Any] = count
        self._described = f"the counter {name!r}"
        if self.count(PROBE) != self.count(PROBE):
            raise InputError(
                f"{self._described} counts the same text differently", field="counter", value=name
            )

    def count(self, text: str) -> int:
        """Count the tokens of a text."""
        answer = guard.call(self._described, lambda: self._count(text))
        if type(answer) is not int or answer < 0:
            raise PluginError(
                f"{self._described} answered with {answer!r:.60}; expected a whole number of at "
                "least 0"
            )
        return answer
