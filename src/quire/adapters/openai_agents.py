"""OpenAI Agents SDK: a session and a tool.

Needs the extra `openai-agents`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, cast

from quire.adapters.conversations import Conversation
from quire.adapters.extras import missing
from quire.adapters.retrieval import (
    EMPTY_QUERY,
    NOTHING_FOUND,
    TOOL_DESCRIPTION,
    TOOL_NAME,
    Engine,
    OnContext,
    Retrieval,
)
from quire.core.types import Viewer

try:
    from agents import FunctionTool, SessionSettings, TResponseInputItem, function_tool
    from agents.memory import SessionABC
except ImportError as error:
    raise missing("openai-agents", error) from error


class QuireSession(SessionABC):
    """The items of a conversation, kept in a store; for the arguments see `Conversation`."""

    def __init__(
        self,
        session_id: str,
        engine: Engine,
        *,
        viewer: Viewer | str | None = None,
        share: Sequence[str] = (),
        allow_secret: bool = False,
        session_settings: SessionSettings | None = None,
    ) -> None:
        self.session_id = session_id
        self.session_settings = session_settings
        self._conversation = Conversation(
            engine, session_id, viewer=viewer, share=share, allow_secret=allow_secret
        )

    @property
    def page_id(self) -> str:
        """The id of the page that holds the conversation: the option `exclude` takes it."""
        return self._conversation.page_id

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Return the items, oldest first; with a limit, only the latest so many."""
        if limit is None and self.session_settings is not None:
            limit = self.session_settings.limit
        items = await asyncio.to_thread(self._conversation.items, limit)
        return cast("list[TResponseInputItem]", items)

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Add items at the end; all of them, or none."""
        plain = cast("list[dict[str, Any]]", items)
        await asyncio.to_thread(self._conversation.append, plain)

    async def pop_item(self) -> TResponseInputItem | None:
        """Remove the last item and return it."""
        item = await asyncio.to_thread(self._conversation.pop)
        return cast("TResponseInputItem | None", item)

    async def clear_session(self) -> None:
        """Delete the conversation."""
        await asyncio.to_thread(self._conversation.clear)


def quire_tool(
    engine: Engine,
    *,
    viewer: Viewer | str | None = None,
    budget: int | None = None,
    name: str = TOOL_NAME,
    description: str = TOOL_DESCRIPTION,
    on_context: OnContext | None = None,
    **options: Any,
) -> FunctionTool:
    """Return a tool that searches a store; the model says the query, and nothing else.

    Args:
        engine: The open store.
        viewer: Who reads; None for the configured viewer, or the owner.
        budget: The tokens of one answer; None: 2,000.
        name: The name of the tool.
        description: What the model is told of it.
        on_context: Called with each context that was assembled: the place to keep receipts.
        **options: Filters and other options of `assemble`, such as `recipe="agent"`.
    """
    retrieval = Retrieval(engine, viewer, budget, None, options, on_context)

    async def search(query: str) -> str:
        context = await asyncio.to_thread(retrieval.context_for, query)
        return EMPTY_QUERY if context is None else context.text or NOTHING_FOUND

    return function_tool(search, name_override=name, description_override=description)
