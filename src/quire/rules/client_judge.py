"""What does the client of a call say of these sentences?

Its model is asked, where the client lets it answer; else its user, by a form with a yes or no for
each sentence. What one of them says holds for that client and that viewer alone.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from quire.core.types import JudgeSettings, Situation, Verdict
from quire.errors import ConfigError, UnansweredError
from quire.llm import callback
from quire.llm.callback import Caller
from quire.llm.prompt import Prompt, malformed
from quire.rules import judge_prompt
from quire.rules.expression_eval import canonical

VERSION = 1
"""Of what is said here beside the common wording: another one may give other verdicts."""
INSTEAD = "set judge.provider to `semantic` or `llm`, or write expressions"
NOBODY = (
    "judge.provider is `mcp`, but this was not asked over the Model Context Protocol, so there is "
    f"no client to ask: {INSTEAD}"
)
MESSAGE = "Which of these statements are true of this situation?"
FENCED = re.compile(r"\s*```(?:json)?\s*\n(.*)\n\s*```\s*", re.DOTALL)
"""Models put JSON into a block of code unless something holds them to a form."""


def whom() -> str:
    """Name who is asked in the call that runs: the client's model or user, and the viewer."""
    caller = callback.current()
    if caller is None:
        return "nobody"
    way = "model" if caller.has_model else "user" if caller.has_user else "nobody"
    # In quotes: a client calls itself as it likes, but never as another viewer's.
    return f"{way} of {json.dumps(caller.client)} as {json.dumps(caller.viewer)}"


class ClientJudge:
    """Asks whoever called."""

    def __init__(self, settings: JudgeSettings) -> None:
        if not (settings.timeout > 0 and math.isfinite(settings.timeout)):
            raise ConfigError(f"judge.timeout is {settings.timeout}; it must be more than 0")
        self._seconds = settings.timeout

    @property
    def name(self) -> str:
        """The name that stands for these very verdicts."""
        return f"mcp:{whom()}/{judge_prompt.VERSION}.{VERSION}"

    def judge(self, sentences: Sequence[str], situation: Situation) -> list[Verdict]:
        """Give one verdict for each sentence; all are asked at once."""
        caller = callback.current()
        if caller is None:
            return judge_prompt.failed(NOBODY, len(sentences))
        try:
            if caller.has_model:
                return self._generated(caller, sentences, situation)
            if caller.has_user:
                return self._filled_in(caller, sentences, situation)
        except UnansweredError as error:
            return judge_prompt.failed(str(error), len(sentences))
        neither = (
            f"judge.provider is `mcp`, but {caller.client} can be asked neither by sampling nor by "
            f"elicitation: {INSTEAD}"
        )
        return judge_prompt.failed(neither, len(sentences))

    def close(self) -> None:
        """Do nothing: the connection is the caller's."""

    def _generated(
        self, caller: Caller, sentences: Sequence[str], situation: Situation
    ) -> list[Verdict]:
        asked = _in_words(judge_prompt.prompt(sentences, situation))
        said = caller.generate(asked, self._seconds)
        fenced = FENCED.fullmatch(said.text)
        try:
            entries = json.loads(fenced[1] if fenced else said.text)[judge_prompt.FORM.name]
        except (LookupError, TypeError, ValueError, RecursionError) as error:
            return judge_prompt.failed(malformed(said.model, error), len(sentences))
        return judge_prompt.verdicts(entries, len(sentences), said.model)

    def _filled_in(
        self, caller: Caller, sentences: Sequence[str], situation: Situation
    ) -> list[Verdict]:
        names = [f"statement_{number}" for number in range(1, len(sentences) + 1)]
        given = caller.fill_in(
            f"{MESSAGE}\n\n{canonical(situation)}",
            {name: _field(one) for name, one in zip(names, sentences, strict=True)},
            self._seconds,
        )
        who = f"the user of {caller.client}"
        return [judge_prompt.verdict([given[name]] if name in given else [], who) for name in names]


def _in_words(prompt: Prompt) -> Prompt:
    """Say in the task which form the answer has: nothing else holds the model to it."""
    form = json.dumps(prompt.form.schema, separators=(",", ":"))
    told = f"{prompt.task} Answer with JSON alone, by this JSON schema: {form}"
    return replace(prompt, task=told)


def _field(sentence: str) -> Mapping[str, Any]:
    # Some clients show the title of a field, some its description.
    return {"type": "boolean", "title": sentence, "description": sentence}
