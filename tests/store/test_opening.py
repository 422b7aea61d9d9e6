"""Only stores are opened; other files are refused and left unchanged."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from random import Random

import apsw
import pytest

from quire.core.types import OWNER, Event
from quire.errors import (
    InputError,
    NoStoreError,
    QuireError,
    StoreDamagedError,
    StoreError,
    StoreVersionError,
)
from quire.store import open_store
from quire.store.sqlite.page_checksums import CHECKED

from .answers import Questions, answers_by_viewer
from .samples import document, fill


def make_store(path: Path, count: int = 60) -> Path:
    """Create a store of a few dozen pages, closed, without a log beside it."""
    store = open_store(path)
    fill(
        store,
        *(document(f"d{n}", f"alpha word{n} " * 30, links=[("d1", "link")]) for n in range(count)),
        embed=True,
    )
    with store.write() as writer:
        writer.put_events([Event("alice", "view", "d1", 1)])
    store.close()
    assert not Path(f"{path}-wal").exists()
    return path


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


# --- what is no store ----------------------------------------------------------------------------


def test_a_store_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(NoStoreError, match="quire index"):
        open_store(tmp_path / "store.db", create=False)
    with pytest.raises(NoStoreError):
        open_store(tmp_path / "folder" / "store.db", create=False)
    assert list(tmp_path.iterdir()) == []


def test_folders_above_a_new_store_are_made(tmp_path: Path) -> None:
    open_store(tmp_path / "a" / "b" / "store.db").close()
    assert (tmp_path / "a" / "b" / "store.db").exists()


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    path.touch()
    store = open_store(path, create=False)
    fill(store, document("a", "alpha"))
    store.close()


@pytest.mark.parametrize(
    "data",
    [
        b"hello, this is no database\n" * 100,
        b"x",
        b"key = 1\n" * 40,
        bytes(4096),
        b"SQLite format 3\0" + b"?" * 99,
    ],
)
def test_a_file_that_is_no_database(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(data)
    for create in (True, False):
        with pytest.raises(StoreDamagedError, match=r"notes\.txt"):
            open_store(path, create=create)
    assert contents(tmp_path) == {"notes.txt": data}


def test_a_database_of_another_application(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE person (name TEXT)")
        connection.execute("INSERT INTO person VALUES ('ann')")
    connection.close()
    before = contents(tmp_path)
    with pytest.raises(StoreDamagedError, match="not a Quire store"):
        open_store(path)
    assert contents(tmp_path) == before


def test_a_database_of_another_application_with_a_log(tmp_path: Path) -> None:
    """Checking it must not checkpoint its log, either."""
    path = tmp_path / "other.db"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE TABLE person (name TEXT)")
    connection.commit()
    before = {name: data for name, data in contents(tmp_path).items() if "shm" not in name}
    assert set(before) == {"other.db", "other.db-wal"}
    with pytest.raises(StoreDamagedError, match="not a Quire store"):
        open_store(path)
    after = {name: data for name, data in contents(tmp_path).items() if "shm" not in name}
    assert after == before
    connection.close()


@pytest.mark.parametrize("statement", ["PRAGMA user_version = 3", "PRAGMA application_id = 7"])
def test_a_database_that_is_marked_as_anothers(tmp_path: Path, statement: str) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as connection:
        connection.execute(statement)
    connection.close()
    before = contents(tmp_path)
    with pytest.raises(StoreDamagedError, match="not a Quire store"):
        open_store(path)
    assert contents(tmp_path) == before


def test_a_store_of_a_newer_quire(tmp_path: Path) -> None:
    path = make_store(tmp_path / "store.db", 3)
    connection = apsw.Connection(str(path), vfs=CHECKED)
    connection.pragma("user_version", 999)
    connection.close()
    before = contents(tmp_path)
    with pytest.raises(StoreVersionError, match=r"format 999.*upgrade"):
        open_store(path)
    assert contents(tmp_path) == before


def test_what_cannot_be_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="folder"):
        open_store(tmp_path)
    with pytest.raises(StoreError):
        open_store(tmp_path / "file" / "store.db")
    with pytest.raises(StoreError):
        open_store(tmp_path / ("x" * 300))
    with pytest.raises(StoreError):
        open_store(tmp_path / ("x" * 300), create=False)
    with pytest.raises(InputError, match="NUL"):
        open_store(tmp_path / "a\0b")
    with pytest.raises(InputError):
        open_store(tmp_path / "\udcff.db")


@pytest.mark.skipif(
    os.geteuid() == 0, reason="permissions do not bind root; a read-only disk is tested instead"
)
def test_a_folder_that_may_not_be_written(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    folder.chmod(0o500)
    try:
        with pytest.raises(StoreError, match="directory"):
            open_store(folder / "store.db")
    finally:
        folder.chmod(0o700)


# --- what was a store ----------------------------------------------------------------------------

QUESTIONS = Questions(
    queries=("alpha word1",),
    records=("d0", "d1", "d59"),
    chunks=tuple(document(f"d{n}", f"alpha word{n} " * 30).chunks[0].id for n in (0, 59)),
)


def use(path: Path) -> list[str]:
    """Use every method of a store."""
    store = open_store(path)
    try:
        answers = answers_by_viewer(store, QUESTIONS)
        list(store.missing_vectors())
        fill(store, document("d1", "new words"), document("x", "alpha"), embed=True)
        with store.write() as writer:
            writer.remove(["d2", "d3"])
        store.merge()
        store.check(repair=True)
        return answers
    finally:
        store.close()


@pytest.mark.parametrize("share", [0.02, 0.1, 0.4, 0.7, 0.95])
def test_a_store_that_was_cut_off(tmp_path: Path, share: float) -> None:
    path = make_store(tmp_path / "store.db")
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])
    with pytest.raises(StoreDamagedError, match=r"store\.db"):
        use(path)


@pytest.mark.parametrize("seed", range(24))
def test_a_store_with_pages_of_rubbish_fails_with_words_if_at_all(
    quick_path: Path, seed: int
) -> None:
    path = make_store(quick_path / "store.db")
    random = Random(seed)
    data = bytearray(path.read_bytes())
    size = int.from_bytes(data[16:18], "big")
    for _ in range(3):
        page = random.randrange(1, len(data) // size)
        start = page * size + random.choice((0, 0, random.randrange(size - 100)))
        length = random.choice((1, 16, 100))
        data[start : start + length] = random.choice((bytes(length), random.randbytes(length)))
    path.write_bytes(data)
    try:
        use(path)
    except StoreError as error:
        assert str(error)  # noqa: PT017 - it may also go well: the damage may lie where nothing is


def test_a_log_of_rubbish_is_not_taken_for_the_truth(tmp_path: Path) -> None:
    path = make_store(tmp_path / "store.db", 5)
    Path(f"{path}-wal").write_bytes(Random(1).randbytes(50_000))
    store = open_store(path)
    with store.view(OWNER) as view:
        assert view.status().records == 5
    assert store.check() == []
    store.close()


def test_errors_are_ours(tmp_path: Path) -> None:
    """Catching QuireError catches all of these."""
    for kind in (InputError, NoStoreError, StoreDamagedError, StoreError, StoreVersionError):
        assert issubclass(kind, QuireError)
    assert tmp_path.exists()


def test_a_new_folder_of_a_project_is_hidden_from_git(tmp_path: Path) -> None:
    open_store(tmp_path / ".quire" / "store.db").close()
    assert (tmp_path / ".quire" / ".gitignore").read_text("utf-8") == "*\n"
    (tmp_path / "other").mkdir()
    open_store(tmp_path / "other" / "store.db").close()
    assert not (tmp_path / "other" / ".gitignore").exists(), "only in a folder of its own"
    used = tmp_path / "used" / ".quire"
    used.mkdir(parents=True)
    (used / "receipt.json").write_text("{}", "utf-8")
    open_store(used / "store.db").close()
    assert not (used / ".gitignore").exists(), "what is there may be meant for git"
