"""Quire in LlamaIndex: in a query engine, as a postprocessor, as a memory of a chat engine."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("llama_index.core", reason="llamaindex is not installed (make test-adapters)")

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms import MockLLM
from llama_index.core.memory import Memory
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle, TextNode

from quire import Context, Quire
from quire.adapters.conversations import Conversation
from quire.adapters.llamaindex import QuireMemoryBlock, QuirePostprocessor, QuireRetriever
from quire.errors import InputError

from .conftest import ANY_WAY, QUESTION, SECRET, receipt_of


def engine_over(retriever: QuireRetriever, *postprocessors: Any) -> RetrieverQueryEngine:
    """A query engine whose model answers with the prompt that it was sent."""
    return RetrieverQueryEngine(
        retriever,
        response_synthesizer=get_response_synthesizer(llm=MockLLM()),
        node_postprocessors=list(postprocessors),
    )


def test_a_query_engine_answers_from_the_store(store: Quire) -> None:
    contexts: list[Context] = []
    engine = engine_over(QuireRetriever(store, budget=300, on_context=contexts.append))
    response = engine.query(QUESTION)
    assert "nine tons" in str(response)
    assert "path: harbour/cranes.md" in str(response)
    assert receipt_of(contexts[0]) not in str(response)  # of no use to a model
    first = response.source_nodes[0]
    assert first.metadata["path"] == "harbour/cranes.md"
    assert first.metadata["lines"] == [1, 5]
    assert first.metadata["title"] == "Cranes"
    assert first.metadata["receipt"] == receipt_of(contexts[0])
    assert first.score == first.metadata["score"]
    assert str(asyncio.run(engine.aquery(QUESTION))) == str(response)


def test_each_viewer_gets_what_they_may_read(store: Quire) -> None:
    for viewer, reads in (("ada", True), ("bob", False)):
        for how in ANY_WAY:
            engine = engine_over(QuireRetriever(store, viewer=viewer, **how))
            assert (SECRET in str(engine.query("sabotaged crane"))) is reads


def test_hits_and_filters(store: Quire) -> None:
    (only,) = QuireRetriever(store, k=1).retrieve(QUESTION)
    assert only.metadata["path"] == "harbour/cranes.md"
    code = QuireRetriever(store, paths=["*.py"]).retrieve("crane")
    assert {node.metadata["path"] for node in code} == {"src/lift.py"}
    assert asyncio.run(QuireRetriever(store, k=1).aretrieve(QUESTION)) == [only]


def nodes() -> list[NodeWithScore]:
    ferry = "The ferry leaves pier four at noon, every day but Sunday."
    texts = [ferry, ferry, "Cranes lift nine tons at most."]
    return [
        NodeWithScore(
            node=TextNode(text=text, id_=f"n{number}", metadata={"file_path": f"{number}.md"}),
            score=1 - number / 10,
        )
        for number, text in enumerate(texts)
    ]


def test_a_postprocessor_fits_nodes_into_a_budget(store: Quire) -> None:
    contexts: list[Context] = []
    fit = QuirePostprocessor(budget=100, on_context=contexts.append)
    given = nodes()
    kept = fit.postprocess_nodes(given, query_str="When does the ferry leave?")
    assert [node.node.node_id for node in kept] == ["n0", "n2"]
    assert kept[0].metadata["receipt"] == receipt_of(contexts[0])
    assert kept[0].score == given[0].score
    assert given == nodes()
    assert "receipt" not in kept[0].node.get_content(metadata_mode=MetadataMode.LLM)
    query = QueryBundle("When does the ferry leave?")
    again = asyncio.run(fit.apostprocess_nodes(given, query))
    assert [node.node.node_id for node in again] == ["n0", "n2"]
    with pytest.raises(InputError, match="no query"):
        fit.postprocess_nodes(given)


def test_a_postprocessor_in_a_query_engine(store: Quire) -> None:
    engine = engine_over(QuireRetriever(store, k=3), QuirePostprocessor(budget=60))
    response = engine.query(QUESTION)
    assert "nine tons" in str(response)
    assert len(response.source_nodes) < 3


def memory_of(store: Quire, viewer: str, session: str, **options: Any) -> Memory:
    block = QuireMemoryBlock(
        engine=store, session_id=session, viewer=viewer, budget=200, priority=1, **options
    )
    return Memory.from_defaults(
        session_id=session,
        token_limit=300,
        chat_history_token_ratio=0.1,
        token_flush_size=20,
        memory_blocks=[block],
    )


def test_a_chat_engine_recalls_what_has_left_its_window(store: Quire) -> None:
    chat = SimpleChatEngine.from_defaults(
        llm=MockLLM(),
        memory=memory_of(store, "ada", "monday", options={"kinds": ["block.comment"]}),
    )
    asyncio.run(chat.achat("My heliotrope boat is called Grace."))
    for number in range(6):
        asyncio.run(chat.achat(f"Tell me something long about tide number {number}, please."))
    kept = Conversation(store, "monday", viewer="ada").items()
    assert kept[0]["blocks"][0]["text"] == "My heliotrope boat is called Grace."
    answer = str(asyncio.run(chat.achat("What is my heliotrope boat called?")))
    assert "My heliotrope boat is called Grace." in answer
    assert store.search("heliotrope", viewer="bob").results == ()


def test_a_memory_block_recalls_from_everything_readable(store: Quire) -> None:
    block = QuireMemoryBlock(engine=store, session_id="s", viewer="ada", budget=300)
    asked = [ChatMessage(role=MessageRole.USER, content="Who sabotaged the crane?")]
    assert SECRET in asyncio.run(block.aget(asked))
    other = QuireMemoryBlock(engine=store, session_id="s", viewer="bob", budget=300)
    assert "sabotaged" not in asyncio.run(other.aget(asked))
    assert asyncio.run(block.aget([])) == ""
    assert asyncio.run(block.aget([ChatMessage(role=MessageRole.SYSTEM, content="Hello")])) == ""


def test_messages_are_kept_as_they_were(store: Quire) -> None:
    block = QuireMemoryBlock(engine=store, session_id="s")
    said = [
        ChatMessage(role=MessageRole.USER, content="Lift it."),
        ChatMessage(role=MessageRole.ASSISTANT, content="", additional_kwargs={"calls": [1]}),
    ]
    asyncio.run(block.aput(said))
    kept = [ChatMessage.model_validate(item) for item in Conversation(store, "s").items()]
    assert kept == said


def test_arguments_are_checked_when_the_block_is_made(store: Quire) -> None:
    with pytest.raises(InputError, match="open store"):
        QuireMemoryBlock(engine="harbour", session_id="s")
    with pytest.raises(InputError, match="session_id"):
        QuireMemoryBlock(engine=store, session_id=" ")
    with pytest.raises(InputError, match=r"unknown argument 'kinds'.*options=\{'kinds': …\}"):
        QuireMemoryBlock(engine=store, session_id="s", kinds=["memory"])


def test_a_postprocessor_refuses_an_argument_that_does_not_exist() -> None:
    with pytest.raises(InputError, match="unknown argument 'budgt'; did you mean 'budget'"):
        QuirePostprocessor(budgt=500)
    stored = QuirePostprocessor(budget=500).to_dict()
    assert QuirePostprocessor.from_dict(stored).budget == 500
