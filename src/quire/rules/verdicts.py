"""Verdicts on sentences: each is judged once for a situation, a judge and a wording.

A verdict is cached under its sentence, the situation without its time, and the name of the judge.
All sentences without a cached verdict go to the judge in one call. A failure is reported and never
cached.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from quire.core import hashing
from quire.core.protocols import Judge
from quire.core.types import Situation, Verdict
from quire.errors import QuireError
from quire.rules.situation import canonical_json, without_time

NOT_SET_UP = "judge.provider is"
"""How the reason begins where the settings name no judge: nothing has failed then."""


class NoJudge:
    """The judge where none is available: every sentence fails with the same reason."""

    def __init__(self, reason: str, name: str = "none") -> None:
        self._reason = reason
        self.name = name

    def judge(self, sentences: Sequence[str], situation: Situation) -> list[Verdict]:  # noqa: ARG002  # the protocol's
        """Return a failed verdict for each sentence."""
        return [Verdict(None, self._reason) for _ in sentences]

    def close(self) -> None:
        """Do nothing: there is nothing to close."""


def verdict_key(sentence: str, situation: Situation, judge: str) -> str:
    """Return the key of a verdict: a hash of all that it depends on."""
    return hashing.identifier("verdict", sentence, canonical_json(without_time(situation)), judge)


def judge_sentences(
    sentences: Sequence[str], situation: Situation, judge: Judge, known: Mapping[str, Verdict]
) -> tuple[dict[str, Verdict], dict[str, Verdict]]:
    """Return the verdict on each sentence, and by their keys those that may be cached."""
    if not sentences:
        return {}, {}
    try:
        name = judge.name
    except QuireError as error:
        return {sentence: Verdict(None, str(error)) for sentence in sentences}, {}
    keys = {
        sentence: verdict_key(sentence, situation, name) for sentence in dict.fromkeys(sentences)
    }
    verdicts = {sentence: known[key] for sentence, key in keys.items() if key in known}
    pending = [sentence for sentence in keys if sentence not in verdicts]
    if pending:
        verdicts |= zip(pending, _ask_judge(pending, situation, judge), strict=True)
    cacheable = {
        key: verdicts[sentence]
        for sentence, key in keys.items()
        if verdicts[sentence].applies is not None
    }
    return verdicts, cacheable


def _ask_judge(sentences: list[str], situation: Situation, judge: Judge) -> list[Verdict]:
    try:
        verdicts = judge.judge(sentences, without_time(situation))
    except QuireError as error:
        return [Verdict(None, str(error)) for _ in sentences]
    if len(verdicts) != len(sentences):
        reason = f"{len(sentences)} sentences were judged by {len(verdicts)} verdicts"
        return [Verdict(None, reason) for _ in sentences]
    return verdicts
