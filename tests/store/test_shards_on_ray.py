"""Shards in actors of a Ray cluster: killed, stopped and restarted; nothing is answered without one.

Processes start slowly on a busy machine, so all tests share one store and have a space each.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import psutil
import pytest

import quire
from quire.core.protocols import Store, View
from quire.core.types import MAIN, OWNER
from quire.errors import InputError, MissingExtraError, ShardError, StoreInterruptedError
from quire.store import open_store
from quire.store.shards.contract import Call, shard_of
from quire.store.shards.store import ShardedStore
from quire.system import retry
from tests.conftest import Tree

from .answers import answers_by_viewer
from .samples import document, fill
from .test_shards import DOCUMENTS, QUESTIONS

SHARDS = 2
PATIENCE = 240.0
SPACES = count()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ShardedStore]:
    ray = pytest.importorskip("ray")
    from quire.store.shards import on_ray

    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(on_ray, "DEADLINE", PATIENCE)
        patch.setattr(on_ray, "START_SECONDS", PATIENCE)
        folder = tmp_path_factory.mktemp("ray") / f"store.{SHARDS}.shards"
        opened = open_store(f"ray://{folder}")
        assert isinstance(opened, ShardedStore)
        yield opened
        opened.close()
        ray.shutdown()


@pytest.fixture
def space(store: ShardedStore) -> str:
    name = f"space{next(SPACES)}"
    fill(store, *DOCUMENTS, space=name, embed=True)
    return name


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[Store]:
    """One file with the same content."""
    opened = open_store(tmp_path / "alone.db")
    fill(opened, *DOCUMENTS, embed=True)
    yield opened
    opened.close()


def name_in(shard: int) -> str:
    """Return the id of a new record that belongs to a shard."""
    names = (f"name{number}" for number in range(1000))
    return next(name for name in names if shard_of(name, SHARDS) == shard)


def processes(store: ShardedStore) -> list[int]:
    return store.processes()


def before(store: ShardedStore, name: str, act: Callable[[], object]) -> None:
    """Do something once, before the shards are next asked by a method."""
    shards: Any = store._shards
    call = shards.call
    left = [act]

    def asked(calls: Sequence[Call]) -> list[Any]:
        wanted = {each[1] for each in calls} | {each[2][1] for each in calls if each[1] == "ask"}
        if name in wanted and left:
            shards.call = call
            left.pop()()
        answers: list[Any] = call(calls)
        return answers

    shards.call = asked


def kill(process: int) -> None:
    """Kill a process as a machine would, and wait until it is gone."""
    victim = psutil.Process(process)
    victim.kill()
    psutil.wait_procs([victim], timeout=30)


def found(view: View) -> list[str]:
    return [hit.path for hit in view.lexical("alpha gamma cafe", 99, reach=1).hits]


def same(store: Store, space: str, alone: Store) -> bool:
    there = answers_by_viewer(store, QUESTIONS, space=space)
    return there == answers_by_viewer(alone, QUESTIONS, space=MAIN)


# --- as one store --------------------------------------------------------------------------------


def test_answers_are_those_of_one_store(store: ShardedStore, space: str, alone: Store) -> None:
    assert len({*processes(store), os.getpid()}) == SHARDS + 1
    for each, name in ((store, space), (alone, MAIN)):
        with each.write(name) as writer:
            writer.remove(["d1", "d2"])
    assert same(store, space, alone)
    assert store.check() == []
    with store.export(space) as export:
        assert export.count().chunks == len(list(export.entries())) * 2
    here = open_store(store._catalog.path.parent)
    assert same(here, space, alone), "the same folder, opened by this process"
    here.close()


# --- killed --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["count_terms", "best_nearby"])
def test_a_shard_that_is_killed_in_a_question_answers_after_its_restart(
    store: ShardedStore, space: str, name: str
) -> None:
    with store.view(OWNER, space) as view:
        expected = found(view)
    victim = processes(store)[1]
    with store.view(OWNER, space) as view:
        before(store, name, lambda: kill(victim))
        assert found(view) == expected
    assert victim not in processes(store)
    assert len(expected) == 2 * len(DOCUMENTS)


def test_a_view_of_another_state_is_not_opened_in_its_place(
    store: ShardedStore, space: str
) -> None:
    with store.view(OWNER, space) as view:
        expected = found(view)
        fill(store, document(name_in(1), "alpha changed"), space=space)
        assert found(view) == expected
        kill(processes(store)[1])
        with pytest.raises(StoreInterruptedError, match="ask again"):
            found(view)

    def attempt() -> list[str]:
        with store.view(OWNER, space) as again:
            return found(again)

    assert len(retry.again(attempt)) == 2 * len(DOCUMENTS) + 1


def test_a_shard_that_is_killed_in_a_write_leaves_nothing_of_it(
    store: ShardedStore, space: str, alone: Store
) -> None:
    def attempt() -> None:
        with store.write(space) as writer:
            for number in range(24):
                each = document(f"new{number}", "alpha")
                writer.put(each.record, each.chunks)
            kill(processes(store)[1])
            each = document(name_in(1), "alpha")
            writer.put(each.record, each.chunks)

    with pytest.raises(StoreInterruptedError):
        attempt()
    assert same(store, space, alone)
    fill(store, document("after", "alpha"), space=space)
    assert store.check() == []


@pytest.mark.parametrize("shard", range(SHARDS))
def test_a_shard_that_is_killed_before_its_commit_gets_the_write(
    store: ShardedStore, space: str, alone: Store, shard: int
) -> None:
    victim = processes(store)[shard]
    before(store, "commit", lambda: kill(victim))
    new = [document(f"new{number}", "alpha new") for number in range(24)]
    fill(store, *new, space=space, embed=True)
    fill(alone, *new, embed=True)
    assert same(store, space, alone)
    assert store.check() == []


# --- absent --------------------------------------------------------------------------------------


def test_a_shard_that_does_not_answer_is_named_and_restarted(
    store: ShardedStore, space: str
) -> None:
    shards: Any = store._shards
    with store.view(OWNER, space) as view:
        expected = found(view)
    stopped = processes(store)[1]
    shards._deadline = 2.0
    os.kill(stopped, signal.SIGSTOP)
    with (
        pytest.raises(ShardError, match=r"shard 2 of 2 .*within 2 seconds"),
        store.view(OWNER, space),
    ):
        pass
    shards._deadline = PATIENCE
    with store.view(OWNER, space) as view:
        assert found(view) == expected
    assert stopped not in processes(store)


def test_a_context_is_whole_or_an_error(store: ShardedStore, tree: Tree, tmp_path: Path) -> None:
    """It is that of a file; without a shard it is no page of what the other shards hold."""
    tree.fill({f"{n}.md": f"# {n}\n\nThe pilot {n} sails at dawn.\n" for n in range(12)})
    tree.write("quire.toml", '[embed]\nprovider = "none"\n[access]\n"1*.md" = ["alice"]\n')
    folder = store._catalog.path.parent
    pages = []
    for place, name in ((str(tmp_path / "one.db"), "main"), (f"ray://{folder}", "pages")):
        with quire.open(tree.root, store=place, space=name) as opened:
            opened.index()
            contexts = [
                opened.assemble(query, budget=300, reserve={}, viewer=viewer)
                for query in ("pilot at dawn", "sails 11")
                for viewer in (None, "alice", "bob")
            ]
            pages.append([(context.text, repr(context.receipt)) for context in contexts])
            if name == "pages":
                used: Any = opened._project.store
                used._shards._deadline = 2.0
                victim = processes(used)[0]
                before(used, "best_by_words", partial(os.kill, victim, signal.SIGSTOP))
                with pytest.raises(ShardError, match="shard 1 of 2"):
                    opened.assemble("pilot at dawn sails", budget=300, reserve={})
    assert pages[0] == pages[1]


def test_what_is_open_goes_on_to_its_end(store: ShardedStore, space: str) -> None:
    other = open_store(f"ray://{store._catalog.path.parent}")
    with other.view(OWNER, space) as view:
        expected = found(view)
        other.close()
        assert found(view) == expected
    with pytest.raises(InputError, match="closed"):
        found(view)
    with pytest.raises(InputError, match="closed"):
        other.rules()


# --- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize("url", ["ray://", "ray:///tmp/store.db", "ray://127.0.0.1:9"])
def test_a_url_without_a_folder_of_shards(url: str) -> None:
    with pytest.raises(InputError, match=r"NAME\.4\.shards"):
        open_store(url)


def test_without_ray(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "quire.store.shards.on_ray", None)
    with pytest.raises(MissingExtraError, match=r"\[ray\]"):
        open_store(f"ray://{tmp_path}/store.2.shards")
