"""A search with the cache gives what a search without it gives, after any history."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from quire.core.types import NO_FILTER, OWNER, Filter, HitCount, Hits, Viewer
from quire.store.index import search_cache, vectors
from quire.store.index.search_cache import SearchCache, split_classes
from quire.store.sqlite.store import SqliteStore

from .conftest import lower_cache_limits
from .samples import ALICE, BOB, CAROL, NOBODY, document, fill, vector_for, vectors_of
from .worlds import any_document, any_groups, any_rules

NAMES = tuple(f"r{number}" for number in range(12))
VIEWERS = (OWNER, ALICE, BOB, CAROL, NOBODY, Viewer("", links=("door",)))
QUESTIONS = tuple(vector_for(f"question {number}") for number in range(3))
FILTERS = (
    NO_FILTER,
    NO_FILTER,
    Filter(kinds=("code",)),
    Filter(kinds=("note", "absent")),
    Filter(shared_only=True),
    Filter(paths=("docs/",)),
    Filter(since=15),
)
KS = (1, 2, 5, 50)


@pytest.fixture
def low(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every threshold of the cache, so low that few documents reach it."""
    lower_cache_limits(monkeypatch)


@contextmanager
def pair(folder: Path) -> Iterator[tuple[SqliteStore, SqliteStore]]:
    """Open a store twice, as two processes do: with the cache, and without."""
    kept, plain = SqliteStore(folder / "store.db"), SqliteStore(folder / "store.db")
    plain._caches.searches.nearest = lambda *_: None  # type: ignore[method-assign]
    try:
        yield kept, plain
    finally:
        kept.close()
        plain.close()


def embed(store: SqliteStore, random: Random) -> None:
    keys = sorted(key for batch in store.missing_vectors() for key, _ in batch)
    chosen = {key: vector_for(key) for key in keys if random.randrange(4)}
    with store.write() as writer:
        writer.put_vectors("tiny/8", chosen)


def change(stores: tuple[SqliteStore, SqliteStore], random: Random, *, purge: bool = True) -> None:
    """Write something, by one of the two."""
    store = random.choice(stores)
    what = random.randrange(12)
    if what == 0:
        store.merge()
    elif what == 1 and purge:
        store.purge([random.choice(NAMES)])
    else:
        with store.write() as writer:
            if what == 2:
                writer.remove(random.sample(NAMES, 3))
            elif what == 3:
                writer.set_rules("config", any_rules(random))
            elif what == 4:
                writer.set_groups("command", any_groups(random))
            elif what == 5:
                writer.set_modified({random.choice(NAMES): random.choice((10, 20, 30))})
            elif what == 6 and not random.randrange(3):
                writer.drop_vectors()
            else:
                for _ in range(random.randrange(1, 4)):
                    each = any_document(random, NAMES)
                    writer.put(each.record, each.chunks, each.links, each.outline)
    if random.randrange(3):
        embed(random.choice(stores), random)


def compare(stores: tuple[SqliteStore, SqliteStore], random: Random, searches: int) -> None:
    """Search by several viewers, with the cache and without; both must find the same."""
    for _ in range(searches):
        viewer, where = random.choice(VIEWERS), random.choice(FILTERS)
        question, k = random.choice(QUESTIONS), random.choice(KS)
        found: list[Hits] = []
        for store in stores:
            with store.view(viewer) as view:
                found.append(view.semantic(question, k, where))
        assert found[0] == found[1], (viewer, where, k)


def live(stores: tuple[SqliteStore, SqliteStore], random: Random, steps: int) -> None:
    for _ in range(steps):
        change(stores, random)
        compare(stores, random, random.randrange(8))


@given(st.randoms(use_true_random=False), st.integers(1, 12))
@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_the_cache_changes_no_result(low: None, random: Random, steps: int) -> None:
    with tempfile.TemporaryDirectory() as folder, pair(Path(folder)) as stores:
        live(stores, random, steps)


@pytest.mark.parametrize("seed", range(3))
def test_the_cache_changes_no_result_of_a_long_history(
    low: None, quick_path: Path, seed: int
) -> None:
    with pair(quick_path) as stores:
        live(stores, Random(seed), 60)
        count = stores[0]._caches.searches.count
        assert count.hits > count.total // 20, count
        assert 0 < len(stores[0]._caches.searches._entries) <= 40


def test_a_view_of_an_older_state_finds_what_it_found(low: None, quick_path: Path) -> None:
    """Others have searched newer states meanwhile, with results that are kept."""
    random = Random(7)
    with pair(quick_path) as (store, plain), ExitStack() as open_views:
        views = []
        for _ in range(12):
            change((store, store), random, purge=False)  # it would wait for the readers
            view = open_views.enter_context(store.view(OWNER))
            same = open_views.enter_context(plain.view(OWNER))
            views.append((view, same))
            for one, other in random.sample(views, min(4, len(views))):
                assert one.semantic(QUESTIONS[0], 3) == other.semantic(QUESTIONS[0], 3)


def test_threads_find_what_one_thread_finds(low: None, quick_path: Path) -> None:
    with pair(quick_path) as (store, plain):
        fill(store, *(document(name, f"text {name}", f"more {name}") for name in NAMES), embed=True)
        wrong: list[str] = []

        def search(seed: int) -> None:
            random = Random(seed)
            for _ in range(60):
                with store.view(random.choice((OWNER, ALICE))) as view:
                    found = view.semantic(random.choice(QUESTIONS), 5).hits
                    held = {
                        each.id: data for each in found for data in view.vectors([each.id]).values()
                    }
                if len(held) < len(found):
                    wrong.append("a hit that the view does not hold")

        threads = [threading.Thread(target=search, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        random = Random(0)
        for _ in range(20):
            each = document(random.choice(NAMES), f"edited {random.randrange(9)}")
            fill(store, each, embed=True)
        for thread in threads:
            thread.join()
        assert wrong == []
        compare((store, plain), Random(1), 30)


# --- what is kept --------------------------------------------------------------------------------


def filled(store: SqliteStore, names: int = 40) -> None:
    documents = [document(f"d{number}", f"text {number}") for number in range(names)]
    fill(store, *documents, embed=True)


def ask(store: SqliteStore, viewer: Viewer = OWNER, k: int = 3) -> Hits:
    with store.view(viewer) as view:
        return view.semantic(QUESTIONS[0], k)


def test_only_what_changed_is_scored_again(
    low: None, quick_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scored: list[int] = []
    original = vectors.score_slots

    def score(matrix: vectors.Matrix, query: bytes, slots: npt.NDArray[np.int32]) -> vectors.Scores:
        scored.append(slots.size)
        return original(matrix, query, slots)

    monkeypatch.setattr(vectors, "score_slots", score)
    with pair(quick_path) as (store, _):
        filled(store)
        ask(store)
        ask(store)
        assert scored == [40]
        fill(store, document("d3", "another text"), document("d4", "and another"), embed=True)
        ask(store)
        assert scored == [40, 2]
        assert store._caches.searches.count == HitCount(2, 3)


def test_people_share_what_both_may_read_and_nothing_else(low: None, quick_path: Path) -> None:
    with pair(quick_path) as (store, _):
        public = [document(f"p{number}", f"public {number}") for number in range(5)]
        own = [
            document(f"{name}{number}", f"{name} {number}", acl=(name,))
            for name in ("alice", "bob")
            for number in range(4)
        ]
        fill(store, *public, *own, embed=True)
        assert {hit.path[0] for hit in ask(store, ALICE, 50).hits} == {"p", "a"}
        cells = {key[1] for key in store._caches.searches._entries}
        assert {hit.path[0] for hit in ask(store, BOB, 50).hits} == {"p", "b"}
        more = {key[1] for key in store._caches.searches._entries}
        assert (len(cells), len(more)) == (2, 3)  # the public class once, and each one's own
        assert {hit.path[0] for hit in ask(store, NOBODY, 50).hits} == {"p"}
        assert store._caches.searches.count == HitCount(1, 3)


def test_a_right_that_was_revoked_ends_what_was_kept_for_it(low: None, quick_path: Path) -> None:
    with pair(quick_path) as (store, plain):
        fill(
            store, *(document(f"s{n}", f"secret {n}", acl=("@ops",)) for n in range(5)), embed=True
        )
        with store.write() as writer:
            writer.set_groups("command", {"ops": ["alice"]})
        assert len(ask(store, ALICE).hits) == 3
        with plain.write() as writer:  # another process
            writer.set_groups("command", {"ops": []})
        assert ask(store, ALICE).hits == ()


def test_a_deeper_search_does_not_end_at_what_is_kept(low: None, quick_path: Path) -> None:
    with pair(quick_path) as (store, _):
        filled(store)
        assert [len(ask(store, k=k).hits) for k in (1, 30, 2, 40)] == [1, 30, 2, 40]


def test_entries_are_bounded_in_number_and_bytes(
    low: None, quick_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_cache, "MAX_BYTES", 12 * search_cache.ENTRY_BYTES)
    with pair(quick_path) as (store, _):
        filled(store)
        with store.view(OWNER) as view:
            for number in range(60):
                view.semantic(vector_for(str(number)), 3)
        cache = store._caches.searches
        assert 4 < len(cache._entries) < 12
        assert cache._bytes == sum(entry.bytes for entry in cache._entries.values())
        assert cache._bytes <= search_cache.MAX_BYTES


def test_nothing_is_left_of_a_purged_store(low: None, quick_path: Path) -> None:
    with pair(quick_path) as (store, _):
        filled(store)
        ask(store)
        store.purge(["d1"])
        assert not store._caches.searches._entries


def test_classes_are_split_into_cells_by_their_sizes() -> None:
    sizes = np.array([0, 1100, 5, 4000, 1100, 2000, 900])
    assert split_classes({0, 1, 2, 3, 4}, sizes) == (
        [frozenset({3}), frozenset({1}), frozenset({4})],
        frozenset({2}),
    )
    many = np.full(100, 1300)
    cells, unkept = split_classes(range(200), many)
    assert (len(cells), unkept) == (16, frozenset())
    assert frozenset().union(*cells) == frozenset(range(100))


def test_an_empty_cache_counts_nothing() -> None:
    assert SearchCache().count.rate == 0.0


def test_vectors_of_a_new_model_end_what_was_kept(low: None, quick_path: Path) -> None:
    with pair(quick_path) as (store, plain):
        filled(store)
        before = ask(store)
        with store.write() as writer:
            writer.drop_vectors()
        documents = [document(f"d{number}", f"text {number}") for number in range(40)]
        with store.write() as writer:
            writer.put_vectors("other/8", vectors_of(documents, "other"))
        assert ask(store) == ask(plain) != before
