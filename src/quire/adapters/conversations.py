"""Conversations that frameworks keep in a store: a page for each, with a block for each message.

So a conversation is read by its viewer alone, unless it is shared; its messages are found by every
later search of theirs; and what a framework put in comes back exactly, tool calls included.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from quire.adapters.retrieval import Engine, check_engine
from quire.core import hashing
from quire.core.types import OWNER_NAME, Viewer
from quire.core.types.blocks import Block
from quire.engine import Quire
from quire.errors import InputError

ITEM = "item"
"""The property of a block that holds a message as its framework wrote it."""
ROLE = "role"
TEXT_KEYS = ("content", "text", "output", "blocks")
"""Where the messages of frameworks have their text, or parts that have one."""


class Conversation:
    """The messages of one session of one viewer, as plain data.

    Args:
        engine: The open store, or a client of a service.
        session_id: Any name; the same name of another viewer is another conversation.
        viewer: Who talks, and reads it; None for the configured viewer, or the owner. With a
            client the token says who, and a viewer needs the owner's token of the scope `admin`.
        share: Who else may read it: names, `@group`, `public`.
        title: The title of its page; empty: the name of the session.
        allow_secret: Keep messages that look as if they contain a key or a token; else they are
            refused.
    """

    def __init__(
        self,
        engine: Engine,
        session_id: str,
        *,
        viewer: Viewer | str | None = None,
        share: Sequence[str] = (),
        title: str = "",
        allow_secret: bool = False,
    ) -> None:
        check_engine(engine)
        if not isinstance(session_id, str) or not session_id.strip():
            raise InputError(
                f"expected a name, not {session_id!r}", field="session_id", value=session_id
            )
        self.session_id = session_id
        self.viewer = viewer
        self._engine = engine
        self._blocks = engine.blocks
        self._title = title or session_id
        self._access = tuple(share) or (OWNER_NAME,)  # whoever writes it is on it in any case
        self._allow_secret = allow_secret

    @cached_property
    def page_id(self) -> str:
        """The id of its page: the same for the same viewer, in the store and by a service."""
        speaker = self.viewer
        if speaker is None:
            # A service is asked once, when the conversation is first used.
            speaker = self._engine.viewer if isinstance(self._engine, Quire) else self._engine.me()
        actor = speaker.actor if isinstance(speaker, Viewer) else speaker
        return f"chat-{hashing.identifier('conversation', actor, self.session_id)}"

    def items(self, limit: int | None = None) -> list[dict[str, Any]]:
        """Return the messages, oldest first; with a limit, only the latest so many."""
        messages = self._messages()
        if limit is not None:
            messages = messages[max(len(messages) - limit, 0) :]
        return [_item(block) for block in messages]

    def append(self, items: Iterable[Mapping[str, Any]]) -> None:
        """Add messages at the end; all of them, or none."""
        new = list(items)
        if not new:
            return
        known = self._page()
        first = max((block.position for block in known[1:]), default=-1) + 1
        blocks = [self._block(item, first + number) for number, item in enumerate(new)]
        if not known:
            page = Block(id=self.page_id, type="page", text=self._title, access=self._access)
            blocks = [page, *blocks]
        self._blocks.put(blocks, viewer=self.viewer, allow_secret=self._allow_secret)

    def pop(self) -> dict[str, Any] | None:
        """Remove the last message and return it; None if there is none."""
        messages = self._messages()
        if not messages:
            return None
        self._blocks.delete(messages[-1].id, viewer=self.viewer)
        return _item(messages[-1])

    def clear(self) -> None:
        """Delete the conversation; what others put on its page stays, and so does the page then."""
        page, messages = self._page(), self._messages()
        if len(page) == len(messages) + 1:
            self._blocks.delete(self.page_id, viewer=self.viewer)
        else:
            for block in messages:
                self._blocks.delete(block.id, viewer=self.viewer)

    def _page(self) -> list[Block]:
        """Return the page and the blocks on it; nothing if it does not exist yet."""
        try:
            tree = self._blocks.tree(self.page_id, levels=2, viewer=self.viewer)
        except InputError as error:
            if error.value != self.page_id:
                raise
            return []
        return [block for _, block in tree]

    def _messages(self) -> list[Block]:
        """Return the blocks of messages.

        Whoever may read a page may put blocks on it: those of others are no part of what was said.
        """
        page = self._page()
        return [
            block
            for block in page[1:]
            if ITEM in block.properties and block.author == page[0].author
        ]

    def _block(self, item: Mapping[str, Any], position: int) -> Block:
        role = str(item.get(ROLE) or item.get("type") or "")
        return Block(
            id="",
            type="comment",
            text=_printable(text_of(item)),
            parent=self.page_id,
            position=position,
            properties={ROLE: role, ITEM: json.dumps(item, sort_keys=True)},
        )


def text_of(value: Any) -> str:
    """Return what a message says, whatever it is made of: a text, parts, a mapping with either."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        inner = value.get("data", value)  # LangChain puts the fields of a message one level deeper
        found = (inner.get(key) for key in TEXT_KEYS) if isinstance(inner, Mapping) else ()
        return next((text for each in found if (text := text_of(each))), "")
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return "\n".join(text for part in value if (text := text_of(part)))
    return ""


def _item(block: Block) -> dict[str, Any]:
    item: dict[str, Any] = json.loads(str(block.properties[ITEM]))
    return item


def _printable(text: str) -> str:
    """Return a text that can be written as UTF-8."""
    return text.encode("utf-8", "replace").decode("utf-8")
