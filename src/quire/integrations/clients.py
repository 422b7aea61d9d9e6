"""The coding assistants that Quire installs into, and what each of them expects.

One table. It holds only what a client documents: an event without a place for a context is not
used. The guide says where each row comes from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

SESSION_START = "session-start"
PROMPT = "prompt"
POST_TOOL = "post-tool"
EVENTS = (SESSION_START, PROMPT, POST_TOOL)

SERVER_NAME = "quire"
"""The name of the server in a client's settings."""
HOOK_TIMEOUT = 10
"""Seconds after which a client gives up on a hook; a hook gives up long before that."""


@dataclass(frozen=True, slots=True)
class UserFile:
    """Where a user's own settings are: in a folder that a variable names, else below the home."""

    default: str
    variable: str = ""
    below_variable: str = ""
    """The path of the file in the folder that the variable names."""
    mac: str = ""
    windows: str = ""


@dataclass(frozen=True, slots=True)
class Servers:
    """The file in which a client lists its servers."""

    project: str
    user: UserFile
    key: str
    extra: Mapping[str, Any] = field(default_factory=dict)
    """What an entry holds beside `command` and `args`."""
    toml: bool = False
    comments: bool = False
    """Whether the client accepts comments and trailing commas."""
    root_variable: str = ""
    """How the client writes the project's root, if it does not start servers there."""


@dataclass(frozen=True, slots=True)
class Hooks:
    """The file in which a client lists its hooks, and the form in which it talks to them."""

    project: str
    user: UserFile
    names: Mapping[str, tuple[str, ...]]
    """The client's names of each event; an event that is missing cannot be given a context."""
    matcher: str = ""
    """The client's tools that run commands or write files; empty: a hook is run after all tools."""
    grouped: bool = False
    """Whether hooks stand in groups that share a matcher."""
    typed: bool = True
    """Whether an entry says that it is a command."""
    version: bool = False
    """Whether the file says which version of the format it is in."""
    comments: bool = False
    answer: Literal["nested", "flat"] = "nested"
    """`hookSpecificOutput.additionalContext`, or `additional_context` alone."""


@dataclass(frozen=True, slots=True)
class Client:
    """An assistant: its files, its events, and the context files that it loads by itself."""

    title: str
    servers: Servers
    hooks: Hooks | None = None
    context_files: tuple[str, ...] = ()


CLIENTS: Mapping[str, Client] = {
    "claude-code": Client(
        "Claude Code",
        Servers(
            ".mcp.json",
            UserFile(".claude.json", "CLAUDE_CONFIG_DIR", ".claude.json"),
            "mcpServers",
            {"type": "stdio"},
        ),
        Hooks(
            ".claude/settings.json",
            UserFile(".claude/settings.json", "CLAUDE_CONFIG_DIR", "settings.json"),
            {
                SESSION_START: ("SessionStart",),
                PROMPT: ("UserPromptSubmit",),
                POST_TOOL: ("PostToolUse", "PostToolUseFailure"),
            },
            matcher="Bash|Edit|MultiEdit|Write|NotebookEdit",
            grouped=True,
        ),
        ("CLAUDE.md",),
    ),
    "cursor": Client(
        "Cursor",
        Servers(
            ".cursor/mcp.json",
            UserFile(".cursor/mcp.json"),
            "mcpServers",
            comments=True,
            root_variable="${workspaceFolder}",
        ),
        Hooks(
            ".cursor/hooks.json",
            UserFile(".cursor/hooks.json"),
            {SESSION_START: ("sessionStart",), POST_TOOL: ("postToolUse",)},
            matcher="Shell|Write",
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
            UserFile(".codex/config.toml", "CODEX_HOME", "config.toml"),
            "mcp_servers",
            toml=True,
        ),
        Hooks(
            ".codex/hooks.json",
            UserFile(".codex/hooks.json", "CODEX_HOME", "hooks.json"),
            {
                SESSION_START: ("SessionStart",),
                PROMPT: ("UserPromptSubmit",),
                POST_TOOL: ("PostToolUse",),
            },
            matcher="Bash|apply_patch",
            grouped=True,
        ),
        ("AGENTS.md",),
    ),
    "vscode": Client(
        "Visual Studio Code",
        Servers(
            ".vscode/mcp.json",
            UserFile(
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
            UserFile(".copilot/hooks/quire.json", "COPILOT_HOME", "hooks/quire.json"),
            {SESSION_START: ("SessionStart",), POST_TOOL: ("PostToolUse",)},
            version=True,
        ),
        ("AGENTS.md",),
    ),
    "zed": Client(
        "Zed",
        Servers(
            ".zed/settings.json",
            UserFile(
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
HOOK_CLIENTS = tuple(name for name, client in CLIENTS.items() if client.hooks is not None)
