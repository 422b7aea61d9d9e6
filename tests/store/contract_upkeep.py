"""Maintenance changes what it should, and nothing else."""

from __future__ import annotations

from quire.core.protocols import Store
from quire.core.types import OWNER, Event, Stamp

from .answers import Questions, answers_by_viewer
from .samples import document, fill


class TestUpkeep:
    def test_merging_changes_no_answer(self, store: Store) -> None:
        documents = [
            document(f"d{n}", f"alpha w{n % 3}", links=[("d1", "link")]) for n in range(20)
        ]
        for each in documents:
            fill(store, each, embed=True)
        with store.write() as writer:
            writer.remove(["d3", "d4", "d19"])
        questions = Questions(
            queries=("alpha", "w1 w2"), records=("d1", "d3"), chunks=(documents[0].chunks[0].id,)
        )
        before = answers_by_viewer(store, questions)
        store.merge()
        assert answers_by_viewer(store, questions) == before
        store.merge()
        assert answers_by_viewer(store, questions) == before
        fill(store, *documents[3:5], embed=True)
        store.merge("elsewhere")
        with store.view(OWNER) as view:
            assert len(view.lexical("alpha", 99).hits) == 19

    def test_a_sound_store_has_no_problems(self, store: Store) -> None:
        assert store.check() == []
        fill(store, document("a", "alpha", links=[("b", "link")]), embed=True)
        fill(store, document("b", "beta"), space="two")
        with store.write() as writer:
            writer.put_events([Event("alice", "view", "a", 1)])
            writer.set_default(("bob",))
            writer.set_groups("config", {"dev": ["bob"]})
        assert store.check() == []
        assert store.check(repair=True) == []

    def test_purging_removes_and_tells_how_many(self, store: Store) -> None:
        fill(store, document("a", "alpha"), document("b", "alpha"), embed=True)
        with store.write() as writer:
            writer.stamp([Stamp("a.md", 1, 1, "", "a"), Stamp("b.md", 1, 1, "", "b")])
            writer.put_events([Event("alice", "view", "a", 1)])
        assert store.purge(["a", "absent"]) == 1
        assert list(store.stamps()) == ["b.md"]
        with store.view(OWNER) as view:
            assert [record.id for record in view.listing()] == ["b"]
            assert [hit.path for hit in view.lexical("alpha", 9).hits] == ["b.md"]
            assert view.events() == []
        assert store.purge(["a"]) == 0
        assert store.purge([]) == 0
        assert store.check() == []
        fill(store, document("a", "alpha"), embed=True)
        with store.view(OWNER) as view:
            assert view.status().vectors == 2
