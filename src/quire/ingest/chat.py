"""What was said, by whom and when?

A file of JSON that holds conversations becomes a text that reads as talk: who speaks, when, and
what is said. Pieces follow the messages: short neighbours are joined, a long message is cut like
prose. Any other JSON is read as lines.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

from quire.core.types import IngestSettings
from quire.ingest import labels, prose_splitter
from quire.ingest import text as plain_text
from quire.ingest.chat_formats import TOOL, Conversation, Message
from quire.ingest.front_matter import EPOCH
from quire.ingest.transcripts import conversations_of
from quire.ingest.types import (
    ChunkSpan,
    EntitySpan,
    ParsedFile,
    SourceFile,
    clean_title,
    collapse_whitespace,
    join_titles,
)

BY_LINE = (".jsonl", ".ndjson")
KIND = "conversation"
NAMED = 3
"""So many speakers are named in a title."""
SUMMARY = 1000
"""Characters of a message that are looked at for a summary."""
MARKS = re.compile(r"\A\s*(?:[-*+•]|\d{1,3}[.)])\s+|[*_]{2}|`")


def read(source: SourceFile, settings: IngestSettings) -> ParsedFile:
    """Read a file of JSON: as conversations if it holds some, otherwise as lines."""
    by_line = source.path.lower().endswith(BY_LINE)
    conversations = conversations_of(source.text, by_line=by_line)
    sessions = [conversation for conversation in conversations if _speakers(conversation)]
    if not sessions:
        return plain_text.read_lines(source, settings)
    single = len(sessions) == 1
    talk = _Talk(settings, single=single)
    for conversation in conversations:
        talk.add(conversation)
    opening = _opening(sessions[0]) if single else None
    return ParsedFile(
        "".join(talk.out),
        tuple(talk.spans),
        title=_title(sessions[0]) if single else "",
        modified=max(talk.times, default=None),
        kind=KIND,
        root_kind="session" if single else "",
        summary=_first_words(opening) if opening else "",
        entities=tuple(talk.entities),
        line_map=tuple(talk.line_map),
    )


class _Talk:
    """Gathers text, pieces and parts as one message follows another."""

    def __init__(self, settings: IngestSettings, *, single: bool) -> None:
        self.settings = settings
        self.single = single
        self.out: list[str] = []
        self.length = 0
        self.spans: list[ChunkSpan] = []
        self.entities: list[EntitySpan] = []
        self.line_map: list[tuple[int, int]] = []
        self.times: list[int] = []

    def add(self, conversation: Conversation) -> None:
        title = _title(conversation)
        start, first_part, first_out = self.length, len(self.entities), len(self.out)
        is_part = not self.single and bool(_speakers(conversation))
        if is_part:
            opening = _opening(conversation)
            summary = _first_words(opening) if opening else ""
            # Its end is not known yet.
            self.entities.append(EntitySpan("session", title, start, start, summary=summary))
        if conversation.title:
            line = conversation.messages[0].line if conversation.messages else 0
            self._write(conversation.title, line)
        spans: list[tuple[int, int, str]] = []
        for message, turn in _turns(conversation.messages):
            at = self.length
            self._write(_shown(message), message.line)
            spans.append((at, self.length, message.speaker))
            if message.time is not None:
                self.times.append(message.time)
            if message.speaker:
                parent = first_part if is_part else None
                self._name(message, turn, (at, self.length), parent, title if is_part else "")
        if conversation.left_out:
            counted = ", ".join(f"{count:,} {name}" for name, count in conversation.left_out)
            at = self.length
            self._write(f"[left out: {counted}]", 0)
            spans.append((at, self.length, ""))
        if is_part:
            self.entities[first_part] = replace(self.entities[first_part], end=self.length)
        text = "".join(self.out[first_out:])
        spans[0] = (start, *spans[0][1:])
        self.spans += _pieces(text, start, spans, title, self.settings)

    def _write(self, text: str, line: int) -> None:
        if line:
            self.line_map.append((self.length, line))
        self.out.append(f"{text}\n\n")
        self.length += len(text) + 2

    def _name(
        self,
        message: Message,
        turn: int,
        span: tuple[int, int],
        parent: int | None,
        session: str,
    ) -> None:
        start, end = span
        name = f"{message.speaker}, turn {turn}"
        place = len(self.entities)
        attrs: dict[str, str | int] = {"speaker": message.speaker, "turn": turn}
        if message.time is not None:
            attrs["time"] = message.time
        qualified = join_titles((session, name))
        summary = _first_words(message)
        self.entities.append(
            EntitySpan("message", name, start, end, parent, "", summary, (), attrs, qualified)
        )
        if message.speaker == TOOL:
            return
        shown = self.out[-1]
        for item in labels.decisions(shown, 0, len(shown)):
            said = collapse_whitespace(MARKS.sub("", shown[item.start : item.own]))
            self.entities.append(
                EntitySpan(
                    labels.DECISION,
                    clean_title(said),
                    start + item.start,
                    start + item.end,
                    place if item.parent is None else place + 1 + item.parent,
                    summary=said,
                    attrs={"id": item.label.id} if item.label.id else {},
                    qualified=join_titles((qualified, clean_title(item.label.id or said))),
                )
            )


def _turns(messages: tuple[Message, ...]) -> Iterator[tuple[Message, int]]:
    """Number the turns: what one speaker says before another does.

    A tool speaks within the turn of whoever called it.
    """
    turn = 0
    speaker = ""
    for message in messages:
        if (
            message.speaker
            and message.speaker != speaker
            and not (turn and message.speaker == TOOL)
        ):
            turn += 1
            speaker = message.speaker
        yield message, turn


def _shown(message: Message) -> str:
    if not message.speaker:
        return message.text
    known = ", ".join(filter(None, (message.note, _clock(message.time))))
    return (
        f"{message.speaker} ({known}):\n{message.text}"
        if known
        else (f"{message.speaker}:\n{message.text}")
    )


def _clock(time: int | None) -> str:
    if time is None:
        return ""
    return f"{EPOCH + timedelta(seconds=time):%Y-%m-%d %H:%M} UTC"


def _speakers(conversation: Conversation) -> list[str]:
    return list(dict.fromkeys(said.speaker for said in conversation.messages if said.speaker))


def _title(conversation: Conversation) -> str:
    """Name a conversation as its file does, otherwise by what it begins with."""
    if conversation.title:
        return conversation.title
    opening = _opening(conversation)
    return clean_title(_first_words(opening)) if opening else ""


def _opening(conversation: Conversation) -> Message | None:
    """Find what the talk began with: the first words of a user that no program put there."""
    said = [message for message in conversation.messages if message.speaker]
    users = [message for message in said if message.speaker == "user"]
    own = (message for message in users if not message.text.startswith(("<", "[")))
    return next(own, None) or next(iter(users or said), None)


def _first_words(message: Message) -> str:
    """Give the first paragraph of a message, passing over what only names something left out."""
    paragraphs = message.text[:SUMMARY].split("\n\n")
    return next((said for said in paragraphs if not said.startswith("[")), paragraphs[0])


def _pieces(
    text: str,
    offset: int,
    spans: list[tuple[int, int, str]],
    title: str,
    settings: IngestSettings,
) -> Iterator[ChunkSpan]:
    """Cut one conversation, which begins at an offset, along its messages."""
    starts = [start for start, _, _ in spans]

    def named(start: int, end: int) -> ChunkSpan:
        within = spans[bisect_right(starts, start) - 1 : bisect_left(starts, end)]
        speakers = list(dict.fromkeys(speaker for _, _, speaker in within if speaker))
        more = [*speakers[:NAMED], "others"] if len(speakers) > NAMED else speakers
        return ChunkSpan(start, end, join_titles((title, ", ".join(more))))

    whole = (offset, offset + len(text))
    if len(text) <= settings.whole:
        yield named(*whole)
        return
    target = max(1, settings.target)
    cut: list[tuple[int, int]] = []
    for start, end, _ in spans:
        inner: list[tuple[int, int]] = []
        for first, last in prose_splitter.paragraphs(text, start - offset, end - offset):
            inner += prose_splitter.split(text, first, last, target)
        cut += [
            (offset + first, offset + last) for first, last in prose_splitter.fill(inner, target)
        ]
    for start, end in prose_splitter.fill(cut, target):
        yield named(start, end)
