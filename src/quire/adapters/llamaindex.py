"""LlamaIndex: a retriever, a node postprocessor and a memory block.

Needs the extra `llamaindex`.
"""

from __future__ import annotations

import asyncio
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
from quire.errors import InputError

try:
    from llama_index.core.base.base_retriever import BaseRetriever
    from llama_index.core.base.llms.types import ChatMessage, MessageRole
    from llama_index.core.callbacks import CallbackManager
    from llama_index.core.memory import BaseMemoryBlock
    from llama_index.core.postprocessor.types import BaseNodePostprocessor
    from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle, TextNode
    from pydantic import Field, SkipValidation, model_validator
except ImportError as error:
    raise missing("llamaindex", error) from error

NOT_FOR_MODELS = ["lines", "score", "chunk_id", "record_id", "receipt"]
"""Metadata that a prompt does not need."""


class QuireRetriever(BaseRetriever):
    """Finds nodes in a store.

    Args:
        engine: The open store.
        viewer: Who reads; None for the configured viewer, or the owner.
        budget: The tokens of all nodes together; 2,000 if there is no `k` either.
        k: The number of hits, in place of a budget.
        on_context: Called with each context that was assembled.
        callback_manager: Of LlamaIndex.
        **options: Filters (`kinds`, `paths`, `since`, `until`, `where`) and other options of
            `assemble`.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        viewer: Viewer | str | None = None,
        budget: int | None = None,
        k: int | None = None,
        on_context: OnContext | None = None,
        callback_manager: CallbackManager | None = None,
        **options: Any,
    ) -> None:
        super().__init__(callback_manager=callback_manager)
        self._retrieval = Retrieval(engine, viewer, budget, k, options, on_context)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [_node(passage) for passage in self._retrieval.passages(query_bundle.query_str)]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)


class QuirePostprocessor(BaseNodePostprocessor):
    """Fits the nodes of another retriever into a budget, without duplicates."""

    budget: int | None = None
    """The tokens of all nodes together; None: 2,000."""
    options: Mapping[str, Any] = Field(default_factory=dict)
    """Options of `quire.ContextAssembler`: `overflow`, `dedup`, `model`, `pack`, ..."""
    on_context: SkipValidation[OnContext | None] = Field(default=None, exclude=True)
    """Called with each context that was assembled."""

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown(cls, values: Any) -> Any:
        return refuse_unknown(cls, values)

    @classmethod
    def class_name(cls) -> str:
        """Return the name that LlamaIndex serializes it under."""
        return "QuirePostprocessor"

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if query_bundle is None:
            raise InputError("there is no query", field="query_bundle", hint="give one")
        texts = [
            Found(
                node.node.get_content(metadata_mode=MetadataMode.NONE),
                node.node.metadata,
                node.score,
                node.node.node_id,
            )
            for node in nodes
        ]
        fitted = fit(query_bundle.query_str, texts, self.budget, self.options, self.on_context)
        receipt = receipt_id(fitted.context)
        return [_shown(nodes[number], text, receipt) for number, text in fitted.kept]


class QuireMemoryBlock(BaseMemoryBlock[str]):
    """Keeps what leaves the short-term memory, and recalls what bears on the latest message.

    It recalls from everything that the viewer may read: this conversation, earlier ones, memories,
    documents; `options` narrow that down (`{"kinds": ["block.comment", "memory"]}`).
    """

    name: str = "quire"
    engine: SkipValidation[Any] = Field(exclude=True, repr=False)
    """The open store."""
    session_id: str
    """The conversation that messages are kept in; the same name of another viewer is another."""
    viewer: SkipValidation[Viewer | str | None] = None
    """Who talks, and reads; None for the configured viewer, or the owner."""
    budget: int | None = None
    """The tokens of what is recalled; None: 2,000."""
    options: Mapping[str, Any] = Field(default_factory=dict)
    """Filters and other options of `assemble`."""
    share: Sequence[str] = ()
    """Who else may read the conversation: names, `@group`, `public`."""
    allow_secret: bool = False
    """Keep messages that look as if they contain a key or a token; else they are refused."""
    on_context: SkipValidation[OnContext | None] = Field(default=None, exclude=True)
    """Called with each context that was assembled."""

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown(cls, values: Any) -> Any:
        return refuse_unknown(cls, values)

    def model_post_init(self, context: Any, /) -> None:
        """Check the arguments now, not at the first message."""
        super().model_post_init(context)
        _ = self._retrieval, self._conversation

    @cached_property
    def _retrieval(self) -> Retrieval:
        return Retrieval(self.engine, self.viewer, self.budget, None, self.options, self.on_context)

    @cached_property
    def _conversation(self) -> Conversation:
        return Conversation(
            self.engine,
            self.session_id,
            viewer=self.viewer,
            share=self.share,
            allow_secret=self.allow_secret,
        )

    async def _aget(
        self,
        messages: list[ChatMessage] | None = None,
        **block_kwargs: Any,  # noqa: ARG002 - of LlamaIndex
    ) -> str:
        said = [each.content for each in messages or () if each.role == MessageRole.USER]
        latest = (said[-1] if said else None) or ""
        context = await asyncio.to_thread(self._retrieval.context_for, latest)
        return "" if context is None else context.text

    async def _aput(self, messages: list[ChatMessage]) -> None:
        items = [message.model_dump(mode="json") for message in messages]
        await asyncio.to_thread(self._conversation.append, items)


def _node(passage: Passage) -> NodeWithScore:
    node = TextNode(
        id_=passage.chunk_id,
        text=passage.text,
        metadata=passage.metadata(),
        excluded_llm_metadata_keys=[*NOT_FOR_MODELS, *passage.stated],
        excluded_embed_metadata_keys=[*NOT_FOR_MODELS, *passage.stated],
    )
    return NodeWithScore(node=node, score=float(passage.score))


def _shown(found: NodeWithScore, text: str, receipt: str) -> NodeWithScore:
    """Return a node as much of which as fits is shown; the one that was given stays as it is."""
    node = TextNode(
        id_=found.node.node_id,
        text=text,
        metadata={**found.node.metadata, "receipt": receipt},
        relationships=found.node.relationships,
        excluded_llm_metadata_keys=[*found.node.excluded_llm_metadata_keys, "receipt"],
        excluded_embed_metadata_keys=[*found.node.excluded_embed_metadata_keys, "receipt"],
    )
    return NodeWithScore(node=node, score=found.score)
