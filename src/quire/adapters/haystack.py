"""Haystack: a retriever, a context builder and a compressor, as components of a pipeline.

Needs the extra `haystack`.
"""

# Annotations are evaluated in this module: Haystack makes the sockets of components from them.
import asyncio
from collections.abc import Mapping
from typing import Any

from quire.adapters.brought import Found, fit
from quire.adapters.extras import missing
from quire.adapters.retrieval import Engine, OnContext, Passage, Retrieval, pieces, receipt_id
from quire.core.types import Viewer
from quire.errors import InputError

try:
    from haystack import Document, component
except ImportError as error:
    raise missing("haystack", error) from error


@component
class QuireRetriever:
    """Finds documents in a store.

    Args:
        engine: The open store.
        viewer: Who reads; None for the configured viewer, or the owner.
        budget: The tokens of all documents together; 2,000 if there is no `top_k` either.
        top_k: The number of hits, in place of a budget.
        on_context: Called with each context that was assembled.
        options: Filters (`kinds`, `paths`, `since`, `until`, `where`) and other options of
            `assemble`.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        viewer: Viewer | str | None = None,
        budget: int | None = None,
        top_k: int | None = None,
        on_context: OnContext | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self._retrieval = Retrieval(engine, viewer, budget, top_k, options or {}, on_context)

    def to_dict(self) -> dict[str, Any]:
        """Refuse: an open store cannot be written down."""
        raise _not_serializable(self)

    @component.output_types(documents=list[Document])
    def run(
        self, query: str, top_k: int | None = None, filters: dict[str, Any] | None = None
    ) -> dict[str, list[Document]]:
        """Return the documents that answer a query best; filters are added to the options."""
        passages = self._retrieval.passages(query, k=top_k, **(filters or {}))
        return {"documents": [_document(passage) for passage in passages]}

    @component.output_types(documents=list[Document])
    async def run_async(
        self, query: str, top_k: int | None = None, filters: dict[str, Any] | None = None
    ) -> dict[str, list[Document]]:
        """Return the same, without blocking the event loop."""
        return await asyncio.to_thread(self.run, query, top_k, filters)


@component
class QuireContextBuilder:
    """Assembles one context from a store, ready for a prompt.

    Args:
        engine: The open store.
        viewer: Who reads; None for the configured viewer, or the owner.
        budget: The tokens of the context; None: 2,000.
        on_context: Called with each context that was assembled.
        options: Filters and other options of `assemble`, such as `{"recipe": "agent"}`.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        viewer: Viewer | str | None = None,
        budget: int | None = None,
        on_context: OnContext | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self._retrieval = Retrieval(engine, viewer, budget, None, options or {}, on_context)

    def to_dict(self) -> dict[str, Any]:
        """Refuse: an open store cannot be written down."""
        raise _not_serializable(self)

    @component.output_types(context=str, documents=list[Document], receipt=str)
    def run(self, query: str, filters: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return a context, the documents in it and the id of its receipt."""
        context = self._retrieval.context(query, **(filters or {}))
        return {
            "context": context.text,
            "documents": [_document(passage) for passage in pieces(context)],
            "receipt": receipt_id(context),
        }

    @component.output_types(context=str, documents=list[Document], receipt=str)
    async def run_async(self, query: str, filters: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return the same, without blocking the event loop."""
        return await asyncio.to_thread(self.run, query, filters)


@component
class QuireCompressor:
    """Fits the documents of other retrievers into a budget, without duplicates.

    Args:
        budget: The tokens of the context; None: 2,000.
        options: Options of `quire.ContextAssembler`: `overflow`, `dedup`, `model`, `pack`, ...
        on_context: Called with each context that was assembled.
    """

    def __init__(
        self,
        budget: int | None = None,
        options: Mapping[str, Any] | None = None,
        on_context: OnContext | None = None,
    ) -> None:
        self.budget = budget
        self.options = options
        self.on_context = on_context

    @component.output_types(context=str, documents=list[Document], receipt=str)
    def run(self, query: str, documents: list[Document]) -> dict[str, Any]:
        """Return the documents that fit, the context that they make and the id of its receipt."""
        texts = [
            Found(each.content or "", each.meta, each.score, each.id)
            for each in documents
            if each.content
        ]
        given = [each for each in documents if each.content]
        fitted = fit(query, texts, self.budget, self.options, self.on_context)
        receipt = receipt_id(fitted.context)
        kept = [
            Document(
                id=given[number].id,
                content=text,
                meta={**given[number].meta, "receipt": receipt},
                score=given[number].score,
            )
            for number, text in fitted.kept
        ]
        return {"context": fitted.context.text, "documents": kept, "receipt": receipt}

    @component.output_types(context=str, documents=list[Document], receipt=str)
    async def run_async(self, query: str, documents: list[Document]) -> dict[str, Any]:
        """Return the same, without blocking the event loop."""
        return await asyncio.to_thread(self.run, query, documents)


def _document(passage: Passage) -> Document:
    return Document(
        id=passage.chunk_id,
        content=passage.text,
        meta=passage.metadata(),
        score=float(passage.score),
    )


def _not_serializable(owner: object) -> InputError:
    return InputError(
        f"a {type(owner).__name__} holds an open store, which cannot be written to a file",
        field="engine",
        hint="add this component in Python",
    )
