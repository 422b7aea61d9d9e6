"""What can the client of a call be asked back, and how?

By revisions with a handshake the server sends it a request of its own and waits, in the thread of
the call. The later one has no such requests: the call ends with what is asked, and comes again with
the answer. Either way a call asks once for the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError as WaitEndedError
from typing import Any, TypeVar

import anyio
import anyio.from_thread
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from quire.core import hashing
from quire.errors import UnansweredError
from quire.llm.callback import ModelAnswer
from quire.llm.prompt import Prompt
from quire.mcp.session import CancelledError

Request = ServerRequestContext[Any, Any]
Asked = types.CreateMessageRequest | types.ElicitRequest
Answer = TypeVar("Answer", types.CreateMessageResult, types.ElicitResult)


class AnswerNeededError(Exception):
    """The call can go on when its client has answered, and not before."""

    def __init__(self, key: str, asked: Asked) -> None:
        super().__init__(asked.method)
        self.result = types.InputRequiredResult(input_requests={key: asked})


class Client:
    """The client of one call: a `Caller`."""

    def __init__(
        self, request: Request, answers: types.InputResponses | None, viewer: Callable[[], str]
    ) -> None:
        self._request = request
        self._viewer = viewer
        self._met: dict[str, types.InputResponse | UnansweredError] = {**(answers or {})}

    @property
    def client(self) -> str:
        """Which program it is, and in which version."""
        told = self._request.session.client_params
        if told is None:
            return "a client without a name"
        return f"{told.client_info.name} {told.client_info.version}"

    @property
    def viewer(self) -> str:
        """As whom it reads."""
        return self._viewer()

    @property
    def has_model(self) -> bool:
        """Whether it lets its model answer: by sampling."""
        can = self._request.session.client_capabilities
        return self._reachable and can is not None and can.sampling is not None

    @property
    def has_user(self) -> bool:
        """Whether it lets its user fill in a form: by elicitation, unless for addresses alone."""
        can = self._request.session.client_capabilities
        if not self._reachable or can is None or can.elicitation is None:
            return False
        return can.elicitation.form is not None or can.elicitation.url is None

    @property
    def _reachable(self) -> bool:
        return self._comes_again or self._request.session.can_send_request

    @property
    def _comes_again(self) -> bool:
        return self._request.protocol_version in MODERN_PROTOCOL_VERSIONS

    def generate(self, prompt: Prompt, seconds: float) -> ModelAnswer:
        """Let its model answer."""
        text = types.TextContent(type="text", text=prompt.text)
        asked = types.CreateMessageRequest(
            params=types.CreateMessageRequestParams(
                messages=[types.SamplingMessage(role="user", content=text)],
                system_prompt=prompt.task,
                temperature=0,
                max_tokens=prompt.max_tokens,
            )
        )
        given = self._answer(asked, types.CreateMessageResult, seconds)
        if not isinstance(given.content, types.TextContent):
            kind = given.content.type
            raise UnansweredError(f"{given.model} of {self.client} gave no text, but: {kind}")
        return ModelAnswer(given.content.text, given.model)

    def ask_user(
        self, message: str, fields: Mapping[str, Any], seconds: float
    ) -> Mapping[str, Any]:
        """Let its user fill in fields."""
        form = {"type": "object", "properties": dict(fields), "required": [*fields]}
        asked = types.ElicitRequest(
            params=types.ElicitRequestFormParams(message=message, requested_schema=form)
        )
        given = self._answer(asked, types.ElicitResult, seconds)
        if given.action != "accept":
            told = {"decline": "declined to answer", "cancel": "left without an answer"}
            raise UnansweredError(f"the user of {self.client} {told[given.action]}")
        return given.content or {}

    def _answer(self, asked: Asked, kind: type[Answer], seconds: float) -> Answer:
        key = hashing.identifier("asked", asked.model_dump_json(exclude_none=True))
        if key not in self._met:
            if self._comes_again:
                raise AnswerNeededError(key, asked)
            self._met[key] = self._sent(asked, kind, seconds)
        met = self._met[key]
        if isinstance(met, UnansweredError):
            raise met
        if not isinstance(met, kind):
            raise UnansweredError(f"{self.client} gave no answer to {asked.method}")
        return met

    def _sent(self, asked: Asked, kind: type[Answer], seconds: float) -> Answer | UnansweredError:
        """Send a request and wait in this thread; nothing waits longer than the call itself."""
        session = self._request.session
        to = ServerMessageMetadata(related_request_id=self._request.request_id)

        async def send() -> Answer:
            # Around all of it: what the client does not take counts as well as what it ponders.
            with anyio.fail_after(seconds):
                return await session.send_request(asked, kind, metadata=to)

        try:
            return anyio.from_thread.run(send)
        except TimeoutError:
            told = f"gave no answer to {asked.method} within {seconds:g} s (judge.timeout)"
        except MCPError as error:
            told = f"gave no answer to {asked.method}: {error.message:.200}"
        except ValidationError:
            told = f"gave an answer to {asked.method} that is none"
        except WaitEndedError as error:
            raise CancelledError from error
        return UnansweredError(f"{self.client} {told}")
