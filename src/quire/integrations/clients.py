"""Which coding assistants are there, and what does each of them want?

One table. What is not documented for a client is not in it: an event that has no place for a
context is not asked for. Where each row was found stands in the guide.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

SESSION_START = "session-start"
PROMPT = "prompt"
POST_TOOL = "post-tool"
EVENTS = (SESSION_START, PROMPT, POST_TOOL)

NAME = "quire"
"""What the server is called in a client's settings."""
PATIENCE = 10
"""Seconds after which a client gives a hook up; by then it has long given itself up."""


@dataclass(frozen=True, slots=True)
class Home:
    """Where a user's own file is: in the folder that a variable names, else below the home."""

    usual: str
    variable: str = ""
    named: str = ""
    """The file's place in the folder that the variable names."""
    mac: str = ""
    windows: str = ""


@dataclass(frozen=True, slots=True)
class Servers:
    """The file in which a client lists its servers."""

    project: str
    user: Home
    key: str
    more: Mapping[str, Any] = field(default_factory=dict)
    """What an entry holds beside `command` and `args`."""
    toml: bool = False
    comments: bool = False
    """Whether the client reads comments and trailing commas."""
    root: str = ""
    """How the client writes the project's root, if it does not start servers there."""


@dataclass(frozen=True, slots=True)
class Hooks:
    """The file in which a client lists its hooks, and how it speaks with them."""

    project: str
    user: Home
    names: Mapping[str, tuple[str, ...]]
    """What the client calls each event; an event that is not in it cannot be given a context."""
    matcher: str = ""
    """Which of the client's tools run commands."""
    grouped: bool = False
    """Hooks stand in groups that share a matcher."""
    typed: bool = True
    """An entry says that it is a command."""
    version: bool = False
    """The file says which version of the format it is in."""
    comments: bool = False
    answer: Literal["nested", "flat"] = "nested"
    """`hookSpecificOutput.additionalContext`, or `additional_context` alone."""


@dataclass(frozen=True, slots=True)
class Client:
    """An assistant: its files, its events, and which pages it reads by itself."""

    title: str
    servers: Servers
    hooks: Hooks | None = None
    reads: tuple[str, ...] = ()


CLIENTS: Mapping[str, Client] = {
    "claude-code": Client(
        "Claude Code",
        Servers(
            ".mcp.json",
            Home(".claude.json", "CLAUDE_CONFIG_DIR", ".claude.json"),
            "mcpServers",
            {"type": "stdio"},
        ),
        Hooks(
            ".claude/settings.json",
            Home(".claude/settings.json", "CLAUDE_CONFIG_DIR", "settings.json"),
            {
                SESSION_START: ("SessionStart",),
                PROMPT: ("UserPromptSubmit",),
                POST_TOOL: ("PostToolUse", "PostToolUseFailure"),
            },
            matcher="Bash",
            grouped=True,
        ),
        ("CLAUDE.md",),
    ),
    "cursor": Client(
        "Cursor",
        Servers(
            ".cursor/mcp.json",
            Home(".cursor/mcp.json"),
            "mcpServers",
            comments=True,
            root="${workspaceFolder}",
        ),
        Hooks(
            ".cursor/hooks.json",
            Home(".cursor/hooks.json"),
            {SESSION_START: ("sessionStart",), POST_TOOL: ("postToolUse",)},
            matcher="Shell",
            typed=False,
            version=True,
            comments=True,
            answer="flat",
        ),
        ("AGENTS.md",),
    ),
    "codex": Client(
        "Codex",
        Servers(
            ".codex/config.toml",
            Home(".codex/config.toml", "CODEX_HOME", "config.toml"),
            "mcp_servers",
            toml=True,
        ),
        Hooks(
            ".codex/hooks.json",
            Home(".codex/hooks.json", "CODEX_HOME", "hooks.json"),
            {
                SESSION_START: ("SessionStart",),
                PROMPT: ("UserPromptSubmit",),
                POST_TOOL: ("PostToolUse",),
            },
            matcher="Bash",
            grouped=True,
        ),
        ("AGENTS.md",),
    ),
    "vscode": Client(
        "Visual Studio Code",
        Servers(
            ".vscode/mcp.json",
            Home(
                ".config/Code/User/mcp.json",
                "XDG_CONFIG_HOME",
                "Code/User/mcp.json",
                mac="Library/Application Support/Code/User/mcp.json",
                windows="AppData/Roaming/Code/User/mcp.json",
            ),
            "servers",
            {"type": "stdio"},
            comments=True,
        ),
        Hooks(
            ".github/hooks/quire.json",
            Home(".copilot/hooks/quire.json", "COPILOT_HOME", "hooks/quire.json"),
            {SESSION_START: ("SessionStart",), POST_TOOL: ("PostToolUse",)},
            version=True,
        ),
        ("AGENTS.md",),
    ),
    "zed": Client(
        "Zed",
        Servers(
            ".zed/settings.json",
            Home(
                ".config/zed/settings.json",
                "XDG_CONFIG_HOME",
                "zed/settings.json",
                mac=".config/zed/settings.json",
                windows="AppData/Roaming/Zed/settings.json",
            ),
            "context_servers",
            {"source": "custom", "env": {}},
            comments=True,
        ),
    ),
}
HOOKED = tuple(name for name, client in CLIENTS.items() if client.hooks is not None)
