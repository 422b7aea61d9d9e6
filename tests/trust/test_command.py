"""`quire trust`: what it shows, asks, records, lists and takes back."""

from __future__ import annotations

import json
import os
import select
import subprocess
import time
from pathlib import Path

import pytest

from quire import config
from tests.conftest import COMMAND, Tree

SETTINGS = '[judge]\nurl = "http://127.0.0.1:9/v1"\nkey_env = "SOME_KEY"\n'


@pytest.fixture
def project(tree: Tree, own_config: Path) -> Tree:
    tree.write("quire.toml", SETTINGS)
    return tree


def is_trusted(tree: Tree) -> bool:
    return config.load(tree.root).judge.url is not None


def test_what_is_shown(project: Tree) -> None:
    done = project.run("trust", "--json")
    told = json.loads(done.stdout)
    assert done.returncode == 1, "without --yes, JSON only shows"
    assert told == {
        "root": str(project.root),
        "file": str(project.root / "quire.toml"),
        "needed": True,
        "trusted": False,
        "doubts": [],
        "settings": [
            {
                "name": "[judge] url",
                "value": "http://127.0.0.1:9/v1",
                "effect": "sends texts of this project to http://127.0.0.1:9/v1",
            },
            {
                "name": "[judge] key_env",
                "value": "SOME_KEY",
                "effect": "sends the content of the environment variable SOME_KEY",
            },
        ],
    }
    assert not is_trusted(project)


def test_nobody_to_ask(project: Tree) -> None:
    done = project.run("trust")
    assert done.returncode == 2
    assert "add --yes" in done.stderr
    assert not is_trusted(project)


@pytest.mark.parametrize(("typed", "trusted"), [(b"y\n", True), (b"n\n", False), (b"\n", False)])
def test_it_asks_once(project: Tree, typed: bytes, trusted: bool) -> None:
    pty = pytest.importorskip("pty", reason="this system has no such terminals")
    terminal, inner = pty.openpty()
    process = subprocess.Popen(
        [COMMAND, "trust"], cwd=project.root, stdin=inner, stdout=inner, stderr=inner
    )
    os.close(inner)
    os.write(terminal, typed)
    shown = b""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and select.select([terminal], [], [], 60)[0]:
        try:
            part = os.read(terminal, 4096)
        except OSError:  # the process has ended
            break
        if not part:
            break
        shown += part
    assert process.wait(60) == (0 if trusted else 1)
    os.close(terminal)
    assert shown.count(b"Trust this project?") == 1
    assert is_trusted(project) is trusted


def test_list_and_revoke(project: Tree) -> None:
    assert project.run("trust", "--list").stderr == "no project is trusted\n"
    assert project.run("trust", "--yes").returncode == 0
    assert project.run("trust", "--yes").returncode == 0, "again"
    assert "(trusted)" in project.run("trust").stdout
    (entry,) = json.loads(project.run("trust", "--list", "--json").stdout)["projects"]
    assert (entry["root"], entry["trusted"]) == (str(project.root), True)
    assert entry["settings"] == ["[judge] url", "[judge] key_env"]
    project.write("quire.toml", SETTINGS + "# changed\n")
    (entry,) = json.loads(project.run("trust", "--list", "--json").stdout)["projects"]
    assert entry["trusted"] is False
    assert "(its settings have changed since)" in project.run("trust", "--list").stdout
    assert project.run("trust", "--revoke").returncode == 0
    assert project.run("trust", "--revoke").returncode == 1
    assert json.loads(project.run("trust", "--list", "--json").stdout) == {"projects": []}
    assert project.run("trust", "--list", "--revoke").returncode == 2


def test_a_project_that_is_gone_can_be_revoked(project: Tree) -> None:
    project.trust()
    gone = project.root.rename(project.root.with_name("moved"))
    done = project.run("trust", "--revoke", str(project.root), cwd=gone)
    assert done.returncode == 0, done.stderr


def test_the_settings_of_before_are_trusted_again(project: Tree) -> None:
    project.trust()
    project.write("quire.toml", SETTINGS + "# changed\n")
    assert not is_trusted(project)
    project.write("quire.toml", SETTINGS)
    assert is_trusted(project)


def test_another_folder_with_the_same_settings_is_not_trusted(
    project: Tree, tmp_path: Path
) -> None:
    project.trust()
    other = Tree(tmp_path / "other")
    other.write("quire.toml", SETTINGS)
    assert not is_trusted(other)


def test_links_to_a_root_are_resolved(project: Tree, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(project.root)
    assert project.run("trust", str(link), "--yes").returncode == 0
    assert is_trusted(project)
    assert config.load(link).judge.url is not None
    assert project.run("trust", "--revoke", str(link)).returncode == 0
    assert not is_trusted(project)


def test_from_below(project: Tree) -> None:
    (project.root / "deep").mkdir()
    assert project.run("trust", "--yes", cwd=project.root / "deep").returncode == 0
    assert is_trusted(project)
    assert project.run("trust", "--revoke", cwd=project.root / "deep").returncode == 0


def test_nothing_to_trust(tree: Tree, own_config: Path) -> None:
    tree.write("quire.toml", '[embed]\nprovider = "none"\n[audit]\nfile = "log.jsonl"\n')
    done = tree.run("trust")
    assert (done.returncode, "nothing to trust" in done.stdout) == (0, True)
    assert json.loads(tree.run("trust", "--json").stdout)["needed"] is False
    assert not (own_config / "quire").exists()


def test_without_a_place_for_records(project: Tree) -> None:
    done = project.run("trust", "--yes", env={"XDG_CONFIG_HOME": "", "HOME": ""})
    assert done.returncode == 2
    assert "set HOME or XDG_CONFIG_HOME" in done.stderr


def test_a_damaged_record_is_no_trust(project: Tree, own_config: Path) -> None:
    project.trust()
    (record,) = (own_config / "quire" / "trusted").iterdir()
    for text in ("", "[]", "{}", '{"root": 1}', "[" * 99_999):
        record.write_text(text)
        assert not is_trusted(project)
    assert project.run("trust", "--list").returncode == 0


def test_hostile_values_do_not_reach_the_terminal(project: Tree) -> None:
    project.write(
        "quire.toml", '[judge]\nurl = "http://x/\\u001b[2J\\u202e"\nkey_env = "\\u001b"\n'
    )
    done = project.run("trust", "--yes")
    assert "\x1b" not in done.stdout + done.stderr
    assert "\u202e" not in done.stdout + done.stderr


def test_it_is_in_the_way_of_no_wrong_settings(project: Tree) -> None:
    project.write("quire.toml", "[judge]\nurl = 1\n")
    done = project.run("trust", "--yes")
    assert done.returncode == 2
    assert "[judge] url: expected" in done.stderr
    assert project.run("trust", "/nowhere/at/all", "--yes").returncode == 2
