"""What does a client tell a hook, and how does it want to be answered?

Clients write the same things under different names; here they get one name each. What a client
leaves out, or writes in another form than documented, counts as not said.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from quire.errors import InputError
from quire.integrations.clients import Hooks

EMPTY: Mapping[str, Any] = {}
"""The answer that changes nothing, for every client and event."""
_CODES = ("exit_code", "exitCode", "returncode", "return_code", "exit_status")
_PATIENCE = 12
"""A tool's result may hold JSON in texts in JSON; so many levels of it are looked into."""
_SAYS_FAILED = ("PostToolUseFailure", "postToolUseFailure")


@dataclass(frozen=True, slots=True)
class HookEvent:
    """What a client said."""

    event: str = ""
    """What the client calls the event."""
    session: str = ""
    place: str = ""
    """The folder in which the assistant works."""
    prompt: str = ""
    command: str = ""
    output: str = ""
    code: int | None = None
    """With which code the command ended, if that was said."""
    failed: bool = False
    """The client says that the tool failed."""
    interrupted: bool = False


def parse(data: bytes) -> HookEvent:
    """Read what a client wrote to standard input, or say what is wrong with it."""
    try:
        said = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InputError(f"standard input is no JSON: {error}") from error
    if not isinstance(said, dict):
        raise InputError(f"standard input is {type(said).__name__} of JSON, not an object")
    event = _text(said, "hook_event_name", "hookEventName")
    given = _opened(said.get("tool_input"))
    result = next(
        (
            _opened(said[key])
            for key in ("tool_response", "tool_output", "tool_result")
            if key in said
        ),
        None,
    )
    reason = _text(said, "error", "error_message")
    command = given.get("command", "") if isinstance(given, Mapping) else ""
    return HookEvent(
        event=event,
        session=_text(said, "session_id", "sessionId", "conversation_id"),
        place=_text(said, "cwd") or _first(said.get("workspace_roots")),
        prompt=_text(said, "prompt"),
        command=_clean(command if isinstance(command, str) else _joined(command)),
        output=_clean("\n".join(part for part in (reason, *_texts(result)) if part)),
        code=_code(result),
        failed=event in _SAYS_FAILED,
        interrupted=said.get("is_interrupt") is True
        or (isinstance(result, Mapping) and result.get("interrupted") is True),
    )


def answer(hooks: Hooks, event: str, told: HookEvent, page: str) -> Mapping[str, Any]:
    """Put a page into the form in which the client takes it."""
    if not page:
        return EMPTY
    if hooks.answer == "flat":
        return {"additional_context": page}
    names = hooks.names[event]
    name = told.event if told.event in names else names[0]
    return {"hookSpecificOutput": {"hookEventName": name, "additionalContext": page}}


def _text(said: Mapping[str, Any], *keys: str) -> str:
    found = (said[key] for key in keys if isinstance(said.get(key), str))
    return _clean(next(found, ""))


def _clean(text: str) -> str:
    """Take out halves of signs, which JSON can say and no file can hold."""
    return text.encode("utf-8", "replace").decode()


def _first(value: Any) -> str:
    return value[0] if isinstance(value, list) and value and isinstance(value[0], str) else ""


def _joined(value: Any) -> str:
    """Give a command that is a list of words as a line."""
    words = value if isinstance(value, list) else []
    return " ".join(word for word in words if isinstance(word, str))


def _opened(value: Any) -> Any:
    """Read what is JSON within a text; any other text stays as it is."""
    if isinstance(value, str) and value[:1] in {"{", "["}:
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def _texts(value: Any, depth: int = 0) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth < _PATIENCE and isinstance(value, Mapping | list):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(part, depth + 1)


def _code(value: Any, depth: int = 0) -> int | None:
    if depth < _PATIENCE and isinstance(value, Mapping):
        for key in _CODES:
            if isinstance(value.get(key), int) and not isinstance(value[key], bool):
                return int(value[key])
        found = (_code(part, depth + 1) for part in value.values())
        return next((code for code in found if code is not None), None)
    return None
