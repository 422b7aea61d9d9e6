"""What does a language model say of these sentences?

It is asked at an endpoint, at temperature 0, and held to the form of the answer (by a JSON schema,
or by a tool that it must use).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from quire.core.types import JudgeSettings, Situation, Verdict
from quire.errors import EndpointError
from quire.llm.chat import LanguageModel
from quire.rules import judge_prompt


class LlmJudge:
    """Asks a language model."""

    def __init__(
        self, settings: JudgeSettings, *, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._model = LanguageModel("judge", settings, sleep=sleep)

    @property
    def name(self) -> str:
        """The name that stands for these very verdicts."""
        return f"{self._model.name}/{judge_prompt.VERSION}"

    def judge(self, sentences: Sequence[str], situation: Situation) -> list[Verdict]:
        """Give one verdict for each sentence; all are asked at once."""
        count = len(sentences)
        try:
            entries = self._model.ask(judge_prompt.prompt(sentences, situation))
        except EndpointError as error:
            return judge_prompt.failed(str(error), count)
        return judge_prompt.verdicts(entries, count, self._model.model)

    def close(self) -> None:
        """Close the connections."""
        self._model.close()
