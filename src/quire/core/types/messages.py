"""Contexts as the messages of a chat: the plain lists that OpenAI and Anthropic take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NotRequired, TypedDict

from quire.errors import InputError, unknown

Style = Literal["openai", "anthropic"]
Role = Literal["system", "user"]
STYLES = ("openai", "anthropic")
ROLES = ("system", "user")


class CacheControl(TypedDict):
    """Where a provider's prompt cache may end."""

    type: Literal["ephemeral"]


class TextBlock(TypedDict):
    """A part of a message."""

    type: Literal["text"]
    text: str
    cache_control: NotRequired[CacheControl]


class Message(TypedDict):
    """A message of a chat, as the chat completions of OpenAI and Anthropic's messages have it."""

    role: str
    content: str | list[TextBlock]


def make_messages(
    text: str,
    question: str,
    *,
    style: str = "openai",
    role: str | None = None,
    segments: Sequence[int] = (),
    cache: bool | None = None,
) -> list[Message]:
    """Return a context and a question as messages.

    Args:
        text: The context.
        question: What the user asks; empty: nothing.
        style: `openai` or `anthropic`.
        role: Whose part the context is; None for the system's with OpenAI, the user's with
            Anthropic.
        segments: The lengths of the parts that were added one after the other, if the beginning
            of the text is that of earlier contexts.
        cache: Whether Anthropic may cache the context; None: if earlier contexts began like it.
    """
    if style not in STYLES:
        raise unknown("style", style, STYLES, field="style")
    if role is not None and role not in ROLES:
        raise unknown("role", role, ROLES, field="role")
    if not text.strip() and not question.strip():
        raise InputError(
            "there is neither a context nor a question", hint="pass a `question` to the messages"
        )
    if style == "openai":
        return _openai(text, question, role or "system")
    if role == "system":
        raise InputError(
            "a list of Anthropic's messages has no system message",
            field="role",
            value=role,
            hint="pass the first block of the user's message as the parameter `system`",
        )
    return _anthropic(text, question, segments, marked=bool(segments) if cache is None else cache)


def _openai(text: str, question: str, role: str) -> list[Message]:
    if role == "user":
        parts = [part for part in (text, question) if part.strip()]
        return [{"role": "user", "content": "\n\n".join(parts)}]
    messages: list[Message] = [
        {"role": "system", "content": text},
        {"role": "user", "content": question},
    ]
    return [message for message in messages if str(message["content"]).strip()]


def _anthropic(text: str, question: str, segments: Sequence[int], *, marked: bool) -> list[Message]:
    """Return one message of the user: a block for each segment, then the question.

    A cache is looked up by whole blocks, so a block that was sent once is sent again as it was.
    """
    parts = _split(text, segments)
    blocks: list[TextBlock] = [{"type": "text", "text": part} for part in parts]
    if marked:
        for block in blocks[-2:]:  # what was there before, and what the next turn finds there
            block["cache_control"] = {"type": "ephemeral"}
    if question.strip():
        blocks.append({"type": "text", "text": question})
    return [{"role": "user", "content": blocks}]


def _split(text: str, segments: Sequence[int]) -> list[str]:
    """Split a text into its segments; blank ones belong to the one before, for none may be sent."""
    parts: list[str] = []
    start = 0
    for end in (*_ends(segments, len(text)), len(text)):
        part = text[start:end]
        if not part.strip() and parts:
            parts[-1] += part
        elif part.strip():
            parts.append(part)
        else:
            continue
        start = end
    return parts


def _ends(segments: Sequence[int], length: int) -> list[int]:
    ends, end = [], 0
    for size in segments:
        end += size
        if 0 < end < length:
            ends.append(end)
    return ends
