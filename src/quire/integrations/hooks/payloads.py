"""Parse what clients send to a hook, and write answers in their format.

Clients write the same facts under different names; `HookEvent` gives each one name. A fact that is
missing, or in another form than documented, counts as not given.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from quire.errors import InputError
from quire.integrations.clients import Hooks

EMPTY: Mapping[str, Any] = {}
"""The answer that changes nothing, for every client and event."""
_EXIT_CODE_KEYS = ("exit_code", "exitCode", "returncode", "return_code", "exit_status")
_MAX_DEPTH = 12
"""A tool's result may hold JSON texts within JSON; deeper levels are not searched."""
_EDITS = re.compile(r"edit|write|create|replace|insert|patch|delete|rename", re.IGNORECASE)
"""Parts of the names of tools that write files."""
_MAX_TOOL_NAME = 200
_FILE_KEYS = ("file_path", "filePath", "path", "notebook_path", "target_file")
_PATCH_START = "*** Begin Patch"
_PATCH_MARKS = ("*** Add File", "*** Update File", "*** Delete File", "*** Move to")
_MAX_EDITED = 32
"""Files of one call that are read again."""
_FAILURE_EVENTS = ("PostToolUseFailure", "postToolUseFailure")


@dataclass(frozen=True, slots=True)
class HookEvent:
    """What a client sent to a hook."""

    name: str = ""
    """The client's name of the event."""
    session: str = ""
    folder: str = ""
    """The folder in which the assistant works."""
    prompt: str = ""
    command: str = ""
    output: str = ""
    exit_code: int | None = None
    """The exit code of the command, if it was sent."""
    failed: bool = False
    """Whether the client says that the tool failed."""
    interrupted: bool = False
    edited: tuple[str, ...] = ()
    """The files that the tool wrote."""


def parse(data: bytes) -> HookEvent:
    """Parse what a client wrote to standard input."""
    try:
        payload = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InputError(f"standard input is not JSON: {error}") from error
    if not isinstance(payload, dict):
        raise InputError(f"standard input is a JSON {type(payload).__name__}, not an object")
    name = _text(payload, "hook_event_name", "hookEventName")
    tool_input = _decode_nested(payload.get("tool_input"))
    result = next(
        (
            _decode_nested(payload[key])
            for key in ("tool_response", "tool_output", "tool_result")
            if key in payload
        ),
        None,
    )
    error_text = _text(payload, "error", "error_message")
    command = tool_input.get("command", "") if isinstance(tool_input, Mapping) else ""
    return HookEvent(
        name=name,
        session=_text(payload, "session_id", "sessionId", "conversation_id"),
        folder=_text(payload, "cwd") or _first_text(payload.get("workspace_roots")),
        prompt=_text(payload, "prompt"),
        command=_replace_surrogates(command if isinstance(command, str) else _join(command)),
        output=_replace_surrogates(
            "\n".join(part for part in (error_text, *_texts(result)) if part)
        ),
        exit_code=_exit_code(result),
        failed=name in _FAILURE_EVENTS,
        interrupted=payload.get("is_interrupt") is True
        or (isinstance(result, Mapping) and result.get("interrupted") is True),
        edited=_edited_files(payload, tool_input),
    )


def format_answer(hooks: Hooks, event: str, payload: HookEvent, page: str) -> Mapping[str, Any]:
    """Put a page into the form in which the client takes it."""
    if not page:
        return EMPTY
    if hooks.answer == "flat":
        return {"additional_context": page}
    names = hooks.names[event]
    name = payload.name if payload.name in names else names[0]
    return {"hookSpecificOutput": {"hookEventName": name, "additionalContext": page}}


def _edited_files(payload: Mapping[str, Any], tool_input: Any) -> tuple[str, ...]:
    """Return the files that a tool wrote, if it is one that writes files."""
    tool = _text(payload, "tool_name", "toolName")
    if not _EDITS.search(tool[:_MAX_TOOL_NAME]) or not isinstance(tool_input, Mapping):
        return ()
    named = [tool_input.get(key) for key in _FILE_KEYS]
    several = tool_input.get("files")
    named += several if isinstance(several, list) else []
    patch = tool_input.get("command", tool_input.get("input"))
    if isinstance(patch, str) and _PATCH_START in patch:
        named += [
            name.strip()
            for line in patch.splitlines()
            for mark, colon, name in [line.partition(": ")]
            if colon and mark in _PATCH_MARKS
        ]
    paths = [_replace_surrogates(name) for name in named if isinstance(name, str) and name]
    return tuple(dict.fromkeys(paths))[:_MAX_EDITED]


def _text(payload: Mapping[str, Any], *keys: str) -> str:
    texts = (payload[key] for key in keys if isinstance(payload.get(key), str))
    return _replace_surrogates(next(texts, ""))


def _replace_surrogates(text: str) -> str:
    """Replace lone surrogates, which JSON can hold and no file can."""
    return text.encode("utf-8", "replace").decode()


def _first_text(value: Any) -> str:
    return value[0] if isinstance(value, list) and value and isinstance(value[0], str) else ""


def _join(value: Any) -> str:
    """Join a command that is a list of words into a line."""
    words = value if isinstance(value, list) else []
    return " ".join(word for word in words if isinstance(word, str))


def _decode_nested(value: Any) -> Any:
    """Decode JSON within a text; any other text is returned unchanged."""
    if isinstance(value, str) and value[:1] in {"{", "["}:
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def _texts(value: Any, depth: int = 0) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth < _MAX_DEPTH and isinstance(value, Mapping | list):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(part, depth + 1)


def _exit_code(value: Any, depth: int = 0) -> int | None:
    if depth < _MAX_DEPTH and isinstance(value, Mapping):
        for key in _EXIT_CODE_KEYS:
            if isinstance(value.get(key), int) and not isinstance(value[key], bool):
                return int(value[key])
        codes = (_exit_code(part, depth + 1) for part in value.values())
        return next((code for code in codes if code is not None), None)
    return None
