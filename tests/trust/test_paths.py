"""A project that is not trusted writes and reads nothing outside itself, links or not."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

import quire
from quire import config
from quire.errors import ConfigError, StoreError
from quire.integrations.hooks import sessions
from quire.system import pinned_folder
from tests.conftest import Forest, Tree

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
WORDS_ONLY = '[embed]\nprovider = "none"\n'


@pytest.fixture
def project(tree: Tree, own_config: Path) -> Tree:
    tree.write("quire.toml", WORDS_ONLY)
    tree.write("a.md", "# Mast\n\nThe mast is tall.\n")
    tree.index()
    return tree


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {str(file): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


# --- the access log ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["{outside}/log.jsonl", "../outside/log.jsonl", "link/log.jsonl", "file.jsonl"]
)
def test_the_log_stays_inside(project: Tree, outside: Path, name: str) -> None:
    (project.root / "link").symlink_to(outside)
    (project.root / "file.jsonl").symlink_to(outside / "log.jsonl")
    settings = f'{WORDS_ONLY}[audit]\nfile = "{name.format(outside=outside)}"\n'
    project.write("quire.toml", settings)
    with project.open() as opened:
        context = opened.assemble("mast")
        assert any("[audit] file" in note for note in context.notes)
    assert contents(outside) == {}
    project.trust()
    with project.open() as opened:
        context = opened.assemble("mast")
        assert not any("[audit]" in note for note in context.notes)
        assert len(opened.audit.contexts()) == 1
    assert list(contents(outside)) == [str(outside / "log.jsonl")]


def test_a_link_that_comes_later_is_not_followed(project: Tree, outside: Path) -> None:
    project.write("quire.toml", f'{WORDS_ONLY}[audit]\nfile = "log/given.jsonl"\n')
    with project.open() as opened:
        opened.assemble("mast")
        (project.root / "log").rename(project.root / "old")
        (project.root / "log").symlink_to(outside)
        with pytest.raises(StoreError, match="outside the project"):
            opened.assemble("mast")
        with pytest.raises(StoreError, match="outside the project"):
            opened.audit.contexts()
    assert contents(outside) == {}


def test_a_file_that_is_not_a_log_is_left_alone(project: Tree) -> None:
    before = (project.root / "a.md").read_bytes()
    project.write("quire.toml", f'{WORDS_ONLY}[audit]\nfile = "a.md"\n')
    with project.open() as opened, pytest.raises(StoreError, match="holds something else"):
        opened.assemble("mast")
    assert (project.root / "a.md").read_bytes() == before


def test_a_file_with_another_name_is_left_alone(project: Tree, outside: Path) -> None:
    (outside / "theirs").write_bytes(b"")
    os.link(outside / "theirs", project.root / "log.jsonl")
    project.write("quire.toml", f'{WORDS_ONLY}[audit]\nfile = "log.jsonl"\n')
    with project.open() as opened, pytest.raises(StoreError, match="another name"):
        opened.assemble("mast")
    assert contents(outside) == {str(outside / "theirs"): b""}


def test_a_log_of_somebody_else_is_read_with_care(project: Tree) -> None:
    for line in ("[]", "{}", '{"at": "x"}', "\x1b[31m", "[" * 99_999):
        project.write("log.jsonl", line + "\n")
        project.write("quire.toml", f'{WORDS_ONLY}[audit]\nfile = "log.jsonl"\n')
        done = project.call("access", "log")
        assert (done.returncode, done.stdout) == (2, "")
        assert "line 1: not an entry" in done.stderr


# --- the store -----------------------------------------------------------------------------------


@pytest.fixture
def private(plant: Forest) -> Tree:
    """Another project of the same user, with a store."""
    tree = plant("private", {"quire.toml": WORDS_ONLY, "diary.md": "I saw a heron.\n"})
    tree.index()
    return tree


def test_a_store_outside_is_not_opened(project: Tree, private: Tree) -> None:
    project.write("quire.toml", f'store = "{private.store}"\n{WORDS_ONLY}')
    before = contents(private.root)
    done = project.run("search", "heron", "--json")
    assert json.loads(done.stdout)["results"] == []
    assert "quire.toml sets store" in done.stderr
    assert project.run("index").returncode == 0
    assert contents(private.root) == before
    project.trust()
    done = project.run("search", "heron", "--json")
    assert [hit["path"] for hit in json.loads(done.stdout)["results"]] == ["diary.md"]
    assert private.paths() == ["diary.md"], "what another project is about is not taken for gone"


@pytest.mark.parametrize("link", [".quire", ".quire/store.db"])
def test_a_link_to_a_store_outside_is_refused(project: Tree, private: Tree, link: str) -> None:
    """Git keeps links, so a cloned project can bring one along."""
    for file in project.store.parent.iterdir():
        file.unlink()
    if link == ".quire":
        project.store.parent.rmdir()
        project.store.parent.symlink_to(private.store.parent)
    else:
        project.store.symlink_to(private.store)
    before = contents(private.root)
    with pytest.raises(ConfigError, match="outside this project, which is not trusted"):
        config.load(project.root)
    payload = {"session_id": "s", "cwd": str(project.root), "prompt": "heron"}
    done = project.run("hook", "prompt", stdin=json.dumps(payload))
    assert (done.returncode, json.loads(done.stdout)) == (0, {})
    assert project.run("index").returncode == 2
    assert project.run("search", "heron", "--store", str(project.store)).returncode == 2
    assert contents(private.root) == before
    assert project.run("trust", "--yes").returncode == 0
    done = project.run("search", "heron", "--json")
    assert [hit["path"] for hit in json.loads(done.stdout)["results"]] == ["diary.md"]


@pytest.mark.parametrize("end", ["-wal", "-shm", "-journal"])
def test_a_link_beside_a_store_is_not_written_through(
    project: Tree, outside: Path, end: str
) -> None:
    (outside / "file").write_bytes(b"precious" * 1000)
    project.store.with_name(f"store.db{end}").symlink_to(outside / "file")
    project.write("b.md", "# Boom\n")
    done = project.run("index")
    assert (outside / "file").read_bytes() == b"precious" * 1000
    assert "Traceback" not in done.stderr


def test_a_project_does_not_choose_what_is_read_of_a_store_outside(
    plant: Forest, tmp_path: Path, own_config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With one store for everything, a cloned project must not name the space of private notes."""
    store = tmp_path / "all.db"
    notes = plant("notes", {"diary.md": "I saw a heron.\n", "quire.toml": WORDS_ONLY})
    with quire.open(notes.root, store=store, space="private") as opened:
        opened.index()
    hostile = plant("hostile", {"quire.toml": f'space = "private"\nviewer = "boss"\n{WORDS_ONLY}'})
    monkeypatch.setenv("QUIRE_STORE", str(store))
    settings = config.load(hostile.root)
    assert (settings.space, settings.viewer) == ("main", None)
    assert "quire.toml sets space, viewer" in settings.notes[0]
    payload = {"session_id": "s", "cwd": str(hostile.root), "prompt": "heron"}
    done = hostile.run("hook", "prompt", stdin=json.dumps(payload))
    assert "heron" not in done.stdout
    monkeypatch.delenv("QUIRE_STORE")
    settings = config.load(hostile.root)
    assert (settings.space, settings.viewer, settings.notes) == ("private", "boss", ())


# --- models --------------------------------------------------------------------------------------


def test_a_model_of_the_project_counts_by_its_content(project: Tree) -> None:
    folder = project.root / "model"
    folder.mkdir()
    (folder / "model.onnx").write_bytes(b"one")
    project.write("quire.toml", '[embed]\nfolder = "model"\n')
    assert config.load(project.root).embed.folder is None
    project.trust()
    assert config.load(project.root).embed.folder == str(folder)
    with project.open() as opened:
        opened.status()
        before = opened.config.embed.folder
        (folder / "model.onnx").write_bytes(b"two!")
        opened.status()
        assert (before, opened.config.embed.folder) == (str(folder), None), "an open store, too"
    assert config.load(project.root).embed.folder is None
    project.trust()
    (folder / "query_prefix.txt").write_text("Find: ")
    assert config.load(project.root).embed.folder is None, "what stands before questions counts"


# --- what hooks and installations write ----------------------------------------------------------


def test_sessions_are_not_counted_through_a_link(project: Tree, outside: Path) -> None:
    """The oldest entries of that folder are deleted: through a link, a user's own files."""
    for number in range(sessions.MAX_SESSIONS + 5):
        (outside / f"photo-{number}.jpg").write_bytes(b"x")
    (project.root / ".quire" / "hooks").symlink_to(outside)
    before = contents(outside)
    payload = {
        "session_id": "s",
        "cwd": str(project.root),
        "tool_name": "Bash",
        "tool_input": {"command": "pytest"},
        "tool_response": {"stdout": "1 failed", "exit_code": 1},
    }
    done = project.run("hook", "post-tool", stdin=json.dumps(payload))
    assert (done.returncode, json.loads(done.stdout)) == (0, {})
    assert "symbolic link" in done.stderr
    assert contents(outside) == before


def test_only_sessions_are_deleted(tmp_path: Path) -> None:
    folder = tmp_path / sessions.FOLDER
    folder.mkdir(parents=True)
    for number in range(sessions.MAX_SESSIONS + 5):
        (folder / f"photo-{number}.jpg").write_bytes(b"x")
    assert sessions.mark_first_failure(tmp_path, "one")
    assert len(list(folder.iterdir())) == sessions.MAX_SESSIONS + 6


@pytest.mark.parametrize(
    "link", [".mcp.json", ".claude", ".claude/settings.json", ".quire/installed.json"]
)
def test_an_installation_does_not_write_through_a_link(
    project: Tree, outside: Path, link: str
) -> None:
    (outside / "precious").write_text("{}\n")
    place = project.root / link
    place.parent.mkdir(exist_ok=True)
    place.symlink_to(outside if link == ".claude" else outside / "precious")
    done = project.run("install", "claude-code", "--yes")
    assert done.returncode == 2
    assert "outside the project" in done.stderr
    assert contents(outside) == {str(outside / "precious"): b"{}\n"}


def test_an_installation_does_not_write_through_a_temporary_link(
    project: Tree, outside: Path
) -> None:
    (outside / "precious").write_text("{}\n")
    for name in (".quire/.installed.json.quire-new", "..mcp.json.quire-new"):
        (project.root / name).symlink_to(outside / "precious")
    done = project.run("install", "claude-code", "--yes")
    assert done.returncode == 0, done.stderr
    assert contents(outside) == {str(outside / "precious"): b"{}\n"}


def test_an_uninstallation_removes_no_folder_of_somebodys_choice(
    project: Tree, outside: Path
) -> None:
    assert project.run("install", "claude-code", "--yes").returncode == 0
    empty = outside / "empty"
    empty.mkdir()
    file = project.root / ".quire" / "installed.json"
    record = json.loads(file.read_text())
    record["folders"] = [str(empty)]
    for entry in record["clients"]["claude-code"]:
        entry["folders"] = [str(empty), *entry["folders"]]
    file.write_text(json.dumps(record))
    assert project.run("install", "claude-code", "--uninstall", "--yes").returncode == 0
    assert empty.is_dir()


def test_new_settings_are_not_written_through_a_link(tree: Tree, outside: Path) -> None:
    (tree.root / "quire.toml").symlink_to(outside / "new.toml")
    assert tree.run("init").returncode == 2
    assert contents(outside) == {}


# --- a folder that no link leads out of ----------------------------------------------------------


@pytest.mark.parametrize("pinning", [True, False])
def test_a_pinned_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pinning: bool) -> None:
    monkeypatch.setattr(pinned_folder, "_PINNED", pinning and pinned_folder._PINNED)
    if not pinning:
        monkeypatch.setattr(pinned_folder, "_NO_FOLLOW", 0)
    root, other = tmp_path / "root", tmp_path / "other"
    root.mkdir()
    other.mkdir()
    with pinned_folder.pinned(root, ("a", "b")) as folder:
        assert folder.create("x")
        assert not folder.create("x")
        folder.append("y", b"one\n")
        folder.append("y", b"two\n", start=b"one")
        with pytest.raises(OSError, match="something else"):
            folder.append("y", b"three\n", start=b"two")
        (root / "a" / "b" / "link").symlink_to(other / "new")
        for action in (folder.create, lambda name: folder.append(name, b"x")):
            _refuses_a_link(action, "link")
        assert sorted(name for _, name in folder.dated()) == ["x", "y"]
        folder.remove("x")
        folder.remove("x")
    assert (root / "a" / "b" / "y").read_bytes() == b"one\ntwo\n"
    (root / "c").symlink_to(other)
    for parts in (("c",), ("c", "d")):
        with pytest.raises(OSError, match="symbolic link"), pinned_folder.pinned(root, parts):
            pass
    assert list(other.iterdir()) == []


def _refuses_a_link(action: Any, name: str) -> None:
    try:
        assert action(name) is False
    except OSError:
        return
