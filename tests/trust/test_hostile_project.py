"""A cloned project sends nothing, to nobody, until its user trusts it.

Real processes and a real socket: whatever connects is counted, and whatever is sent is read.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

import quire
from tests.conftest import COMMAND, Tree
from tests.mcp.wire import wired

from .conftest import SECRET, VARIABLE, Listener, hostile_settings

PATIENT = ("--timeout", "60")
NOT_TRUSTED = "this project is not trusted"
CHANGED = "this project has changed since it was trusted"
SITUATION = '{"tool": "edit", "path": "readme.md", "intent": "learn about ropes"}'


def hook(tree: Tree, event: str, **more: Any) -> tuple[dict[str, Any], str]:
    """Run a hook; it must end with 0 and one JSON object."""
    payload = {"session_id": "s", "cwd": str(tree.root), "hook_event_name": event, **more}
    name = {"SessionStart": "session-start", "UserPromptSubmit": "prompt"}[event]
    done = tree.run("hook", name, *PATIENT, "--embed", stdin=json.dumps(payload))
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert isinstance(answer, dict)
    return answer, done.stderr


def test_opening_a_cloned_project_sends_nothing(
    cloned: Tree, listener: Listener, own_config: Path
) -> None:
    answer, said = hook(cloned, "SessionStart")
    assert NOT_TRUSTED in said
    assert "Tie every rope." in answer["hookSpecificOutput"]["additionalContext"]
    _, said = hook(cloned, "UserPromptSubmit", prompt="where do ships rest")
    assert NOT_TRUSTED in said
    assert listener.received == []


@pytest.mark.parametrize(
    "command",
    [
        ("index",),
        ("index", "--json"),
        ("search", "ships at night", "--json"),
        ("assemble", "ships at night", "--json"),
        ("assemble", "ships", "--recipe", "workspace", "--cut", "summarize", "--json"),
        ("assemble", "ships", "--recipe", "situation", "--situation", SITUATION, "--json"),
        ("rules", "test", "--situation", SITUATION),
        ("remember", "The bell rings at noon."),
        ("doctor",),
        ("status",),
    ],
    ids=lambda command: " ".join(command[:4]),
)
def test_no_command_sends_anything(
    cloned: Tree, listener: Listener, own_config: Path, command: tuple[str, ...]
) -> None:
    done = cloned.run(*command)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count(NOT_TRUSTED) == 1
    assert "[judge] provider, url, model, key_env" in done.stderr
    if command[0] in {"index", "search", "assemble"} and "--json" in command:
        notes = json.loads(done.stdout)["notes"]
        assert [NOT_TRUSTED in note for note in notes].count(True) == 1
    assert SECRET not in done.stdout + done.stderr
    assert listener.received == []


def test_a_server_for_agents_sends_nothing(
    cloned: Tree, listener: Listener, own_config: Path
) -> None:
    with wired([COMMAND, "mcp"], cloned.root) as wire:
        wire.initialize()
        result = wire.call("search", query="ships at night")
        assert any(NOT_TRUSTED in note for note in result["structuredContent"]["notes"])
        code, said = wire.end()
    assert (code, NOT_TRUSTED in said) == (0, True)
    assert listener.received == []


def test_trust_by_content(cloned: Tree, listener: Listener, own_config: Path) -> None:
    """Trusted it connects, with its key; with other settings it does not any more."""
    done = cloned.run("trust", "--yes")
    assert done.returncode == 0, done.stderr
    assert f"sends texts of this project to {listener.url}" in done.stdout
    assert f"sends the content of the environment variable {VARIABLE} (it is set)" in done.stdout
    assert SECRET not in done.stdout + done.stderr

    _, said = hook(cloned, "SessionStart")
    assert NOT_TRUSTED not in said
    assert f"Bearer {SECRET}" in listener.everything()
    listener.received.clear()

    with (cloned.root / "quire.toml").open("a") as file:
        file.write("# another comment\n")
    _, said = hook(cloned, "SessionStart")
    assert CHANGED in said
    done = cloned.run("assemble", "ships", "--recipe", "situation", "--situation", SITUATION)
    assert CHANGED in done.stderr
    assert listener.received == []


def test_an_open_store_follows_what_is_trusted(
    cloned: Tree, listener: Listener, own_config: Path
) -> None:
    """A server that runs for days takes a revocation with its next question."""
    situation = json.loads(SITUATION)
    with quire.open(cloned.root) as opened:
        assert NOT_TRUSTED in opened.notes[0]
        opened.rules.situate(situation, "readme.md")
        assert listener.received == []
        cloned.trust()
        context = opened.rules.situate(situation, "readme.md")
        assert not any(NOT_TRUSTED in note for note in context.notes)
        assert SECRET in listener.everything()
        listener.received.clear()
        assert cloned.run("trust", "--revoke").returncode == 0
        context = opened.rules.situate({**situation, "intent": "another"}, "readme.md")
        assert any(NOT_TRUSTED in note for note in context.notes)
        assert listener.received == []


def test_the_users_own_settings_count_without_trust(
    cloned: Tree, listener: Listener, own_config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cloned.remove("quire.toml")
    file = own_config / "quire" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text(hostile_settings(listener.url))
    file.chmod(0o600)
    hook(cloned, "SessionStart")
    assert SECRET in listener.everything()
    listener.received.clear()
    file.unlink()
    for name, value in (("PROVIDER", "llm"), ("URL", listener.url), ("MODEL", "m")):
        monkeypatch.setenv(f"QUIRE_JUDGE_{name}", value)
    monkeypatch.setenv("QUIRE_JUDGE_KEY_ENV", VARIABLE)
    hook(cloned, "SessionStart")
    assert SECRET in listener.everything()


def test_a_project_cannot_turn_the_users_endpoint_against_them(
    cloned: Tree, listener: Listener, own_config: Path
) -> None:
    """The key that the user keeps for their own service goes there alone."""
    file = own_config / "quire" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text(hostile_settings(listener.url))
    with_key = f'[judge]\nkey_env = "{VARIABLE}"\nurl = "http://127.0.0.1:9/v1"\nmodel = "dear"\n'
    cloned.write("quire.toml", with_key)
    with quire.open(cloned.root) as opened:
        assert opened.config.judge.url == listener.url
        assert opened.config.judge.model == "m"
        assert opened.config.judge.provider == "llm"


@pytest.mark.parametrize("folder", [".", "", "./bin"])
def test_no_program_of_the_project_is_run(
    cloned: Tree, own_config: Path, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    """Windows looks into the current folder first, and a PATH may name it."""
    ran = cloned.root / "ran"
    for place in ("git", "bin/git", "xclip"):
        program = cloned.write(place, f"#!/bin/sh\ntouch {ran}\n")
        program.chmod(0o755)
    (cloned.root / ".git").mkdir(exist_ok=True)
    monkeypatch.setenv("PATH", os.pathsep.join((folder, os.environ["PATH"])))
    assert cloned.run("index").returncode == 0
    cloned.run("pack", ".", "ships", "--copy")
    assert not ran.exists()
