"""Judge that asks a language model at an endpoint.

The model runs at temperature 0 and must answer in a fixed form (by a JSON schema, or by a tool that
it must use).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from quire.core.types import JudgeSettings, Situation, Verdict
from quire.errors import EndpointError
from quire.llm.chat import LanguageModel
from quire.rules import judge_prompt


class LlmJudge:
    """Judge by asking a language model."""

    def __init__(
        self, settings: JudgeSettings, *, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._model = LanguageModel("judge", settings, sleep=sleep)

    @property
    def name(self) -> str:
        """Return the name that identifies these verdicts: model and version of the prompt."""
        return f"{self._model.name}/{judge_prompt.VERSION}"

    def judge(self, sentences: Sequence[str], situation: Situation) -> list[Verdict]:
        """Return one verdict for each sentence; all go into one request."""
        count = len(sentences)
        try:
            entries = self._model.ask(judge_prompt.build_prompt(sentences, situation))
        except EndpointError as error:
            return judge_prompt.fail_all(str(error), count)
        return judge_prompt.parse_verdicts(entries, count, self._model.model)

    def close(self) -> None:
        """Close the connections."""
        self._model.close()
