"""Detection and parsing of the conversations in a JSON or JSON Lines file.

The content decides: a JSON document, or one JSON object per line for each message or each
conversation, in the formats that assistants and chat programs write. A file counts as a
transcript only if most entries at its beginning are recognized. How conversations are split and
stored is decided elsewhere.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any

from quire.ingest.chat_formats import UNKNOWN, Conversation, Entry, Message, parse_entry

HINTS = ('"role"', '"payload"', '"mapping"', '"chat_messages"', '"from"', '"ts"')
"""A text without any of these is not a transcript and need not be parsed."""
SAMPLE_SIZE = 50
"""Lines, or items of a list, that decide whether a file is a transcript."""
_NOT_JSON = object()


@dataclass(frozen=True, slots=True)
class _UnreadableLine:
    """A line that is not JSON."""

    line: int


@dataclass(slots=True)
class _OpenConversation:
    """A conversation that continues from line to line."""

    messages: list[Message] = field(default_factory=list)
    omitted: Counter[str] = field(default_factory=Counter)
    title: str = ""
    session: str = ""
    unreadable_lines: list[int] = field(default_factory=list)

    def add_unreadable_note(self) -> None:
        """Add one note to the conversation for a run of unreadable lines."""
        if self.unreadable_lines:
            count = len(self.unreadable_lines)
            note = "[unreadable line]" if count == 1 else f"[{count:,} unreadable lines]"
            self.messages.append(Message("", note, line=self.unreadable_lines[0]))
            self.unreadable_lines.clear()

    def close(self) -> Conversation:
        omitted = tuple(sorted(self.omitted.items()))
        return Conversation(self.title, tuple(self.messages), omitted)


def parse_conversations(text: str, *, by_line: bool) -> list[Conversation]:
    """Return the conversations in a text; an empty list if it is not a transcript."""
    if not any(hint in text for hint in HINTS):
        return []
    entries = _parse_entries(_iter_lines(text) if by_line else _iter_items(text))
    sample = list(islice(entries, SAMPLE_SIZE))
    if not _is_transcript(sample):
        return []
    conversations = _group_entries(chain(sample, entries))
    return [
        conversation
        for conversation in conversations
        if conversation.messages or conversation.omitted
    ]


def _iter_lines(text: str) -> Iterator[tuple[Any, int]]:
    for number, line in enumerate(text.split("\n"), 1):
        if stripped := line.lstrip():
            # Only an object can be an entry: other lines are not worth the cost of parsing.
            yield _parse_json(line) if stripped[0] == "{" else _NOT_JSON, number


def _iter_items(text: str) -> Iterator[tuple[Any, int]]:
    value = _parse_json(text)
    if value is _NOT_JSON:
        # JSON Lines in a file named `.json` are common.
        yield from _iter_lines(text)
    else:
        for item in value if isinstance(value, list) else [value]:
            yield item, 0


def _parse_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _NOT_JSON


def _parse_entries(values: Iterable[tuple[Any, int]]) -> Iterator[Entry | _UnreadableLine | None]:
    for value, line in values:
        yield _UnreadableLine(line) if value is _NOT_JSON else parse_entry(value, line)


def _is_transcript(sample: list[Entry | _UnreadableLine | None]) -> bool:
    has_messages = any(isinstance(entry, Message | Conversation) for entry in sample)
    recognized = sum(isinstance(entry, Entry) for entry in sample)
    return has_messages and 2 * recognized > len(sample)


def _group_entries(entries: Iterable[Entry | _UnreadableLine | None]) -> Iterator[Conversation]:
    """Group entries into conversations; a new session starts a new one."""
    current = _OpenConversation()
    for entry in entries:
        if isinstance(entry, _UnreadableLine):
            current.unreadable_lines.append(entry.line)
            continue
        current.add_unreadable_note()
        if isinstance(entry, Conversation):
            yield current.close()
            yield entry
            current = _OpenConversation()
        elif isinstance(entry, Message):
            if current.session and entry.session and entry.session != current.session:
                yield current.close()
                current = _OpenConversation()
            current.session = entry.session or current.session
            if entry.text:
                current.messages.append(entry)
        elif entry is not None and entry.title and not current.title:
            current.title = entry.title
        else:
            current.omitted[UNKNOWN if entry is None else entry.name] += 1
    current.add_unreadable_note()
    yield current.close()
