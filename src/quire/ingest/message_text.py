"""How is the content of a message said as text?

Content is a string, a list of parts, or one part. Text stays as it is. What is no text, or would
drown the talk, is named with its size in its place: `[image]`, `[tool result, 12,345 characters]`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from quire.ingest.decode import clean_text

LONGEST_RESULT = 2000
"""Characters of a tool's result, or of an attachment, that are kept."""
LONGEST_ARGUMENT = 300
"""Characters of one argument of a tool that are kept."""
DEEPEST = 10
"""Content within content beyond this is only named."""

# Each run of letters is looked at once: what stands before it must not be one of them.
ENCODED = re.compile(
    r"data:[\w/+.-]{1,100};base64,[A-Za-z0-9+/=]*+"
    r"|(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{1000,}+={0,2}"
)


def said(content: Any, depth: int = 0) -> str:
    """Say the content of a message, whatever its form."""
    if isinstance(content, str):
        return _without_data(clean_text(content)).strip()
    if content is None:
        return ""
    if isinstance(content, list) and depth < DEEPEST:
        return "\n\n".join(filter(None, (said(part, depth + 1) for part in content)))
    if isinstance(content, dict) and depth < DEEPEST:
        kind = str(content.get("type") or content.get("content_type") or "")
        return KINDS.get(kind, _other)(content, depth + 1)
    return sized("data", _dumped(content))


def called(name: Any, arguments: Any) -> str:
    """Say that a tool was called, and with what."""
    if isinstance(arguments, str):
        arguments = _parsed(arguments)
    if isinstance(arguments, Mapping):
        given = "; ".join(f"{key}={_argument(value)}" for key, value in arguments.items())
    else:
        given = "" if arguments is None else _argument(arguments)
    title = clean_text(f"tool {name}" if name else "tool")
    return clean_text(f"[{title}: {given}]") if given else f"[{title}]"


def result(content: Any, label: str = "tool result", depth: int = 0) -> str:
    """Say what a tool gave back, or what is attached, if it is not too long."""
    text = said(content, depth)
    if len(text) > LONGEST_RESULT:
        return sized(label, text)
    return f"[{label}]\n{text}" if text else f"[{label}]"


def sized(label: str, text: str) -> str:
    """Name what is left out, and how long it is."""
    return f"[{label}, {len(text):,} characters]"


def _without_data(text: str) -> str:
    if len(text) < 100:
        return text
    return ENCODED.sub(lambda match: sized("data", match[0]), text)


def _argument(value: Any) -> str:
    text = _dumped(value)
    if len(text) <= LONGEST_ARGUMENT:
        return text
    return f"[{len(value if isinstance(value, str) else text):,} characters]"


def _dumped(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return "[nested too deeply]"


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _text(part: Mapping[str, Any], depth: int) -> str:
    return said(part.get("text"), depth)


def _image(_part: Mapping[str, Any], _depth: int) -> str:
    return "[image]"


def _call(part: Mapping[str, Any], _depth: int) -> str:
    function = part.get("function")
    inner = function if isinstance(function, dict) else part
    arguments = next(
        (inner[key] for key in ("input", "arguments", "action") if inner.get(key) is not None), None
    )
    return called(inner.get("name"), arguments)


def _result(part: Mapping[str, Any], depth: int) -> str:
    content = part.get("content")
    return result(part.get("output") if content is None else content, depth=depth)


def _thinking(part: Mapping[str, Any], depth: int) -> str:
    for key in ("thinking", "text", "summary", "content", "thoughts"):
        if text := said(part.get(key), depth):
            return f"[thinking]\n{text}"
    return "[thinking, not readable]"


def _thought(part: Mapping[str, Any], depth: int) -> str:
    return said([part.get("summary"), part.get("content")], depth)


def _other(part: Mapping[str, Any], depth: int) -> str:
    """Say a part of an unknown kind: by its text if it has one, otherwise by its name."""
    kind = str(part.get("type") or part.get("content_type") or "data")
    if not part.get("type") and isinstance(part.get("summary"), str) and "content" in part:
        return _thought(part, depth)
    for key in ("parts", "text", "result", "content", "user_profile", "user_instructions"):
        if text := said(part.get(key), depth):
            return text
    return "" if "parts" in part or "text" in part else clean_text(f"[{kind[:60]}]")


KINDS: Mapping[str, Callable[[Mapping[str, Any], int], str]] = {
    "text": _other,
    "input_text": _text,
    "output_text": _text,
    "summary_text": _text,
    "image": _image,
    "image_url": _image,
    "input_image": _image,
    "image_asset_pointer": _image,
    "tool_use": _call,
    "server_tool_use": _call,
    "function": _call,
    "function_call": _call,
    "custom_tool_call": _call,
    "local_shell_call": _call,
    "web_search_call": _call,
    "tool_result": _result,
    "function_call_output": _result,
    "custom_tool_call_output": _result,
    "thinking": _thinking,
    "redacted_thinking": _thinking,
    "reasoning": _thinking,
    "thoughts": _thinking,
}
