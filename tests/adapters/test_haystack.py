"""Quire in Haystack: components in a pipeline, sync and async."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("haystack", reason="haystack is not installed (make test-adapters)")

from haystack import Document, Pipeline, component
from haystack.components.builders import PromptBuilder
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.document_stores.in_memory import InMemoryDocumentStore

from quire import Context, Quire
from quire.adapters.haystack import QuireCompressor, QuireContextBuilder, QuireRetriever
from quire.errors import InputError

from .conftest import QUESTION, SECRET

TEMPLATE = """{% for document in documents %}[{{ document.meta.path }}] {{ document.content }}
{% endfor %}Question: {{ query }}"""


@component
class Echo:
    """A generator that answers with its prompt."""

    @component.output_types(replies=list[str])
    def run(self, prompt: str) -> dict[str, list[str]]:
        return {"replies": [prompt]}


def rag(retriever: Any) -> Pipeline:
    pipeline = Pipeline()
    pipeline.add_component("retriever", retriever)
    pipeline.add_component("prompt", PromptBuilder(TEMPLATE, required_variables="*"))
    pipeline.add_component("model", Echo())
    pipeline.connect("retriever.documents", "prompt.documents")
    pipeline.connect("prompt", "model")
    return pipeline


def ask(query: str, **retriever: Any) -> dict[str, Any]:
    return {"retriever": {"query": query, **retriever}, "prompt": {"query": query}}


def test_a_pipeline_answers_from_the_store(store: Quire) -> None:
    result = rag(QuireRetriever(store, budget=300)).run(ask(QUESTION))
    (reply,) = result["model"]["replies"]
    assert "[harbour/cranes.md] # Cranes" in reply
    assert "nine tons" in reply
    asynchronous = rag(QuireRetriever(store, budget=300))
    assert asyncio.run(asynchronous.run_async(ask(QUESTION))) == result


def test_documents_say_where_they_are_from(store: Quire) -> None:
    contexts: list[Context] = []
    retriever = QuireRetriever(store, budget=300, on_context=contexts.append)
    first = retriever.run(QUESTION)["documents"][0]
    assert first.meta["path"] == "harbour/cranes.md"
    assert first.meta["lines"] == [1, 5]
    assert first.meta["title"] == "Cranes"
    assert first.meta["receipt"] == contexts[0].receipt["hash"]
    assert first.score == first.meta["score"]


def test_each_viewer_gets_what_they_may_read(store: Quire) -> None:
    for viewer, reads in (("ada", True), ("bob", False)):
        pipeline = rag(QuireRetriever(store, viewer=viewer))
        (reply,) = pipeline.run(ask("sabotaged crane"))["model"]["replies"]
        assert (SECRET in reply) is reads
        built = QuireContextBuilder(store, viewer=viewer).run("sabotaged crane")
        assert (SECRET in built["context"]) is reads


def test_hits_and_filters_of_one_run(store: Quire) -> None:
    retriever = QuireRetriever(store, top_k=5)
    assert len(retriever.run(QUESTION, top_k=1)["documents"]) == 1
    code = retriever.run("crane", filters={"paths": ["*.py"]})["documents"]
    assert {document.meta["path"] for document in code} == {"src/lift.py"}
    with pytest.raises(InputError, match="viewer"):
        retriever.run("crane", filters={"viewer": "ada"})


def test_a_context_builder_feeds_a_prompt(store: Quire) -> None:
    contexts: list[Context] = []
    pipeline = Pipeline()
    builder = QuireContextBuilder(store, budget=200, on_context=contexts.append)
    pipeline.add_component("context", builder)
    pipeline.add_component("prompt", PromptBuilder("{{ context }}\n\nQ", required_variables="*"))
    pipeline.add_component("model", Echo())
    pipeline.connect("context.context", "prompt.context")
    pipeline.connect("prompt", "model")
    result = pipeline.run({"context": {"query": QUESTION}}, include_outputs_from={"context"})
    (context,) = contexts
    assert result["model"]["replies"] == [f"{context.text}\n\nQ"]
    assert result["context"]["receipt"] == context.receipt["hash"]
    assert [each.meta["path"] for each in result["context"]["documents"]] == [
        source.path for source in context.sources
    ]
    asynchronous = asyncio.run(builder.run_async(QUESTION))
    assert asynchronous == builder.run(QUESTION)


def test_a_compressor_fits_what_another_retriever_found() -> None:
    documents = InMemoryDocumentStore()
    ferry = "The ferry leaves pier four at noon, every day but Sunday."
    documents.write_documents(
        [
            Document(id="a", content=ferry, meta={"n": 1}),
            Document(id="b", content=ferry, meta={"n": 2}),
            Document(id="c", content="A ferry is a ship.", meta={"n": 3}),
        ]
    )
    pipeline = Pipeline()
    pipeline.add_component("found", InMemoryBM25Retriever(documents))
    pipeline.add_component("fit", QuireCompressor(budget=100))
    pipeline.connect("found.documents", "fit.documents")
    query = "When does the ferry leave?"
    result = pipeline.run({"found": {"query": query}, "fit": {"query": query}})["fit"]
    contents = [document.content for document in result["documents"]]
    assert sorted(contents) == sorted([ferry, "A ferry is a ship."])
    assert all(each.meta["receipt"] == result["receipt"] for each in result["documents"])
    assert result["documents"][0].score is not None
    again = asyncio.run(QuireCompressor(budget=100).run_async(query, [Document(content=ferry)]))
    assert [document.content for document in again["documents"]] == [ferry]


def test_a_compressor_can_be_written_to_a_file_and_an_open_store_cannot(store: Quire) -> None:
    pipeline = Pipeline()
    pipeline.add_component("fit", QuireCompressor(budget=77, options={"overflow": "cut"}))
    read = Pipeline.loads(pipeline.dumps(), allowed_modules=[QuireCompressor.__module__])
    assert read.get_component("fit").budget == 77
    for holder in (QuireRetriever(store), QuireContextBuilder(store)):
        pipeline = Pipeline()
        pipeline.add_component("one", holder)
        with pytest.raises(InputError, match="open store"):
            pipeline.dumps()


def test_arguments_are_checked_when_the_component_is_made(store: Quire) -> None:
    with pytest.raises(InputError, match="exclude each other"):
        QuireRetriever(store, top_k=1, budget=2)
