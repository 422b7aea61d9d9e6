"""A journal that came with a project, beside its store: nothing outside is deleted by it."""

from __future__ import annotations

import struct
import sys
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from quire.errors import StoreError
from quire.server.journal import Journal
from quire.store import open_store
from quire.store.sqlite.database import Connection
from quire.store.sqlite.page_checksums import CHECKED
from tests.conftest import Tree

MAGIC = bytes.fromhex("d9d505f920a163d7")
SECTOR = 512
NO_MODEL = '[embed]\nprovider = "none"\n'


def plant_journal(file: Path, victim: Path) -> Path:
    """Put a journal beside a file as of a transaction over several, whose own file is `victim`."""
    size = struct.unpack(">H", file.read_bytes()[16:18])[0]
    pages = file.stat().st_size // size
    header = MAGIC + struct.pack(">IIIII", 0, 0, pages, SECTOR, size)
    name = bytes(victim)
    check = sum(byte - 256 * (byte > 127) for byte in name) & 0xFFFFFFFF
    end = struct.pack(">I", (1 << 30) // size + 1) + name
    end += struct.pack(">II", len(name), check) + MAGIC
    journal = file.with_name(f"{file.name}-journal")
    journal.write_bytes(header.ljust(SECTOR, b"\0") + end)
    return journal


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    file = tmp_path / "keys.txt"
    file.write_text("precious\n")
    return file


@pytest.fixture
def project(tree: Tree) -> Tree:
    tree.write("quire.toml", NO_MODEL)
    tree.write("a.md", "# Mast\n\nThe mast is tall.\n")
    tree.index()
    return tree


def test_the_services_file_deletes_nothing(tmp_path: Path, victim: Path) -> None:
    path = tmp_path / "project" / "store.db-service"
    Journal(path).close()
    journal = plant_journal(path, victim)
    with pytest.raises(StoreError, match="none that Quire wrote"):
        Journal(path)
    assert victim.exists()
    journal.unlink()
    Journal(path).close()


@pytest.mark.parametrize("command", [("search", "mast"), ("index",), ("doctor",), ("status",)])
def test_a_store_deletes_nothing(project: Tree, victim: Path, command: tuple[str, ...]) -> None:
    plant_journal(project.store, victim)
    done = project.call(*command)
    assert done.returncode == 1
    assert "store.db-journal" in done.stderr
    assert victim.exists()


def test_nor_does_one_that_a_backup_replaces(project: Tree, tmp_path: Path, victim: Path) -> None:
    backup = tmp_path / "backup.db"
    assert project.call("backup", str(backup)).returncode == 0
    plant_journal(project.store, victim)
    assert project.call("restore", str(backup), "--force").returncode == 1
    assert victim.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_the_journal_lies_where_a_link_leads(project: Tree, victim: Path) -> None:
    real = project.root / "real.db"
    project.store.rename(real)
    project.store.symlink_to(real)
    plant_journal(real, victim)
    with pytest.raises(StoreError, match="none that Quire wrote"):
        open_store(project.store)
    assert victim.exists()


def test_what_a_killed_process_left_is_played_back(project: Tree) -> None:
    """A journal of one file alone: the state before its transaction is the right one."""
    before = project.store.read_bytes()
    with closing(Connection(str(project.store), vfs=CHECKED)) as database:
        database.pragma("journal_mode", "delete")
        database.pragma("cache_size", 1)
        database.execute("BEGIN; UPDATE record SET path = path || 'x'; UPDATE chunk SET text = ''")
        database.cache_flush()
        file, journal = project.store.read_bytes(), project.store.with_name("store.db-journal")
        left = journal.read_bytes()
        database.execute("ROLLBACK")
    assert file != before
    project.store.write_bytes(file)
    journal.write_bytes(left)
    assert project.paths() == ["a.md"]
    assert not journal.exists()


def test_the_journal_would_have_deleted_it(tmp_path: Path, victim: Path) -> None:
    """So that the tests above fail without the check, whatever SQLite does."""
    path = tmp_path / "plain.db"
    with closing(apsw.Connection(str(path))) as database:
        database.execute("CREATE TABLE t (x)")
    journal = plant_journal(path, victim)
    with closing(apsw.Connection(str(path))) as database:
        database.execute("SELECT * FROM t").fetchall()
    assert not journal.exists(), "SQLite took it for its own"
