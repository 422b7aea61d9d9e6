"""Nothing that was acknowledged is lost."""

from __future__ import annotations

import shutil
import time
from itertools import count
from pathlib import Path

import pytest

from quire.core.protocols import Store
from quire.core.types import OWNER
from quire.errors import StoreError, StoreFullError
from quire.store import open_store

from .answers import Questions, answers_by_viewer
from .processes import mounted, remount, working
from .samples import document, fill


def numbered(number: int) -> str:
    return f"alpha word{number}"


# --- killed --------------------------------------------------------------------------------------


def test_what_was_acknowledged_outlives_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    acknowledged = -1
    for pause in (0.3, 0.05, 0.11, 0.23):
        with working("write_on", path) as writer:
            assert int(writer.line()) == acknowledged + 1
            time.sleep(pause)
            output = writer.kill()
        acknowledged = int(output[-1]) if output else acknowledged + 1
        store = open_store(path, create=False)
        assert store.check() == []
        with store.view(OWNER) as view:
            count = view.status().records
            assert count in (acknowledged + 1, acknowledged + 2), "at most the last was in flight"
            assert len(view.lexical("alpha", 9999).hits) == count
            assert view.status().vectors == 2 * count
            for number in range(count):
                assert view.chunks_of(f"d{number}")[0].text == numbered(number)
        acknowledged = count - 1
        store.close()


def test_a_purge_that_is_killed_leaves_a_sound_store(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    store = open_store(path)
    fill(store, *(document(f"keep{number}", f"alpha {number} " * 50) for number in range(40)))
    store.close()
    for pause in (0.02, 0.07, 0.13):
        with working("purge_on", path) as purger:
            purger.line()
            time.sleep(pause)
            purger.kill()
        store = open_store(path)
        assert store.check() == []
        with store.view(OWNER) as view:
            assert sum(record.id.startswith("keep") for record in view.listing()) == 40
            assert len(view.lexical("alpha", 99).hits) in (40, 41)
        store.purge([f"p{number}" for number in range(200)])
        store.close()


def test_a_store_whose_process_died_may_be_copied_with_its_log(tmp_path: Path) -> None:
    """The log beside the file is part of the store until it is checkpointed."""
    path = tmp_path / "store.db"
    with working("write_on", path) as writer:
        for _ in range(3):
            output = int(writer.line())
        output = max([output, *map(int, writer.kill())])
    elsewhere = tmp_path / "copy"
    elsewhere.mkdir()
    for file in tmp_path.glob("store.db*"):
        shutil.copy(file, elsewhere)
    store = open_store(elsewhere / "store.db", create=False)
    with store.view(OWNER) as view:
        assert view.status().records >= output + 1
    store.close()


# --- full ----------------------------------------------------------------------------------------


def test_a_full_disk_loses_nothing(tmp_path: Path) -> None:
    with mounted(tmp_path, "4m") as disk:
        path = disk / "store.db"
        with working("fill_up", path) as filler:
            output = filler.end()[-1]
        committed, kind, words = output.split(maxsplit=2)
        assert kind == "StoreFullError", output
        assert "disk is full" in words
        assert int(committed) > 10
        remount(disk, "size=16m")
        store = open_store(path, create=False)
        assert store.check() == []
        with store.view(OWNER) as view:
            assert view.status().records == int(committed)
            assert len(view.lexical("alpha", 9999).hits) == int(committed)
            for number in range(int(committed)):
                assert view.chunks_of(f"d{number}")[0].text == f"alpha {number} " * 500
        fill(store, document("more", "alpha"), embed=True)
        with store.view(OWNER) as view:
            assert view.status().records == int(committed) + 1
        assert store.check() == []
        store.close()


def fill_up(store: Store) -> int:
    """Write until the disk is full; return the number of committed writes."""
    for committed in count():
        try:
            fill(store, document(f"d{committed}", f"alpha {committed} " * 500), embed=True)
        except StoreFullError:
            return committed
    raise AssertionError


def take_all_room(file: Path) -> None:
    with file.open("wb", buffering=0) as ballast:
        for size in (65536, 4096, 512):
            try:
                while True:
                    ballast.write(bytes(size))
            except OSError:
                continue


def test_an_open_store_goes_on_when_there_is_room_again(tmp_path: Path) -> None:
    with mounted(tmp_path, "4m") as disk:
        store = open_store(disk / "store.db")
        committed = fill_up(store)
        questions = Questions(records=("d0", f"d{committed}"))
        before = answers_by_viewer(store, questions)
        with pytest.raises(StoreFullError):
            fill(store, document("big", "alpha beta " * 9000))
        assert answers_by_viewer(store, questions) == before, "readers go on"
        remount(disk, "size=16m")
        fill(store, document("more", "alpha"), embed=True)
        with store.view(OWNER) as view:
            assert view.status().records == committed + 1
        assert store.check() == []
        store.close()


def test_a_purge_on_a_full_disk_says_so_and_can_be_run_again(tmp_path: Path) -> None:
    with mounted(tmp_path, "6m") as disk:
        store = open_store(disk / "store.db")
        fill(store, *(document(f"d{number}", f"alpha {number} " * 400) for number in range(100)))
        take_all_room(disk / "ballast")
        with pytest.raises(StoreFullError):
            store.purge(["d0"])
        with store.view(OWNER) as view:
            assert view.status().records in (99, 100)
        (disk / "ballast").unlink()
        store.purge(["d0"])
        with store.view(OWNER) as view:
            assert view.status().records == 99
        assert store.check() == []
        store.close()


def test_a_store_cannot_be_made_on_a_full_disk(tmp_path: Path) -> None:
    with mounted(tmp_path, "16k") as disk:
        path = disk / "store.db"
        with pytest.raises(StoreFullError):
            fill(open_store(path), document("a", "alpha " * 2000))
        remount(disk, "size=4m")
        store = open_store(path)
        fill(store, document("a", "alpha"))
        assert store.check() == []
        store.close()


# --- read-only -----------------------------------------------------------------------------------


def test_a_disk_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with mounted(tmp_path, "4m") as disk:
        store = open_store(disk / "store.db")
        fill(store, document("a", "alpha"))
        store.close()
        before = (disk / "store.db").read_bytes()
        remount(disk, "ro")
        with pytest.raises(StoreError, match="writ"):
            fill(open_store(disk / "store.db"), document("b", "alpha"))
        with pytest.raises(StoreError, match=r"new\.db"):
            open_store(disk / "new.db")
        with pytest.raises(StoreError, match="folder"):
            open_store(disk / "folder" / "new.db")
        assert (disk / "store.db").read_bytes() == before
        remount(disk, "rw")
        store = open_store(disk / "store.db")
        fill(store, document("b", "alpha"))
        with store.view(OWNER) as view:
            assert view.status().records == 2
        store.close()


def test_a_disk_that_became_read_only_is_told(tmp_path: Path) -> None:
    with mounted(tmp_path, "4m") as disk:
        store = open_store(disk / "store.db")
        fill(store, document("a", "alpha"))
        store.close()
        remount(disk, "ro")
        with pytest.raises(StoreError):
            fill(open_store(disk / "store.db", create=False), document("b", "alpha"))
