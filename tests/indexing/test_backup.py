"""Backups hold one state while others write, and are restored whole or not at all."""

from __future__ import annotations

import hashlib
import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

import quire
from quire.core.types import OWNER
from quire.indexing.copy_store import NOTE
from quire.store import open_store
from tests.conftest import Tree
from tests.store.postgresql import Server, running
from tests.store.processes import PATIENCE, environment

WORDS_ONLY = '[embed]\nprovider = "none"\n'
FILES = {f"{number:02}.md": f"# {number}\n\nThe pilot boards at dawn.\n" for number in range(20)}

WRITER = """
import sys
from pathlib import Path
from quire.core.types import OWNER, Event
from quire.indexing.copy_store import NOTE
from quire.store import open_store

place = sys.argv[1]
store = open_store(place if "://" in place else Path(place), create=False)
number = 0
while True:
    with store.write() as writer:
        writer.put_events([Event("ann", "view", f"r{number}", number)])
        writer.put_events([Event("bob", "edit", f"r{number}", number)])
    with store.view(OWNER) as view:
        print(view.roots().state, flush=True)
    number += 1
"""


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running() as started:
        yield started


@pytest.fixture(params=["file", "server"])
def place(request: pytest.FixtureRequest, project: Tree) -> str:
    """Where the store of a project is."""
    if request.param == "file":
        return str(project.store)
    server: Server = request.getfixturevalue("server")
    return server.url(server.create())


@pytest.fixture
def project(tree: Tree) -> Tree:
    tree.fill({**FILES, "quire.toml": f'{WORDS_ONLY}[access]\n"0*.md" = ["alice"]\n'})
    return tree


def state(place: str, space: str = "main") -> str:
    opened = open_store(place if "://" in place else Path(place), create=False)
    with closing(opened) as store, store.view(OWNER, space) as view:
        return view.roots().state


@contextmanager
def process(code: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", code, *arguments]
    started = subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, text=True)
    try:
        yield started
    finally:
        started.kill()
        started.communicate(timeout=PATIENCE)


def test_a_backup_is_one_state_while_others_write(project: Tree, place: str) -> None:
    project.call("index", "--store", place)
    with process(WRITER, place) as writer:
        assert writer.stdout is not None
        states = [writer.stdout.readline().strip() for _ in range(3)]
        done = project.run("backup", "b.db", "--store", place, "--json")
        assert done.returncode == 0, done.stderr
        writer.send_signal(signal.SIGTERM)
        states += writer.stdout.read().split()
    saved = json.loads(done.stdout)
    (main,) = saved["spaces"]
    assert main["roots"]["state"] in states[2:], "a state that was committed, not an older one"
    file = project.root / "b.db"
    assert saved["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
    assert (project.root / "b.db.sha256").read_text() == f"{saved['sha256']}  b.db\n"
    assert sorted(path.name for path in project.root.glob("*b.db*")) == ["b.db", "b.db.sha256"]
    with closing(open_store(file, create=False)) as store:
        assert store.check() == []


def test_what_was_backed_up_comes_back(project: Tree, place: str) -> None:
    project.call("index", "--store", place)
    before = state(place)
    assert project.call("backup", "b.db", "--store", place).returncode == 0
    project.write("00.md", "Changed.\n")
    project.remove("01.md")
    project.call("index", "--store", place)
    assert state(place) != before
    refused = project.call("restore", "b.db", "--store", place)
    assert refused.returncode == 2
    assert "--force" in refused.stderr
    assert state(place) != before
    done = project.call("restore", "b.db", "--store", place, "--force")
    assert done.returncode == 0, done.stderr
    assert state(place) == before
    assert project.call("doctor", "--store", place).returncode == 0
    with quire.open(project.root, store=place) as opened:
        assert not opened.search("pilot", viewer="bob", refresh=False, where="path = '00.md'")


def test_a_store_is_restored_where_there_is_none(project: Tree) -> None:
    project.call("index")
    before = state(str(project.store))
    project.call("backup", "b.db")
    shutil.rmtree(project.store.parent)
    done = project.call("restore", "b.db", "--json")
    assert json.loads(done.stdout)["spaces"][0]["roots"]["state"] == before
    assert state(str(project.store)) == before
    assert project.store.stat().st_mode & 0o77 == 0


def test_reading_a_backup_changes_no_byte_of_it(project: Tree) -> None:
    project.call("index")
    project.call("assemble", "when does the pilot board", "--budget", "900", "--receipt", "r.json")
    project.call("backup", "b.db")
    file = project.root / "b.db"
    before = file.read_bytes()
    project.write("00.md", "Changed since.\n")
    project.call("status", "--store", "b.db")
    project.call("search", "pilot", "--store", "b.db", "--no-refresh")
    assert project.call("replay", "r.json", "--store", "b.db").returncode == 0
    assert file.read_bytes() == before
    assert sorted(path.name for path in project.root.glob("*b.db*")) == ["b.db", "b.db.sha256"]
    assert project.call("restore", "b.db", "--force").returncode == 0


def test_a_damaged_store_is_replaced(project: Tree) -> None:
    project.call("index")
    before = state(str(project.store))
    project.call("backup", "b.db")
    Path(f"{project.store}-wal").write_bytes(b"of another file")
    project.store.write_bytes(b"not a database at all" * 100)
    assert project.call("restore", "b.db", "--force").returncode == 0
    assert state(str(project.store)) == before


def test_nothing_is_overwritten_unasked(project: Tree) -> None:
    project.call("index")
    project.write("b.db", "mine")
    refused = project.call("backup", "b.db")
    assert (refused.returncode, "--force" in refused.stderr) == (2, True)
    assert (project.root / "b.db").read_text() == "mine"
    assert project.call("backup", "b.db", "--force").returncode == 0
    nowhere = project.call("backup", "nowhere/b.db")
    assert (nowhere.returncode, "nowhere is not a directory" in nowhere.stderr) == (2, True)
    itself = project.call("backup", ".quire/store.db", "--force")
    assert "the store itself" in itself.stderr
    assert "the store itself" in project.call("restore", ".quire/store.db", "--force").stderr
    assert project.call("doctor").returncode == 0


@pytest.mark.parametrize("has_checksum", [True, False])
@pytest.mark.parametrize("cut", [True, False])
def test_a_damaged_backup_changes_nothing(project: Tree, cut: bool, has_checksum: bool) -> None:
    project.call("index")
    project.call("backup", "b.db")
    backup = project.root / "b.db"
    data = bytearray(backup.read_bytes())
    data[len(data) // 2] ^= 1
    backup.write_bytes(data[: len(data) - 8192] if cut else data)
    if not has_checksum:
        (project.root / "b.db.sha256").unlink()
    project.write("00.md", "Changed.\n")
    project.call("index")
    before = state(str(project.store))
    refused = project.call("restore", "b.db", "--force")
    assert refused.returncode == 1
    assert "nothing was changed" in refused.stderr
    assert state(str(project.store)) == before
    assert not list(project.store.parent.glob("*quire-new*"))


def test_a_backup_without_its_checksum_is_checked_by_content(project: Tree) -> None:
    project.call("index")
    project.call("backup", "b.db")
    (project.root / "b.db.sha256").unlink()
    done = project.call("restore", "b.db", "--force")
    assert done.returncode == 0
    assert "only its content was checked" in done.stderr


def test_a_store_in_use_is_not_replaced(project: Tree) -> None:
    project.call("index")
    project.call("backup", "b.db")
    with process(WRITER, str(project.store)) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        refused = project.run("restore", "b.db", "--force")
        assert (refused.returncode, "another process has" in refused.stderr) == (1, True)
        last = writer.stdout.readline()
        assert last, "it goes on"
    assert project.run("restore", "b.db", "--force").returncode == 0
    assert project.call("doctor").returncode == 0


def test_copies_from_the_command_line(project: Tree, place: str, tmp_path: Path) -> None:
    project.call("index", "--store", place)
    target = str(tmp_path / "copy.db")
    done = project.call("copy", place, target, "--json")
    (main,) = json.loads(done.stdout)["spaces"]
    assert main["roots"]["state"] == state(place) == state(target)
    assert main["copied"] == main["records"] == len(FILES)
    again = project.call("copy", place, target)
    assert "0 records written" in again.stdout
    other = project.call("copy", place, target, "--space", "other")
    assert (other.returncode, "choose from main" in other.stderr) == (2, True)
    assert "same store" in project.call("copy", place, place).stderr
    nowhere = project.call("copy", str(tmp_path / "no.db"), target)
    assert (nowhere.returncode, "no store at" in nowhere.stderr) == (2, True)
    assert "choose from" in project.call("copy", "qdrant://x", target).stderr
    text = project.call("copy", place, str(project.root / "00.md"))
    assert text.stderr.endswith("not a Quire store; name another file\n")


@pytest.mark.parametrize("broken", [False, True])
def test_a_source_that_cannot_be_read_leaves_no_empty_target(
    project: Tree, tmp_path: Path, broken: bool
) -> None:
    source, target = tmp_path / "source.2.shards", tmp_path / "target.db"
    project.call("index", "--store", str(source))
    space = "other"
    if broken:
        space = "main"
        (source / "shard-001.db").write_bytes(b"")
    copied = project.call("copy", str(source), str(target), "--space", space)
    assert copied.returncode != 0
    assert not target.exists()


def test_who_opens_a_part_of_a_copy_is_told(project: Tree) -> None:
    """A store that a killed copy left behind would answer as if the rest did not exist."""
    project.call("index")
    with closing(open_store(project.root / ".quire/store.db")) as store, store.write() as writer:
        writer.set_note(NOTE, "{}")
    for command in (("search", "pilot"), ("status",), ("assemble", "pilot")):
        assert "a copy into the space 'main' has not ended" in project.call(*command).stderr
    found = project.call("doctor")
    assert (found.returncode, "`quire copy`" in found.stdout) == (1, True)
    project.call("doctor", "--repair")
    assert project.call("doctor").returncode == 0
    assert "has not ended" not in project.call("status").stderr


def test_what_is_no_backup_is_named(project: Tree, tmp_path: Path) -> None:
    shards = str(tmp_path / "store.2.shards")
    project.call("index", "--store", shards)
    for arguments, told in (
        (("backup", str(tmp_path / "backup.shards")), "a backup is one file"),
        (("backup", "postgresql://db.example.org/x"), "this is the URL of a store"),
        (("restore", shards), "is a folder"),
        (("restore", str(tmp_path / "none.db")), "no backup at"),
    ):
        done = project.call(*arguments, "--store", shards)
        assert (done.returncode, told in done.stderr) == (2, True), done.stderr
    shard = str(tmp_path / "store.2.shards" / "shard-000.db")
    done = project.call("restore", shard, "--store", str(tmp_path / "new.db"))
    assert (done.returncode, f"{shard}: this is one file of" in done.stderr) == (1, True)


def test_one_space_is_backed_up_and_restored(project: Tree, place: str) -> None:
    for space in ("one", "two"):
        project.call("index", "--store", place, "--space", space)
    done = project.call("backup", "b.db", "--store", place, "--space", "two", "--json")
    assert [each["space"] for each in json.loads(done.stdout)["spaces"]] == ["two"]
    project.write("00.md", "Changed.\n")
    for space in ("one", "two"):
        project.call("index", "--store", place, "--space", space)
    states = [state(place, space) for space in ("one", "two")]
    assert project.call("restore", "b.db", "--store", place, "--space", "two").returncode == 2
    done = project.call("restore", "b.db", "--store", place, "--space", "two", "--force")
    assert done.returncode == 0, done.stderr
    assert state(place, "one") == states[0]
    assert state(place, "two") == state(str(project.root / "b.db"), "two") != states[1]
