"""An installation is reverted to the byte, whatever the settings looked like."""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from quire.integrations.clients import CLIENTS, Client
from quire.integrations.install import plan
from quire.integrations.install.entries import LaunchOptions, is_own, server_entry
from quire.integrations.install.json_nodes import parse
from tests.integrations import random_settings

LAUNCH = LaunchOptions(("quire",), viewer="ann", project_store=".quire/store.db")
OTHER = LaunchOptions(("/opt/a b/quire",), viewer="bob", embed=True)
COMMENT = re.compile(r"// own \{ line|/\* in, between \*/|/\* over\r?\n two \*/")
JSON = [name for name, client in CLIENTS.items() if not client.servers.toml]


class Place:
    """A project on disk into which a client is installed, and from which it is taken out."""

    def __init__(self, root: Path, name: str) -> None:
        self.root = root
        self.name = name
        self.client: Client = CLIENTS[name]
        self.scope = plan.Scope(root, root / "home", {})

    def install(self, launch: LaunchOptions = LAUNCH) -> bool:
        return self._run(plan.plan_install, launch, keep=True)

    def uninstall(self) -> bool:
        return self._run(plan.plan_uninstall, LAUNCH, keep=False)

    def _run(
        self, flow: Callable[..., list[plan.FileChange]], launch: LaunchOptions, *, keep: bool
    ) -> bool:
        files = plan.client_files(self.name, self.client, launch, self.scope)
        record = plan.load_record(self.scope.record_file)
        changes = flow(files, record.files(self.name))
        plan.apply_changes(changes)
        installed = [change.installed for change in changes if keep and change.installed]
        plan.save_record(self.scope.record_file, record, self.name, installed)
        return any(change.needed for change in changes)

    def write(self, path: str, text: str) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_bytes(text.encode())

    def read(self, path: str) -> str:
        return (self.root / path).read_bytes().decode()

    def state(self) -> dict[str, bytes | None]:
        return {
            path.relative_to(self.root).as_posix(): path.read_bytes() if path.is_file() else None
            for path in sorted(self.root.rglob("*"))
        }


def parse_value(text: str, *, comments: bool) -> Any:
    return parse(text, "a file", comments=comments).value


def hidden(value: Any) -> Any:
    """Remove what belongs to Quire, and what is empty then."""
    if isinstance(value, dict):
        members = {key: hidden(part) for key, part in value.items() if key != "quire"}
        return {key: part for key, part in members.items() if part not in ({}, [])}
    if isinstance(value, list):
        items = [hidden(part) for part in value if not is_own(part)]
        return [part for part in items if part not in ({}, [])]
    return value


def filled(client: Client, data: st.DataObject, place: Place) -> dict[str, str]:
    """Write random settings into some of a client's files; return what was written."""
    texts: dict[str, str] = {}
    events = (
        []
        if client.hooks is None
        else [name for names in client.hooks.names.values() for name in names]
    )
    shape = random_settings.settings(client.servers.key, events)
    for part in (client.servers, client.hooks):
        if part is None or not data.draw(st.booleans(), label="is there"):
            continue
        comments = part.comments
        value = data.draw(shape | st.just(None), label="settings")
        text = (
            data.draw(st.sampled_from(["", "\n", " \n"]))
            if value is None
            else data.draw(random_settings.layout(value, comments=comments))
        )
        texts[part.project] = text
        place.write(part.project, text)
    return texts


@pytest.mark.parametrize("name", JSON)
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_json(name: str, data: st.DataObject) -> None:
    client = CLIENTS[name]
    with TemporaryDirectory() as folder:
        place = Place(Path(folder), name)
        texts = filled(client, data, place)
        before = place.state()

        assert place.install()
        for part in (client.servers, client.hooks):
            if part is not None:
                _check_kept(
                    part.project, place, texts.get(part.project, ""), comments=part.comments
                )
        entry = parse_value(place.read(client.servers.project), comments=client.servers.comments)
        assert entry[client.servers.key]["quire"] == server_entry(client.servers, LAUNCH)
        installed = place.state()

        assert not place.install()
        assert place.state() == installed

        if data.draw(st.booleans(), label="with other options in between"):
            assert place.install(OTHER)
            assert place.install()
            assert place.state() == installed

        assert place.uninstall()
        assert place.state() == before


def _check_kept(path: str, place: Place, text: str, *, comments: bool) -> None:
    after = place.read(path)
    if text.strip("\ufeff \r\n"):
        was, now = parse_value(text, comments=comments), parse_value(after, comments=comments)
        now = {key: part for key, part in now.items() if key in was or key != "version"}
        assert hidden(now) == hidden(was)
        assert list(was) == [key for key in now if key in was]
    assert COMMENT.findall(after) == COMMENT.findall(text)
    if "\r\n" in text:
        assert "\n" not in after.replace("\r\n", "")


@pytest.mark.parametrize("name", JSON)
@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_without_a_record_only_what_belongs_to_quire_is_taken_out(
    name: str, data: st.DataObject
) -> None:
    client = CLIENTS[name]
    with TemporaryDirectory() as folder:
        place = Place(Path(folder), name)
        texts = filled(client, data, place)
        place.install()
        shutil.rmtree(place.root / ".quire")
        place.uninstall()
        for part in (client.servers, client.hooks):
            if part is None:
                continue
            after = place.read(part.project)
            remaining = parse_value(after, comments=part.comments)
            remaining.pop("version", None)
            text = texts.get(part.project, "")
            was = parse_value(text, comments=part.comments) if text.strip("\ufeff \r\n") else {}
            was.pop("version", None)
            assert hidden(remaining) == hidden(was)
            assert "--client" not in after
            assert '"quire"' not in after
            assert COMMENT.findall(after) == COMMENT.findall(text)


@settings(max_examples=80)
@given(text=random_settings.tables() | st.just(""))
def test_toml(text: str) -> None:
    try:
        was = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        reject()  # `[mcp_servers.other]` after its own part
    with TemporaryDirectory() as folder:
        place = Place(Path(folder), "codex")
        place.write(".codex/config.toml", text)
        before = place.state()
        assert place.install()
        after = place.read(".codex/config.toml")
        assert after.startswith(text)
        servers = {
            **was.get("mcp_servers", {}),
            "quire": {"command": "quire", "args": ["mcp", "--viewer", "ann"]},
        }
        assert tomllib.loads(after) == {**was, "mcp_servers": servers}
        assert not place.install()
        place.install(OTHER)
        place.install()
        assert place.read(".codex/config.toml") == after

        # Somebody else adds a table; then only ours goes.
        more = after + "\n[added]\nlater = true\n"
        place.write(".codex/config.toml", more)
        place.uninstall()
        left = tomllib.loads(place.read(".codex/config.toml"))
        assert left.pop("added") == {"later": True}
        if not was.get("mcp_servers"):
            left.pop("mcp_servers", None)
        assert left == was

        place.write(".codex/config.toml", text)
        place.install()
        place.uninstall()
        assert place.state() == before


def test_the_record_keeps_nothing_of_the_file_but_what_was_taken_out(tmp_path: Path) -> None:
    place = Place(tmp_path, "claude-code")
    place.write(".mcp.json", json.dumps({"mcpServers": {"x": {"env": {"KEY": "sk-secret"}}}}))
    place.install()
    assert "sk-secret" not in place.read(".quire/installed.json")
    assert "sk-secret" in place.read(".mcp.json")


def test_a_server_that_was_named_so_before_comes_back(tmp_path: Path) -> None:
    place = Place(tmp_path, "zed")
    text = '{\n  "context_servers": {"quire": {"command": "mine"} /* old */}\n}\n'
    place.write(".zed/settings.json", text)
    place.install()
    assert '"mine"' not in place.read(".zed/settings.json")
    place.uninstall()
    assert place.read(".zed/settings.json") == text


def test_hooks_that_a_colleague_installed_give_way_and_come_back(tmp_path: Path) -> None:
    place = Place(tmp_path, "claude-code")
    place.install(OTHER)
    text = place.read(".claude/settings.json")
    shutil.rmtree(place.root / ".quire")
    place.install()
    assert "--viewer bob" not in place.read(".claude/settings.json")
    place.uninstall()
    assert place.read(".claude/settings.json") == text


def test_a_hook_in_a_group_with_others_is_taken_out_alone(tmp_path: Path) -> None:
    place = Place(tmp_path, "claude-code")
    place.install()
    data = json.loads(place.read(".claude/settings.json"))
    own = {"type": "command", "command": "notify.sh"}
    data["hooks"]["PostToolUse"][0]["hooks"].append(own)
    place.write(".claude/settings.json", json.dumps(data, indent=4))
    place.uninstall()
    left = json.loads(place.read(".claude/settings.json"))
    matcher = "Bash|Edit|MultiEdit|Write|NotebookEdit"
    assert left == {"hooks": {"PostToolUse": [{"matcher": matcher, "hooks": [own]}]}}
    assert not (tmp_path / ".quire").exists()
