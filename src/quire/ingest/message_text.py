"""Rendering of the content of a chat message as text.

Content is a string, a list of parts, or one part. Text is kept as it is. Content that is not
text, or is long enough to bury the conversation, is replaced by a placeholder with its size:
`[image]`, `[tool result, 12,345 characters]`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from quire.ingest.decode import clean_text

MAX_RESULT_LENGTH = 2000
"""A longer tool result or attachment is replaced by a placeholder; in characters."""
MAX_ARGUMENT_LENGTH = 300
"""A longer argument of a tool call is replaced by a placeholder; in characters."""
MAX_DEPTH = 10
"""Content nested deeper is replaced by a placeholder."""

# The lookbehind makes the search examine each run of letters once.
BASE64_DATA = re.compile(
    r"data:[\w/+.-]{1,100};base64,[A-Za-z0-9+/=]*+"
    r"|(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{1000,}+={0,2}"
)


def render_content(content: Any, depth: int = 0) -> str:
    """Render the content of a message, whatever its form."""
    if isinstance(content, str):
        return _replace_data(clean_text(content)).strip()
    if content is None:
        return ""
    if isinstance(content, list) and depth < MAX_DEPTH:
        return "\n\n".join(filter(None, (render_content(part, depth + 1) for part in content)))
    if isinstance(content, dict) and depth < MAX_DEPTH:
        kind = str(content.get("type") or content.get("content_type") or "")
        return PART_RENDERERS.get(kind, _render_other)(content, depth + 1)
    return describe_omitted("data", _dump_json(content))


def render_tool_call(name: Any, arguments: Any) -> str:
    """Render a tool call with its arguments."""
    if isinstance(arguments, str):
        arguments = _parse_json(arguments)
    if isinstance(arguments, Mapping):
        rendered = "; ".join(f"{key}={_render_argument(value)}" for key, value in arguments.items())
    else:
        rendered = "" if arguments is None else _render_argument(arguments)
    title = clean_text(f"tool {name}" if name else "tool")
    return clean_text(f"[{title}: {rendered}]") if rendered else f"[{title}]"


def render_tool_result(content: Any, label: str = "tool result", depth: int = 0) -> str:
    """Render a tool result or an attachment, or a placeholder if it is too long."""
    text = render_content(content, depth)
    if len(text) > MAX_RESULT_LENGTH:
        return describe_omitted(label, text)
    return f"[{label}]\n{text}" if text else f"[{label}]"


def describe_omitted(label: str, text: str) -> str:
    """Return a placeholder for omitted text, with its length."""
    return f"[{label}, {len(text):,} characters]"


def _replace_data(text: str) -> str:
    if len(text) < 100:
        return text
    return BASE64_DATA.sub(lambda match: describe_omitted("data", match[0]), text)


def _render_argument(value: Any) -> str:
    text = _dump_json(value)
    if len(text) <= MAX_ARGUMENT_LENGTH:
        return text
    return f"[{len(value if isinstance(value, str) else text):,} characters]"


def _dump_json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return "[nested too deeply]"


def _parse_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _render_text(part: Mapping[str, Any], depth: int) -> str:
    return render_content(part.get("text"), depth)


def _render_image(_part: Mapping[str, Any], _depth: int) -> str:
    return "[image]"


def _render_call(part: Mapping[str, Any], _depth: int) -> str:
    function = part.get("function")
    inner = function if isinstance(function, dict) else part
    arguments = next(
        (inner[key] for key in ("input", "arguments", "action") if inner.get(key) is not None), None
    )
    return render_tool_call(inner.get("name"), arguments)


def _render_result(part: Mapping[str, Any], depth: int) -> str:
    content = part.get("content")
    return render_tool_result(part.get("output") if content is None else content, depth=depth)


def _render_thinking(part: Mapping[str, Any], depth: int) -> str:
    for key in ("thinking", "text", "summary", "content", "thoughts"):
        if text := render_content(part.get(key), depth):
            return f"[thinking]\n{text}"
    return "[thinking, not readable]"


def _render_thought(part: Mapping[str, Any], depth: int) -> str:
    return render_content([part.get("summary"), part.get("content")], depth)


def _render_other(part: Mapping[str, Any], depth: int) -> str:
    """Render a part of an unknown kind: its text if it has one, else its name."""
    kind = str(part.get("type") or part.get("content_type") or "data")
    if not part.get("type") and isinstance(part.get("summary"), str) and "content" in part:
        return _render_thought(part, depth)
    for key in ("parts", "text", "result", "content", "user_profile", "user_instructions"):
        if text := render_content(part.get(key), depth):
            return text
    return "" if "parts" in part or "text" in part else clean_text(f"[{kind[:60]}]")


PART_RENDERERS: Mapping[str, Callable[[Mapping[str, Any], int], str]] = {
    "text": _render_other,
    "input_text": _render_text,
    "output_text": _render_text,
    "summary_text": _render_text,
    "image": _render_image,
    "image_url": _render_image,
    "input_image": _render_image,
    "image_asset_pointer": _render_image,
    "tool_use": _render_call,
    "server_tool_use": _render_call,
    "function": _render_call,
    "function_call": _render_call,
    "custom_tool_call": _render_call,
    "local_shell_call": _render_call,
    "web_search_call": _render_call,
    "tool_result": _render_result,
    "function_call_output": _render_result,
    "custom_tool_call_output": _render_result,
    "thinking": _render_thinking,
    "redacted_thinking": _render_thinking,
    "reasoning": _render_thinking,
    "thoughts": _render_thinking,
}
