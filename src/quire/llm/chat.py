"""How is a language model asked?

One question at temperature 0, whose answer has a form that the model is held to: a JSON schema, or
a tool that it must use. Whatever comes back in another form is no answer.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from quire.core.types import JudgeSettings, WriterSettings
from quire.errors import ConfigError, EndpointError
from quire.llm import prompt as llm_prompt
from quire.llm.http import Endpoint, Sleep, bearer
from quire.llm.prompt import Prompt


@dataclass(frozen=True, slots=True)
class Protocol:
    """How an endpoint is spoken to."""

    tail: str
    headers: Callable[[str], Mapping[str, str]]
    asked: Callable[[str, Prompt], Mapping[str, Any]]
    answered: Callable[[Any], Any]
    """Finds the object in an answer; raises LookupError, TypeError or ValueError."""


def _asked_openai(model: str, prompt: Prompt) -> Mapping[str, Any]:
    form = prompt.form
    return {
        "model": model,
        "temperature": 0,
        "messages": [
            {"role": "system", "content": prompt.task},
            {"role": "user", "content": prompt.text},
        ],
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": form.name, "strict": True, "schema": form.schema},
        },
    }


def _answered_openai(answer: Any) -> Any:
    return json.loads(answer["choices"][0]["message"]["content"])


def _asked_anthropic(model: str, prompt: Prompt) -> Mapping[str, Any]:
    form = prompt.form
    return {
        "model": model,
        "temperature": 0,
        "max_tokens": prompt.tokens,
        "system": prompt.task,
        "messages": [{"role": "user", "content": prompt.text}],
        "tools": [
            {
                "name": form.name,
                "description": f"Give the {form.name}.",
                "input_schema": form.schema,
            },
        ],
        "tool_choice": {"type": "tool", "name": form.name},
    }


def _answered_anthropic(answer: Any) -> Any:
    (used,) = [block for block in answer["content"] if block["type"] == "tool_use"]
    return used["input"]


PROTOCOLS = {
    "openai": Protocol("chat/completions", bearer, _asked_openai, _answered_openai),
    "anthropic": Protocol(
        "messages",
        lambda key: {"x-api-key": key, "anthropic-version": "2023-06-01"},
        _asked_anthropic,
        _answered_anthropic,
    ),
}
"""A way of speaking is two functions and one row."""


class LanguageModel:
    """A model behind an address. `section` names its settings in errors."""

    def __init__(
        self,
        section: str,
        settings: JudgeSettings | WriterSettings,
        *,
        sleep: Sleep = time.sleep,
    ) -> None:
        if settings.protocol not in PROTOCOLS:
            raise ConfigError(
                f"{section}.protocol is {settings.protocol!r}; it must be {' or '.join(PROTOCOLS)}"
            )
        if not settings.model:
            raise ConfigError(f"{section}.provider is `llm`, but {section}.model is missing")
        self._protocol = PROTOCOLS[settings.protocol]
        self.model = settings.model
        self._endpoint = Endpoint(
            section,
            settings.url,
            self._protocol.tail,
            key_env=settings.key_env,
            headers=self._protocol.headers,
            timeout=settings.timeout,
            retries=settings.retries,
            sleep=sleep,
        )

    @property
    def name(self) -> str:
        """The name that tells this model from others."""
        return f"llm:{self._endpoint.address} {self.model}"

    def ask(self, prompt: Prompt) -> Any:
        """Give the list of an answer; raises EndpointError, also for what is in another form."""
        answer = self._endpoint.json(self._endpoint.ask(self._protocol.asked(self.model, prompt)))
        try:
            return self._protocol.answered(answer)[prompt.form.name]
        except (LookupError, TypeError, ValueError, RecursionError) as error:
            raise EndpointError(llm_prompt.malformed(self.model, error)) from error

    def close(self) -> None:
        """Close the connections."""
        self._endpoint.close()
