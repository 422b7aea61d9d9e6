"""Quire in the OpenAI Agents SDK: a session and a tool of an agent with a stub for a model."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

pytest.importorskip("agents", reason="openai-agents is not installed (make test-adapters)")

from agents import Agent, Model, ModelResponse, Runner, SessionSettings, Usage
from agents.memory import Session
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

from quire import Context, Quire
from quire.adapters.openai_agents import QuireSession, quire_tool
from quire.errors import InputError

from .conftest import QUESTION, SECRET


class Stub(Model):  # type: ignore[misc]  # without the SDK
    """A model that calls the first tool with each query in turn, then answers `Aye.`."""

    def __init__(self, *queries: str) -> None:
        self._queries = list(queries)
        self.inputs: list[Any] = []

    async def get_response(self, **request: Any) -> ModelResponse:
        self.inputs.append(request["input"])
        tools = request["tools"]
        if self._queries:
            query = self._queries.pop(0)
            call = ResponseFunctionToolCall(
                type="function_call",
                call_id=f"call-{len(self.inputs)}",
                name=tools[0].name,
                arguments=json.dumps({"query": query}),
            )
            return ModelResponse(output=[call], usage=Usage(), response_id=None)
        text = ResponseOutputText(type="output_text", text="Aye.", annotations=[])
        message = ResponseOutputMessage(
            id="1", type="message", role="assistant", status="completed", content=[text]
        )
        return ModelResponse(output=[message], usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> AsyncIterator[Any]:
        raise NotImplementedError


def outputs(result: Any) -> list[str]:
    """What the tools of a run returned."""
    return [
        item["output"]
        for item in result.to_input_list()
        if item.get("type") == "function_call_output"
    ]


def test_an_agent_searches_the_store(store: Quire) -> None:
    contexts: list[Context] = []
    tool = quire_tool(store, budget=300, on_context=contexts.append)
    agent = Agent("harbour", tools=[tool], model=Stub(QUESTION))
    result = Runner.run_sync(agent, "Look it up.")
    assert result.final_output == "Aye."
    (told,) = outputs(result)
    assert told == contexts[0].text
    assert "[DOC: harbour/cranes.md]" in told
    assert store.verify(contexts[0].receipt, told).holds
    again = asyncio.run(Runner.run(Agent("again", tools=[tool], model=Stub(QUESTION)), "Again."))
    assert outputs(again) == [told]


def test_the_tool_takes_a_query_and_nothing_else(store: Quire) -> None:
    tool = quire_tool(store, name="look", description="Look.")
    assert (tool.name, tool.description) == ("look", "Look.")
    assert tool.params_json_schema["properties"].keys() == {"query"}
    assert tool.params_json_schema["additionalProperties"] is False


def test_each_viewer_gets_what_they_may_read(store: Quire) -> None:
    for viewer, reads in (("ada", True), ("bob", False)):
        agent = Agent(
            "harbour", tools=[quire_tool(store, viewer=viewer)], model=Stub("sabotaged crane")
        )
        (told,) = outputs(Runner.run_sync(agent, "Who?"))
        assert (SECRET in told) is reads


def test_a_model_is_told_that_nothing_was_found(store: Quire) -> None:
    agent = Agent("harbour", tools=[quire_tool(store)], model=Stub("zebra", " "))
    assert outputs(Runner.run_sync(agent, "Look it up.")) == [
        "Nothing was found for this query.",
        "The query is empty; say what to look for.",
    ]


def test_an_agent_remembers_a_session(store: Quire) -> None:
    session = QuireSession("monday", store, viewer="ada")
    assert isinstance(session, Session)
    model = Stub(QUESTION)
    agent = Agent("harbour", tools=[quire_tool(store, viewer="ada")], model=model)
    Runner.run_sync(agent, "My heliotrope boat is called Grace.", session=session)
    asyncio.run(Runner.run(agent, "What is it called?", session=session))
    sent = model.inputs[-1]
    assert sent[0] == {"role": "user", "content": "My heliotrope boat is called Grace."}
    assert [item.get("type") for item in sent[1:3]] == ["function_call", "function_call_output"]
    assert sent[-1] == {"role": "user", "content": "What is it called?"}
    other = Stub()
    someone = QuireSession("monday", store, viewer="bob")
    Runner.run_sync(Agent("harbour", model=other), "Who am I?", session=someone)
    assert other.inputs == [[{"role": "user", "content": "Who am I?"}]]
    assert store.search("heliotrope", viewer="bob").results == ()
    assert store.search("heliotrope", viewer="ada")[0].title == "monday"
    left_out = store.assemble(
        "heliotrope boat", viewer="ada", exclude=[session.page_id], allow_empty=True
    )
    assert "called Grace" not in left_out.text


def test_a_session_does_what_the_sdk_asks_of_it(store: Quire) -> None:
    async def use() -> None:
        session = QuireSession("s", store)
        items: Any = [{"role": "user", "content": f"{number}"} for number in range(4)]
        await session.add_items(items)
        assert await session.get_items() == items
        assert await session.get_items(limit=2) == items[2:]
        assert await session.pop_item() == items[3]
        assert await session.get_items() == items[:3]
        short = QuireSession("s", store, session_settings=SessionSettings(limit=1))
        assert await short.get_items() == items[2:3]
        await session.clear_session()
        assert await session.get_items() == []
        assert await session.pop_item() is None

    asyncio.run(use())


def test_arguments_are_checked_at_once(store: Quire) -> None:
    with pytest.raises(InputError, match="session_id"):
        QuireSession("", store)
    with pytest.raises(InputError, match="open store"):
        quire_tool("harbour")  # type: ignore[arg-type]  # as a user may
