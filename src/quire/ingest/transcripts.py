"""Which conversations does a file hold?

Told by the content: JSON, or a line of JSON for each message or each conversation, in the shapes
that assistants and chat programs write. A file is taken for one only if most of what stands at its
beginning is understood. Nothing here knows how a conversation is cut or kept.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any

from quire.ingest.chat_formats import UNKNOWN, Conversation, Entry, Message, understood

HINTS = ('"role"', '"payload"', '"mapping"', '"chat_messages"', '"from"', '"ts"')
"""A text without any of these is no conversation: it need not be parsed."""
SAMPLE = 50
"""Lines, or items of a list, by which a file is judged."""
_UNREADABLE = object()


@dataclass(frozen=True, slots=True)
class _Unreadable:
    """A line that is no JSON."""

    line: int


@dataclass(slots=True)
class _Going:
    """A conversation that goes on from line to line."""

    messages: list[Message] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    title: str = ""
    session: str = ""
    unreadable: list[int] = field(default_factory=list)

    def note_unreadable(self) -> None:
        """Say in the conversation that lines could not be read, once for those in a row."""
        if self.unreadable:
            count = len(self.unreadable)
            said = "[unreadable line]" if count == 1 else f"[{count:,} unreadable lines]"
            self.messages.append(Message("", said, line=self.unreadable[0]))
            self.unreadable.clear()

    def closed(self) -> Conversation:
        left_out = tuple(sorted(self.left_out.items()))
        return Conversation(self.title, tuple(self.messages), left_out)


def conversations_of(text: str, *, by_line: bool) -> list[Conversation]:
    """Find the conversations in a text; none: it is something else."""
    if not any(hint in text for hint in HINTS):
        return []
    entries = _entries(_lines(text) if by_line else _items(text))
    sample = list(islice(entries, SAMPLE))
    if not _is_conversation(sample):
        return []
    found = _gathered(chain(sample, entries))
    return [one for one in found if one.messages or one.left_out]


def _lines(text: str) -> Iterator[tuple[Any, int]]:
    for number, line in enumerate(text.split("\n"), 1):
        if begun := line.lstrip():
            # What is no object says nothing: parsing would cost more than it tells.
            yield _parsed(line) if begun[0] == "{" else _UNREADABLE, number


def _items(text: str) -> Iterator[tuple[Any, int]]:
    whole = _parsed(text)
    if whole is _UNREADABLE:
        # Lines of JSON under the name of a document are common.
        yield from _lines(text)
    else:
        for item in whole if isinstance(whole, list) else [whole]:
            yield item, 0


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _UNREADABLE


def _entries(values: Iterable[tuple[Any, int]]) -> Iterator[Entry | _Unreadable | None]:
    for value, line in values:
        yield _Unreadable(line) if value is _UNREADABLE else understood(value, line)


def _is_conversation(sample: list[Entry | _Unreadable | None]) -> bool:
    talk = any(isinstance(entry, Message | Conversation) for entry in sample)
    known = sum(isinstance(entry, Entry) for entry in sample)
    return talk and 2 * known > len(sample)


def _gathered(entries: Iterable[Entry | _Unreadable | None]) -> Iterator[Conversation]:
    going = _Going()
    for entry in entries:
        if isinstance(entry, _Unreadable):
            going.unreadable.append(entry.line)
            continue
        going.note_unreadable()
        if isinstance(entry, Conversation):
            yield going.closed()
            yield entry
            going = _Going()
        elif isinstance(entry, Message):
            if going.session and entry.session and entry.session != going.session:
                yield going.closed()
                going = _Going()
            going.session = entry.session or going.session
            if entry.text:
                going.messages.append(entry)
        elif entry is not None and entry.title and not going.title:
            going.title = entry.title
        else:
            going.left_out[UNKNOWN if entry is None else entry.name] += 1
    going.note_unreadable()
    yield going.closed()
