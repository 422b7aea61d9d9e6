"""The formats in which programs write messages and conversations.

One function per format: it takes a parsed JSON value and returns what it contains, or None if the
value has another format. A new format is one function and one row of `PARSERS`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from html import unescape
from typing import Any

from quire.ingest.decode import clean_text
from quire.ingest.front_matter import parse_timestamp
from quire.ingest.message_text import render_content, render_tool_call, render_tool_result
from quire.ingest.types import clean_title

TOOL = "tool"
ROLES = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "bot": "assistant",
    "gpt": "assistant",
    "chatgpt": "assistant",
    "model": "assistant",
    "system": "system",
    "developer": "developer",
    "tool": TOOL,
    "function": TOOL,
}
TIME_KEYS = ("timestamp", "created_at", "create_time", "time", "date", "ts")
TITLE_KEYS = ("title", "name", "subject", "topic")
NUMERIC_TIME = re.compile(r"\d{9,13}(?:\.\d{0,9})?\Z")
SLACK_TIME = re.compile(r"\d{9,11}\.\d{1,9}\Z")
MAX_TIMESTAMP = 253_402_300_799
"""The last second of the year 9999."""
MIN_MILLISECONDS = 100_000_000_000
"""A number from here on is a time in milliseconds, a smaller one in seconds."""
SAMPLE_SIZE = 50
"""Items of a list that decide whether it is a conversation."""
# Both are written into the text of a conversation: other words would change its chunks.
UNKNOWN = "not understood"
OTHER_BRANCHES = "from other branches"
RESPONSE_ITEM_TYPES = frozenset(
    {
        "message",
        "reasoning",
        "function_call",
        "function_call_output",
        "custom_tool_call",
        "custom_tool_call_output",
        "local_shell_call",
        "web_search_call",
    }
)
"""Types of the lines in a session of the Responses API."""
SESSION_KEYS = frozenset({"sessionId", "leafUuid", "messageId", "uuid", "payload"})
"""A line with a type and one of these keys belongs to a session without being a message."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of one speaker."""

    speaker: str
    """Empty for a note about the file itself."""
    text: str
    time: int | None = None
    note: str = ""
    """More about the speaker: a name, or that the message is from a side chain."""
    line: int = 0
    """Line of the file; 0 if the file is not read line by line."""
    session: str = ""


@dataclass(frozen=True, slots=True)
class Conversation:
    """A sequence of messages."""

    title: str
    """Title in the file; may be empty."""
    messages: tuple[Message, ...]
    omitted: tuple[tuple[str, int], ...] = ()
    """Names and counts of the entries that were omitted."""


@dataclass(frozen=True, slots=True)
class SessionMetadata:
    """A line of a session that is not a message: a summary, used as title, or bookkeeping."""

    name: str
    title: str = ""


Entry = Message | Conversation | SessionMetadata


def parse_entry(value: Any, line: int = 0) -> Entry | None:
    """Parse a JSON value with the first format that it has; None if it has none."""
    if not isinstance(value, dict):
        return None
    for parser in PARSERS:
        entry = parser(value, line)
        if entry is not None:
            return entry
    return None


def normalize_time(value: Any) -> int | None:
    """Convert a time, in any of the forms that programs write, to seconds since 1970."""
    if isinstance(value, str):
        value = value.strip()
        if not NUMERIC_TIME.match(value):
            seconds = parse_timestamp(value[:40])
            return seconds if seconds is not None and 0 <= seconds <= MAX_TIMESTAMP else None
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not 0 < value < MAX_TIMESTAMP * 1000:
        return None
    seconds = int(value)
    return seconds // 1000 if seconds >= MIN_MILLISECONDS else seconds


def _build_message(
    speaker: Any, text: str, line: int, *, time: Any = None, note: Any = "", session: Any = ""
) -> Message:
    name = str(speaker)
    return Message(
        ROLES.get(name.lower(), clean_title(clean_text(name)) or "unknown"),
        text,
        normalize_time(time),
        clean_title(clean_text(note)) if isinstance(note, str) else "",
        line,
        session if isinstance(session, str) else "",
    )


def _first_value(value: Mapping[str, Any], keys: Iterable[str]) -> Any:
    return next((value[key] for key in keys if value.get(key)), None)


def _find_title(value: Mapping[str, Any]) -> str:
    title = _first_value(value, TITLE_KEYS)
    return clean_title(clean_text(title)) if isinstance(title, str) else ""


def _parse_chat_api(value: dict[str, Any], line: int) -> Message | None:
    """Parse `{"role": …, "content": …}`: the chat APIs."""
    role = value.get("role")
    if not isinstance(role, str) or role.lower() not in ROLES:
        return None
    if not {"content", "parts", "tool_calls", "function_call"} & value.keys():
        return None
    content = value.get("content", value.get("parts"))
    speaker = ROLES[role.lower()]
    texts = [render_tool_result(content) if speaker == TOOL else render_content(content)]
    calls = value.get("tool_calls")
    for call in calls if isinstance(calls, list) else []:
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict):
            texts.append(render_tool_call(function.get("name"), function.get("arguments")))
    if isinstance(call := value.get("function_call"), dict):
        texts.append(render_tool_call(call.get("name"), call.get("arguments")))
    text = "\n\n".join(filter(None, texts))
    note = value.get("name")
    return _build_message(speaker, text, line, time=_first_value(value, TIME_KEYS), note=note)


def _parse_claude_code(value: dict[str, Any], line: int) -> Message | SessionMetadata | None:
    """Parse `{"type": "user", "message": {…}, "sessionId": …}`: transcripts of Claude Code."""
    kind, message = value.get("type"), value.get("message")
    if kind == "summary" and isinstance(value.get("summary"), str):
        return SessionMetadata("summary", clean_title(clean_text(value["summary"])))
    common = {"time": value.get("timestamp"), "session": value.get("sessionId")}
    if kind == "system" and isinstance(value.get("content"), str):
        return _build_message("system", render_content(value["content"]), line, **common)
    if kind not in ("user", "assistant", "system") or not isinstance(message, dict):
        return None
    content = message.get("content")
    note = "side chain" if value.get("isSidechain") is True else ""
    return _build_message(
        _detect_speaker(kind, content), render_content(content), line, note=note, **common
    )


def _detect_speaker(role: str, content: Any) -> str:
    """Return the tool as speaker of a message that consists of tool results, else the role."""
    parts = content if isinstance(content, list) else []
    kinds = [part.get("type") if isinstance(part, dict) else None for part in parts]
    return TOOL if kinds and all(kind == "tool_result" for kind in kinds) else role


def _parse_codex(value: dict[str, Any], line: int) -> Message | None:
    """Parse `{"type": "response_item", "payload": {…}}`: sessions of Codex.

    Older sessions have the payload without the wrapper.
    """
    wrapped = value.get("type") == "response_item"
    item = value.get("payload") if wrapped else value
    kind = item.get("type") if isinstance(item, dict) else None
    if not isinstance(item, dict) or not isinstance(kind, str) or kind not in RESPONSE_ITEM_TYPES:
        return None
    time = _first_value(value, TIME_KEYS)
    if kind == "message":
        role, content = item.get("role"), item.get("content")
        if not isinstance(role, str):
            return None
        return _build_message(role, render_content(content), line, time=time)
    if not wrapped and "call_id" not in item:
        return None
    speaker = TOOL if kind.endswith("_output") else "assistant"
    return _build_message(speaker, render_content(item), line, time=time)


def _parse_slack(value: dict[str, Any], line: int) -> Message | None:
    """Parse `{"user": …, "text": …, "ts": "1700000000.000100"}`: exports of Slack."""
    time, text = value.get("ts"), value.get("text")
    if not isinstance(time, str) or not SLACK_TIME.match(time) or not isinstance(text, str):
        return None
    profile = value.get("user_profile")
    names = profile if isinstance(profile, dict) else {}
    speaker = _first_value(names, ("display_name", "real_name", "name")) or _first_value(
        value, ("username", "user", "bot_id")
    )
    if not isinstance(speaker, str):
        return None
    files = value.get("files")
    attachments = [
        clean_title(clean_text(f"[file {file.get('name') or ''}")) + "]"
        for file in (files if isinstance(files, list) else [])
        if isinstance(file, dict)
    ]
    body = "\n\n".join(filter(None, [render_content(unescape(text)), *attachments]))
    return _build_message(speaker, body, line, time=time)


def _parse_message_list(value: dict[str, Any], line: int) -> Conversation | None:
    """Parse `{"messages": [{"role": …, "content": …}, …]}`: requests, and tuning data."""
    return _parse_list(value, "messages", line, (_parse_chat_api, _parse_slack))


def _parse_sharegpt(value: dict[str, Any], line: int) -> Conversation | None:
    """Parse `{"conversations": [{"from": "human", "value": …}, …]}`: ShareGPT."""

    def parse_item(item: dict[str, Any], line: int) -> Message | None:
        speaker, text = item.get("from"), item.get("value")
        is_message = isinstance(speaker, str) and isinstance(text, str)
        return _build_message(speaker, render_content(text), line) if is_message else None

    return _parse_list(value, "conversations", line, (parse_item,))


def _parse_claude(value: dict[str, Any], line: int) -> Conversation | None:
    """Parse `{"name": …, "chat_messages": [{"sender": …, "text": …}, …]}`: exports of Claude."""

    def parse_item(item: dict[str, Any], line: int) -> Message | None:
        speaker = item.get("sender")
        if not isinstance(speaker, str):
            return None
        texts = [render_content(item.get("content")) or render_content(item.get("text"))]
        for key in ("attachments", "files"):
            files = item.get(key)
            for file in files if isinstance(files, list) else []:
                if isinstance(file, dict):
                    name = clean_title(clean_text(f"attachment {file.get('file_name') or ''}"))
                    texts.append(render_tool_result(file.get("extracted_content"), name))
        text = "\n\n".join(filter(None, texts))
        return _build_message(speaker, text, line, time=item.get("created_at"))

    return _parse_list(value, "chat_messages", line, (parse_item,))


def _parse_list(
    value: dict[str, Any],
    key: str,
    line: int,
    parsers: tuple[Callable[[dict[str, Any], int], Message | None], ...],
) -> Conversation | None:
    """Parse a list of messages; None if half of its items or more are not messages."""
    items = value.get(key)
    if not isinstance(items, list) or not items:
        return None
    messages: list[Message] = []
    unknown = 0
    for count, item in enumerate(items, 1):
        parsed = (parser(item, line) for parser in parsers) if isinstance(item, dict) else iter(())
        message = next((message for message in parsed if message is not None), None)
        if message is None:
            unknown += 1
        elif message.text:
            messages.append(message)
        if count == SAMPLE_SIZE and 2 * unknown >= count:
            return None
    if not messages or 2 * unknown >= len(items):
        return None
    omitted = ((UNKNOWN, unknown),) if unknown else ()
    return Conversation(_find_title(value), tuple(messages), omitted)


def _parse_chatgpt(value: dict[str, Any], line: int) -> Conversation | None:
    """Parse `{"title": …, "mapping": {…}, "current_node": …}`: exports of ChatGPT.

    Such a conversation is a tree; only the branch that was shown last is read.
    """
    mapping = value.get("mapping")
    if not isinstance(mapping, dict):
        return None
    nodes = {key: node for key, node in mapping.items() if isinstance(node, dict)}
    if not any(
        "message" in node and ("parent" in node or "children" in node) for node in nodes.values()
    ):
        return None
    branch = _find_branch(nodes, value.get("current_node"))
    messages = [_parse_node(nodes[key], line) for key in branch]
    others = sum(_parse_node(nodes[key], line) is not None for key in nodes.keys() - set(branch))
    return Conversation(
        _find_title(value),
        tuple(message for message in messages if message is not None),
        ((OTHER_BRANCHES, others),) if others else (),
    )


def _find_branch(nodes: Mapping[str, dict[str, Any]], current: Any) -> list[str]:
    """Return the path from the root to the current node, or to the last leaf if there is none."""
    key = current if isinstance(current, str) and current in nodes else None
    if key is None:
        parents = {str(node.get("parent")) for node in nodes.values()}
        key = next((name for name in reversed(list(nodes)) if name not in parents), None)
    branch: dict[str, None] = {}
    while isinstance(key, str) and key in nodes and key not in branch:
        branch[key] = None
        key = nodes[key].get("parent")
    return list(reversed(branch))


def _parse_node(node: Mapping[str, Any], line: int) -> Message | None:
    message = node.get("message")
    author = message.get("author") if isinstance(message, dict) else None
    if not isinstance(message, dict) or not isinstance(author, dict):
        return None
    role = author.get("role")
    content = message.get("content")
    text = render_tool_result(content) if role == TOOL else render_content(content)
    if not isinstance(role, str) or not render_content(content):
        return None
    return _build_message(
        role, text, line, time=message.get("create_time"), note=author.get("name")
    )


def _parse_session_metadata(value: dict[str, Any], _line: int) -> SessionMetadata | None:
    """Parse any other line with a type that belongs to a session."""
    kind = value.get("type")
    if isinstance(kind, str) and kind and SESSION_KEYS & value.keys():
        return SessionMetadata(clean_title(clean_text(kind)))
    return None


PARSERS: tuple[Callable[[dict[str, Any], int], Entry | None], ...] = (
    _parse_claude_code,
    _parse_codex,
    _parse_chat_api,
    _parse_slack,
    _parse_message_list,
    _parse_chatgpt,
    _parse_claude,
    _parse_sharegpt,
    _parse_session_metadata,
)
