"""`quire install` writes what each assistant reads, and keeps everything else as it was."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Forest, Tree

HOOK = """\
{
  "type": "command",
  "command": "quire hook EVENT --client CLIENT --viewer ann",
  "timeout": 10
}"""


def hook(client: str, event: str, indent: int) -> str:
    text = HOOK.replace("EVENT", event).replace("CLIENT", client)
    return text.replace("\n", "\n" + " " * indent)


# Per client: its files as somebody left them (None: not there), and as they are afterwards.
GOLDEN: dict[str, dict[str, tuple[str | None, str]]] = {
    "claude-code": {
        ".mcp.json": (
            '{"mcpServers": {"docs": {"command": "docs-mcp", "env": {"KEY": "s3"}}}}',
            '{"mcpServers": {"docs": {"command": "docs-mcp", "env": {"KEY": "s3"}}, "quire": {"type": "stdio", "command": "quire", "args": ["mcp", "--viewer", "ann"]}}}',
        ),
        ".claude/settings.json": (
            """\
{
    "permissions": {"allow": ["Bash(make:*)"]},
    "hooks": {
        "PostToolUse": [
            {"matcher": "Edit|Write", "hooks": [{"type": "command", "command": "make format"}]}
        ],
        "Stop": []
    }
}
""",
            """\
{
    "permissions": {"allow": ["Bash(make:*)"]},
    "hooks": {
        "PostToolUse": [
            {"matcher": "Edit|Write", "hooks": [{"type": "command", "command": "make format"}]},
            {
                "matcher": "Bash|Edit|MultiEdit|Write|NotebookEdit",
                "hooks": [
                    {
                        "type": "command",
                        "command": "quire hook post-tool --client claude-code --viewer ann",
                        "timeout": 10
                    }
                ]
            }
        ],
        "Stop": [],
        "SessionStart": [
            {
                "hooks": [
                    {
                        "type": "command",
                        "command": "quire hook session-start --client claude-code --viewer ann",
                        "timeout": 10
                    }
                ]
            }
        ],
        "UserPromptSubmit": [
            {
                "hooks": [
                    {
                        "type": "command",
                        "command": "quire hook prompt --client claude-code --viewer ann",
                        "timeout": 10
                    }
                ]
            }
        ],
        "PostToolUseFailure": [
            {
                "matcher": "Bash|Edit|MultiEdit|Write|NotebookEdit",
                "hooks": [
                    {
                        "type": "command",
                        "command": "quire hook post-tool --client claude-code --viewer ann",
                        "timeout": 10
                    }
                ]
            }
        ]
    }
}
""",
        ),
    },
    "cursor": {
        ".cursor/mcp.json": (
            """\
{
  "mcpServers": {
    // the one for tickets
    "tickets": { "url": "http://localhost:9/mcp" }
  }
}
""",
            """\
{
  "mcpServers": {
    // the one for tickets
    "tickets": { "url": "http://localhost:9/mcp" },
    "quire": {
      "command": "quire",
      "args": [
        "mcp",
        "--viewer",
        "ann",
        "--store",
        "${workspaceFolder}/.quire/store.db"
      ]
    }
  }
}
""",
        ),
        ".cursor/hooks.json": (
            '{\n  "version": 1,\n  "hooks": {\n    "stop": [{ "command": "bell.sh" }]\n  }\n}\n',
            """\
{
  "version": 1,
  "hooks": {
    "stop": [{ "command": "bell.sh" }],
    "sessionStart": [
      {
        "command": "quire hook session-start --client cursor --viewer ann",
        "timeout": 10
      }
    ],
    "postToolUse": [
      {
        "command": "quire hook post-tool --client cursor --viewer ann",
        "timeout": 10,
        "matcher": "Shell|Write"
      }
    ]
  }
}
""",
        ),
    },
    "codex": {
        ".codex/config.toml": (
            '# mine\nmodel = "o9"\r\n\n[mcp_servers.docs]   # other\ncommand = "docs-mcp"',
            '# mine\nmodel = "o9"\r\n\n[mcp_servers.docs]   # other\ncommand = "docs-mcp"\r\n\r\n[mcp_servers.quire]\r\ncommand = "quire"\r\nargs = ["mcp", "--viewer", "ann"]\r\n',
        ),
        ".codex/hooks.json": (
            None,
            f"""\
{{
  "hooks": {{
    "SessionStart": [
      {{
        "hooks": [
          {hook("codex", "session-start", 10)}
        ]
      }}
    ],
    "UserPromptSubmit": [
      {{
        "hooks": [
          {hook("codex", "prompt", 10)}
        ]
      }}
    ],
    "PostToolUse": [
      {{
        "matcher": "Bash|apply_patch",
        "hooks": [
          {hook("codex", "post-tool", 10)}
        ]
      }}
    ]
  }}
}}
""",
        ),
    },
    "vscode": {
        ".vscode/mcp.json": (
            """\
{
\t/* what we
\t   use */
\t"inputs": [],
\t"servers": {
\t\t"git": {
\t\t\t"command": "git-mcp", // from the wheel
\t\t}, // keep this one
\t},
}
""",
            """\
{
\t/* what we
\t   use */
\t"inputs": [],
\t"servers": {
\t\t"git": {
\t\t\t"command": "git-mcp", // from the wheel
\t\t}, // keep this one
\t\t"quire": {
\t\t\t"type": "stdio",
\t\t\t"command": "quire",
\t\t\t"args": [
\t\t\t\t"mcp",
\t\t\t\t"--viewer",
\t\t\t\t"ann"
\t\t\t]
\t\t},
\t},
}
""",
        ),
        ".github/hooks/quire.json": (
            None,
            f"""\
{{
  "version": 1,
  "hooks": {{
    "SessionStart": [
      {hook("vscode", "session-start", 6)}
    ],
    "PostToolUse": [
      {hook("vscode", "post-tool", 6)}
    ]
  }}
}}
""",
        ),
    },
    "zed": {
        ".zed/settings.json": (
            '// Project settings\n{\n  "tab_size": 2, // as in .editorconfig\n  "context_servers": {}\n}\n',
            """\
// Project settings
{
  "tab_size": 2, // as in .editorconfig
  "context_servers": {
    "quire": {
      "source": "custom",
      "command": "quire",
      "args": [
        "mcp",
        "--viewer",
        "ann"
      ],
      "env": {}
    }
  }
}
""",
        ),
    },
}
OPTIONS = ("--command", "quire", "--viewer", "ann")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let no test near the settings of whoever runs it."""
    place = tmp_path / "home"
    place.mkdir()
    monkeypatch.setenv("HOME", str(place))
    for name in ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME"):
        monkeypatch.delenv(name, raising=False)
    return place


def state(folder: Path) -> dict[str, bytes | None]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


def planted(tree: Tree, client: str) -> None:
    for path, (before, _) in GOLDEN[client].items():
        if before is not None:
            tree.write(path, before)


@pytest.mark.parametrize("client", GOLDEN)
def test_before_and_after(tree: Tree, client: str) -> None:
    planted(tree, client)
    before = state(tree.root)

    shown = tree.call("install", client, *OPTIONS, "--dry-run")
    assert shown.returncode == 0
    assert "nothing was written" in shown.stderr
    assert state(tree.root) == before

    done = tree.call("install", client, *OPTIONS, "--yes")
    assert done.returncode == 0, done.stderr
    assert done.stdout == shown.stdout
    for path, (_, after) in GOLDEN[client].items():
        assert (tree.root / path).read_bytes().decode() == after, path
        assert f"+++ {tree.root / path}" in done.stdout
    installed = state(tree.root)
    files = set(installed) - set(before) - set(GOLDEN[client]) - {".quire/installed.json"}
    assert all(installed[name] is None for name in files), "folders and no backups"

    again = tree.call("install", client, *OPTIONS, "--yes")
    assert again.returncode == 0
    assert again.stdout == ""
    assert again.stderr.count("nothing to change") == len(GOLDEN[client])
    assert state(tree.root) == installed

    uninstalled = tree.call("install", client, "--uninstall", "--yes")
    assert uninstalled.returncode == 0
    assert state(tree.root) == before


@pytest.mark.parametrize("client", GOLDEN)
def test_what_somebody_changed_since_stays(tree: Tree, client: str) -> None:
    planted(tree, client)
    tree.call("install", client, *OPTIONS, "--yes")
    for path in GOLDEN[client]:
        file = tree.root / path
        text = file.read_bytes().decode()
        more = '\n[mine]\nown = "1"\n' if path.endswith("toml") else ""
        file.write_bytes((text + more if more else text.replace("{", '{"mine": 1, ', 1)).encode())
    assert tree.call("install", client, "--uninstall", "--yes").returncode == 0
    for path in GOLDEN[client]:
        text = (tree.root / path).read_bytes().decode()
        assert "quire" not in text
        assert "mine" in text
    assert not (tree.root / ".quire" / "installed.json").exists()


def test_a_file_of_our_own_that_somebody_only_reformatted_goes(tree: Tree) -> None:
    tree.call("install", "cursor", *OPTIONS, "--yes")
    file = tree.root / ".cursor" / "hooks.json"
    file.write_text(json.dumps(json.loads(file.read_bytes())))
    tree.call("install", "cursor", "--uninstall", "--yes")
    assert not (tree.root / ".cursor").exists()


USER = {
    "claude-code": (".claude.json", ".claude/settings.json"),
    "cursor": (".cursor/mcp.json", ".cursor/hooks.json"),
    "codex": (".codex/config.toml", ".codex/hooks.json"),
    "vscode": (".config/Code/User/mcp.json", ".copilot/hooks/quire.json"),
    "zed": (".config/zed/settings.json",),
}


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have other places")
@pytest.mark.parametrize("client", USER)
def test_the_users_own(tree: Tree, home: Path, client: str) -> None:
    before = state(tree.root)
    assert tree.call("install", client, *OPTIONS, "--user", "--yes").returncode == 0
    assert state(tree.root) == before
    files = {path for path, data in state(home).items() if data is not None}
    assert files == {*USER[client], ".config/quire/installed.json"}
    assert "workspaceFolder" not in (home / USER[client][0]).read_text()
    assert tree.call("install", client, "--uninstall", "--user", "--yes").returncode == 0
    assert state(home) == {}


def test_a_folder_that_a_variable_names(
    tree: Tree, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEX_HOME", str(home / "elsewhere"))
    tree.call("install", "codex", *OPTIONS, "--user", "--yes")
    assert (home / "elsewhere" / "config.toml").is_file()
    assert not (home / ".codex").exists()


def test_several_clients_do_not_meet(tree: Tree) -> None:
    before = state(tree.root)
    for client in GOLDEN:
        assert tree.call("install", client, *OPTIONS, "--yes").returncode == 0
    for client in GOLDEN:
        assert tree.call("install", client, "--uninstall", "--yes").returncode == 0
    assert state(tree.root) == before


BROKEN = [
    ("claude-code", ".mcp.json", '{\n  "mcpServers": {},\n}\n', ":3: a comma after the last entry is not allowed"),
    ("claude-code", ".mcp.json", "{\n  // no\n}\n", ":2: comments are not allowed in this file"),
    ("claude-code", ".mcp.json", "[]", "expected an object, not an array"),
    ("claude-code", ".mcp.json", '{"mcpServers": []}', ":1: mcpServers: expected an object"),
    ("claude-code", ".claude/settings.json", '{"hooks": {\n"PostToolUse": {}}}', ":2: hooks.PostToolUse: expected an array"),
    ("claude-code", ".claude/settings.json", '{"a": 1}\n}', ":2: unexpected text after the end"),
    ("cursor", ".cursor/hooks.json", '{"a" 1}', ":1: expected a colon, not '1'"),
    ("vscode", ".vscode/mcp.json", '{\n"a": 1\n"b": 2}', ":3: expected a comma or }"),
    ("vscode", ".vscode/mcp.json", '{\n"a": tru}', ":2: expected a value, not 't'"),
    ("zed", ".zed/settings.json", '{"a": "\n"}', ":1: expected a value"),
    ("zed", ".zed/settings.json", '{"a": 01}', ":1: 01 is not a value"),
    ("zed", ".zed/settings.json", '{"a": /* never closed', ":1: expected a value, not '/'"),
    ("zed", ".zed/settings.json", "[" * 5000, "nested more than 100 levels"),
    ("codex", ".codex/config.toml", "a = 1\nb = = 2\n", ":2: "),
    ("codex", ".codex/config.toml", 'mcp_servers = { a = { command = "x" } }\n', "add it by hand"),
    ("codex", ".codex/config.toml", 'mcp_servers.quire.command = "x"\n', "change it by hand"),
]  # fmt: skip


@pytest.mark.parametrize(("client", "path", "text", "reason"), BROKEN)
def test_a_broken_file_is_refused(
    tree: Tree, client: str, path: str, text: str, reason: str
) -> None:
    tree.write(path, text)
    before = state(tree.root)
    done = tree.call("install", client, *OPTIONS, "--yes")
    assert done.returncode == 2
    assert done.stdout == ""
    assert f"quire: {tree.root / path}" in done.stderr
    assert reason in done.stderr
    assert "nothing was written" in done.stderr
    assert state(tree.root) == before


def test_bytes_that_are_no_text_are_refused(tree: Tree) -> None:
    tree.write(".mcp.json", b'{"a": "\xff"}')
    done = tree.call("install", "claude-code", *OPTIONS, "--yes")
    assert done.returncode == 2
    assert "not UTF-8 text" in done.stderr


def test_a_viewer_that_is_none_is_refused(tree: Tree) -> None:
    before = state(tree.root)
    for name in ("@crew", "ann lee", "", "owner"):
        done = tree.call("install", "claude-code", *OPTIONS[:2], "--viewer", name, "--yes")
        assert (done.returncode, done.stdout) == (2, "")
        assert f"{name!r} is not a user's name" in done.stderr
    assert state(tree.root) == before


@pytest.mark.parametrize(("answer", "written"), [("y\n", True), ("n\n", False), ("", False)])
def test_it_asks(tree: Tree, answer: str, *, written: bool) -> None:
    done = tree.call("install", "zed", *OPTIONS, stdin=answer)
    assert done.returncode == (0 if written else 1)
    assert "Write this?" in done.stderr
    assert (tree.root / ".zed" / "settings.json").exists() is written
    assert ("nothing was written" in done.stderr) is not written


def test_json(tree: Tree) -> None:
    done = tree.call("install", "zed", *OPTIONS, "--json", "--dry-run")
    data = json.loads(done.stdout)
    assert data["written"] is False
    assert [file["change"] for file in data["files"]] == ["created"]
    assert data["files"][0]["diff"][1] == f"+++ {tree.root / '.zed' / 'settings.json'}"
    assert tree.call("install", "zed", "--json").returncode == 2


def test_a_link_stays_a_link_and_rights_stay(tree: Tree, home: Path) -> None:
    real = home / "dotfiles.json"
    real.write_text("{}")
    real.chmod(0o600)
    (home / ".cursor").mkdir()
    (home / ".cursor" / "mcp.json").symlink_to(real)
    tree.call("install", "cursor", *OPTIONS, "--user", "--yes")
    assert (home / ".cursor" / "mcp.json").is_symlink()
    assert real.stat().st_mode & 0o777 == 0o600
    assert "quire" in real.read_text()


@pytest.mark.parametrize("record", ["[1", "[" * 99_999], ids=["broken", "deep"])
def test_a_record_that_cannot_be_read_is_none(tree: Tree, record: str) -> None:
    tree.call("install", "zed", *OPTIONS, "--yes")
    (tree.root / ".quire" / "installed.json").write_text(record)
    tree.call("install", "zed", "--uninstall", "--yes")
    assert json.loads((tree.root / ".zed" / "settings.json").read_text()) == {"context_servers": {}}


def test_how_quire_is_started(tree: Tree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def started(*options: str) -> list[str]:
        data = json.loads(tree.call("install", "zed", "--dry-run", "--json", *options).stdout)
        text = "\n".join(line[1:] for line in data["files"][0]["diff"][3:])
        entry = json.loads(text)["context_servers"]["quire"]
        return [entry["command"], *entry["args"]]

    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    assert started() == [sys.executable, "-P", "-m", "quire", "mcp"]
    program = tmp_path / "bin" / "quire"
    program.parent.mkdir()
    program.touch(mode=0o755)
    monkeypatch.setenv("PATH", os.fspath(program.parent))
    assert started() == ["quire", "mcp"]
    assert started("--command", "uvx 'a b'") == ["uvx", "a b", "mcp"]
    store = str(tree.root / "other.db")
    assert started("--space", "s", "--store", "other.db") == [
        "quire",
        "mcp",
        "--space",
        "s",
        "--store",
        store,
    ]
    for wrong in ("", "'open"):
        assert tree.call("install", "zed", "--command", wrong).returncode == 2


def test_a_process_of_its_own(plant: Forest, home: Path) -> None:
    """The whole way, from a folder below the root."""
    tree = plant("whole", {"src/a.py": "pass\n"})
    command = (sys.executable, "-m", "quire")
    for more in ((), ("--uninstall",)):
        done = tree.run(
            "install",
            "claude-code",
            "--yes",
            "--command",
            "quire",
            *more,
            command=command,
            cwd=tree.root / "src",
        )
        assert done.returncode == 0, done.stderr
        assert (tree.root / ".mcp.json").exists() is not bool(more)
    assert list(home.iterdir()) == []
