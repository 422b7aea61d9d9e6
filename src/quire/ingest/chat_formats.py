"""In which shape does a program write a message, or a whole conversation?

One function for each shape: given a parsed value, it gives what it holds or None. A new shape is
one function and one row of `SHAPES`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from html import unescape
from typing import Any

from quire.ingest.decode import clean_text
from quire.ingest.front_matter import parse_timestamp
from quire.ingest.message_text import called, result, said
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
TIMES = ("timestamp", "created_at", "create_time", "time", "date", "ts")
TITLES = ("title", "name", "subject", "topic")
SECONDS = re.compile(r"\d{9,13}(?:\.\d{0,9})?\Z")
SLACK_TIME = re.compile(r"\d{9,11}\.\d{1,9}\Z")
LATEST = 253_402_300_799  # the last second of the year 9999
MILLISECONDS_FROM = 100_000_000_000
SAMPLE = 50
UNKNOWN = "not understood"
OTHER_BRANCHES = "from other branches"
ITEMS = frozenset(
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
"""What the lines of a session of the Responses API may be."""
BOOKKEEPING = frozenset({"sessionId", "leafUuid", "messageId", "uuid", "payload"})
"""One of these, beside a type, marks a line of a session that is no message."""


@dataclass(frozen=True, slots=True)
class Message:
    """What one speaker said at one time."""

    speaker: str
    """Empty: nobody said it; it is a remark on the file."""
    text: str
    time: int | None = None
    note: str = ""
    """What else is known of the speaker: a name, that it was a side chain."""
    line: int = 0
    """The line of the file; 0 where lines mean nothing."""
    session: str = ""


@dataclass(frozen=True, slots=True)
class Conversation:
    """Messages in their order."""

    title: str
    """As the file says; may be empty."""
    messages: tuple[Message, ...]
    left_out: tuple[tuple[str, int], ...] = ()
    """What was passed over: names and counts."""


@dataclass(frozen=True, slots=True)
class Aside:
    """A line of a session that is no message: a summary that serves as title, or bookkeeping."""

    name: str
    title: str = ""


Entry = Message | Conversation | Aside


def understood(value: Any, line: int = 0) -> Entry | None:
    """Tell what a parsed value holds, by the first shape that it has."""
    if not isinstance(value, dict):
        return None
    for shape in SHAPES:
        entry = shape(value, line)
        if entry is not None:
            return entry
    return None


def moment(value: Any) -> int | None:
    """Turn a time, in any of the forms that programs write, into seconds since 1970."""
    if isinstance(value, str):
        value = value.strip()
        if not SECONDS.match(value):
            stated = parse_timestamp(value[:40])
            return stated if stated is not None and 0 <= stated <= LATEST else None
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not 0 < value < LATEST * 1000:
        return None
    seconds = int(value)
    return seconds // 1000 if seconds >= MILLISECONDS_FROM else seconds


def _message(
    speaker: Any, text: str, line: int, *, time: Any = None, note: Any = "", session: Any = ""
) -> Message:
    name = str(speaker)
    return Message(
        ROLES.get(name.lower(), clean_title(clean_text(name)) or "unknown"),
        text,
        moment(time),
        clean_title(clean_text(note)) if isinstance(note, str) else "",
        line,
        session if isinstance(session, str) else "",
    )


def _stated(value: Mapping[str, Any], keys: Iterable[str]) -> Any:
    return next((value[key] for key in keys if value.get(key)), None)


def _title(value: Mapping[str, Any], keys: Iterable[str] = TITLES) -> str:
    title = _stated(value, keys)
    return clean_title(clean_text(title)) if isinstance(title, str) else ""


def _with_role(value: dict[str, Any], line: int) -> Message | None:
    """`{"role": …, "content": …}`: the chat APIs."""
    role = value.get("role")
    if not isinstance(role, str) or role.lower() not in ROLES:
        return None
    if not {"content", "parts", "tool_calls", "function_call"} & value.keys():
        return None
    content = value.get("content", value.get("parts"))
    speaker = ROLES[role.lower()]
    texts = [result(content) if speaker == TOOL else said(content)]
    calls = value.get("tool_calls")
    for call in calls if isinstance(calls, list) else []:
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict):
            texts.append(called(function.get("name"), function.get("arguments")))
    if isinstance(call := value.get("function_call"), dict):
        texts.append(called(call.get("name"), call.get("arguments")))
    text = "\n\n".join(filter(None, texts))
    note = value.get("name")
    return _message(speaker, text, line, time=_stated(value, TIMES), note=note)


def _of_session(value: dict[str, Any], line: int) -> Message | Aside | None:
    """`{"type": "user", "message": {…}, "sessionId": …}`: transcripts of Claude Code."""
    kind, message = value.get("type"), value.get("message")
    if kind == "summary" and isinstance(value.get("summary"), str):
        return Aside("summary", clean_title(clean_text(value["summary"])))
    common = {"time": value.get("timestamp"), "session": value.get("sessionId")}
    if kind == "system" and isinstance(value.get("content"), str):
        return _message("system", said(value["content"]), line, **common)
    if kind not in ("user", "assistant", "system") or not isinstance(message, dict):
        return None
    content = message.get("content")
    note = "side chain" if value.get("isSidechain") is True else ""
    return _message(_speaker(kind, content), said(content), line, note=note, **common)


def _speaker(role: str, content: Any) -> str:
    """Call what only gives back a tool's result what it is, whoever passed it on."""
    parts = content if isinstance(content, list) else []
    kinds = [part.get("type") if isinstance(part, dict) else None for part in parts]
    return TOOL if kinds and all(kind == "tool_result" for kind in kinds) else role


def _of_responses(value: dict[str, Any], line: int) -> Message | None:
    """`{"type": "response_item", "payload": {…}}`: sessions of Codex; older ones bare."""
    wrapped = value.get("type") == "response_item"
    item = value.get("payload") if wrapped else value
    kind = item.get("type") if isinstance(item, dict) else None
    if not isinstance(item, dict) or not isinstance(kind, str) or kind not in ITEMS:
        return None
    time = _stated(value, TIMES)
    if kind == "message":
        role, content = item.get("role"), item.get("content")
        return _message(role, said(content), line, time=time) if isinstance(role, str) else None
    if not wrapped and "call_id" not in item:
        return None
    speaker = TOOL if kind.endswith("_output") else "assistant"
    return _message(speaker, said(item), line, time=time)


def _of_slack(value: dict[str, Any], line: int) -> Message | None:
    """`{"user": …, "text": …, "ts": "1700000000.000100"}`: exports of Slack."""
    time, text = value.get("ts"), value.get("text")
    if not isinstance(time, str) or not SLACK_TIME.match(time) or not isinstance(text, str):
        return None
    profile = value.get("user_profile")
    names = profile if isinstance(profile, dict) else {}
    speaker = _stated(names, ("display_name", "real_name", "name")) or _stated(
        value, ("username", "user", "bot_id")
    )
    if not isinstance(speaker, str):
        return None
    files = value.get("files")
    attached = [
        clean_title(clean_text(f"[file {file.get('name') or ''}")) + "]"
        for file in (files if isinstance(files, list) else [])
        if isinstance(file, dict)
    ]
    words = "\n\n".join(filter(None, [said(unescape(text)), *attached]))
    return _message(speaker, words, line, time=time)


def _in_messages(value: dict[str, Any], line: int) -> Conversation | None:
    """`{"messages": [{"role": …, "content": …}, …]}`: requests, and data for tuning."""
    return _of_list(value, "messages", line, (_with_role, _of_slack))


def _of_sharegpt(value: dict[str, Any], line: int) -> Conversation | None:
    """`{"conversations": [{"from": "human", "value": …}, …]}`: ShareGPT."""

    def shape(item: dict[str, Any], at: int) -> Message | None:
        speaker, text = item.get("from"), item.get("value")
        known = isinstance(speaker, str) and isinstance(text, str)
        return _message(speaker, said(text), at) if known else None

    return _of_list(value, "conversations", line, (shape,))


def _of_claude(value: dict[str, Any], line: int) -> Conversation | None:
    """`{"name": …, "chat_messages": [{"sender": …, "text": …}, …]}`: exports of Claude."""

    def shape(item: dict[str, Any], at: int) -> Message | None:
        speaker = item.get("sender")
        if not isinstance(speaker, str):
            return None
        texts = [said(item.get("content")) or said(item.get("text"))]
        for key in ("attachments", "files"):
            held = item.get(key)
            for file in held if isinstance(held, list) else []:
                if isinstance(file, dict):
                    name = clean_title(clean_text(f"attachment {file.get('file_name') or ''}"))
                    texts.append(result(file.get("extracted_content"), name))
        text = "\n\n".join(filter(None, texts))
        return _message(speaker, text, at, time=item.get("created_at"))

    return _of_list(value, "chat_messages", line, (shape,))


def _of_list(
    value: dict[str, Any],
    key: str,
    line: int,
    shapes: tuple[Callable[[dict[str, Any], int], Message | None], ...],
) -> Conversation | None:
    items = value.get(key)
    if not isinstance(items, list) or not items:
        return None
    found: list[Message] = []
    other = 0
    for seen, item in enumerate(items, 1):
        read = (shape(item, line) for shape in shapes) if isinstance(item, dict) else iter(())
        message = next((message for message in read if message is not None), None)
        if message is None:
            other += 1
        elif message.text:
            found.append(message)
        if seen == SAMPLE and 2 * other >= seen:
            return None
    if not found or 2 * other >= len(items):
        return None
    return Conversation(_title(value), tuple(found), ((UNKNOWN, other),) if other else ())


def _of_chatgpt(value: dict[str, Any], line: int) -> Conversation | None:
    """`{"title": …, "mapping": {…}, "current_node": …}`: exports of ChatGPT.

    A conversation is a tree there; what is read is the branch that was shown last.
    """
    nodes = value.get("mapping")
    if not isinstance(nodes, dict):
        return None
    known = {key: node for key, node in nodes.items() if isinstance(node, dict)}
    if not any(
        "message" in node and ("parent" in node or "children" in node) for node in known.values()
    ):
        return None
    branch = _branch(known, value.get("current_node"))
    messages = [_of_node(known[key], line) for key in branch]
    apart = sum(_of_node(known[key], line) is not None for key in known.keys() - set(branch))
    return Conversation(
        _title(value),
        tuple(message for message in messages if message is not None),
        ((OTHER_BRANCHES, apart),) if apart else (),
    )


def _branch(nodes: Mapping[str, dict[str, Any]], current: Any) -> list[str]:
    """Go from the node that was shown last up to the root; without one, from the last leaf."""
    at = current if isinstance(current, str) and current in nodes else None
    if at is None:
        parents = {str(node.get("parent")) for node in nodes.values()}
        at = next((key for key in reversed(list(nodes)) if key not in parents), None)
    branch: dict[str, None] = {}
    while isinstance(at, str) and at in nodes and at not in branch:
        branch[at] = None
        at = nodes[at].get("parent")
    return list(reversed(branch))


def _of_node(node: Mapping[str, Any], line: int) -> Message | None:
    message = node.get("message")
    author = message.get("author") if isinstance(message, dict) else None
    if not isinstance(message, dict) or not isinstance(author, dict):
        return None
    role = author.get("role")
    content = message.get("content")
    text = result(content) if role == TOOL else said(content)
    if not isinstance(role, str) or not said(content):
        return None
    return _message(role, text, line, time=message.get("create_time"), note=author.get("name"))


def _bookkeeping(value: dict[str, Any], _line: int) -> Aside | None:
    """Any other line with a type that belongs to a session."""
    kind = value.get("type")
    if isinstance(kind, str) and kind and BOOKKEEPING & value.keys():
        return Aside(clean_title(clean_text(kind)))
    return None


SHAPES: tuple[Callable[[dict[str, Any], int], Entry | None], ...] = (
    _of_session,
    _of_responses,
    _with_role,
    _of_slack,
    _in_messages,
    _of_chatgpt,
    _of_claude,
    _of_sharegpt,
    _bookkeeping,
)
