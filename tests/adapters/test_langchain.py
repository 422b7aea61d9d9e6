"""Quire in LangChain: in a chain, with history, behind a compressor, and by LangChain's own tests."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from operator import itemgetter
from typing import Any

import pytest

pytest.importorskip("langchain_core", reason="langchain is not installed (make test-adapters)")

from langchain_classic.retrievers import ContextualCompressionRetriever
from langchain_core.documents import Document
from langchain_core.language_models import SimpleChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnablePassthrough
from langchain_core.runnables.history import RunnableWithMessageHistory
from langchain_tests.integration_tests import RetrieversIntegrationTests

import quire
from quire import Context, Quire
from quire.adapters.langchain import QuireChatMessageHistory, QuireCompressor, QuireRetriever
from quire.errors import InputError
from tests.conftest import Forest

from .conftest import FILES, QUESTION, SECRET


class Echo(SimpleChatModel):
    """A chat model that answers with everything it was sent."""

    @property
    def _llm_type(self) -> str:
        return "echo"

    def _call(self, messages: list[BaseMessage], *_: Any, **__: Any) -> str:
        return "\n".join(f"{message.type}: {message.text}" for message in messages)


def joined(documents: list[Document]) -> str:
    return "\n\n".join(f"[{each.metadata['source']}] {each.page_content}" for each in documents)


def chain_over(retriever: BaseRetriever) -> Runnable[str, str]:
    prompt = ChatPromptTemplate.from_template("Use this:\n{context}\n\nAnswer: {question}")
    inputs = {"context": retriever | joined, "question": RunnablePassthrough()}
    chain: Runnable[str, str] = inputs | prompt | Echo() | StrOutputParser()
    return chain


def test_a_chain_answers_from_the_store(store: Quire) -> None:
    chain = chain_over(QuireRetriever(engine=store, budget=300))
    answer = chain.invoke(QUESTION)
    assert "[harbour/cranes.md] # Cranes" in answer
    assert "nine tons" in answer
    assert chain.batch([QUESTION, QUESTION]) == [answer, answer]
    assert asyncio.run(chain.ainvoke(QUESTION)) == answer
    assert "".join(chain.stream(QUESTION)) == answer


def test_documents_say_where_they_are_from(store: Quire) -> None:
    contexts: list[Context] = []
    retriever = QuireRetriever(engine=store, budget=300, on_context=contexts.append)
    first = retriever.invoke(QUESTION)[0]
    assert first.metadata["path"] == first.metadata["source"] == "harbour/cranes.md"
    assert first.metadata["lines"] == [1, 5]
    assert first.metadata["title"] == "Cranes"
    assert first.metadata["score"] > 0
    assert first.metadata["receipt"] == contexts[0].receipt["hash"]
    assert store.verify(contexts[0].receipt, contexts[0].text).holds


def test_each_viewer_gets_what_they_may_read(store: Quire) -> None:
    for viewer, reads in (("ada", True), ("bob", False)):
        chain = chain_over(QuireRetriever(engine=store, viewer=viewer))
        assert (SECRET in chain.invoke("sabotaged crane")) is reads
    with pytest.raises(InputError, match="viewer"):
        QuireRetriever(engine=store, viewer="bob").invoke("crane", viewer="ada")


def test_options_are_checked_when_the_retriever_is_made(store: Quire) -> None:
    with pytest.raises(InputError, match="exclude each other"):
        QuireRetriever(engine=store, k=1, budget=2)
    with pytest.raises(InputError, match="open store"):
        QuireRetriever(engine="harbour")


def test_an_argument_that_does_not_exist_is_refused(store: Quire) -> None:
    with pytest.raises(InputError, match=r"unknown argument 'where'.*options=\{'where': …\}"):
        QuireRetriever(engine=store, where='team = "north"')
    with pytest.raises(InputError, match="unknown argument 'budgt'; did you mean 'budget'"):
        QuireCompressor(budgt=500)
    assert QuireRetriever(engine=store, tags=["harbour"]).tags == ["harbour"]


def test_a_compressor_fits_what_another_retriever_found(store: Quire) -> None:
    class Twice(BaseRetriever):
        def _get_relevant_documents(self, query: str, **_: Any) -> list[Document]:  # noqa: ARG002
            ferry = Document(page_content="The ferry leaves at noon.", metadata={"n": 1}, id="f")
            other = Document(page_content="The tide is high at six.", metadata={"n": 2})
            return [ferry, ferry.model_copy(update={"metadata": {"n": 3}}), other]

    contexts: list[Context] = []
    retriever = ContextualCompressionRetriever(
        base_retriever=Twice(),
        base_compressor=QuireCompressor(budget=100, on_context=contexts.append),
    )
    found = retriever.invoke("When does the ferry leave?")
    assert [document.metadata["n"] for document in found] == [1, 2]
    assert [document.page_content for document in found] == [
        "The ferry leaves at noon.",
        "The tide is high at six.",
    ]
    assert found[0].id == "f"
    assert found[0].metadata["receipt"] == contexts[0].receipt["hash"]
    assert asyncio.run(retriever.ainvoke("When does the ferry leave?")) == found


def test_a_chain_remembers_what_was_said(store: Quire) -> None:
    prompt = ChatPromptTemplate.from_messages([MessagesPlaceholder("history"), ("human", "{said}")])
    chain = RunnableWithMessageHistory(
        prompt | Echo(),
        lambda session: QuireChatMessageHistory(store, session, viewer="ada"),
        input_messages_key="said",
        history_messages_key="history",
    )
    config: Any = {"configurable": {"session_id": "monday"}}
    chain.invoke({"said": "My name is Grace."}, config)
    second = chain.invoke({"said": "What is my name?"}, config)
    assert "human: My name is Grace." in second.text
    third = asyncio.run(chain.ainvoke({"said": "Again?"}, config))
    assert "human: What is my name?" in third.text
    other: Any = {"configurable": {"session_id": "tuesday"}}
    assert "Grace" not in chain.invoke({"said": "Who am I?"}, other).text
    assert store.search("Grace", viewer="bob").results == ()
    history = QuireChatMessageHistory(store, "monday", viewer="ada")
    assert len(history.messages) == 6
    found = store.search("Grace", viewer="ada")
    assert found[0].title == "monday"
    left_out = store.assemble("Grace", viewer="ada", exclude=[history.page_id], allow_empty=True)
    assert "My name is Grace" not in left_out.text


def test_messages_of_all_kinds_come_back(store: Quire) -> None:
    said: list[BaseMessage] = [
        HumanMessage("Lift it.", name="grace"),
        AIMessage("", tool_calls=[{"name": "lift", "args": {"load": 9}, "id": "7"}]),
        ToolMessage("lifted", tool_call_id="7", artifact={"n": 1}),
        AIMessage([{"type": "text", "text": "Done."}], response_metadata={"model": "echo"}),
    ]
    history = QuireChatMessageHistory(store, "kinds")
    history.add_messages(said)
    assert history.messages == said
    asyncio.run(history.aadd_messages(said))
    assert asyncio.run(history.aget_messages()) == said * 2
    history.clear()
    assert history.messages == []


def test_a_chain_of_retriever_and_history_reads_the_page(store: Quire) -> None:
    chain = {"said": itemgetter("said") | QuireRetriever(engine=store, k=1) | joined}
    prompt: Runnable[Any, Any] = chain | ChatPromptTemplate.from_template("{said}") | Echo()
    assert "nine tons" in prompt.invoke({"said": QUESTION}).text


class TestStandard(RetrieversIntegrationTests):  # type: ignore[misc]  # without LangChain
    """LangChain's standard tests of retrievers."""

    opened: Quire

    @pytest.fixture(autouse=True)
    def _open(self, plant: Forest) -> Iterator[None]:
        tree = plant("standard", FILES)
        with quire.open(tree.root) as opened:
            opened.index(embed=False)
            self.opened = opened
            yield

    @property
    def retriever_constructor(self) -> type[QuireRetriever]:
        return QuireRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"engine": self.opened}

    @property
    def retriever_query_example(self) -> str:
        return "Where do the crane and the ferry lift loads?"
