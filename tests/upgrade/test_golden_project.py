"""A project made by an older version opens, answers as before, and can be uninstalled to the byte."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import tarfile
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Tree

GOLDEN = Path(__file__).parent / "golden"
VERSIONS = sorted(file.name.removesuffix(".tar.gz") for file in GOLDEN.glob("*.tar.gz"))
MADE_AT = "/golden/project"
OTHER_TITLES = ("workspace",)
"""Pages whose blocks have other titles today; what they say is the same."""
WITHOUT_SOURCES = ("entities",)
"""Pages that list no sources today, because their budget is small; prose is in no fence, and its
heading, which names it, is said once."""
TOLD_ONCE = ("premortem",)
"""Pages that tell an experience once and whole; a section with nothing of its own is gone."""
MORE_SECTIONS = ("agent",)
"""Pages that have a section of documents today; what they said, they say."""
TITLE = re.compile(r"(\[[^]]*\] )?\[[^]]*\]")
CLIENTS = ("claude-code", "cursor", "codex", "vscode", "zed")


@pytest.fixture(params=VERSIONS)
def version(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def project(version: str, tmp_path: Path) -> Tree:
    """A copy of the golden project, moved to a place of its own."""
    with tarfile.open(GOLDEN / f"{version}.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    root = tmp_path / "project"
    record = root / ".quire" / "installed.json"
    record.write_text(record.read_text().replace(MADE_AT, str(root)))
    inside = tmp_path / "tree"
    tree = Tree(inside)
    shutil.rmtree(inside)
    tree.root = root
    return tree


def answers(version: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((GOLDEN / f"{version}.json").read_text())
    return found


@pytest.mark.parametrize("name", sorted(answers(VERSIONS[0])))
def test_a_golden_project_answers_as_before(project: Tree, version: str, name: str) -> None:
    expected = answers(version)[name]
    done = project.call(*expected["argv"])
    assert done.returncode == 0, done.stderr
    answer = done.stdout
    if not isinstance(expected["answer"], str):
        answer = json.loads(answer)
        known = known_fields(answer, expected["answer"])
        assert leave_out(known) == leave_out(expected["answer"])
    elif name in OTHER_TITLES:
        lines = [line for line in expected["answer"].splitlines() if not TITLE.fullmatch(line)]
        assert [line for line in lines if line not in answer and line != "Plan"] == []
    elif name in WITHOUT_SOURCES:
        lines = expected["answer"].partition("\n\n---\n**Sources:**")[0].splitlines()
        gone = {line for line in lines if line not in answer.splitlines()}
        assert gone == {"# Consensus", "## Recovery"}
    elif name in TOLD_ONCE:
        lines = expected["answer"].splitlines()
        missing = [line for line in lines if line not in answer.splitlines()]
        assert missing == ["## Root Causes to Watch"]
    elif name in MORE_SECTIONS:
        *lines, footer = expected["answer"].splitlines()
        assert footer.endswith("source*")
        assert [line for line in lines if line not in answer.splitlines()] == []
    else:
        assert answer == expected["answer"]


def known_fields(answer: Any, expected: Any) -> Any:
    """Return an answer without the fields that joined since; the order and number of rows count."""
    if isinstance(expected, dict):
        return {key: known_fields(answer[key], value) for key, value in expected.items()}
    if isinstance(expected, list) and len(answer) == len(expected):
        return [known_fields(*pair) for pair in zip(answer, expected, strict=True)]
    return answer


def leave_out(answer: dict[str, Any]) -> dict[str, Any]:
    """Leave out what depends on when files were unpacked, and the size of the file."""
    return {key: value for key, value in answer.items() if key not in {"stale", "bytes"}}


def test_golden_settings_are_read(project: Tree) -> None:
    done = project.call("index", "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["removed"] == 1, "quire.toml, which is not indexed any more"
    assert "quire.log" not in done.stdout
    listed = json.loads(project.call("access", "list", "--json").stdout)
    assert [rule["glob"] for rule in listed["rules"]] == ["hr/**"]


@pytest.mark.parametrize("client", CLIENTS)
def test_a_golden_installation_is_taken_out_to_the_byte(project: Tree, client: str) -> None:
    for each in CLIENTS:
        done = project.call("install", each, "--uninstall", "--yes", "--command", "quire")
        assert done.returncode == 0, done.stderr
        if each == client:
            break
    before = project.root.parent / "project-before"
    files = {
        "claude-code": (".mcp.json", ".claude/settings.json"),
        "cursor": (".cursor/mcp.json", ".cursor/hooks.json"),
        "codex": (".codex/config.toml", ".codex/hooks.json"),
        "vscode": (".vscode/mcp.json",),
        "zed": (".zed/settings.json",),
    }
    for name in files[client]:
        original = before / name
        left = project.root / name
        assert left.exists() == original.exists(), name
        if original.exists():
            assert left.read_bytes() == original.read_bytes(), name


def test_the_hooks_of_a_golden_installation_still_answer(project: Tree) -> None:
    settings = json.loads((project.root / ".claude" / "settings.json").read_text())
    lines = [
        hook["command"]
        for groups in settings["hooks"].values()
        for group in groups
        for hook in group["hooks"]
    ]
    assert lines
    for line in lines:
        program, *words = shlex.split(line)
        assert program == "quire"
        event = {"cwd": str(project.root), "session_id": "s", "prompt": "staging database port"}
        done = project.call(*words, stdin=json.dumps(event))
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr


def test_the_server_of_a_golden_installation_still_starts(project: Tree) -> None:
    entry = json.loads((project.root / ".mcp.json").read_text())["mcpServers"]["quire"]
    assert entry["command"] == "quire"
    done = project.call(*entry["args"], "--help")
    assert done.returncode == 0, done.stderr
