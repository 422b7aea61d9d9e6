"""Quire in Pydantic AI: as a toolset of an agent, and as a processor of its history."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("pydantic_ai", reason="pydantic-ai is not installed (make test-adapters)")

from pydantic_ai import Agent
from pydantic_ai.capabilities import ProcessHistory
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelResponse,
    TextContent,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel

from quire import Context, Quire
from quire.adapters.pydantic_ai import RECEIPT, quire_history, quire_toolset
from quire.errors import InputError

from .conftest import QUESTION, SECRET


def searcher(*queries: str) -> FunctionModel:
    """A model that searches for each query in turn, then answers with what it was told last."""

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        asked = sum(isinstance(message, ModelResponse) for message in messages)
        (tool,) = info.function_tools
        if asked < len(queries):
            return ModelResponse([ToolCallPart(tool.name, {"query": queries[asked]})])
        told = messages[-1].parts[-1]
        return ModelResponse([TextPart(str(getattr(told, "content", "")))])

    return FunctionModel(answer)


def test_an_agent_searches_the_store(store: Quire) -> None:
    contexts: list[Context] = []
    toolset = quire_toolset(store, budget=300, on_context=contexts.append)
    agent = Agent(searcher(QUESTION), toolsets=[toolset])
    result = agent.run_sync("Look it up.")
    assert "[DOC: harbour/cranes.md]" in result.output
    assert "nine tons" in result.output
    (returned,) = [
        part
        for message in result.all_messages()
        for part in message.parts
        if isinstance(part, ToolReturnPart)
    ]
    assert returned.metadata["receipt"] == contexts[0].receipt["hash"]
    source = returned.metadata["sources"][0]
    assert (source["path"], source["lines"], source["title"]) == (
        "harbour/cranes.md",
        [1, 5],
        "Cranes",
    )
    assert asyncio.run(agent.run("Look it up.")).output == result.output


def test_the_tool_takes_a_query_and_nothing_else(store: Quire) -> None:
    model = TestModel()
    Agent(model, toolsets=[quire_toolset(store, name="look", description="Look.")]).run_sync("Hi")
    assert model.last_model_request_parameters is not None
    (tool,) = model.last_model_request_parameters.function_tools
    assert (tool.name, tool.description) == ("look", "Look.")
    assert tool.parameters_json_schema["properties"].keys() == {"query"}


def test_each_viewer_gets_what_they_may_read(store: Quire) -> None:
    for viewer, reads in (("ada", True), ("bob", False)):
        tools = quire_toolset(store, viewer=viewer)
        output = Agent(searcher("sabotaged crane"), toolsets=[tools]).run_sync("Who?").output
        assert (SECRET in output) is reads
        history = ProcessHistory(quire_history(store, viewer=viewer))
        seen: list[str] = []
        Agent(listener(seen), capabilities=[history]).run_sync("Who sabotaged the crane?")
        assert (SECRET in seen[0]) is reads


def test_a_model_is_told_what_is_wrong_with_its_query(store: Quire) -> None:
    agent = Agent(searcher(" ", "zebra"), toolsets=[quire_toolset(store)])
    result = agent.run_sync("Look it up.")
    assert result.output == "Nothing was found for this query."
    returned = [
        part
        for message in result.all_messages()
        for part in message.parts
        if isinstance(part, ToolReturnPart)
    ]
    assert [part.outcome for part in returned] == ["retried", "success"]
    assert "query is empty" in str(returned[0].content)


def test_a_mistake_in_the_options_is_not_the_models(store: Quire) -> None:
    agent = Agent(searcher("crane"), toolsets=[quire_toolset(store, colour="red")])
    with pytest.raises(InputError, match="colour"):
        agent.run_sync("Look it up.")


def listener(seen: list[str], *tools: str) -> FunctionModel:
    """A model that writes down what users say to it, calls tools, and answers `Aye.`."""

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        seen.append("\n---\n".join(prompts(messages)))
        done = sum(isinstance(part, ToolReturnPart) for part in messages[-1].parts)
        if tools and not done:
            return ModelResponse([ToolCallPart(name, {}) for name in tools])
        return ModelResponse([TextPart("Aye.")])

    return FunctionModel(answer)


def prompts(messages: list[ModelMessage]) -> list[str]:
    return [
        piece.content if isinstance(piece, TextContent) else str(piece)
        for message in messages
        for part in message.parts
        if isinstance(part, UserPromptPart)
        for piece in ([part.content] if isinstance(part.content, str) else part.content)
    ]


def contexts_in(messages: list[ModelMessage]) -> list[str]:
    """The receipts of the contexts in a history."""
    return [
        piece.metadata[RECEIPT]
        for message in messages
        for part in message.parts
        if isinstance(part, UserPromptPart)
        for piece in part.content
        if isinstance(piece, TextContent)
    ]


def test_a_context_stands_before_the_latest_prompt(store: Quire) -> None:
    contexts: list[Context] = []
    seen: list[str] = []
    processor = quire_history(store, budget=200, on_context=contexts.append)
    agent = Agent(listener(seen), capabilities=[ProcessHistory(processor)])
    result = agent.run_sync(QUESTION)
    assert result.output == "Aye."
    assert seen == [f"{contexts[0].text}\n---\n{QUESTION}"]
    assert contexts_in(result.all_messages()) == [contexts[0].receipt["hash"]]


@pytest.mark.parametrize("written", [False, True])
def test_a_conversation_holds_one_context_at_a_time(store: Quire, written: bool) -> None:
    contexts: list[Context] = []
    seen: list[str] = []
    processor = quire_history(store, budget=200, on_context=contexts.append)
    agent = Agent(listener(seen), capabilities=[ProcessHistory(processor)])
    history: list[ModelMessage] = []
    for question in (QUESTION, "When does the ferry leave?", "Where does the ferry leave?"):
        result = asyncio.run(agent.run(question, message_history=history))
        history = result.all_messages()
        if written:  # to a file, and read again
            history = ModelMessagesTypeAdapter.validate_json(result.all_messages_json())
        assert len(contexts_in(history)) == 1
    assert len(contexts) == 3
    assert seen[-1].split("\n---\n") == [
        QUESTION,
        "When does the ferry leave?",
        contexts[-1].text,
        "Where does the ferry leave?",
    ]


def test_a_context_stays_the_same_while_tools_run(store: Quire) -> None:
    contexts: list[Context] = []
    seen: list[str] = []
    processor = quire_history(store, budget=200, on_context=contexts.append)
    agent = Agent(listener(seen, "touch"), capabilities=[ProcessHistory(processor)])

    @agent.tool_plain
    def touch() -> str:
        store.memories.add("The crane was touched, and lifts ten tons now.")
        return "touched"

    agent.run_sync(QUESTION)
    assert len(contexts) == 1
    assert seen[0] == seen[1]


def test_a_prompt_of_which_nothing_is_known_stays_alone(store: Quire) -> None:
    seen: list[str] = []
    agent = Agent(listener(seen), capabilities=[ProcessHistory(quire_history(store))])
    result = agent.run_sync("zebra")
    assert seen == ["zebra"]
    assert contexts_in(result.all_messages()) == []


def test_a_prompt_of_several_parts_is_read(store: Quire) -> None:
    seen: list[str] = []
    agent = Agent(listener(seen), capabilities=[ProcessHistory(quire_history(store))])
    parts: Any = ["About the harbour", "crane"]
    agent.run_sync(parts)
    assert "nine tons" in seen[0]
