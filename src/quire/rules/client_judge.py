"""Judge that asks the client of the running call.

The client's model is asked if the client allows it; otherwise its user, by a form with a yes or no
for each sentence. The verdicts hold for that client and that viewer alone.
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
from quire.llm.prompt import Prompt, malformed_answer
from quire.rules import judge_prompt
from quire.rules.situation import canonical_json

VERSION = 1
"""Version of the wording here, beside that of the prompt: another may give other verdicts."""
ALTERNATIVES = "set judge.provider to `semantic` or `llm`, or write expressions"
NO_CLIENT = (
    "judge.provider is `mcp`, but this was not asked over the Model Context Protocol, so there is "
    f"no client to ask: {ALTERNATIVES}"
)
MESSAGE = "Which of these statements are true of this situation?"
CODE_BLOCK = re.compile(r"\s*+```(?:json)?+(.*)```\s*+", re.DOTALL)
"""Models put JSON into a code block unless a schema is enforced."""


def current_client() -> str:
    """Return who is asked in the running call: the client's model or user, and the viewer."""
    caller = callback.current_caller()
    if caller is None:
        return "nobody"
    way = "model" if caller.has_model else "user" if caller.has_user else "nobody"
    # In quotes: a client chooses its own name, but cannot imitate another viewer's.
    return f"{way} of {json.dumps(caller.client)} as {json.dumps(caller.viewer)}"


class ClientJudge:
    """Judge by asking the client of the running call."""

    def __init__(self, settings: JudgeSettings) -> None:
        if not (settings.timeout > 0 and math.isfinite(settings.timeout)):
            raise ConfigError(
                f"must be more than 0, not {settings.timeout}",
                field="judge.timeout",
                value=settings.timeout,
            )
        self._timeout = settings.timeout

    @property
    def name(self) -> str:
        """Return the name that identifies these verdicts: client, viewer and wording."""
        return f"mcp:{current_client()}/{judge_prompt.VERSION}.{VERSION}"

    def judge(self, sentences: Sequence[str], situation: Situation) -> list[Verdict]:
        """Return one verdict for each sentence; all are asked at once."""
        caller = callback.current_caller()
        if caller is None:
            return judge_prompt.fail_all(NO_CLIENT, len(sentences))
        try:
            if caller.has_model:
                return self._ask_model(caller, sentences, situation)
            if caller.has_user:
                return self._ask_user(caller, sentences, situation)
        except UnansweredError as error:
            return judge_prompt.fail_all(str(error), len(sentences))
        reason = (
            f"judge.provider is `mcp`, but {caller.client} can be asked neither by sampling nor by "
            f"elicitation: {ALTERNATIVES}"
        )
        return judge_prompt.fail_all(reason, len(sentences))

    def close(self) -> None:
        """Do nothing: the connection is the caller's."""

    def _ask_model(
        self, caller: Caller, sentences: Sequence[str], situation: Situation
    ) -> list[Verdict]:
        prompt = _with_schema(judge_prompt.build_prompt(sentences, situation))
        answer = caller.generate(prompt, self._timeout)
        block = CODE_BLOCK.fullmatch(answer.text)
        try:
            entries = json.loads(block[1].strip() if block else answer.text)[judge_prompt.FORM.name]
        except (LookupError, TypeError, ValueError, RecursionError) as error:
            return judge_prompt.fail_all(malformed_answer(answer.model, error), len(sentences))
        return judge_prompt.parse_verdicts(entries, len(sentences), answer.model)

    def _ask_user(
        self, caller: Caller, sentences: Sequence[str], situation: Situation
    ) -> list[Verdict]:
        names = [f"statement_{number}" for number in range(1, len(sentences) + 1)]
        answers = caller.ask_user(
            f"{MESSAGE}\n\n{canonical_json(situation)}",
            {name: _field(text) for name, text in zip(names, sentences, strict=True)},
            self._timeout,
        )
        who = f"the user of {caller.client}"
        return [
            judge_prompt.parse_verdict([answers[name]] if name in answers else [], who)
            for name in names
        ]


def _with_schema(prompt: Prompt) -> Prompt:
    """Add the schema of the answer to the task: nothing else makes the model keep to it."""
    schema = json.dumps(prompt.form.schema, separators=(",", ":"))
    task = f"{prompt.task} Answer with JSON alone, by this JSON schema: {schema}"
    return replace(prompt, task=task)


def _field(sentence: str) -> Mapping[str, Any]:
    # Some clients show the title of a field, some its description.
    return {"type": "boolean", "title": sentence, "description": sentence}
