"""Chat protocols: asking a language model at an endpoint.

A prompt is sent at temperature 0, and the model must answer in a given form: by a JSON schema, or
by a tool that it must use. An answer in another form is an error.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from quire.core.types import JudgeSettings, WriterSettings
from quire.errors import ConfigError, EndpointError
from quire.llm.http import Endpoint, Sleep, bearer_header
from quire.llm.prompt import Prompt, malformed_answer


@dataclass(frozen=True, slots=True)
class ChatProtocol:
    """The requests and answers of one kind of endpoint."""

    path: str
    headers: Callable[[str], Mapping[str, str]]
    """Returns the headers that carry a key."""
    request: Callable[[str, Prompt], Mapping[str, Any]]
    """Returns the request for a model and a prompt."""
    parse: Callable[[Any], Any]
    """Returns the object in an answer; raises LookupError, TypeError or ValueError."""


def _openai_request(model: str, prompt: Prompt) -> Mapping[str, Any]:
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


def _parse_openai(answer: Any) -> Any:
    return json.loads(answer["choices"][0]["message"]["content"])


def _anthropic_request(model: str, prompt: Prompt) -> Mapping[str, Any]:
    form = prompt.form
    return {
        "model": model,
        "temperature": 0,
        "max_tokens": prompt.max_tokens,
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


def _parse_anthropic(answer: Any) -> Any:
    (tool_use,) = [block for block in answer["content"] if block["type"] == "tool_use"]
    return tool_use["input"]


PROTOCOLS = {
    "openai": ChatProtocol("chat/completions", bearer_header, _openai_request, _parse_openai),
    "anthropic": ChatProtocol(
        "messages",
        lambda key: {"x-api-key": key, "anthropic-version": "2023-06-01"},
        _anthropic_request,
        _parse_anthropic,
    ),
}
"""A protocol is two functions and one row."""


class LanguageModel:
    """A language model at an endpoint; `section` is the section of its settings."""

    def __init__(
        self,
        section: str,
        settings: JudgeSettings | WriterSettings,
        *,
        sleep: Sleep = time.sleep,
    ) -> None:
        if settings.protocol not in PROTOCOLS:
            raise ConfigError(
                f"unknown protocol {settings.protocol!r}",
                field=f"{section}.protocol",
                value=settings.protocol,
                allowed=PROTOCOLS,
            )
        if not settings.model:
            raise ConfigError(
                "the name of the model is missing",
                field=f"{section}.model",
                hint=f"set it, or set {section}.provider to another value than `llm`",
            )
        self._protocol = PROTOCOLS[settings.protocol]
        self.model = settings.model
        self._endpoint = Endpoint(
            section,
            settings.url,
            self._protocol.path,
            key_env=settings.key_env,
            headers=self._protocol.headers,
            timeout=settings.timeout,
            retries=settings.retries,
            sleep=sleep,
        )

    @property
    def name(self) -> str:
        """The name that identifies the endpoint and the model."""
        return f"llm:{self._endpoint.address} {self.model}"

    def ask(self, prompt: Prompt) -> Any:
        """Return the list in the answer; raises EndpointError, also for another form."""
        response = self._endpoint.post(self._protocol.request(self.model, prompt))
        answer = self._endpoint.json(response)
        try:
            return self._protocol.parse(answer)[prompt.form.name]
        except (LookupError, TypeError, ValueError, RecursionError) as error:
            raise EndpointError(malformed_answer(self.model, error)) from error

    def close(self) -> None:
        """Close the connections."""
        self._endpoint.close()
