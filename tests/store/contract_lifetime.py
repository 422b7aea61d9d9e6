"""The lifetime rules of the contract: threads, open writers, closed views and closed stores."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import count as numbers
from typing import Any

import pytest

from quire.core.protocols import Store, View, Writer
from quire.core.types import OWNER, AccessRule, Event, Filter, Stamp
from quire.errors import InputError, StoreBusyError

from .answers import Questions, ask_everything, text
from .engines import Engine
from .samples import ALICE, BOB, MODEL, document, fill, put
from .worker import check_in_step

THREADS = 6
PATIENCE = 60.0
"""Seconds after which a test fails that waits for a thread."""
HASTY = 0.2
"""Seconds that an impatient writer waits for another one."""

DOCUMENTS = [
    document(
        f"d{number}",
        f"alpha beta word{number}",
        f"the cafe {'gamma' * (number % 2)}",
        kind=("text", "code")[number % 2],
        path=f"docs/{number}.md",
        links=[(f"d{(number + 1) % 12}", "link")],
        parent=f"d{number // 3}",
        acl=(None, ("alice",), ("bob",))[number % 3],
    )
    for number in range(12)
]
QUESTIONS = Questions(
    records=tuple(each.record.id for each in DOCUMENTS),
    chunks=tuple(chunk.id for each in DOCUMENTS for chunk in each.chunks),
)
CHUNK = DOCUMENTS[0].chunks[0].id

VIEW_CALLS: dict[str, Sequence[Callable[[View], object]]] = {
    "roots": [lambda view: view.roots()],
    "coverage": [lambda view: view.coverage()],
    "count": [lambda view: view.count(), lambda view: view.count(Filter(where="has(n)"))],
    "metadata_keys": [lambda view: view.metadata_keys()],
    "metadata_kinds": [lambda view: view.metadata_kinds("n")],
    "facets": [lambda view: view.facets(3)],
    "last_expiry": [lambda view: view.last_expiry(1)],
    "expired": [lambda view: view.expired(1)],
    "status": [lambda view: view.status()],
    "lexical": [lambda view: view.lexical("alpha", 1), lambda view: view.lexical("", 1)],
    "match_all": [lambda view: view.match_all(["alpha"], 9), lambda view: view.match_all([], 9)],
    "rarities": [lambda view: view.rarities("alpha"), lambda view: view.rarities("")],
    "languages": [lambda view: view.languages()],
    "semantic": [lambda view: view.semantic(bytes(8), 1)],
    "chunks": [lambda view: view.chunks(QUESTIONS.chunks), lambda view: view.chunks([])],
    "single_chunks": [lambda view: view.single_chunks([CHUNK]), lambda v: v.single_chunks([])],
    "records": [lambda view: view.records(["d0"]), lambda view: view.records([])],
    "listing": [lambda view: list(view.listing())],
    "unshared": [lambda view: view.unshared(["a"])],
    "children": [lambda view: view.children(["d0"]), lambda view: view.children([])],
    "chunks_of": [lambda view: view.chunks_of("d0")],
    "vectors": [lambda view: view.vectors([CHUNK]), lambda view: view.vectors([])],
    "links": [lambda view: view.links(["d0"]), lambda view: view.links([], back=True)],
    "outlines": [lambda view: view.outlines(["d0"]), lambda view: view.outlines([])],
    "definitions": [lambda view: view.definitions(["a"]), lambda view: view.definitions([])],
    "references": [lambda view: view.references(["a"]), lambda view: view.references([])],
    "latest_activity": [lambda view: view.latest_activity()],
    "events": [lambda view: view.events(), lambda view: view.events(limit=0)],
    "prove": [lambda view: view.prove(CHUNK)],
    "prove_all": [lambda view: view.prove_all([CHUNK]), lambda view: view.prove_all([])],
    "prove_record": [lambda view: view.prove_record("d0")],
    "damaged": [lambda view: view.damaged()],
}
WRITER_CALLS: dict[str, Sequence[Callable[[Writer], object]]] = {
    "put": [lambda writer: writer.put(document("late").record, ())],
    "update": [lambda writer: writer.update(document("d0").record)],
    "set_modified": [lambda w: w.set_modified({"d0": 1}), lambda w: w.set_modified({})],
    "remove": [lambda writer: writer.remove(["d0"]), lambda writer: writer.remove([])],
    "put_vectors": [lambda w: w.put_vectors(MODEL, {"0" * 32: bytes(8)})],
    "drop_vectors": [lambda writer: writer.drop_vectors()],
    "put_waiting_vectors": [lambda w: w.put_waiting_vectors(MODEL, {"0" * 32: bytes(8)})],
    "switch_vectors": [lambda writer: writer.switch_vectors(MODEL)],
    "drop_waiting_vectors": [lambda writer: writer.drop_waiting_vectors()],
    "put_events": [lambda w: w.put_events([Event("a", "b", "d0", 1)]), lambda w: w.put_events([])],
    "set_rules": [lambda writer: writer.set_rules("config", [AccessRule("*", ("bob",))])],
    "set_groups": [lambda writer: writer.set_groups("config", {"dev": ["bob"]})],
    "set_default": [lambda writer: writer.set_default(("bob",))],
    "stamp": [lambda w: w.stamp([Stamp("late", 1, 1, "", "a")]), lambda w: w.stamp([])],
    "unstamp": [lambda writer: writer.unstamp(["late"]), lambda writer: writer.unstamp([])],
    "set_note": [lambda writer: writer.set_note("late", "value")],
}
STORE_CALLS: dict[str, Callable[[Store], object]] = {
    "view": lambda store: store.view(OWNER).__enter__(),
    "write": lambda store: store.write().__enter__(),
    "spaces": lambda store: store.spaces(),
    "export": lambda store: store.export().__enter__(),
    "model": lambda store: store.model(),
    "reembedding": lambda store: store.reembedding(),
    "missing_vectors": lambda store: list(store.missing_vectors()),
    "stamps": lambda store: store.stamps(),
    "rules": lambda store: store.rules(),
    "groups": lambda store: store.groups(),
    "note": lambda store: store.note("key"),
    "merge": lambda store: store.merge(),
    "old_vectors": lambda store: store.old_vectors(),
    "prune_vectors": lambda store: store.prune_vectors(0),
    "shrink": lambda store: store.shrink(),
    "purge": lambda store: store.purge([]),
    "check": lambda store: store.check(),
    "index_problem": lambda store: store.index_problem(),
}


def public_methods(protocol: type) -> set[str]:
    return {
        name
        for name, value in vars(protocol).items()
        if callable(value) and not name.startswith("_")
    }


def refused(calls: Sequence[Callable[[Any], object]], closed: object) -> bool:
    """Return whether each of some calls is refused because its object is closed."""
    for call in calls:
        try:
            call(closed)
        except InputError as error:
            if "closed" in str(error):
                continue
        return False
    return True


def answers_of(view: View) -> str:
    return text(ask_everything(view, QUESTIONS))


def names(store: Store) -> list[str]:
    with store.view(OWNER) as view:
        return [record.id for record in view.listing()]


@contextmanager
def eager_switching() -> Iterator[None]:
    """Let threads take turns as often as Python allows, so that races are met in few rounds."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(interval)


def run_all(jobs: Sequence[Callable[[], Any]]) -> list[Any]:
    """Run jobs at once, each in a thread of its own; raise what one of them raises."""
    barrier = threading.Barrier(len(jobs))

    def started(job: Callable[[], Any]) -> Any:
        barrier.wait(PATIENCE)
        return job()

    with ThreadPoolExecutor(len(jobs)) as pool:
        return [future.result(PATIENCE) for future in [pool.submit(started, job) for job in jobs]]


class TestSnapshots:
    """A view shows the state of its opening."""

    def test_it_does_not_see_the_write_in_which_it_was_opened(self, store: Store) -> None:
        fill(store, *DOCUMENTS, embed=True)
        with ExitStack() as views:
            before = answers_of(views.enter_context(store.view(OWNER)))
            with store.write() as writer:
                put(writer, document("new", "alpha"), document("d0", "changed"))
                writer.remove(["d1"])
                inside = views.enter_context(store.view(OWNER))
                assert answers_of(inside) == before
                writer.set_default(("bob",))
                put(writer, document("newer", "alpha"))
                assert answers_of(inside) == before
            assert answers_of(inside) == before, "committed, but not when the view was opened"
            with store.view(OWNER) as later:
                assert answers_of(later) != before
                assert later.records(["d1"]) == []
                assert len(later.records(["new", "newer"])) == 2

    def test_it_does_not_see_writes_that_are_opened_inside_it(self, store: Store) -> None:
        """Commits are read in by batches this way: the view stays open over all of them."""
        fill(store, *DOCUMENTS, embed=True)
        with store.view(OWNER) as view:
            before = answers_of(view)
            for number in range(5):
                fill(store, document(f"new{number}", "alpha"), document("d0", f"{number}"))
                assert answers_of(view) == before
            store.merge()
            assert answers_of(view) == before
        assert len(names(store)) == len(DOCUMENTS) + 5

    def test_the_store_tells_the_last_commit_beside_an_open_write(self, store: Store) -> None:
        fill(store, *DOCUMENTS)
        with store.write() as writer:
            writer.set_note("key", "new")
            writer.set_rules("config", [AccessRule("*", ("bob",))])
            writer.set_groups("config", {"dev": ["bob"]})
            writer.stamp([Stamp("a", 1, 1, "", "d0")])
            writer.put_vectors(MODEL, {DOCUMENTS[0].chunks[0].vector_key: bytes(8)})
            assert (store.note("key"), store.model(), store.stamps()) == (None, None, {})
            assert not any(store.rules().values())
            assert not any(store.groups().values())
        assert (store.note("key"), store.model(), list(store.stamps())) == ("new", MODEL, ["a"])
        assert store.rules()["config"]
        assert store.groups()["config"]

    def test_missing_vectors_may_be_written_between_batches(self, store: Store) -> None:
        fill(store, *DOCUMENTS)
        for batch in store.missing_vectors():
            with store.write() as writer:
                writer.put_vectors(MODEL, {key: bytes(8) for key, _ in batch})
        assert list(store.missing_vectors()) == []

    def test_many_views_of_many_states(self, store: Store) -> None:
        with ExitStack() as stack:
            views = []
            for number in range(24):
                fill(store, document(f"d{number}", f"alpha word{number}"), embed=number % 2 == 0)
                views.append(stack.enter_context(store.view((OWNER, ALICE)[number % 2])))
            for number in sorted(range(24), key=lambda number: (number % 5, -number)):
                hits = views[number].lexical("alpha", 99).hits
                assert len(hits) == views[number].status().records == number + 1
                assert len(views[number].semantic(bytes(8), 99).hits) == number // 2 + 1


class TestThreads:
    """Several threads read one view, and many views are open beside a writer."""

    def test_one_view_answers_all_threads_alike(self, engine: Engine) -> None:
        store = engine.open()
        fill(store, *DOCUMENTS, embed=True)
        fill(store, document("d0", "changed alpha"), embed=True)
        for viewer in (OWNER, ALICE, BOB):
            with store.view(viewer) as view:
                expected = answers_of(view)
            for _ in range(4):
                cold = engine.open()  # nothing is cached: the threads load everything at once
                with eager_switching(), cold.view(viewer) as view:
                    answers = run_all([partial(answers_of, view)] * THREADS)
                assert set(answers) == {expected}
                cold.close()
        store.close()

    def test_views_show_whole_states_while_another_thread_writes(self, store: Store) -> None:
        views = 0
        stop = threading.Event()

        def read() -> None:
            nonlocal views
            while not stop.is_set():
                with store.view(OWNER) as view:
                    check_in_step(view)
                    views += 1

        def write(number: int) -> None:
            pair = [
                document(name, f"alpha step{number}", f"{name} x") for name in ("left", "right")
            ]
            fill(store, *pair, document(f"x{number % 3}", f"alpha other{number}"), embed=True)

        def write_all() -> None:
            try:
                for number in numbers(1):
                    write(number)
                    if number % 9 == 0:
                        store.merge()
                    if number >= 30 and (views >= 30 or number >= 500):
                        return
            finally:
                stop.set()

        write(0)
        run_all([read, read, read, write_all])

    def test_a_call_that_outlives_its_view_tells_its_state_or_fails(self, engine: Engine) -> None:
        """The end of a view waits for nobody, and nobody reads what others opened after it."""
        all_calls = [call for each in VIEW_CALLS.values() for call in each]
        few_calls = [VIEW_CALLS[name][0] for name in ("chunks_of", "events", "links")]
        answered = 0
        for number in range(24):
            store = engine.open()
            fill(store, *DOCUMENTS, embed=True)
            with store.view(ALICE) as view:
                expected = {call: call(view) for call in all_calls}
            if number % 2:
                store.close()
                store = engine.open()  # nothing is cached: the threads load it while the view ends
            opened = store.view(ALICE)
            view = opened.__enter__()

            def ask(
                calls: Sequence[Callable[[View], object]],
                view: View = view,
                expected: Mapping[Callable[[View], object], object] = expected,
            ) -> int:
                for turn in range(100_000):
                    call = calls[turn % len(calls)]
                    try:
                        answer = call(view)
                    except InputError:
                        return turn
                    assert answer == expected[call]
                raise AssertionError("the view never ended")

            def end(opened: Any = opened, store: Store = store, number: int = number) -> int:
                time.sleep(0.001 * (number % 8))
                opened.__exit__(None, None, None)
                for turn in range(3):  # whoever reads on must not meet any of this
                    fill(store, document("d0", f"{number} {turn}"), embed=True)
                    with store.view(BOB) as other:
                        answers_of(other)
                return 0

            asked = (all_calls, all_calls[::-1], few_calls, few_calls)
            with eager_switching():
                answered += sum(run_all([*(partial(ask, calls) for calls in asked), end]))
            assert store.check() == []
            store.close()
        assert answered


class TestClosedViews:
    """A view ends with its block, and everything that is asked of it later is refused."""

    def test_every_call_is_refused(self, store: Store) -> None:
        assert VIEW_CALLS.keys() == public_methods(View), "each method is tried"
        fill(store, *DOCUMENTS, embed=True)
        with store.view(ALICE) as view:
            for calls in VIEW_CALLS.values():
                for call in calls:
                    call(view)
        assert [name for name, calls in VIEW_CALLS.items() if not refused(calls, view)] == []
        assert view.viewer.name == "alice"
        with store.view(ALICE) as view:
            assert view.status().records, "the next view is not affected"

    def test_listings_end_with_the_view(self, store: Store) -> None:
        fill(store, *DOCUMENTS)
        with store.view(OWNER) as view:
            begun, fresh = view.listing(), view.listing()
            next(begun)
        for listing in (begun, fresh):
            with pytest.raises(InputError, match="closed"):
                next(listing)

    def test_what_was_returned_stays(self, store: Store) -> None:
        fill(store, *DOCUMENTS, embed=True)
        with store.view(OWNER) as view:
            returned = [view.records(["d0"]), view.chunks([CHUNK]), view.lexical("alpha", 9)]
            outlines, vectors = view.outlines(["d0"]), view.vectors([CHUNK])
            before = text([*returned, dict(outlines), sorted(vectors)])
        fill(store, document("d0", "changed"))
        assert text([*returned, dict(outlines), sorted(vectors)]) == before

    def test_an_error_in_the_block_ends_the_view_as_well(self, store: Store) -> None:
        fill(store, *DOCUMENTS)
        with pytest.raises(KeyError), store.view(OWNER) as view:
            raise KeyError
        with pytest.raises(InputError, match="closed"):
            view.status()

    def test_a_view_may_end_in_another_thread(self, store: Store) -> None:
        fill(store, *DOCUMENTS)
        opened = store.view(OWNER)
        (view,) = run_all([opened.__enter__])
        assert view.status().records == len(DOCUMENTS)
        run_all([lambda: opened.__exit__(None, None, None)])
        with pytest.raises(InputError, match="closed"):
            view.status()


class TestWriters:
    """Writers take turns, and end with their block."""

    def test_every_call_is_refused_after_the_block(self, store: Store) -> None:
        assert WRITER_CALLS.keys() == public_methods(Writer), "each method is tried"
        with store.write() as writer:
            put(writer, *DOCUMENTS)
        with store.view(OWNER) as view:
            before = answers_of(view)
        assert [name for name, calls in WRITER_CALLS.items() if not refused(calls, writer)] == []
        with store.view(OWNER) as view:
            assert answers_of(view) == before
        assert (store.stamps(), store.note("late"), store.model()) == ({}, None, None)

    def test_another_thread_waits_and_sees_what_was_committed(self, store: Store) -> None:
        first, second = threading.Event(), threading.Event()
        order: list[str] = []

        def write_first() -> None:
            with store.write() as writer:
                first.set()
                put(writer, document("a", "alpha"))
                assert second.wait(PATIENCE)
                time.sleep(HASTY)
                order.append("first")

        def write_second() -> None:
            assert first.wait(PATIENCE)
            second.set()
            with store.write() as writer:
                order.append("second")
                assert names(store) == ["a"]
                put(writer, document("b", "alpha"))

        run_all([write_first, write_second])
        assert order == ["first", "second"]
        assert names(store) == ["a", "b"]

    def test_no_update_is_lost(self, engine: Engine) -> None:
        """Memories and blocks are written this way: what a view inside the write says is changed."""
        stores = [engine.open() for _ in range(3)]

        def count(store: Store) -> None:
            for _ in range(8):
                with store.write() as writer, store.view(OWNER) as view:
                    known = [record.position for record in view.records(["counter"])]
                    time.sleep(0.001)  # another one would read the same now, if it were let
                    put(writer, document("counter", "x", position=sum(known) + 1))

        with eager_switching():
            run_all([partial(count, store) for store in stores * 2])
        with stores[0].view(OWNER) as view:
            assert view.records(["counter"])[0].position == 48
        for store in stores:
            store.close()

    def test_whoever_waits_too_long_gives_up(self, engine: Engine) -> None:
        store, hasty = engine.open(), engine.open(wait=HASTY)
        fill(store, *DOCUMENTS)

        def wait_in_vain(name: str) -> float:
            begun = time.monotonic()
            with pytest.raises(StoreBusyError):
                STORE_CALLS[name](hasty)
            return time.monotonic() - begun

        with store.write() as writer:
            put(writer, document("new", "alpha"))
            for name in ("write", "merge", "purge", "check"):
                (waited,) = run_all([partial(wait_in_vain, name)])
                assert HASTY / 2 < waited < PATIENCE, name
            begun = time.monotonic()
            assert len(names(hasty)) == len(DOCUMENTS), "whoever reads does not wait"
            assert time.monotonic() - begun < PATIENCE / 2
        fill(hasty, document("newer", "alpha"))
        assert len(names(store)) == len(DOCUMENTS) + 2
        store.close()
        hasty.close()

    def test_a_second_write_of_the_same_thread_is_refused_at_once(self, store: Store) -> None:
        begun = time.monotonic()
        with store.write() as writer:
            for name in ("write", "merge", "purge"):
                with pytest.raises(StoreBusyError):
                    STORE_CALLS[name](store)
            put(writer, document("a", "alpha"))
        assert time.monotonic() - begun < PATIENCE / 4
        assert names(store) == ["a"], "the first goes on to its end"

    def test_the_next_may_write_after_one_that_failed(self, store: Store) -> None:
        with pytest.raises(KeyError), store.write():
            raise KeyError
        run_all([lambda: fill(store, document("a", "alpha"))])
        fill(store, document("b", "alpha"))
        assert names(store) == ["a", "b"]


class TestClosedStores:
    """Closing a store ends nothing that is open, and refuses everything that is new."""

    def test_every_call_is_refused(self, engine: Engine) -> None:
        assert {*STORE_CALLS, "close"} == public_methods(Store), "each method is tried"
        store = engine.open()
        fill(store, *DOCUMENTS)
        store.close()
        store.close()
        assert [name for name, call in STORE_CALLS.items() if not refused([call], store)] == []

    def test_what_is_open_goes_on_to_its_end(self, engine: Engine) -> None:
        store, other = engine.open(), engine.open()
        fill(store, *DOCUMENTS, embed=True)
        with store.view(OWNER) as view, store.write() as writer:
            before = answers_of(view)
            store.close()
            assert answers_of(view) == before
            put(writer, document("new", "alpha"))
        with pytest.raises(InputError, match="closed"):
            view.status()
        with pytest.raises(InputError, match="closed"):
            writer.drop_vectors()
        assert "new" in names(other), "another that was opened is not affected"
        other.close()
        again = engine.open()
        assert "new" in names(again)
        assert again.check() == []
        again.close()

    def test_closing_while_threads_read(self, engine: Engine) -> None:
        for number in range(6):
            store = engine.open()
            fill(store, *DOCUMENTS, embed=True)
            with store.view(OWNER) as view:
                expected = answers_of(view)

            def read(store: Store = store, expected: str = expected) -> int:
                for turn in range(2_000):
                    try:
                        with store.view(OWNER) as view:
                            assert answers_of(view) == expected
                    except InputError:
                        return turn
                raise AssertionError("the store was never closed")

            def close(store: Store = store, number: int = number) -> int:
                time.sleep(0.01 * number)
                store.close()
                return 0

            with eager_switching():
                run_all([read, read, read, close])
