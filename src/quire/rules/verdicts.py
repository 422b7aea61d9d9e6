"""Do these sentences hold in this situation?

What was judged before is not judged again: a verdict is kept under its sentence, the situation
without its time, and the judge. All that is open goes to the judge at once. What fails is said, and
never kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from quire.core import hashing
from quire.core.protocols import Judge
from quire.core.types import Situation, Verdict
from quire.errors import QuireError
from quire.rules.expression_eval import canonical, lasting


class NoJudge:
    """Stands where no judge is asked; says why of every sentence."""

    def __init__(self, reason: str, name: str = "none") -> None:
        self._reason = reason
        self.name = name

    def judge(self, sentences: Sequence[str], situation: Situation) -> list[Verdict]:  # noqa: ARG002  # the contract's
        """Give no verdict on anything."""
        return [Verdict(None, self._reason) for _ in sentences]

    def close(self) -> None:
        """Do nothing: nothing is held."""


def key(sentence: str, situation: Situation, judge: str) -> str:
    """Name a verdict by all that it depends on."""
    return hashing.identifier("verdict", sentence, canonical(lasting(situation)), judge)


def judged(
    sentences: Sequence[str], situation: Situation, judge: Judge, known: Mapping[str, Verdict]
) -> tuple[dict[str, Verdict], dict[str, Verdict]]:
    """Give the verdict on each sentence; and those that may be kept, by their keys."""
    if not sentences:
        return {}, {}
    try:
        name = judge.name
    except QuireError as error:
        return {one: Verdict(None, str(error)) for one in sentences}, {}
    keys = {one: key(one, situation, name) for one in dict.fromkeys(sentences)}
    found = {one: known[keys[one]] for one in keys if keys[one] in known}
    still_open = [one for one in keys if one not in found]
    if still_open:
        found |= zip(still_open, _asked(still_open, situation, judge), strict=True)
    kept = {keys[one]: found[one] for one in keys if found[one].applies is not None}
    return found, kept


def _asked(sentences: list[str], situation: Situation, judge: Judge) -> list[Verdict]:
    try:
        verdicts = judge.judge(sentences, lasting(situation))
    except QuireError as error:
        return [Verdict(None, str(error)) for _ in sentences]
    if len(verdicts) != len(sentences):
        told = f"{len(sentences)} sentences were judged by {len(verdicts)} verdicts"
        return [Verdict(None, told) for _ in sentences]
    return verdicts
