"""Ask the client of a call back: its model by sampling, its user by elicitation.

In revisions of the protocol with a handshake the server sends the client a request of its own and
waits, in the thread of the call. The later revision has no such requests: the call ends with the
request as its result, and the client repeats the call with the answer. Either way, a call makes the
same request once.
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
from quire.mcp.tool import CancelledError

Request = ServerRequestContext[Any, Any]
ClientRequest = types.CreateMessageRequest | types.ElicitRequest
Answer = TypeVar("Answer", types.CreateMessageResult, types.ElicitResult)


class AnswerNeededError(Exception):
    """The call ends here; its client repeats it with the answer to a request."""

    def __init__(self, key: str, request: ClientRequest) -> None:
        super().__init__(request.method)
        self.result = types.InputRequiredResult(input_requests={key: request})


class CallClient:
    """The client of one call: a `Caller`."""

    def __init__(
        self, request: Request, answers: types.InputResponses | None, viewer: Callable[[], str]
    ) -> None:
        self._call = request
        self._viewer = viewer
        self._answers: dict[str, types.InputResponse | UnansweredError] = {**(answers or {})}

    @property
    def client(self) -> str:
        """The name and version of the client program."""
        params = self._call.session.client_params
        if params is None:
            return "a client without a name"
        return f"{params.client_info.name} {params.client_info.version}"

    @property
    def viewer(self) -> str:
        """The viewer that it reads as."""
        return self._viewer()

    @property
    def has_model(self) -> bool:
        """Whether its model can be asked: by sampling."""
        capabilities = self._call.session.client_capabilities
        return self._reachable and capabilities is not None and capabilities.sampling is not None

    @property
    def has_user(self) -> bool:
        """Whether its user can be asked: by elicitation, unless it is for URLs alone."""
        capabilities = self._call.session.client_capabilities
        if not self._reachable or capabilities is None or capabilities.elicitation is None:
            return False
        elicitation = capabilities.elicitation
        return elicitation.form is not None or elicitation.url is None

    @property
    def _reachable(self) -> bool:
        return self._repeats_calls or self._call.session.can_send_request

    @property
    def _repeats_calls(self) -> bool:
        return self._call.protocol_version in MODERN_PROTOCOL_VERSIONS

    def generate(self, prompt: Prompt, seconds: float) -> ModelAnswer:
        """Ask its model."""
        text = types.TextContent(type="text", text=prompt.text)
        request = types.CreateMessageRequest(
            params=types.CreateMessageRequestParams(
                messages=[types.SamplingMessage(role="user", content=text)],
                system_prompt=prompt.task,
                temperature=0,
                max_tokens=prompt.max_tokens,
            )
        )
        answer = self._answer(request, types.CreateMessageResult, seconds)
        if not isinstance(answer.content, types.TextContent):
            kind = answer.content.type
            raise UnansweredError(f"{answer.model} of {self.client} gave no text, but: {kind}")
        return ModelAnswer(answer.content.text, answer.model)

    def ask_user(
        self, message: str, fields: Mapping[str, Any], seconds: float
    ) -> Mapping[str, Any]:
        """Ask its user to fill in fields."""
        form = {"type": "object", "properties": dict(fields), "required": [*fields]}
        request = types.ElicitRequest(
            params=types.ElicitRequestFormParams(message=message, requested_schema=form)
        )
        answer = self._answer(request, types.ElicitResult, seconds)
        if answer.action != "accept":
            reasons = {"decline": "declined to answer", "cancel": "left without an answer"}
            raise UnansweredError(f"the user of {self.client} {reasons[answer.action]}")
        return answer.content or {}

    def _answer(self, request: ClientRequest, kind: type[Answer], seconds: float) -> Answer:
        key = hashing.identifier("asked", request.model_dump_json(exclude_none=True))
        if key not in self._answers:
            if self._repeats_calls:
                raise AnswerNeededError(key, request)
            self._answers[key] = self._send(request, kind, seconds)
        answer = self._answers[key]
        if isinstance(answer, UnansweredError):
            raise answer
        if not isinstance(answer, kind):
            raise UnansweredError(f"{self.client} gave no answer to {request.method}")
        return answer

    def _send(
        self, request: ClientRequest, kind: type[Answer], seconds: float
    ) -> Answer | UnansweredError:
        """Send a request and wait in this thread; nothing waits longer than the call itself."""
        session = self._call.session
        metadata = ServerMessageMetadata(related_request_id=self._call.request_id)

        async def send() -> Answer:
            # The time for the client to accept the request counts as well as its answer.
            with anyio.fail_after(seconds):
                return await session.send_request(request, kind, metadata=metadata)

        try:
            return anyio.from_thread.run(send)
        except TimeoutError:
            reason = f"gave no answer to {request.method} within {seconds:g} s (judge.timeout)"
        except MCPError as error:
            reason = f"gave no answer to {request.method}: {error.message:.200}"
        except ValidationError:
            reason = f"gave an answer to {request.method} that is none"
        except WaitEndedError as error:
            raise CancelledError from error
        return UnansweredError(f"{self.client} {reason}")
