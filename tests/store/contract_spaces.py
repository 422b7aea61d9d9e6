"""Spaces are independent, and report their stamps, notes and status."""

from __future__ import annotations

from dataclasses import replace

from quire.core.protocols import Store
from quire.core.types import OWNER, Stamp

from .answers import Questions, answers_by_viewer, root
from .contract_records import FULL
from .samples import BOB, document, fill


class TestSpaces:
    def test_nothing_crosses_a_space(self, store: Store) -> None:
        questions = Questions(records=("a", "b"), chunks=(document("a", "alpha").chunks[0].id,))
        fill(store, document("a", "alpha", links=[("b", "link")]), space="one", embed=True)
        alone = answers_by_viewer(store, questions, space="one")
        empty = answers_by_viewer(store, questions, space="three")
        fill(store, document("a", "alpha"), document("b", "alpha beta"), space="two")
        with store.write("two") as writer:
            writer.set_default(("bob",))
            writer.set_groups("config", {"ops": ["alice"]})
            writer.put_vectors(
                "another model", {document("b", "alpha beta").chunks[0].vector_key: b"\1"}
            )
        assert answers_by_viewer(store, questions, space="one") == alone
        assert answers_by_viewer(store, questions, space="three") == empty
        assert (store.model("one"), store.model("two"), store.model()) == (
            "tiny/8",
            "another model",
            None,
        )
        with store.write("two") as writer:
            writer.remove(["a", "b"])
            writer.drop_vectors()
        store.merge("two")
        store.purge(["a"], "two")
        assert answers_by_viewer(store, questions, space="one") == alone

    def test_equal_spaces_have_equal_roots(self, store: Store) -> None:
        fill(store, document("z", "other words"), space="first")
        for space in ("one", "two"):
            fill(store, FULL, document("other", "x"), space=space, embed=True)
        questions = Questions(records=("full",), chunks=tuple(chunk.id for chunk in FULL.chunks))
        assert answers_by_viewer(store, questions, space="one") == answers_by_viewer(
            store, questions, space="two"
        )

    def test_main_is_the_default(self, store: Store) -> None:
        fill(store, document("a", "x"))
        with store.view(OWNER, "main") as view:
            assert len(list(view.listing())) == 1

    def test_names_may_hold_any_printable_character(self, store: Store) -> None:
        for name in ("team a/b", "チーム", "x" * 200):
            fill(store, document("a", "x"), space=name)
            with store.view(OWNER, name) as view:
                assert view.status().records == 1


class TestStamps:
    def test_stamps_are_kept_replaced_and_forgotten(self, store: Store) -> None:
        one = Stamp("docs/a.md", 10, 123_456_789_012_345_678, "d" * 64, "r1")
        two = Stamp("docs/b.md", 0, -1, "", "r2")
        three = Stamp("docs2/é.md", 2**40, 5, "e", "r3")
        with store.write() as writer:
            writer.stamp([one, two, three])
        assert store.stamps() == {stamp.path: stamp for stamp in (one, two, three)}
        changed = replace(one, size=11, digest="x", record_id="r9", mtime=-1)
        with store.write() as writer:
            writer.stamp([changed])
            writer.unstamp(["docs/b.md", "absent"])
        assert store.stamps() == {"docs/a.md": changed, "docs2/é.md": three}
        assert store.stamps("elsewhere") == {}

    def test_stamps_under_a_folder(self, store: Store) -> None:
        paths = ["docs", "docs/a.md", "docs/sub/b.md", "docs2/c.md", "do", "Docs/d.md", "d_cs/e"]
        with store.write() as writer:
            writer.stamp(Stamp(path, 1, 1, "", "r") for path in paths)
        assert sorted(store.stamps(under="docs")) == ["docs", "docs/a.md", "docs/sub/b.md"]
        assert sorted(store.stamps(under="docs/sub")) == ["docs/sub/b.md"]
        assert sorted(store.stamps(under="docs/a.md")) == ["docs/a.md"]
        assert store.stamps(under="absent") == {}
        assert len(store.stamps(under="")) == len(paths)

    def test_notes_and_stamps_are_no_part_of_the_state(self, store: Store) -> None:
        fill(store, FULL)
        before = root(store)
        with store.write() as writer:
            writer.stamp([Stamp("a", 1, 1, "", "full")])
            writer.set_note("root", "/one")
        with store.write() as writer:
            writer.set_note("root", "/two")
        assert store.note("root") == "/two"
        assert store.note("root", "elsewhere") is None
        assert store.note("other") is None
        assert root(store) == before


class TestStatus:
    def test_it_counts_what_is_there(self, store: Store) -> None:
        fill(store, document("a", "one", "two"), document("b", "two", acl=("bob",)), embed=True)
        fill(store, document("c", "three"), document("d"))
        with store.view(OWNER) as view:
            status = view.status()
            assert (status.records, status.chunks, status.vectors) == (4, 4, 3)
            assert (status.missing_vectors, status.model) == (1, "tiny/8")
            assert status.roots == view.roots()
            coverage = view.coverage()
            assert (coverage.chunks, coverage.vectors, coverage.model) == (4, 3, "tiny/8")

    def test_others_are_told_of_what_they_may_read(self, store: Store) -> None:
        fill(store, document("a", "éé", acl=("bob",)), document("b", "xx", acl=("alice",)))
        fill(store, document("c", "xxxx", acl=("alice",)), embed=True)
        with store.view(BOB) as view:
            status = view.status()
            assert (status.records, status.chunks, status.vectors) == (1, 1, 0)
            assert (status.missing_vectors, status.model, status.bytes) == (1, None, 4)
