"""A state is the same, whatever history led to it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from random import Random

import apsw
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from quire.core.protocols import Store
from quire.core.types import OWNER
from quire.store import open_store
from quire.store.index import analyzer
from quire.store.sqlite.page_checksums import CHECKED

from .answers import answers_by_viewer, root, stored_settings, text, without_messages
from .reference import Limits, ReferenceStore
from .samples import ALICE, CAROL, document, fill, vector_for
from .space import Space
from .worlds import SPACES, Step, any_history, copy, questions

HISTORIES = int(os.environ.get("QUIRE_HISTORIES", "45"))
READERS = (OWNER, ALICE, CAROL)


@contextmanager
def new_file(folder: Path) -> Iterator[Path]:
    path = folder / "store.db"
    yield path
    for each in folder.glob("store.db*"):
        each.unlink()


def shuffled(space: Space, seed: int) -> Space:
    """Return the same space with its records in another order."""
    records = list(space.records.items())
    Random(seed).shuffle(records)
    return replace(space, records=dict(records))


def glance(store: Store) -> list[str]:
    """Ask a few questions of each kind: counts, lexical and semantic search."""
    answers = []
    for viewer in (OWNER, ALICE):
        for space in SPACES:
            with store.view(viewer, space) as view:
                hits = view.lexical("alpha beta cafe http", 99), view.semantic(vector_for("q"), 99)
                answers.append(text([view.roots(), view.coverage(), hits, list(view.listing())]))
    return answers


def run(path: Path, limits: Limits, history: list[Step], seed: int) -> None:
    reference = ReferenceStore(limits)
    store, onlooker = open_store(path), open_store(path)
    names: list[str] = []
    for number, step in enumerate(history):
        step(reference)
        step(store)
        if number % 3 == seed % 3:
            store.close()
            store = open_store(path)
        names += questions(reference).chunks
        # Another process may look at every state, and keep in memory what it saw.
        assert glance(onlooker) == glance(store)
    asked = questions(reference, names[:20])
    fresh = open_store(path.with_suffix(".db2"))
    for space in SPACES:
        with fresh.write(space) as writer:
            copy(shuffled(reference.space(space), seed), writer)
        by_store = answers_by_viewer(store, asked, READERS, space)
        assert by_store == answers_by_viewer(onlooker, asked, READERS, space)
        assert by_store == answers_by_viewer(fresh, asked, READERS, space)
        defined = answers_by_viewer(reference, asked, READERS, space)
        assert list(map(without_messages, by_store)) == list(map(without_messages, defined))
        assert (
            stored_settings(store, space)
            == stored_settings(fresh, space)
            == stored_settings(reference, space)
        )
        assert store.model(space) == reference.model(space)
    assert store.check() == []
    for each in (store, onlooker, fresh):
        each.close()


@pytest.mark.parametrize("batch", range(3))
def test_any_history_with_every_limit_reached(quick_path: Path, small: Limits, batch: int) -> None:
    for seed in range(batch, HISTORIES, 3):
        with new_file(quick_path) as path:
            run(path, small, any_history(Random(seed)), seed)


def test_any_history(quick_path: Path) -> None:
    for seed in range(HISTORIES, HISTORIES + 20):
        with new_file(quick_path) as path:
            run(path, Limits(), any_history(Random(seed)), seed)


@given(st.randoms(use_true_random=False))
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
def test_the_smallest_history_that_fails(quick_path: Path, small: Limits, random: Random) -> None:
    """Try few histories, but shrink one that fails."""
    with new_file(quick_path) as path:
        run(path, small, any_history(random), 0)


def test_rows_that_are_used_again_do_not_show(quick_path: Path) -> None:
    store, onlooker = open_store(quick_path / "a.db"), open_store(quick_path / "a.db")
    for times in range(3):
        for number in range(12):
            fill(store, document(f"d{number}", f"alpha word{number + times}"), embed=True)
        with onlooker.view(OWNER) as view:
            assert len(view.lexical("alpha", 99).hits) == 12
            assert len(view.lexical(f"word{times}", 99).hits) == 1
        with store.write() as writer:
            writer.remove(f"d{number}" for number in range(0, 12, 2))
        store.merge()
    store.close()
    onlooker.close()


def test_what_another_reader_has_in_memory_follows_a_repair(
    quick_path: Path, small: Limits
) -> None:
    """A repair keeps row numbers, but whole blocks of rows may be gone after it."""
    store, onlooker = open_store(quick_path / "a.db"), open_store(quick_path / "a.db")
    documents = [document(f"d{number:02}", "alpha") for number in range(12)]  # three blocks of rows
    fill(store, *documents, embed=True)
    with onlooker.view(OWNER) as view:
        assert view.status().chunks == 12
    with store.write() as writer:
        writer.remove(f"d{number:02}" for number in range(4, 8))
    damaged = apsw.Connection(str(quick_path / "a.db"), vfs=CHECKED)
    damaged.execute("DELETE FROM posting")
    damaged.close()
    assert [problem.check for problem in store.check(repair=True)] == ["words"]
    with onlooker.view(OWNER) as view:
        assert view.status().chunks == 8
        assert len(view.lexical("alpha", 99).hits) == 8
        assert len(view.semantic(bytes(8), 99).hits) == 8
    store.close()
    onlooker.close()


def test_other_rules_for_words_build_the_postings_anew(
    quick_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(quick_path / "a.db")
    fill(store, document("a", "alpha"), document("b", "alpha"), embed=True)
    before = root(store)
    monkeypatch.setattr(analyzer, "ANALYZER", "words-of-tomorrow")
    monkeypatch.setattr(analyzer, "_forms", lambda token: (token[::-1],))
    reader = open_store(quick_path / "a.db")
    with reader.view(OWNER) as view:
        assert len(view.lexical("alpha", 9).hits) == 2, "who only reads finds by the new rules"
        assert view.roots().state == before
    reader.close()
    fill(store, document("c", "beta"))
    with store.view(OWNER) as view:
        assert view.status().chunks == 3
        assert [hit.path for hit in view.lexical("alpha", 9).hits] == ["a.md", "b.md"]
        assert len(view.lexical("dm.c beta", 9).hits) == 1
    assert store.check() == []
    with store.write() as writer:
        writer.remove(["c"])
    assert root(store) == before
    store.close()
