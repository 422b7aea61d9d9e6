"""Pydantic AI: a toolset and a history processor.

Needs the extra `pydantic-ai`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

from quire.adapters.extras import missing
from quire.adapters.retrieval import (
    EMPTY_QUERY,
    NOTHING_FOUND,
    TOOL_DESCRIPTION,
    TOOL_NAME,
    Engine,
    OnContext,
    Retrieval,
    receipt_id,
)
from quire.core import hashing
from quire.core.serialize import to_plain
from quire.core.types import Viewer

try:
    from pydantic_ai import FunctionToolset, ModelRetry, ToolReturn
    from pydantic_ai.messages import ModelMessage, ModelRequest, TextContent, UserPromptPart
except ImportError as error:
    raise missing("pydantic-ai", error) from error

RECEIPT = "quire_receipt"
QUERY = "quire_query"
"""The marks of a context in a history: its receipt, and the hash of the prompt that it is for."""

HistoryProcessor = Callable[[list[ModelMessage]], Awaitable[list[ModelMessage]]]


def quire_toolset(
    engine: Engine,
    *,
    viewer: Viewer | str | None = None,
    budget: int | None = None,
    name: str = TOOL_NAME,
    description: str = TOOL_DESCRIPTION,
    on_context: OnContext | None = None,
    **options: Any,
) -> FunctionToolset[Any]:
    """Return a toolset with one tool that searches a store.

    The model says the query, and nothing else. The metadata of the tool's answer, which the model
    does not see, hold the id of the receipt and the sources.

    Args:
        engine: The open store.
        viewer: Who reads; None for the configured viewer, or the owner.
        budget: The tokens of one answer; None: 2,000.
        name: The name of the tool.
        description: What the model is told of it.
        on_context: Called with each context that was assembled.
        **options: Filters and other options of `assemble`, such as `recipe="agent"`.
    """
    retrieval = Retrieval(engine, viewer, budget, None, options, on_context)

    async def search(query: str) -> ToolReturn:
        context = await asyncio.to_thread(retrieval.context_for, query)
        if context is None:
            raise ModelRetry(EMPTY_QUERY)
        sources = [to_plain(source) for source in context.sources]
        return ToolReturn(
            context.text or NOTHING_FOUND,
            metadata={"receipt": receipt_id(context), "sources": sources},
        )

    toolset: FunctionToolset[Any] = FunctionToolset(id="quire")
    toolset.add_function(search, name=name, description=description)
    return toolset


def quire_history(
    engine: Engine,
    *,
    viewer: Viewer | str | None = None,
    budget: int | None = None,
    on_context: OnContext | None = None,
    **options: Any,
) -> HistoryProcessor:
    """Return a history processor that puts a context before the latest prompt of the user.

    Use it as `Agent(..., capabilities=[ProcessHistory(quire_history(q))])`. The contexts of earlier
    prompts are taken out again, so a long conversation holds one at any time; while the agent works
    on one prompt, its context stays the same.

    Args:
        engine: The open store.
        viewer: Who reads; None for the configured viewer, or the owner.
        budget: The tokens of the context; None: 2,000.
        on_context: Called with each context that was assembled.
        **options: Filters and other options of `assemble`.
    """
    retrieval = Retrieval(engine, viewer, budget, None, options, on_context)

    async def add_context(messages: list[ModelMessage]) -> list[ModelMessage]:
        bare = [_without_contexts(message) for message in messages]
        places = [place for place, message in enumerate(bare) if _prompt_of(message)]
        if not places:
            return bare
        latest = bare[places[-1]]
        prompt = _prompt_of(latest)
        query_hash = hashing.text_hash(prompt).hex()
        part = _known_context(messages, query_hash)
        if part is None:
            context = await asyncio.to_thread(retrieval.context_for, prompt)
            if context is None or not context.text:
                return bare
            metadata = {RECEIPT: receipt_id(context), QUERY: query_hash}
            part = UserPromptPart([TextContent(context.text, metadata=metadata)])
        bare[places[-1]] = _with_context(latest, part)
        return bare

    return add_context


def _marks(part: object) -> Mapping[str, Any]:
    """Return what marks a part as a context; nothing if it is none."""
    content = part.content if isinstance(part, UserPromptPart) else ()
    first = next(iter(content), None)
    marks = first.metadata if isinstance(first, TextContent) else None
    return marks if isinstance(marks, Mapping) and RECEIPT in marks else {}


def _known_context(messages: list[ModelMessage], query_hash: str) -> UserPromptPart | None:
    """Return the context that was made for a query earlier in the run."""
    for message in messages:
        for part in message.parts:
            if _marks(part).get(QUERY) == query_hash and isinstance(part, UserPromptPart):
                return part
    return None


def _without_contexts(message: ModelMessage) -> ModelMessage:
    if not isinstance(message, ModelRequest) or not any(map(_marks, message.parts)):
        return message
    return replace(message, parts=[part for part in message.parts if not _marks(part)])


def _with_context(message: ModelMessage, context: UserPromptPart) -> ModelMessage:
    """Put a context before what the user says in a message."""
    if not isinstance(message, ModelRequest):
        return message
    parts = list(message.parts)
    said = next(place for place, part in enumerate(parts) if isinstance(part, UserPromptPart))
    return replace(message, parts=[*parts[:said], context, *parts[said:]])


def _prompt_of(message: ModelMessage) -> str:
    """Return what the user says in a message; empty if they say nothing in it."""
    if not isinstance(message, ModelRequest):
        return ""
    contents = [part.content for part in message.parts if isinstance(part, UserPromptPart)]
    pieces = [
        piece.content if isinstance(piece, TextContent) else piece
        for content in contents
        for piece in ([content] if isinstance(content, str) else content)
    ]
    return "\n".join(piece for piece in pieces if isinstance(piece, str)).strip()
