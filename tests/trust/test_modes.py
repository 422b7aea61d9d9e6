"""What Quire writes can be read by its user alone, whatever the umask."""

from __future__ import annotations

import json
import os
import stat
import subprocess
from pathlib import Path

import pytest

import quire
from tests.conftest import COMMAND, Tree

from .conftest import mode

pytestmark = pytest.mark.skipif(os.name != "posix", reason="this system has no such permissions")
SETTINGS = (
    '[embed]\nprovider = "none"\n[audit]\nfile = "log/given.jsonl"\n'
    '[judge]\nurl = "http://127.0.0.1:9/v1"\n'
)


def run(
    tree: Tree, umask: str, *arguments: str, stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    shell = ("sh", "-c", f'umask {umask}; exec "$0" "$@"', COMMAND)
    done = tree.run(*arguments, stdin=stdin, command=shell)
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.parametrize("umask", ["000", "022", "077"])
def test_everything_is_the_users_alone(tree: Tree, own_config: Path, umask: str) -> None:
    tree.store.parent.rmdir()
    tree.write("quire.toml", SETTINGS)
    tree.write("a.md", "# Mast\n\nThe mast is tall.\n")
    run(tree, umask, "index", "--store", ".quire/store.db")
    receipt = tree.root / "receipt.json"
    run(tree, umask, "assemble", "mast", "--receipt", str(receipt))
    run(tree, umask, "install", "claude-code", "--yes")
    run(tree, umask, "trust", "--yes")
    payload = {
        "session_id": "s",
        "cwd": str(tree.root),
        "tool_name": "Bash",
        "tool_input": {"command": "pytest"},
        "tool_response": {"stdout": "1 failed", "exit_code": 1},
    }
    run(tree, umask, "hook", "post-tool", stdin=json.dumps(payload))
    private = [
        *(tree.root / ".quire").rglob("*"),
        tree.root / ".quire",
        tree.root / "log",
        tree.root / "log" / "given.jsonl",
        receipt,
        own_config / "quire" / "trusted",
        *(own_config / "quire" / "trusted").iterdir(),
    ]
    names = {path.name for path in private}
    assert {"store.db", "installed.json", "hooks", "given.jsonl"} <= names
    for path in private:
        assert mode(path) & 0o077 == 0, path
        assert mode(path) == (0o700 if path.is_dir() else 0o600), path


@pytest.mark.parametrize("umask", ["000", "022"])
def test_the_files_beside_an_open_store_are_private(tree: Tree, umask: str) -> None:
    previous = os.umask(int(umask, 8))
    try:
        with quire.open(tree.root) as opened:
            opened.memories.add("The bell rings at noon.", at=1)
            modes = {file.name: mode(file) for file in tree.store.parent.iterdir()}
    finally:
        os.umask(previous)
    names = (".gitignore", "store.db", "store.db-wal", "store.db-shm")
    assert modes == dict.fromkeys(names, 0o600)


def test_a_store_of_an_earlier_version_is_restricted_and_that_is_said_once(tree: Tree) -> None:
    tree.write("a.md", "mast\n")
    tree.index()
    tree.store.chmod(0o644)
    tree.store.parent.chmod(0o755)
    done = tree.run("search", "mast")
    assert f"{tree.store} could be read by other users" in done.stderr
    assert (mode(tree.store), mode(tree.store.parent)) == (0o600, 0o700)
    done = tree.run("search", "mast")
    assert "other users" not in done.stderr


def test_a_folder_that_is_not_quires_own_is_left_alone(tree: Tree, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir(mode=0o755)
    shared.chmod(0o755)
    with quire.open(tree.root, store=shared / "my.db"):
        pass
    assert (mode(shared), mode(shared / "my.db")) == (0o755, 0o600)


def test_a_file_that_is_no_store_is_left_alone(tree: Tree) -> None:
    file = tree.write("notes.txt", "not a database, but long enough to be one " * 50)
    file.chmod(0o644)
    assert tree.run("search", "x", "--store", str(file)).returncode == 1
    assert mode(file) == 0o644


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can chown")
def test_a_store_of_somebody_else_is_left_alone(tree: Tree) -> None:
    tree.write("a.md", "mast\n")
    tree.index()
    os.chown(tree.store, 54321, -1)
    tree.store.chmod(0o644)
    assert tree.run("search", "mast").returncode == 0
    assert mode(tree.store) == 0o644


@pytest.mark.parametrize("umask", ["000", "022"])
def test_new_settings_can_be_read_again(tree: Tree, umask: str) -> None:
    """What `init` writes under a careless umask must not be refused by the next command."""
    run(tree, umask, "init")
    assert mode(tree.root / "quire.toml") == 0o644
    run(tree, umask, "index", "--no-embed")
    run(tree, umask, "status")


def test_an_old_receipt_keeps_its_mode(tree: Tree) -> None:
    tree.write("a.md", "# Mast\n\nThe mast is tall.\n")
    tree.write("quire.toml", '[embed]\nprovider = "none"\n')
    tree.index()
    receipt = tree.write("receipt.json", "{}")
    receipt.chmod(0o640)
    assert tree.run("assemble", "mast", "--receipt", str(receipt)).returncode == 0
    assert stat.S_IMODE(receipt.stat().st_mode) == 0o640
