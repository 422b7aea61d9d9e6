"""Records, chunks, links and transactions: what is put in comes out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from quire.core.protocols import Store
from quire.core.types import OWNER, Filter, Link, Roots

from .answers import Questions, answers_by_viewer, root
from .engines import Engine
from .samples import ALICE, NOBODY, document, fill, put

FULL = document(
    "full",
    "First line.\n",
    "Second, with é, 検索, \N{GRINNING FACE} and \0 NUL.\n",
    path="docs/füll #1.md",
    title="Guide > Über",
    kind="markdown",
    chunk_kind="section",
    links=[("other", "link"), ("full", "relation"), ("absent", "parent")],
    parent="other",
    position=-7,
    modified=1_700_000_000,
    author="Zoë <zoe@example.org>",
    acl=("public",),
    attrs={"language": "de", "stars": 3, "": "empty key", "big": 2**60},
)


class TestRecords:
    def test_a_new_store_is_empty(self, store: Store) -> None:
        with store.view(OWNER) as view:
            status = view.status()
            assert (status.records, status.chunks, status.vectors) == (0, 0, 0)
            assert status.model is None
            assert list(view.listing()) == []
            assert view.lexical("alpha", 5).hits == ()
            assert view.semantic(b"\1\2", 5).hits == ()
            assert view.events() == []

    def test_every_field_comes_back(self, store: Store) -> None:
        fill(store, FULL)
        with store.view(OWNER) as view:
            assert view.records(["full"]) == [FULL.record]
            assert view.chunks_of("full") == list(FULL.chunks)
            assert view.chunks([chunk.id for chunk in FULL.chunks]) == list(FULL.chunks)
            assert [chunk.vector_key for chunk in view.chunks_of("full")] == [
                chunk.vector_key for chunk in FULL.chunks
            ]

    def test_all_is_there_after_opening_again(self, engine: Engine) -> None:
        first = engine.open()
        fill(first, FULL, document("other", "alpha"), embed=True)
        questions = Questions(records=("full", "other"), chunks=tuple(c.id for c in FULL.chunks))
        before = answers_by_viewer(first, questions)
        first.close()
        again = engine.open()
        assert answers_by_viewer(again, questions) == before
        again.close()

    def test_what_one_writes_another_sees_at_its_next_view(self, engine: Engine) -> None:
        one, other = engine.open(), engine.open()
        for number in range(5):
            fill(one, document(f"d{number}", f"alpha w{number}"), embed=True)
            with other.view(OWNER) as view:
                assert view.status().records == number + 1
                assert len(view.lexical("alpha", 10).hits) == number + 1
                assert len(view.semantic(bytes(8), 10).hits) == number + 1
        one.close()
        other.close()

    def test_a_record_is_replaced_whole(self, store: Store) -> None:
        fill(store, document("a", "old words", "more", title="T", links=[("b", "link")]))
        new = document("a", "new words", path="elsewhere.md", kind="code")
        fill(store, document("b", "b"), new)
        with store.view(OWNER) as view:
            assert view.records(["a"]) == [new.record]
            assert view.chunks_of("a") == list(new.chunks)
            assert view.links(["a"]) == []
            assert view.lexical("old", 5).hits == ()
            assert view.lexical("md", 5, Filter(paths=("a.md",))).hits == ()
            assert [hit.path for hit in view.lexical("new", 5).hits] == ["elsewhere.md"]

    def test_replaced_again_and_again_only_the_last_counts(self, store: Store) -> None:
        for text in ("one", "two", "one", "three"):
            with store.write() as writer:
                put(writer, document("a", text), document("a", text, text + "!"))
                put(writer, document("a", text, title="T"))
        with store.view(OWNER) as view:
            assert [chunk.text for chunk in view.chunks_of("a")] == ["three"]
            assert [len(view.lexical(word, 9).hits) for word in ("one", "two", "three")] == [
                0,
                0,
                1,
            ]
            assert view.status().chunks == 1

    def test_each_field_of_a_chunk_may_change_alone(self, store: Store) -> None:
        base = document("a", "alpha beta", "gamma")
        first = base.chunks[0]
        for other in (
            replace(first, kind="code"),
            replace(first, title="Title"),
            replace(first, start=1),
            replace(first, end=99),
            replace(first, lines=(3, 9)),
        ):
            fill(store, base)
            before = root(store)
            with store.write() as writer:
                writer.put(base.record, (other, base.chunks[1]))
            with store.view(OWNER) as view:
                assert view.chunks([first.id]) == [other]
            assert root(store) != before
            fill(store, base)
            assert root(store) == before

    def test_putting_the_same_again_changes_nothing(self, store: Store) -> None:
        fill(store, FULL, document("other", "x"), embed=True)
        before = root(store)
        fill(store, FULL, document("other", "x"), embed=True)
        assert root(store) == before

    def test_a_record_is_dated_and_stays_what_it_was(self, store: Store) -> None:
        fill(store, FULL, document("other", "x"), embed=True)
        with store.write() as writer:
            writer.set_modified({"full": 5, "other": 6, "absent": 7})
        with store.view(OWNER) as view:
            assert view.records(["full"]) == [replace(FULL.record, modified=5)]
            assert view.chunks_of("full") == list(FULL.chunks)
            assert view.coverage().vectors == view.coverage().chunks
            assert [record.id for record in view.listing(Filter(since=6))] == ["other"]
        dated = root(store)
        with store.write() as writer:
            writer.put(replace(FULL.record, modified=5), FULL.chunks, FULL.links)
        assert root(store) == dated, "links to what is not there were kept as well"
        with store.write() as writer:
            writer.set_modified({"full": FULL.record.modified, "other": None})
        assert store.check() == []
        fill(store, FULL, document("other", "x"))
        before = root(store)
        with store.write() as writer:
            writer.set_modified({"full": FULL.record.modified})
        assert root(store) == before

    def test_a_record_needs_no_chunks(self, store: Store) -> None:
        fill(store, document("a"))
        with store.view(OWNER) as view:
            assert view.records(["a"]) == [document("a").record]
            assert view.chunks_of("a") == []
            assert view.status().chunks == 0

    def test_chunks_may_be_empty_or_long(self, store: Store) -> None:
        long = "longword " * 30_000
        fill(store, document("a", "", long))
        with store.view(OWNER) as view:
            assert [chunk.text for chunk in view.chunks_of("a")] == ["", long]
            assert len(view.lexical("longword", 5).hits) == 1

    def test_removing_tells_how_many_there_were(self, store: Store) -> None:
        fill(store, document("a", "alpha"), document("b", "alpha"), document("c", "alpha"))
        with store.write() as writer:
            assert writer.remove(["a", "absent", "a", "c"]) == 2
        with store.write() as writer:
            assert writer.remove(["a"]) == 0
        with store.view(OWNER) as view:
            assert [record.id for record in view.listing()] == ["b"]
            assert [hit.path for hit in view.lexical("alpha", 5).hits] == ["b.md"]

    def test_removing_all_leaves_the_root_of_nothing(self, store: Store) -> None:
        empty = root(store)
        fill(store, FULL, document("other", "x"), embed=True)
        assert root(store) != empty
        with store.write() as writer:
            writer.remove(["full", "other"])
        assert root(store) == empty

    def test_added_and_removed_in_one_transaction(self, store: Store) -> None:
        with store.write() as writer:
            put(writer, document("a", "alpha"))
            assert writer.remove(["a"]) == 1
            put(writer, document("b", "alpha"))
        with store.view(OWNER) as view:
            assert [hit.path for hit in view.lexical("alpha", 5).hits] == ["b.md"]
            assert view.status().chunks == 1

    def test_lookups_keep_the_order_in_which_they_were_asked(self, store: Store) -> None:
        a, b = document("a", "one"), document("b", "two", "three")
        fill(store, b, a)
        wanted = [b.chunks[1].id, "0" * 32, a.chunks[0].id, "no id", b.chunks[1].id]
        with store.view(OWNER) as view:
            assert view.records(["b", "zz", "a", "b"]) == [b.record, a.record, b.record]
            assert view.chunks(wanted) == [b.chunks[1], a.chunks[0], b.chunks[1]]
            assert view.chunks([]) == []
            assert view.records([]) == []

    def test_a_chunk_that_is_all_of_its_record_is_told_from_a_part(self, store: Store) -> None:
        a, b = document("a", "one"), document("b", "one", "two")
        fill(store, a, b)
        names = [chunk.id for chunk in (*a.chunks, *b.chunks)]
        with store.view(OWNER) as view:
            assert view.single_chunks([*names, names[0], "0" * 32, "no id"]) == {names[0]}
            assert view.single_chunks([]) == frozenset()
        cut, joined = document("a", "one", "more"), document("b", "one")
        fill(store, cut, joined)
        with store.view(OWNER) as view:
            assert view.single_chunks([cut.chunks[0].id, joined.chunks[0].id]) == {
                joined.chunks[0].id
            }

    def test_a_search_changes_nothing_of_what_is_read_after_it(self, store: Store) -> None:
        a, b = document("a", "one"), document("b", "one", "one two")
        fill(store, a, b)
        names = [chunk.id for chunk in (*a.chunks, *b.chunks)]
        with store.view(OWNER) as view:
            assert {hit.id for hit in view.lexical("one", 9).hits} == {*names}
            assert view.chunks(names) == [*a.chunks, *b.chunks]
            assert view.chunks(names) == [*a.chunks, *b.chunks]
            assert view.single_chunks(names) == {names[0]}
        cut, joined = document("a", "one", "more"), document("b", "one")
        fill(store, cut, joined)
        with store.view(OWNER) as view:
            found = [hit.id for hit in view.lexical("one", 9).hits]
            assert {*found} == {cut.chunks[0].id, joined.chunks[0].id}
            assert view.single_chunks(found) == {joined.chunks[0].id}

    def test_only_the_exact_id_finds_a_chunk(self, store: Store) -> None:
        a = document("a", "one")
        fill(store, a)
        name = a.chunks[0].id
        with store.view(OWNER) as view:
            assert view.chunks([name.upper(), f" {name}", f"{name[:2]} {name[2:]}", ""]) == []

    def test_the_listing_goes_by_path_then_id(self, store: Store) -> None:
        names = {"3": "b.md", "1": "b.md", "2": "a/é.md", "4": "a/z.md", "5": "B.md", "6": "a.md"}
        fill(store, *(document(name, "x", path=path) for name, path in names.items()))
        with store.view(OWNER) as view:
            assert [record.id for record in view.listing()] == ["5", "6", "4", "2", "1", "3"]

    def test_a_listing_takes_filters(self, store: Store) -> None:
        fill(
            store,
            document("a", "x", path="docs/a.md", kind="markdown", modified=10),
            document("b", "x", path="docs/b.py", kind="code", modified=20),
            document("c", "x", path="src/c.py", kind="code"),
        )

        def listed(where: Filter) -> str:
            with store.view(OWNER) as view:
                return "".join(record.id for record in view.listing(where))

        assert listed(Filter()) == "abc"
        assert listed(Filter(kinds=("code",))) == "bc"
        assert listed(Filter(kinds=("code", "markdown"))) == "abc"
        assert listed(Filter(kinds=("nothing",))) == ""
        assert listed(Filter(paths=("docs/",))) == "ab"
        assert listed(Filter(paths=("*.py",))) == "bc"
        assert listed(Filter(paths=("*.py", "!src/"))) == "b"
        assert listed(Filter(paths=("docs/", "!*.md"))) == "b"
        assert listed(Filter(paths=("!*.md",))) == ""
        assert listed(Filter(since=10)) == "ab"
        assert listed(Filter(since=11)) == "b"
        assert listed(Filter(until=19)) == "a"
        assert listed(Filter(since=10, until=10)) == "a"

    def test_a_listing_that_is_not_read_to_its_end_holds_nothing_up(self, engine: Engine) -> None:
        one, other = engine.open(), engine.open()
        fill(one, document("a", "x"), document("b", "x"))
        with one.view(OWNER) as view:
            unfinished = view.listing()
            next(unfinished)
        fill(other, document("c", "x"))
        with one.view(OWNER) as view:
            assert view.status().records == 3
        fill(one, document("d", "x"))
        del unfinished
        one.close()
        other.close()

    def test_chunks_come_in_reading_order(self, store: Store) -> None:
        sample = document("a", *(f"text {number}" for number in range(12)))
        with store.write() as writer:
            writer.put(sample.record, sample.chunks[::-1])
        with store.view(OWNER) as view:
            assert view.chunks_of("a") == list(sample.chunks)
            assert view.chunks_of("absent") == []

    def test_equal_texts_in_one_record_are_chunks_of_their_own(self, store: Store) -> None:
        fill(store, document("a", "same", "same", "same"), embed=True)
        with store.view(OWNER) as view:
            assert [hit.sequence for hit in view.lexical("same", 5).hits] == [0, 1, 2]
            assert view.status().vectors == 3


class TestChildren:
    def test_they_come_by_parent_then_position_then_id(self, store: Store) -> None:
        fill(
            store,
            document("p", "x"),
            document("c", "x", parent="p", position=1),
            document("b", "x", parent="p", position=1),
            document("a", "x", parent="p", position=7),
            document("d", "x", parent="p", position=-2),
            document("e", "x", parent="a"),
            document("f", "x", parent="absent", position=3),
            document("g", "x", parent="g"),
        )
        with store.view(OWNER) as view:
            assert "".join(one.id for one in view.children(["p"])) == "dbca"
            assert "".join(one.id for one in view.children(["a", "p", "a"])) == "edbca"
            assert view.children(["absent"]) == [
                document("f", "x", parent="absent", position=3).record
            ]
            assert [one.id for one in view.children(["g", "c"])] == ["g"]
            assert view.children([]) == []

    def test_only_those_that_may_be_read(self, store: Store) -> None:
        fill(
            store,
            document("p", "x", acl=("owner",)),
            document("a", "x", parent="p", acl=("alice",)),
            document("b", "x", parent="p", acl=("bob",), position=1),
            document("c", "x", parent="p", position=2),
        )
        with store.view(ALICE) as view:
            assert [one.id for one in view.children(["p"])] == ["a", "c"]
        with store.view(NOBODY) as view:
            assert [one.id for one in view.children(["p"])] == ["c"]

    def test_they_move_and_go(self, store: Store) -> None:
        fill(store, document("a", "x", parent="p"), document("b", "x", parent="p"))
        fill(store, document("a", "x", parent="q"))
        with store.write() as writer:
            writer.remove(["b"])
        with store.view(OWNER) as view:
            assert [one.id for one in view.children(["p", "q"])] == ["a"]


class TestTransactions:
    def test_nothing_is_seen_before_the_block_ends(self, engine: Engine) -> None:
        one, other = engine.open(), engine.open()
        with one.write() as writer:
            put(writer, document("a", "alpha"))
            with other.view(OWNER) as view:
                assert list(view.listing()) == []
        with other.view(OWNER) as view:
            assert len(list(view.listing())) == 1
        one.close()
        other.close()

    def test_an_error_in_the_block_leaves_nothing(self, store: Store) -> None:
        fill(store, FULL, embed=True)
        before = answers_by_viewer(store, Questions(records=("full", "a")))

        def fail() -> None:
            with store.write() as writer:
                put(writer, document("a", "alpha"), document("full", "changed"))
                writer.drop_vectors()
                writer.remove(["full"])
                writer.set_default(("bob",))
                writer.set_note("key", "value")
                raise KeyError

        with pytest.raises(KeyError):
            fail()
        assert answers_by_viewer(store, Questions(records=("full", "a"))) == before
        assert store.note("key") is None
        fill(store, document("a", "alpha"))
        with store.view(OWNER) as view:
            assert len(view.lexical("alpha", 5).hits) == 1

    def test_a_view_stays_what_it_was(self, engine: Engine) -> None:
        one, other = engine.open(), engine.open()
        fill(one, document("a", "alpha"), embed=True)
        with one.view(OWNER) as view:
            roots = view.roots()
            fill(other, document("b", "alpha"), document("a", "beta"), embed=True)
            other.merge()
            assert view.roots() == roots
            assert [hit.path for hit in view.lexical("alpha", 5).hits] == ["a.md"]
            assert len(view.semantic(bytes(8), 5).hits) == 1
            with one.view(OWNER) as newer:
                assert newer.roots() != roots
                assert [hit.path for hit in newer.lexical("alpha", 5).hits] == ["b.md"]
                assert len(newer.semantic(bytes(8), 5).hits) == 2
            assert view.lexical("beta", 5).hits == ()
        one.close()
        other.close()

    def test_an_empty_write_changes_nothing(self, store: Store) -> None:
        before = root(store)
        with store.write():
            pass
        assert root(store) == before


class TestLinks:
    def test_links_go_both_ways(self, store: Store) -> None:
        fill(
            store,
            document("a", "x", links=[("b", "link"), ("c", "link"), ("b", "relation")]),
            document("b", "x", links=[("a", "link"), ("b", "link")]),
            document("c", "x"),
        )
        ab, ab2, ac = Link("a", "b", "link"), Link("a", "b", "relation"), Link("a", "c", "link")
        ba, bb = Link("b", "a", "link"), Link("b", "b", "link")
        with store.view(OWNER) as view:
            assert view.links(["a"]) == [ab, ab2, ac]
            assert view.links(["b", "a", "b"]) == [ba, bb, ab, ab2, ac]
            assert view.links(["b"], back=True) == [ab, ab2, bb]
            assert view.links(["c", "a"], back=True) == [ac, ba]
            assert view.links([]) == []
            assert view.links(["absent"]) == []

    def test_a_link_shows_when_its_target_comes(self, store: Store) -> None:
        fill(store, document("a", "x", links=[("b", "link")]))
        with store.view(OWNER) as view:
            assert view.links(["a"]) == []
            roots = view.roots()
        fill(store, document("b", "x"))
        with store.view(OWNER) as view:
            assert view.links(["a"]) == view.links(["b"], back=True) == [Link("a", "b", "link")]
        with store.write() as writer:
            writer.remove(["b"])
        with store.view(OWNER) as view:
            assert view.links(["a"]) == []
            assert view.roots() == roots

    def test_links_are_part_of_the_state(self, store: Store) -> None:
        roots_seen: set[Roots] = set()
        for links in ([], [("b", "link")], [("b", "other")], [("b", "link"), ("b", "other")]):
            fill(store, document("a", "x", links=links))
            with store.view(OWNER) as view:
                roots_seen.add(view.roots())
        assert len(roots_seen) == 4
