"""A space in shards is one space: the same answers as one store, and writes that are whole."""

from __future__ import annotations

import os
import shutil
import signal
import zlib
from pathlib import Path
from random import Random

import apsw
import pytest

from quire.core.protocols import Store
from quire.core.types import OWNER, AccessRule, Filter, Record, VectorSettings
from quire.errors import ConfigError, InputError, StoreDamagedError, StoreError, StoreFullError
from quire.store import open_store
from quire.store.index import analyzer
from quire.store.shards import encode
from quire.store.shards.contract import shard_of
from quire.store.shards.store import ShardedStore
from quire.store.sqlite.page_checksums import CHECKED
from quire.store.sqlite.store import SqliteStore

from .answers import Questions, answers_by_viewer, root
from .processes import PATIENCE, mounted, remount, working
from .reference import Limits
from .samples import ALICE, document, fill, vector_for
from .test_histories import run
from .worlds import any_history

HISTORIES = int(os.environ.get("QUIRE_HISTORIES", "45")) // 3
SHARDS = 3


def name_in(shard: int, prefix: str = "d") -> str:
    """Return the id of a record that belongs to a shard."""
    names = (f"{prefix}{number}" for number in range(1000))
    return next(name for name in names if shard_of(name, SHARDS) == shard)


DOCUMENTS = [
    document(
        f"d{number}",
        f"alpha beta word{number % 5}",
        f"the cafe {'gamma ' * (number % 3)}",
        kind=("text", "code")[number % 2],
        links=[(f"d{(number * 7) % 24}", "link")],
        parent=f"d{number // 3}",
        acl=(None, ("alice",), ("bob",))[number % 3],
    )
    for number in range(24)
]


def filled(store: Store) -> Store:
    fill(store, *DOCUMENTS, embed=True)
    return store


QUESTIONS = Questions(
    records=tuple(f"d{number}" for number in range(24)),
    chunks=tuple(document("d3", "alpha beta word3").chunks[0].id for _ in range(1)),
)


# --- as one store --------------------------------------------------------------------------------


@pytest.mark.parametrize("batch", range(3))
def test_any_history_with_every_limit_reached(quick_path: Path, small: Limits, batch: int) -> None:
    """Asked after each step and at its end; compared with the reference and with one SQLite file."""
    for seed in range(batch, HISTORIES, 3):
        folder = quick_path / f"{seed}.{SHARDS}.shards"
        run(folder, small, any_history(Random(seed)), seed)


@pytest.mark.parametrize("count", [1, 2, 7, 256])
def test_the_number_of_shards_does_not_show(tmp_path: Path, count: int) -> None:
    alone = filled(open_store(tmp_path / "store.db"))
    store = filled(open_store(tmp_path / f"store.{count}.shards"))
    assert len(list((tmp_path / f"store.{count}.shards").glob("shard-*.db"))) == count
    assert answers_by_viewer(store, QUESTIONS) == answers_by_viewer(alone, QUESTIONS)
    store.close()
    again = open_store(tmp_path / f"store.{count}.shards", create=False)
    assert answers_by_viewer(again, QUESTIONS) == answers_by_viewer(alone, QUESTIONS)
    assert again.check() == []
    again.close()
    alone.close()


def test_its_records_are_in_all_shards(tmp_path: Path) -> None:
    filled(open_store(tmp_path / "store.3.shards")).close()
    for number in range(3):
        shard = SqliteStore(tmp_path / "store.3.shards" / f"shard-00{number}.db")
        with shard.view(OWNER) as view:
            own = list(view.listing())
        shard.close()
        assert own
        assert all(shard_of(record.id, 3) == number for record in own)


def test_what_others_derived_is_left_out_over_shards(tmp_path: Path) -> None:
    """A principle in one shard whose member in another one has an author is not shared."""
    answers = []
    for place in ("store.db", f"store.{SHARDS}.shards"):
        store = open_store(tmp_path / place)
        member = document(name_in(0, "m"), "alpha", path=".quire/m.md", acl=(), author="bob")
        derived = document(
            name_in(2, "p"),
            "alpha",
            path=".quire/p.md",
            acl=(),
            links=[(member.record.id, "member")],
        )
        fill(store, member, derived, document("d", "alpha"), embed=True)
        with store.view(OWNER) as view:
            where = Filter(shared_only=True)
            answers.append(
                (
                    [hit.path for hit in view.lexical("alpha", 9, where).hits],
                    [hit.path for hit in view.semantic(vector_for("q"), 9, where).hits],
                    [record.path for record in view.listing(where)],
                    view.count(where),
                    sorted(view.unshared([member.record.id, derived.record.id, "d"])),
                )
            )
        store.close()
    assert answers[0] == answers[1]
    assert answers[0][0] == ["d.md"]


def test_a_text_in_another_shard_has_its_vector_at_once(tmp_path: Path) -> None:
    roots = []
    for place in ("store.db", f"store.{SHARDS}.shards"):
        store = open_store(tmp_path / place)
        fill(store, document(name_in(0), "alpha"), embed=True)
        fill(store, document(name_in(2), "alpha"))
        with store.write() as writer:
            writer.remove([name_in(0)])
        fill(store, document(name_in(1), "alpha", acl=("alice",)))
        with store.write() as writer:
            writer.set_rules("config", [AccessRule("**", ("alice",))])
        with store.view(ALICE) as view:
            assert len(view.semantic(vector_for("q"), 9).hits) == 2
        assert store.old_vectors() == 0
        roots.append(root(store))
        store.close()
    assert roots[0] == roots[1]


# --- writes are whole ------------------------------------------------------------------------------


@pytest.mark.parametrize("commits", range(SHARDS))
def test_a_kill_between_the_commits_of_shards_loses_nothing(tmp_path: Path, commits: int) -> None:
    """The catalog has committed, so the write is there; whoever comes next makes it in all shards."""
    path = tmp_path / f"store.{SHARDS}.shards"
    store = filled(open_store(path))
    with working("commit_and_die", path, "new", commits) as worker:
        assert worker.process.wait(PATIENCE) == -signal.SIGKILL
    expected = filled(open_store(tmp_path / "expected.db"))
    fill(expected, *(document(f"new{n}", "alpha new") for n in range(24)), embed=True)
    with store.view(OWNER) as view:  # one that was open all the time
        assert len(view.lexical("new", 99).hits) == 24
    assert answers_by_viewer(store, QUESTIONS) == answers_by_viewer(expected, QUESTIONS)
    later = open_store(path, create=False)
    assert answers_by_viewer(later, QUESTIONS) == answers_by_viewer(expected, QUESTIONS)
    assert later.check() == []
    fill(later, document("after", "alpha"), embed=True)
    assert later.check() == []
    for each in (store, later, expected):
        each.close()


def test_a_log_that_asks_for_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / f"store.{SHARDS}.shards"
    filled(open_store(path)).close()
    with working("commit_and_die", path, "new", 0) as worker:
        assert worker.process.wait(PATIENCE) == -signal.SIGKILL
    catalog = apsw.Connection(str(path / "catalog.db"), vfs=CHECKED)
    catalog.execute("UPDATE shard_log SET call = 'commit' WHERE call = 'put'")
    catalog.close()
    store = open_store(path)
    with pytest.raises(StoreDamagedError, match="not finished"), store.view(OWNER):
        pass
    store.close()


def test_a_write_that_is_undone_leaves_nothing(tmp_path: Path) -> None:
    store = filled(open_store(tmp_path / f"store.{SHARDS}.shards"))
    before = answers_by_viewer(store, QUESTIONS)

    def attempt() -> None:
        with store.write() as writer:
            writer.remove([f"d{number}" for number in range(24)])
            writer.drop_vectors()
            raise KeyError

    with pytest.raises(KeyError):
        attempt()
    assert answers_by_viewer(store, QUESTIONS) == before
    assert store.check() == []
    store.close()


def test_views_of_other_processes_show_whole_states(tmp_path: Path) -> None:
    path, stop = tmp_path / f"store.{SHARDS}.shards", tmp_path / "stop"
    open_store(path).close()
    with (
        working("write_in_step", path, stop) as writer,
        working("read_in_step", path, 12) as reader,
    ):
        assert reader.end() == ["saw 12"]
        stop.write_text("")
        writer.end()
    store = open_store(path)
    assert store.check() == []
    store.close()


def test_a_shard_of_another_time_is_refused(tmp_path: Path) -> None:
    path = tmp_path / f"store.{SHARDS}.shards"
    filled(open_store(path)).close()
    old = tmp_path / "old.db"
    shutil.copy(path / "shard-001.db", old)
    store = open_store(path)
    for number in range(2):
        fill(store, document(name_in(1), f"alpha {number}"))
    store.close()
    for log in path.glob("shard-001.db-*"):
        log.unlink()
    shutil.copy(old, path / "shard-001.db")
    store = open_store(path)
    with pytest.raises(StoreDamagedError, match="shard 2 of 3"), store.view(OWNER):
        pass
    with pytest.raises(StoreDamagedError, match="one backup"), store.write():
        pass
    store.close()


def test_hashes_that_do_not_fit_are_found_and_mended(tmp_path: Path) -> None:
    store = filled(open_store(tmp_path / f"store.{SHARDS}.shards"))
    assert isinstance(store, ShardedStore)
    before = root(store)
    with store._catalog.writing("main") as catalog:
        catalog._connection.execute("UPDATE bucket SET content = zeroblob(32) WHERE bucket < 9999")
        catalog._connection.execute("UPDATE root SET content = zeroblob(32)")
        catalog.transaction.changed = True
    assert root(store) != before
    assert [problem.check for problem in store.check()] == ["root"]
    assert root(store) != before, "a check alone mends nothing"
    assert [problem.repaired for problem in store.check(repair=True)] == [True]
    assert root(store) == before
    assert store.check() == []
    store.close()


def test_purged_bytes_are_in_no_file(tmp_path: Path) -> None:
    path = tmp_path / f"store.{SHARDS}.shards"
    store = filled(open_store(path))
    secret = document(name_in(1, "s"), "hunter2 is the password")
    fill(store, secret, embed=True)
    assert store.purge([secret.record.id]) == 1
    for file in path.iterdir():
        assert b"hunter2" not in file.read_bytes(), file
    assert store.check() == []
    store.close()


def test_new_rules_for_words_leave_the_hashes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"store.{SHARDS}.shards"
    store = filled(open_store(path))
    before = root(store)
    store.close()
    monkeypatch.setattr(analyzer, "ANALYZER", "other")
    again = open_store(path)
    assert root(again) == before
    assert again.check() == []
    again.close()


# --- what is refused ---------------------------------------------------------------------------------


def test_other_engines_for_vectors_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="shards"):
        open_store(tmp_path / "store.shards", vectors=VectorSettings(engine="qdrant://127.0.0.1:1"))


@pytest.mark.parametrize("count", [0, 257, 999])
def test_a_number_of_shards_that_cannot_be_is_refused(tmp_path: Path, count: int) -> None:
    with pytest.raises(InputError, match=f"cannot have {count} shards"):
        open_store(tmp_path / f"store.{count}.shards")
    assert not [*tmp_path.iterdir()]


def test_a_file_in_its_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "store.shards").write_text("")
    with pytest.raises(StoreError, match="folder"):
        open_store(tmp_path / "store.shards")


@pytest.mark.parametrize("name", ["catalog.db", "shard-001.db"])
def test_a_file_that_is_missing_is_named_and_not_made_anew(tmp_path: Path, name: str) -> None:
    path = tmp_path / f"store.{SHARDS}.shards"
    filled(open_store(path)).close()
    (path / name).unlink()
    for create in (False, True):
        with pytest.raises(StoreDamagedError, match="is missing") as refused:
            open_store(path, create=create)
        assert refused.value.place == str(path / name)
    assert not (path / name).exists()


def test_shards_in_the_place_of_others_are_refused(tmp_path: Path) -> None:
    """They are of the same write, so that their versions say nothing."""
    path, other = tmp_path / f"store.{SHARDS}.shards", tmp_path / f"other.{SHARDS}.shards"
    filled(open_store(path)).close()
    shutil.copytree(path, other)
    (other / "shard-000.db").rename(other / "x.db")
    (other / "shard-001.db").rename(other / "shard-000.db")
    (other / "x.db").rename(other / "shard-001.db")
    refuse_to_open(other, "another shard of the store")
    shutil.rmtree(other)
    filled(open_store(other)).close()
    shutil.copy(path / "shard-001.db", other / "shard-001.db")
    refuse_to_open(other, "a shard of another store")


def refuse_to_open(path: Path, told: str) -> None:
    store = open_store(path)
    with pytest.raises(StoreDamagedError, match=told), store.view(OWNER):
        pass
    with pytest.raises(StoreDamagedError, match=told), store.write():
        pass
    with pytest.raises(StoreDamagedError, match=told):
        store.check()
    store.close()


def test_a_file_of_it_is_no_store_by_itself(tmp_path: Path) -> None:
    """It would answer as if the rest did not exist, and a write would tear the store apart."""
    path = tmp_path / f"store.{SHARDS}.shards"
    filled(open_store(path)).close()
    elsewhere = tmp_path / "store.db"
    shutil.copy(path / "shard-000.db", elsewhere)
    for file in (path / "catalog.db", path / "shard-000.db", elsewhere):
        with pytest.raises(StoreError, match="one file of a store in shards"):
            open_store(file)


def test_records_in_another_shard_than_theirs_are_found(tmp_path: Path) -> None:
    path = tmp_path / f"store.{SHARDS}.shards"
    store = filled(open_store(path))
    alone = SqliteStore(path / "shard-000.db")
    fill(alone, document(name_in(2, "stray"), "alpha"))
    alone.close()
    problems = [problem for problem in store.check() if problem.check == "shards"]
    assert ["1 records of main" in problem.detail for problem in problems] == [True]
    store.close()


def test_a_full_disk_loses_nothing(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    with mounted(tmp_path / "disk", "6m") as disk:
        store = open_store(disk / f"store.{SHARDS}.shards")
        kept: list[str] = []
        random = Random(1)

        def fill_up() -> None:
            for number in range(1000):
                words = " ".join(random.randbytes(4).hex() for _ in range(2000))
                fill(store, document(f"d{number:05}", words), embed=True)
                kept.append(f"d{number:05}")

        with pytest.raises(StoreFullError, match="the disk is full"):
            fill_up()
        assert len(kept) > 3
        remount(disk, "size=64m")
        with store.view(OWNER) as view:
            names = [record.id for record in view.listing()]
        # One whose catalog was committed may be there; of the others nothing.
        assert names[: len(kept)] == kept
        assert len(names) <= len(kept) + 1
        assert store.check() == []
        fill(store, document("more", "alpha"), embed=True)
        assert store.check() == []
        store.close()


def test_the_log_runs_nothing() -> None:
    """It is read from a file that somebody else may have written."""
    record = Record("a", "text", "a.md", metadata={"x": 1.5, "y": ("b",)}, acl=("bob",))
    args = (record, document("a", "alpha").chunks, {"k": b"\0\xff"}, None, 3, ("\ud800",))
    assert encode.decode(encode.encode(args)) == args
    for data in (b"", b"x", zlib.compress(b'["tuple", [["eval", ["1"]]]]')):
        with pytest.raises(StoreDamagedError):
            encode.decode(data)
