"""Payloads of all clients are parsed, and answers have the form of each client."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.errors import InputError
from quire.integrations.clients import CLIENTS, EVENTS, HOOK_CLIENTS, POST_TOOL, SESSION_START
from quire.integrations.hooks import payloads
from quire.integrations.hooks.pages import CUT_NOTE, MAX_LENGTH, shorten
from quire.integrations.hooks.payloads import HookEvent

PLAIN = st.none() | st.booleans() | st.integers() | st.text(max_size=8)
ANY = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3), max_leaves=8
)  # fmt: skip


def parse(payload: Any) -> HookEvent:
    return payloads.parse(json.dumps(payload).encode())


def test_claude_code() -> None:
    failed = parse(
        {
            "session_id": "abc123",
            "transcript_path": "/home/ann/.claude/projects/p/abc123.jsonl",
            "cwd": "/home/ann/p",
            "permission_mode": "default",
            "hook_event_name": "PostToolUseFailure",
            "tool_name": "Bash",
            "tool_input": {"command": "npm test", "description": "Run test suite"},
            "tool_use_id": "toolu_01ABC123",
            "error": "Command exited with non-zero status code 1",
            "is_interrupt": False,
        }
    )
    assert failed == HookEvent(
        name="PostToolUseFailure",
        session="abc123",
        folder="/home/ann/p",
        command="npm test",
        output="Command exited with non-zero status code 1",
        failed=True,
    )
    passed = parse(
        {
            "session_id": "abc123",
            "hook_event_name": "PostToolUse",
            "tool_input": {"command": "pytest | tail"},
            "tool_response": {"stdout": "1 failed", "stderr": "w", "interrupted": True},
        }
    )
    assert (passed.output, passed.exit_code, passed.failed) == ("1 failed\nw", None, False)
    assert passed.interrupted


def test_codex() -> None:
    event = parse(
        {
            "session_id": "s",
            "turn_id": "t",
            "cwd": "/p",
            "hook_event_name": "PostToolUse",
            "model": "o9",
            "permission_mode": "default",
            "tool_name": "Bash",
            "tool_input": {"command": "cargo test"},
            "tool_response": "test result: FAILED. 1 failed",
            "tool_use_id": "c",
            "transcript_path": None,
        }
    )
    assert (event.command, event.output) == ("cargo test", "test result: FAILED. 1 failed")


def test_cursor() -> None:
    event = parse(
        {
            "conversation_id": "c-1",
            "generation_id": "g",
            "hook_event_name": "postToolUse",
            "workspace_roots": ["/home/ann/p", "/home/ann/q"],
            "tool_name": "Shell",
            "tool_input": {"command": "go test ./..."},
            "tool_output": '{"exitCode": 1, "stdout": "FAIL", "stderr": ""}',
        }
    )
    assert (event.session, event.folder, event.exit_code, event.output) == (
        "c-1",
        "/home/ann/p",
        1,
        "FAIL",
    )


def test_vscode() -> None:
    event = parse(
        {
            "timestamp": "2026-02-09T10:30:00.000Z",
            "cwd": "/p",
            "sessionId": "v-1",
            "hookEventName": "PostToolUse",
            "tool_name": "runTerminalCommand",
            "tool_input": {"command": ["npm", "test"]},
            "tool_response": "npm ERR! Test failed.",
        }
    )
    assert (event.name, event.session, event.command) == ("PostToolUse", "v-1", "npm test")


@given(
    st.dictionaries(
        st.sampled_from(["session_id", "cwd", "prompt", "tool_input", "tool_response", "tool_output", "workspace_roots", "error", "hook_event_name"]),
        ANY,
    )
)  # fmt: skip
def test_any_object_is_understood(payload: dict[str, Any]) -> None:
    result = parse(payload)
    for text in (result.session, result.folder, result.prompt, result.command, result.output):
        assert isinstance(text, str)
        text.encode()


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'"x"', b"\xff{}", b"[" * 100_000, b"null"])
def test_what_is_no_object_is_refused(data: bytes) -> None:
    with pytest.raises(InputError, match="standard input is"):
        payloads.parse(data)


@pytest.mark.parametrize("name", HOOK_CLIENTS)
def test_answers(name: str) -> None:
    hooks = CLIENTS[name].hooks
    assert hooks is not None
    for event in EVENTS:
        if event not in hooks.names:
            continue
        assert payloads.format_answer(hooks, event, HookEvent(), "") == {}
        answer = payloads.format_answer(hooks, event, HookEvent(name="made up"), "page")
        if name == "cursor":
            assert answer == {"additional_context": "page"}
        else:
            inner = {"hookEventName": hooks.names[event][0], "additionalContext": "page"}
            assert answer == {"hookSpecificOutput": inner}


def test_the_answer_names_the_event_that_was_told() -> None:
    hooks = CLIENTS["claude-code"].hooks
    assert hooks is not None
    for event, name in ((POST_TOOL, "PostToolUseFailure"), (SESSION_START, "SessionStart")):
        answer = payloads.format_answer(hooks, event, HookEvent(name=name), "page")
        assert answer["hookSpecificOutput"]["hookEventName"] == name


def units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


@given(st.text("ab \n😀é\u0301", max_size=300), st.integers(100, 200))
def test_a_page_is_cut_and_says_so(text: str, most: int) -> None:
    short = shorten(text, most)
    assert units(short) <= most
    assert (short == text) is (units(text) <= most)
    if short != text:
        assert short.endswith(CUT_NOTE)
        assert text.startswith(short.removesuffix(CUT_NOTE))


def test_a_page_is_cut_between_paragraphs() -> None:
    page = "\n\n".join(["word " * 99 + "word"] * 40)
    short = shorten(page)
    assert len(short) <= MAX_LENGTH
    page_start = short.removesuffix(CUT_NOTE)
    assert page.startswith(f"{page_start}\n\n")
    assert len(short) > MAX_LENGTH - 600


PATCH = """*** Begin Patch
*** Update File: src/a.py
@@ def f():
-*** Add File: not/this.py
+*** Delete File: nor/that.py
*** Add File: docs/b: c.md
*** Delete File: old.txt
*** End Patch
"""


@pytest.mark.parametrize(
    ("tool", "tool_input", "edited"),
    [
        ("Edit", {"file_path": "/p/a.py", "old_string": "x", "new_string": "y"}, ("/p/a.py",)),
        ("Write", {"file_path": "/p/a.py", "content": "x"}, ("/p/a.py",)),
        ("NotebookEdit", {"notebook_path": "/p/n.ipynb", "new_source": "1"}, ("/p/n.ipynb",)),
        ("apply_patch", {"command": PATCH}, ("src/a.py", "docs/b: c.md", "old.txt")),
        ("editFiles", {"files": ["src/main.ts", "b.ts", 3]}, ("src/main.ts", "b.ts")),
        ("create_file", {"filePath": "c.ts"}, ("c.ts",)),
        ("Read", {"file_path": "/p/a.py"}, ()),
        ("Bash", {"command": "touch a.py"}, ()),
        ("Edit", {"file_path": ["a"]}, ()),
        ("Edit", "a text", ()),
    ],
)
def test_the_files_that_a_tool_wrote(tool: str, tool_input: Any, edited: tuple[str, ...]) -> None:
    payload = {"hook_event_name": "PostToolUse", "tool_name": tool, "tool_input": tool_input}
    assert parse(payload).edited == edited
    assert parse({**payload, "tool_input": json.dumps(tool_input)}).edited == edited
