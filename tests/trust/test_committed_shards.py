"""A store in shards that came with a project: it leads nowhere, and calls nothing of its own."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from quire.errors import StoreDamagedError, StoreError
from quire.store import open_store
from quire.store.shards import CATALOG, encode
from quire.store.shards.catalog import LOGGED, MANIFEST
from quire.store.shards.part_write import PartWrite
from quire.store.sqlite.page_checksums import CHECKED


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "store.2.shards"
    with closing(open_store(place)) as store, store.write("main") as writer:
        writer.set_note("a", "b")
    return place


def alter(folder: Path, statement: str, *values: str | bytes) -> None:
    with closing(apsw.Connection(str(folder / CATALOG), vfs=CHECKED)) as database:
        database.execute(statement, values)


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
@pytest.mark.parametrize("name", [CATALOG, "shard-000.db", "shard-001.db"])
def test_a_link_in_the_place_of_a_file_is_not_followed(folder: Path, name: str) -> None:
    outside = folder.parent / "outside.db"
    (folder / name).rename(outside)
    (folder / name).symlink_to(outside)
    before = outside.read_bytes()
    with pytest.raises(StoreError, match="is a link"):
        open_store(folder)
    assert outside.read_bytes() == before


@pytest.mark.parametrize("count", ["1000000", "0", "-1", "257", "x", "9" * 5000])
def test_a_number_of_shards_that_there_cannot_be_is_damage(folder: Path, count: str) -> None:
    alter(folder, "UPDATE shard_setting SET value = ?", count)
    with pytest.raises(StoreDamagedError, match="number of the shards"):
        open_store(folder)
    assert len([*folder.glob("shard-*.db")]) == 2


@pytest.mark.parametrize("name", ["__init__", "roll_back", "commit", "_set", "no_such_call"])
def test_a_call_that_no_write_logs_is_not_made(folder: Path, name: str) -> None:
    arguments = encode.encode(("main",))
    alter(
        folder, "INSERT INTO shard_log (space, shard, call, args) VALUES (?, 0, ?, ?)",
        "main", name, arguments,
    )  # fmt: skip
    # As if a write had ended before the first shard had made it.
    alter(folder, "INSERT INTO note VALUES (1, ?, '[1,[1,0],[0,0]]')", MANIFEST)
    with (
        closing(open_store(folder)) as store,
        pytest.raises(StoreDamagedError, match="a call that there is not"),
        store.write("main") as writer,
    ):
        writer.set_note("a", "c")


def test_logged_calls_are_those_of_a_write() -> None:
    assert all(callable(getattr(PartWrite, name)) for name in LOGGED)
