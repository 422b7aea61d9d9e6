"""The entries that Quire writes into a client's files: its server and its hooks."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from quire.integrations.clients import (
    EVENTS,
    HOOK_CLIENTS,
    HOOK_TIMEOUT,
    POST_TOOL,
    SERVER_NAME,
    Client,
    Hooks,
    Servers,
)
from quire.integrations.install.json_text import GROUP, Entry, Item, Member

_OWN_COMMAND = re.compile(rf"\bhook (?:{'|'.join(EVENTS)}) --client (?:{'|'.join(HOOK_CLIENTS)})\b")


@dataclass(frozen=True, slots=True)
class LaunchOptions:
    """How a client starts Quire."""

    command: tuple[str, ...] = (SERVER_NAME,)
    viewer: str | None = None
    embed: bool = False
    space: str | None = None
    store: str | None = None
    """The store that was named; None: the project's own, which Quire finds itself."""
    project_store: str = ""
    """The project's own store, relative to its root; empty: elsewhere, or there is no project."""

    @property
    def options(self) -> list[str]:
        """The options that all commands share, as far as they were given."""
        values = {"--viewer": self.viewer, "--space": self.space, "--store": self.store}
        return [
            word for name, value in values.items() if value is not None for word in (name, value)
        ]


def server_entry(servers: Servers, launch: LaunchOptions) -> Mapping[str, Any]:
    """Return the entry with which a client starts the server."""
    program, *arguments = launch.command
    elsewhere = servers.root_variable and launch.project_store and launch.store is None
    store = ("--store", f"{servers.root_variable}/{launch.project_store}") if elsewhere else ()
    command = {"command": program, "args": [*arguments, "mcp", *launch.options, *store]}
    first = {key: value for key, value in servers.extra.items() if isinstance(value, str)}
    return {**first, **command, **servers.extra}


def hook_entries(name: str, client: Client, launch: LaunchOptions) -> list[Entry]:
    """Return the entries with which a client runs hooks."""
    hooks = client.hooks
    if hooks is None:
        return []
    entries: list[Entry] = [Member(("version",), 1, only_if_missing=True)] if hooks.version else []
    for event in EVENTS:
        value = _hook_entry(hooks, event, _command_line(name, event, launch))
        entries += [
            Item(("hooks", event_name), value, is_own) for event_name in hooks.names.get(event, ())
        ]
    return entries


def is_own(value: Any) -> bool:
    """Return whether a value is a hook of Quire, or a group of nothing else."""
    if not isinstance(value, dict):
        return False
    if isinstance(value.get("command"), str):
        return _OWN_COMMAND.search(value["command"]) is not None
    members = value.get(GROUP)
    return isinstance(members, list) and bool(members) and all(map(is_own, members))


def _command_line(name: str, event: str, launch: LaunchOptions) -> str:
    embed = ["--embed"] if launch.embed else []
    words = [*launch.command, "hook", event, "--client", name, *launch.options, *embed]
    return shlex.join(words)


def _hook_entry(hooks: Hooks, event: str, line: str) -> dict[str, Any]:
    typed = {"type": "command"} if hooks.typed else {}
    entry: dict[str, Any] = {**typed, "command": line, "timeout": HOOK_TIMEOUT}
    matcher = {"matcher": hooks.matcher} if hooks.matcher and event == POST_TOOL else {}
    return {**matcher, GROUP: [entry]} if hooks.grouped else {**entry, **matcher}
