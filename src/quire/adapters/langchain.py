"""LangChain: a retriever, a document compressor and a chat history.

Needs the extra `langchain`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from quire.adapters.brought import Found, fit
from quire.adapters.conversations import Conversation
from quire.adapters.extras import missing
from quire.adapters.retrieval import (
    Engine,
    OnContext,
    Passage,
    Retrieval,
    receipt_id,
    refuse_unknown,
)
from quire.core.types import Viewer

try:
    from langchain_core.callbacks import CallbackManagerForRetrieverRun, Callbacks
    from langchain_core.chat_history import BaseChatMessageHistory
    from langchain_core.documents import BaseDocumentCompressor, Document
    from langchain_core.messages import BaseMessage, message_to_dict, messages_from_dict
    from langchain_core.retrievers import BaseRetriever
    from pydantic import ConfigDict, Field, SkipValidation, model_validator
except ImportError as error:
    raise missing("langchain", error) from error


class QuireRetriever(BaseRetriever):
    """Finds documents in a store; `invoke(query, k=…)` and `budget=…` hold for one call."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    engine: SkipValidation[Any] = Field(exclude=True, repr=False)
    """The open store."""
    viewer: SkipValidation[Viewer | str | None] = None
    """Who reads; None for the configured viewer, or the owner."""
    budget: int | None = None
    """The tokens of all documents together; 2,000 if there is no `k` either."""
    k: int | None = None
    """The number of hits, in place of a budget."""
    options: Mapping[str, Any] = Field(default_factory=dict)
    """Filters (`kinds`, `paths`, `since`, `until`, `where`) and other options of `assemble`."""
    on_context: SkipValidation[OnContext | None] = Field(default=None, exclude=True)
    """Called with each context that was assembled."""

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown(cls, values: Any) -> Any:
        return refuse_unknown(cls, values)

    def model_post_init(self, context: Any, /) -> None:
        """Check the arguments now, not at the first question."""
        super().model_post_init(context)
        _ = self._retrieval

    @cached_property
    def _retrieval(self) -> Retrieval:
        return Retrieval(
            self.engine, self.viewer, self.budget, self.k, self.options, self.on_context
        )

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun | None = None,  # noqa: ARG002 - of LangChain
        **options: Any,
    ) -> list[Document]:
        return [_document(passage) for passage in self._retrieval.passages(query, **options)]


class QuireCompressor(BaseDocumentCompressor):
    """Fits the documents of another retriever into a budget, without duplicates."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    budget: int | None = None
    """The tokens of all documents together; None: 2,000."""
    options: Mapping[str, Any] = Field(default_factory=dict)
    """Options of `quire.ContextAssembler`: `overflow`, `dedup`, `model`, `pack`, ..."""
    on_context: SkipValidation[OnContext | None] = Field(default=None, exclude=True)
    """Called with each context that was assembled."""

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown(cls, values: Any) -> Any:
        return refuse_unknown(cls, values)

    def compress_documents(
        self,
        documents: Sequence[Document],
        query: str,
        callbacks: Callbacks | None = None,  # noqa: ARG002 - of LangChain
    ) -> Sequence[Document]:
        """Return the documents that fit, with their own metadata and the id of the receipt."""
        texts = [
            Found(document.page_content, document.metadata, id=document.id or "")
            for document in documents
        ]
        fitted = fit(query, texts, self.budget, self.options, self.on_context)
        receipt = receipt_id(fitted.context)
        return [
            Document(
                id=documents[number].id,
                page_content=text,
                metadata={**documents[number].metadata, "receipt": receipt},
            )
            for number, text in fitted.kept
        ]


class QuireChatMessageHistory(BaseChatMessageHistory):
    """The messages of a session, kept in a store; for the arguments see `Conversation`."""

    def __init__(
        self,
        engine: Engine,
        session_id: str,
        *,
        viewer: Viewer | str | None = None,
        share: Sequence[str] = (),
        allow_secret: bool = False,
    ) -> None:
        super().__init__()
        self._conversation = Conversation(
            engine, session_id, viewer=viewer, share=share, allow_secret=allow_secret
        )

    @property
    def page_id(self) -> str:
        """The id of the page that holds the conversation: the option `exclude` takes it."""
        return self._conversation.page_id

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]  # LangChain allows both
        """The messages, oldest first."""
        messages: list[BaseMessage] = messages_from_dict(self._conversation.items())
        return messages

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Add messages at the end; all of them, or none."""
        self._conversation.append(message_to_dict(message) for message in messages)

    def clear(self) -> None:
        """Delete the conversation."""
        self._conversation.clear()


def _document(passage: Passage) -> Document:
    # `source` is where LangChain's own chains look for the name of a source.
    metadata = {"source": passage.path, **passage.metadata()}
    return Document(id=passage.chunk_id, page_content=passage.text, metadata=metadata)
