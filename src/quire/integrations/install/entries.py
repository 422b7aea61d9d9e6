"""What does Quire write into the files of a client?"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from quire.integrations.clients import (
    EVENTS,
    HOOKED,
    NAME,
    PATIENCE,
    POST_TOOL,
    Client,
    Hooks,
    Servers,
)
from quire.integrations.install.json_text import GROUP, Entry, Item, Member

_OWN = re.compile(rf"\bhook (?:{'|'.join(EVENTS)}) --client (?:{'|'.join(HOOKED)})\b")


@dataclass(frozen=True, slots=True)
class Calling:
    """How Quire is to be started."""

    command: tuple[str, ...] = (NAME,)
    viewer: str | None = None
    embed: bool = False
    space: str | None = None
    store: str | None = None
    """The store that was asked for; None: the project's own, which Quire finds itself."""
    own: str = ""
    """Where the project's own is from its root; empty: elsewhere, or there is no project."""

    @property
    def options(self) -> list[str]:
        """The options that all commands have, as far as they were given."""
        named = {"--viewer": self.viewer, "--space": self.space, "--store": self.store}
        return [
            word for name, value in named.items() if value is not None for word in (name, value)
        ]


def server(servers: Servers, calling: Calling) -> Mapping[str, Any]:
    """Say how a client starts the server."""
    program, *before = calling.command
    lost = servers.root and calling.own and calling.store is None
    own = ("--store", f"{servers.root}/{calling.own}") if lost else ()
    said = {"command": program, "args": [*before, "mcp", *calling.options, *own]}
    first = {key: value for key, value in servers.more.items() if isinstance(value, str)}
    return {**first, **said, **servers.more}


def listed(name: str, client: Client, calling: Calling) -> list[Entry]:
    """Say which hooks a client is to run."""
    hooks = client.hooks
    if hooks is None:
        return []
    found: list[Entry] = [Member(("version",), 1, weak=True)] if hooks.version else []
    for event in EVENTS:
        value = _hook(hooks, event, _line(name, event, calling))
        found += [Item(("hooks", theirs), value, is_own) for theirs in hooks.names.get(event, ())]
    return found


def is_own(value: Any) -> bool:
    """Tell a hook of Quire, or a group of nothing else, from others."""
    if not isinstance(value, dict):
        return False
    if isinstance(value.get("command"), str):
        return _OWN.search(value["command"]) is not None
    inner = value.get(GROUP)
    return isinstance(inner, list) and bool(inner) and all(is_own(one) for one in inner)


def _line(name: str, event: str, calling: Calling) -> str:
    embed = ["--embed"] if calling.embed else []
    words = [*calling.command, "hook", event, "--client", name, *calling.options, *embed]
    return shlex.join(words)


def _hook(hooks: Hooks, event: str, line: str) -> dict[str, Any]:
    typed = {"type": "command"} if hooks.typed else {}
    entry: dict[str, Any] = {**typed, "command": line, "timeout": PATIENCE}
    matcher = {"matcher": hooks.matcher} if hooks.matcher and event == POST_TOOL else {}
    return {**matcher, GROUP: [entry]} if hooks.grouped else {**entry, **matcher}
