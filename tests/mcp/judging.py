"""Shared by the tests of judging clients: a project with sentences, and clients that answer."""

from __future__ import annotations

import json
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import anyio
import mcp_types as types
from mcp.client.stdio import StdioServerParameters

from mcp import Client
from tests.conftest import COMMAND, TIME_LIMIT, Tree

COMPLEX = "the task is complex"
PRIVATE = 'someone\'s "private" data is read'
FILES = {
    "shop.context.yaml": f"""\
metadata: {{name: Shop, type: project}}
injection_rules:
  - name: complexity
    condition: {COMPLEX}
    inject: [guides/complexity]
  - name: privacy
    condition: {json.dumps(PRIVATE)}
    on_error: apply
    inject: [guides/privacy]
""",
    "guides/complexity.context.yaml": "metadata: {name: Complexity, type: guide}\n",
    "guides/privacy.context.yaml": "metadata: {name: Privacy, type: guide}\n",
}
SITUATION = {"tool": "edit", "intent": "refund a customer", "time": 7}
ASKED = {"query": "refund a customer", "situation": SITUATION}


def settings(provider: str = "mcp", timeout: float = 20) -> str:
    return f'[embed]\nprovider = "none"\n[judge]\nprovider = "{provider}"\ntimeout = {timeout}\n'


def filled(tree: Tree, **judge: Any) -> Tree:
    tree.fill({**FILES, "quire.toml": settings(**judge)})
    tree.index()
    return tree


@dataclass
class Answering:
    """A client's side of it: what it was asked, and what it says each time (the last for ever)."""

    says: list[Any]
    sampled: list[types.CreateMessageRequestParams] = field(default_factory=list)
    elicited: list[types.ElicitRequestFormParams] = field(default_factory=list)

    def _next(self) -> Any:
        return self.says.pop(0) if len(self.says) > 1 else self.says[0]

    async def sample(self, _: object, request: types.CreateMessageRequestParams) -> Any:
        self.sampled.append(request)
        text = self._next()
        if text is None:
            await anyio.sleep(TIME_LIMIT)
        if not isinstance(text, str):
            return text
        content = types.TextContent(type="text", text=text)
        return types.CreateMessageResult(role="assistant", model="oracle-1", content=content)

    async def elicit(self, _: object, request: Any) -> Any:
        self.elicited.append(request)
        answer = self._next()
        if answer is None:
            await anyio.sleep(TIME_LIMIT)
        if isinstance(answer, str):
            return types.ElicitResult(action=answer)  # type: ignore[arg-type]  # one of the three
        return types.ElicitResult(action="accept", content=answer)


def verdicts(*, complex_: object, private: object) -> str:
    data = [{"number": 1, "applies": complex_}, {"number": 2, "applies": private}]
    return json.dumps({"verdicts": data})


def boxes(*, complex_: object, private: object) -> dict[str, Any]:
    return {"statement_1": complex_, "statement_2": private}


def connected(where: str | Tree, name: str, mode: str, **callbacks: Any) -> Client:
    """A client of a server over HTTP, or of one that is started for it over standard streams."""
    if isinstance(where, Tree):
        server: Any = StdioServerParameters(
            command=COMMAND, args=["mcp"], cwd=where.root, env=dict(os.environ)
        )
    else:
        server = where
    info = types.Implementation(name=name, version="1")
    return Client(server, mode=mode, client_info=info, **callbacks)


async def assemble(client: Client, request: dict[str, Any] = ASKED) -> dict[str, Any]:
    """Ask for what holds in the situation; gives the context and what its receipt says."""
    result = await client.call_tool("assemble_context", request)
    assert not result.is_error, result.content
    data: dict[str, Any] = result.structured_content
    contents = (await client.read_resource(data["receipt_uri"])).contents
    receipt = json.loads(contents[0].text)  # type: ignore[union-attr]  # it is a text
    return {**data, "receipt": receipt}


def injected_guides(data: dict[str, Any]) -> set[str]:
    names = {"Complexity", "Privacy"}
    return {name for name in names if f"### {name} (guide)" in data["text"]}


def run(test: Callable[[], Awaitable[Any]]) -> Any:
    async def bounded() -> Any:
        with anyio.fail_after(TIME_LIMIT):
            return await test()

    return anyio.run(bounded)


def situated(tool: str) -> dict[str, Any]:
    return {**ASKED, "situation": {**SITUATION, "tool": tool}}
