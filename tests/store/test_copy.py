"""Copies between engines are equal, can be ended anywhere, and pass no damage on."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from random import Random

import apsw
import pytest

from quire.core.protocols import Store
from quire.core.types import OWNER, Event, Progress
from quire.errors import InputError, StoreDamagedError, StoreError
from quire.indexing import copy_store as copying
from quire.indexing.copy_store import NOTE, copy_store
from quire.store import open_store
from quire.store.sqlite.page_checksums import CHECKED

from .answers import answers_by_viewer, stored_settings
from .processes import PATIENCE, environment
from .reference import ReferenceStore
from .samples import MODEL, document, fill, vector_for
from .test_histories import READERS
from .worlds import SPACES, any_history, questions


@pytest.fixture
def server_store(database: str) -> Iterator[Store]:
    opened = open_store(database)
    yield opened
    opened.close()


@pytest.fixture
def file(quick_path: Path) -> Iterator[Store]:
    opened = open_store(quick_path / "a.db")
    yield opened
    opened.close()


def roots(store: Store, space: str = "main") -> object:
    with store.export(space) as export:
        return export.roots()


def notes(store: Store, space: str = "main") -> object:
    with store.export(space) as export:
        return dict(export.state().notes)


@pytest.mark.parametrize("seed", range(10))
def test_any_space_is_copied_from_engine_to_engine(
    server_store: Store, quick_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copying, "BATCH_CHUNKS", 3)
    reference = ReferenceStore()
    for step in any_history(Random(seed)):
        step(reference)
    with reference.write() as writer:
        writer.set_note("root", "/here")
    stores = [reference, open_store(quick_path / "a.db"), server_store, ReferenceStore()]
    stores.append(open_store(quick_path / "b.db"))
    for source, target in pairwise(stores):
        for copied in copy_store(source, target):
            assert copied.roots == roots(source, copied.space) == roots(target, copied.space)
        assert source.spaces() == target.spaces()
    asked = questions(reference)
    for space in SPACES:
        answers = [answers_by_viewer(store, asked, READERS, space) for store in stores[1:3]]
        assert answers[0] == answers[1] == answers_by_viewer(stores[4], asked, READERS, space)
        settings = [stored_settings(store, space) for store in stores]
        assert all(each == settings[0] for each in settings)
        assert all(notes(store, space) == notes(reference, space) for store in stores)
    for store in (stores[1], stores[2], stores[4]):
        assert store.check() == []
    stores[1].close()
    stores[4].close()


def test_one_space_alone(file: Store) -> None:
    target = ReferenceStore()
    for space in ("one", "two"):
        fill(file, document("a", space), space=space)
    assert [each.space for each in copy_store(file, target, ["two"])] == ["two"]
    assert target.spaces() == ("two",)
    with pytest.raises(InputError, match="three") as caught:
        copy_store(file, target, ["three"])
    assert caught.value.allowed == ("one", "two")


def test_a_target_that_holds_something_else_is_left_alone(file: Store) -> None:
    target = ReferenceStore()
    fill(file, document("a", "alpha"), document("b", "beta"), embed=True)
    fill(target, document("b", "other"), document("c", "gamma"))
    before = roots(target)
    with pytest.raises(InputError, match="already holds something else"):
        copy_store(file, target)
    assert roots(target) == before
    (copied,) = copy_store(file, target, force=True)
    assert roots(target) == roots(file) == copied.roots
    (again,) = copy_store(file, target)  # it is equal: nothing is refused
    assert not again.resumed
    assert notes(target) == notes(file)


def test_other_vectors_of_the_same_texts_are_replaced(file: Store, server_store: Store) -> None:
    texts = document("a", "alpha", "beta")
    for store, model, seed in ((file, MODEL, "x"), (server_store, MODEL, "y")):
        fill(store, texts)
        with store.write() as writer:
            writer.put_vectors(model, {each.vector_key: vector_for(seed) for each in texts.chunks})
    assert roots(file) != roots(server_store)
    copy_store(file, server_store, force=True)
    assert roots(file) == roots(server_store)


def test_vectors_of_one_text_may_differ_between_readers(file: Store) -> None:
    target = ReferenceStore()
    ann, bob = (document(name, "alpha", acl=(f"user:{name}",)) for name in ("ann", "bob"))
    fill(file, ann, bob)
    with file.write() as writer:
        for each in (ann, bob):
            (chunk,) = each.chunks
            vector = vector_for(each.record.id)
            writer.put_vectors(MODEL, {chunk.vector_key: vector}, {chunk.id})
    copy_store(file, target)
    assert roots(target) == roots(file)


def test_what_the_source_writes_meanwhile_is_not_copied(file: Store, server_store: Store) -> None:
    fill(file, *(document(f"{number:03}", "alpha") for number in range(30)))
    before = roots(file)

    def write(progress: Progress) -> None:
        fill(file, document(f"late{progress.done}", "beta"))

    (copied,) = copy_store(file, server_store, report=write)
    assert copied.roots == before == roots(server_store)
    assert roots(file) != before


def test_a_difference_is_named(file: Store) -> None:
    fill(file, document("a", "alpha"), document("b", "beta"))
    target = ReferenceStore()

    def meddle(progress: Progress) -> None:
        if progress.done:
            fill(target, document("b", "other"))

    with pytest.raises(StoreError, match=r"the chunks of b\.md differ"):
        copy_store(file, target, report=meddle)
    copy_store(file, target)  # starts over, and needs no force: the note says whose it is
    assert roots(target) == roots(file)
    assert NOTE not in target.space().notes
    with target.write() as writer:
        writer.put_events([Event("ann", "view", "gone", 1)])
    with pytest.raises(StoreError, match="its events differ"):
        copy_store(file, target, force=True)


def test_damage_is_not_passed_on(file: Store, quick_path: Path) -> None:
    fill(file, document("a", "alpha"), document("b", "beta"))
    connection = apsw.Connection(str(quick_path / "a.db"), vfs=CHECKED)
    connection.execute("UPDATE chunk SET text = 'omega' WHERE text = 'beta'")
    connection.close()
    with pytest.raises(StoreDamagedError, match=r"b\.md"):
        copy_store(file, ReferenceStore())


CHILD = """
import os, signal, sys
from itertools import pairwise
from pathlib import Path
from quire.indexing import copy_store
from quire.store import open_store

copy_store.BATCH_CHUNKS = 4
source, target = (open_store(name if "://" in name else Path(name)) for name in sys.argv[1:3])

def die(progress):
    if progress.done >= int(sys.argv[3]):
        os.kill(os.getpid(), signal.SIGKILL)

copy_store.copy_store(source, target, report=die)
"""


@pytest.mark.parametrize("to", ["b.db", "b.3.shards", "server"])
def test_a_killed_copy_goes_on(file: Store, database: str, quick_path: Path, to: str) -> None:
    fill(file, *(document(f"{number:03}", "alpha", "beta") for number in range(20)), embed=True)
    place = database if to == "server" else str(quick_path / to)
    target = open_store(place if to == "server" else Path(place))
    for done in (8, 24):
        command = [sys.executable, "-c", CHILD, str(quick_path / "a.db"), place, str(done)]
        ended = subprocess.run(command, env=environment(), timeout=PATIENCE, check=False)
        assert ended.returncode == -signal.SIGKILL
        with target.view(OWNER) as view:
            assert view.status().chunks == done, "what was written stays, and nothing more"
        assert roots(target) != roots(file)
    steps: list[Progress] = []
    (copied,) = copy_store(file, target, report=steps.append)
    assert copied.resumed
    assert (copied.copied, copied.records, steps[0].done) == (8, 20, 24)
    assert roots(target) == roots(file)
    assert notes(target) == notes(file)
    assert target.check() == []
    target.close()
