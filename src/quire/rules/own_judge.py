"""A judge of the caller's own: an object, or a function of a sentence and a situation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from quire.core import guard
from quire.core.types import Situation, Verdict
from quire.errors import InputError, PluginError


class OwnJudge:
    """Judges with what the caller passed.

    Args:
        given: A function of a sentence and a situation that returns whether it applies, an object
            with `judge` (`core.protocols.Judge`), or a pair of a name and one of these.
        timeout: Seconds for one call; 0: no limit.
    """

    def __init__(self, given: Any, timeout: float = 0) -> None:
        name, plugin = guard.split_pair("judge", given)
        self.name = f"{guard.OWN}:{name}"
        judge = getattr(plugin, "judge", None)
        if not callable(judge):
            judge = _judge_each(plugin)
        self._judge: Callable[[Sequence[str], Situation], Any] = judge
        self._described = f"the judge {name!r}"
        self._timeout = timeout

    def judge(self, sentences: Sequence[str], situation: Situation) -> list[Verdict]:
        """Return one verdict for each sentence; all fail if the plug-in does."""
        answer = guard.call(
            self._described, lambda: self._judge(sentences, situation), self._timeout
        )
        if not isinstance(answer, list | tuple) or len(answer) != len(sentences):
            raise PluginError(
                f"{self._described} was given {len(sentences)} sentences and answered with "
                f"{answer!r:.60}"
            )
        return [self._verdict(item) for item in answer]

    def close(self) -> None:
        """Do nothing: what the caller opened, the caller closes."""

    def _verdict(self, item: object) -> Verdict:
        if isinstance(item, bool):
            return Verdict(item, f"{self._described} says so")
        if isinstance(item, Verdict) and isinstance(item.applies, bool | None):
            return Verdict(item.applies, str(item.reason))
        return Verdict(
            None, f"{self._described} answered with {item!r:.60}, not with true or false"
        )


def _judge_each(plugin: Any) -> Callable[[Sequence[str], Situation], list[Any]]:
    if not callable(plugin):
        raise InputError(
            f"expected a function of a sentence and a situation, or an object with `judge`, not "
            f"{plugin!r:.80}",
            field="judge",
        )
    return lambda sentences, situation: [plugin(sentence, situation) for sentence in sentences]
