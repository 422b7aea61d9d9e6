"""Reader for JSON files, which may contain conversations.

Conversations become a transcript: speaker, time and text of each message. Chunks follow the
messages: short neighbors are merged, a long message is split like prose. Any other JSON is read
as lines.
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
from quire.ingest.transcripts import parse_conversations
from quire.ingest.types import (
    ChunkSpan,
    EntitySpan,
    ParsedFile,
    SourceFile,
    clean_title,
    collapse_whitespace,
    join_titles,
)

JSON_LINES_SUFFIXES = (".jsonl", ".ndjson")
KIND = "conversation"
MAX_SPEAKERS_IN_TITLE = 3
SUMMARY_WINDOW = 1000
"""Characters of a message that are searched for a summary."""
MARKUP = re.compile(r"\A\s*(?:[-*+•]|\d{1,3}[.)])\s+|[*_]{2}|`")


def read(source: SourceFile, settings: IngestSettings) -> ParsedFile:
    """Read a JSON file as conversations if it contains any, otherwise as lines."""
    by_line = source.path.lower().endswith(JSON_LINES_SUFFIXES)
    conversations = parse_conversations(source.text, by_line=by_line)
    sessions = [conversation for conversation in conversations if _list_speakers(conversation)]
    if not sessions:
        return plain_text.read_lines(source, settings)
    single = len(sessions) == 1
    builder = _TranscriptBuilder(settings, single=single)
    for conversation in conversations:
        builder.add_conversation(conversation)
    opening = _find_opening(sessions[0]) if single else None
    return ParsedFile(
        "".join(builder.out),
        tuple(builder.spans),
        title=_find_title(sessions[0]) if single else "",
        modified=max(builder.times, default=None),
        kind=KIND,
        root_kind="session" if single else "",
        summary=_summarize(opening) if opening else "",
        entities=tuple(builder.entities),
        line_map=tuple(builder.line_map),
    )


class _TranscriptBuilder:
    """Collects text, chunk spans and entities, message by message."""

    def __init__(self, settings: IngestSettings, *, single: bool) -> None:
        self.settings = settings
        self.single = single
        self.out: list[str] = []
        self.length = 0
        self.spans: list[ChunkSpan] = []
        self.entities: list[EntitySpan] = []
        self.line_map: list[tuple[int, int]] = []
        self.times: list[int] = []

    def add_conversation(self, conversation: Conversation) -> None:
        title = _find_title(conversation)
        start, first_entity, first_out = self.length, len(self.entities), len(self.out)
        is_entity = not self.single and bool(_list_speakers(conversation))
        if is_entity:
            opening = _find_opening(conversation)
            summary = _summarize(opening) if opening else ""
            # The end is set below, once it is known.
            self.entities.append(EntitySpan("session", title, start, start, summary=summary))
        if conversation.title:
            line = conversation.messages[0].line if conversation.messages else 0
            self._write(conversation.title, line)
        message_spans: list[tuple[int, int, str]] = []
        for message, turn in _number_turns(conversation.messages):
            at = self.length
            self._write(_render_message(message), message.line)
            message_spans.append((at, self.length, message.speaker))
            if message.time is not None:
                self.times.append(message.time)
            if message.speaker:
                parent = first_entity if is_entity else None
                session = title if is_entity else ""
                self._add_message(message, turn, (at, self.length), parent, session)
        if conversation.omitted:
            counts = ", ".join(f"{count:,} {name}" for name, count in conversation.omitted)
            at = self.length
            self._write(f"[left out: {counts}]", 0)
            message_spans.append((at, self.length, ""))
        if is_entity:
            self.entities[first_entity] = replace(self.entities[first_entity], end=self.length)
        text = "".join(self.out[first_out:])
        # The title belongs to the first message.
        message_spans[0] = (start, *message_spans[0][1:])
        self.spans += _split_conversation(text, start, message_spans, title, self.settings)

    def _write(self, text: str, line: int) -> None:
        if line:
            self.line_map.append((self.length, line))
        self.out.append(f"{text}\n\n")
        self.length += len(text) + 2

    def _add_message(
        self,
        message: Message,
        turn: int,
        span: tuple[int, int],
        parent: int | None,
        session: str,
    ) -> None:
        """Add the entity of the message written last, and those of the decisions in it."""
        start, end = span
        name = f"{message.speaker}, turn {turn}"
        index = len(self.entities)
        attrs: dict[str, str | int] = {"speaker": message.speaker, "turn": turn}
        if message.time is not None:
            attrs["time"] = message.time
        qualified = join_titles((session, name))
        summary = _summarize(message)
        self.entities.append(
            EntitySpan("message", name, start, end, parent, "", summary, (), attrs, qualified)
        )
        if message.speaker == TOOL:
            return
        rendered = self.out[-1]
        for item in labels.find_decisions(rendered, 0, len(rendered)):
            decision = collapse_whitespace(MARKUP.sub("", rendered[item.start : item.own_end]))
            self.entities.append(
                EntitySpan(
                    labels.DECISION,
                    clean_title(decision),
                    start + item.start,
                    start + item.end,
                    index if item.parent is None else index + 1 + item.parent,
                    summary=decision,
                    attrs={"id": item.label.id} if item.label.id else {},
                    qualified=join_titles((qualified, clean_title(item.label.id or decision))),
                )
            )


def _number_turns(messages: tuple[Message, ...]) -> Iterator[tuple[Message, int]]:
    """Yield the messages with the number of their turn.

    A turn is a run of messages of one speaker. A tool belongs to the turn of its caller.
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


def _render_message(message: Message) -> str:
    if not message.speaker:
        return message.text
    details = ", ".join(filter(None, (message.note, _format_time(message.time))))
    speaker = f"{message.speaker} ({details})" if details else message.speaker
    return f"{speaker}:\n{message.text}"


def _format_time(time: int | None) -> str:
    if time is None:
        return ""
    return f"{EPOCH + timedelta(seconds=time):%Y-%m-%d %H:%M} UTC"


def _list_speakers(conversation: Conversation) -> list[str]:
    speakers = (message.speaker for message in conversation.messages)
    return list(dict.fromkeys(filter(None, speakers)))


def _find_title(conversation: Conversation) -> str:
    """Return the title in the file, otherwise the beginning of the conversation."""
    if conversation.title:
        return conversation.title
    opening = _find_opening(conversation)
    return clean_title(_summarize(opening)) if opening else ""


def _find_opening(conversation: Conversation) -> Message | None:
    """Return the first message that a user wrote and no program inserted."""
    messages = [message for message in conversation.messages if message.speaker]
    from_users = [message for message in messages if message.speaker == "user"]
    written = (message for message in from_users if not message.text.startswith(("<", "[")))
    return next(written, None) or next(iter(from_users or messages), None)


def _summarize(message: Message) -> str:
    """Return the first paragraph of a message that is not a placeholder."""
    paragraphs = message.text[:SUMMARY_WINDOW].split("\n\n")
    return next((text for text in paragraphs if not text.startswith("[")), paragraphs[0])


def _split_conversation(
    text: str,
    offset: int,
    message_spans: list[tuple[int, int, str]],
    title: str,
    settings: IngestSettings,
) -> Iterator[ChunkSpan]:
    """Split one conversation, which begins at an offset, along its messages."""
    starts = [start for start, _, _ in message_spans]

    def build_span(start: int, end: int) -> ChunkSpan:
        overlapping = message_spans[bisect_right(starts, start) - 1 : bisect_left(starts, end)]
        speakers = list(dict.fromkeys(speaker for _, _, speaker in overlapping if speaker))
        if len(speakers) > MAX_SPEAKERS_IN_TITLE:
            speakers = [*speakers[:MAX_SPEAKERS_IN_TITLE], "others"]
        return ChunkSpan(start, end, join_titles((title, ", ".join(speakers))))

    if len(text) <= settings.whole:
        yield build_span(offset, offset + len(text))
        return
    target = max(1, settings.target)
    spans: list[tuple[int, int]] = []
    for start, end, _ in message_spans:
        parts: list[tuple[int, int]] = []
        for first, last in prose_splitter.iter_paragraphs(text, start - offset, end - offset):
            parts += prose_splitter.split(text, first, last, target)
        spans += [
            (offset + first, offset + last)
            for first, last in prose_splitter.merge_spans(parts, target)
        ]
    for start, end in prose_splitter.merge_spans(spans, target):
        yield build_span(start, end)
