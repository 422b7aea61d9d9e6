"""Processes share a store without losing anything."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from quire.core.protocols import Store
from quire.core.types import OWNER
from quire.errors import StoreBusyError
from quire.store import open_store

from .answers import root
from .processes import working
from .samples import document, fill, put
from .worker import check_in_step


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    opened = open_store(path, wait=30)
    yield opened
    opened.close()


# --- reading while others write ------------------------------------------------------------------


def test_readers_see_whole_states_while_another_process_writes(path: Path) -> None:
    stop = path.with_name("stop")
    with (
        working("write_in_step", path, stop) as writer,
        working("read_in_step", path, 40) as one,
        working("read_in_step", path, 40) as other,
    ):
        assert one.end() == other.end() == ["saw 40"]
        stop.touch()
        last = writer.end()[-1]
    store = open_store(path)
    with store.view(OWNER) as view:
        check_in_step(view)
        assert view.chunks_of("left")[0].text == f"alpha step{last}"
    assert store.check() == []
    store.close()


def test_another_process_sees_a_commit_at_its_next_view(path: Path, store: Store) -> None:
    fill(store, document("d0", "alpha"), embed=True)
    with working("look", path) as onlooker:
        assert onlooker.line() == "ready"
        for number in range(1, 6):
            assert onlooker.ask().split()[:3] == [str(number)] * 3
            fill(store, document(f"d{number}", "alpha beta", acl=("bob",)), embed=True)
            assert onlooker.ask().split() == [str(number + 1)] * 3 + [root(store)]
        with store.write() as writer:
            writer.remove(["d1", "d2"])
        store.merge()
        assert onlooker.ask().split() == ["4", "4", "4", root(store)]
        store.purge(["d3"])
        assert onlooker.ask().split() == ["3", "3", "3", root(store)]
        fill(store, document("new", "alpha gamma"), embed=True)
        assert onlooker.ask().split() == ["4", "4", "4", root(store)]


def test_a_snapshot_of_another_process_stays_what_it_was(path: Path, store: Store) -> None:
    fill(store, document("a", "alpha"))
    with working("hold_view", path) as reader:
        assert reader.line() == "holding 1"
        fill(store, document("b", "alpha"), document("c", "alpha"))
        store.merge()
        assert reader.ask() == "still 1"


# --- writing -------------------------------------------------------------------------------------


def test_a_second_writer_waits(path: Path, store: Store) -> None:
    with working("hold_write", path) as holder:
        assert holder.line() == "holding"
        with working("try_write", path, 30) as second:
            time.sleep(0.5)
            assert second.process.poll() is None, "it waits"
            assert holder.ask() == "committed"
            assert second.end() == ["written"]
    with store.view(OWNER) as view:
        assert [record.id for record in view.listing()] == ["held", "tried"]


def test_a_second_writer_gives_up_clearly(path: Path, store: Store) -> None:
    with working("hold_write", path) as holder:
        assert holder.line() == "holding"
        with working("try_write", path, 0.3) as second:
            line = second.line()
        kind, waited, words = line.split(maxsplit=2)
        assert kind == "StoreBusyError"
        assert 0.2 <= float(waited) < 5
        assert str(path) in words
        assert "try again" in words
        with store.view(OWNER) as view:
            assert view.status().records == 0, "readers go on"


UPKEEP: dict[str, Callable[[Store], object]] = {
    "merge": lambda store: store.merge(),
    "purge": lambda store: store.purge(["a"]),
    "check": lambda store: store.check(repair=True),
}


@pytest.mark.parametrize("name", UPKEEP)
def test_upkeep_gives_up_as_writers_do(path: Path, name: str) -> None:
    store = open_store(path, wait=0.2)
    fill(store, document("a", "alpha"))
    with working("hold_write", path) as holder:
        assert holder.line() == "holding"
        with pytest.raises(StoreBusyError):
            UPKEEP[name](store)
        assert holder.ask() == "committed"
    UPKEEP[name](store)
    assert store.check() == []
    store.close()


def test_a_second_writer_of_the_same_process_waits_and_gives_up(path: Path) -> None:
    patient, hasty = open_store(path, wait=30), open_store(path, wait=0.2)
    outcomes: list[str] = []

    def write(store: Store, name: str) -> None:
        try:
            fill(store, document(name, "alpha"))
            outcomes.append(f"{name} written")
        except StoreBusyError:
            outcomes.append(f"{name} gave up")

    same = threading.Thread(target=write, args=(patient, "same store"))
    other = threading.Thread(target=write, args=(hasty, "other store"))
    with patient.write() as writer:
        put(writer, document("first", "alpha"))
        same.start()
        other.start()
        other.join()
        assert outcomes == ["other store gave up"]
    same.join()
    assert outcomes == ["other store gave up", "same store written"]
    third = threading.Thread(target=write, args=(hasty, "third"))
    with hasty.write() as writer:
        put(writer, document("second", "alpha"))
        third.start()
        third.join()
    assert outcomes[-1] == "third gave up"
    with patient.view(OWNER) as view:
        assert [record.id for record in view.listing()] == ["first", "same store", "second"]
    patient.close()
    hasty.close()


def test_writers_of_two_processes_interleave_without_loss(path: Path, store: Store) -> None:
    with working("write_own", path, "one", 40) as one, working("write_own", path, "two", 40) as two:
        for number in range(20):
            fill(store, document(f"own{number}", "alpha"), embed=True)
        assert len(one.end()) == len(two.end()) == 40
    with store.view(OWNER) as view:
        assert view.status().records == 100
        assert view.status().vectors == 100
        assert len(view.lexical("alpha", 999).hits) == 100
        assert len(view.lexical("word7", 999).hits) == 2
    assert store.check() == []
    apart = open_store(path.with_name("apart.db"))
    for prefix in ("one", "two"):
        fill(
            apart,
            *(document(f"{prefix}{n}", f"alpha {prefix} word{n}") for n in range(40)),
            embed=True,
        )
    fill(apart, *(document(f"own{number}", "alpha") for number in range(20)), embed=True)
    assert root(apart) == root(store)
    apart.close()


def test_many_processes_may_make_a_store_at_the_same_time(path: Path) -> None:
    with ExitStack() as stack:
        makers = [stack.enter_context(working("make", path)) for _ in range(5)]
        time.sleep(0.5)  # all have started, and wait for the word
        for maker in makers:
            maker.tell()
        assert [maker.end() for maker in makers] == [["made"]] * 5
    store = open_store(path)
    with store.view(OWNER) as view:
        assert view.status().records == 5
    store.close()
