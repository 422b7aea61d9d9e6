"""Searches return the best matches first, in a total order."""

from __future__ import annotations

import pytest

from quire.core.protocols import Store
from quire.core.types import OWNER, Filter, Hits, Viewer, Wording
from quire.errors import InputError

from .samples import document, fill


def search(store: Store, query: str, k: int = 99, where: Filter | None = None) -> list[str]:
    with store.view(OWNER) as view:
        hits = view.lexical(query, k, where or Filter()).hits
    assert list(hits) == sorted(hits, key=lambda hit: hit.order)
    return [hit.path.removesuffix(".md") for hit in hits]


class TestLexical:
    def test_only_chunks_with_a_word_of_the_question(self, store: Store) -> None:
        fill(store, document("a", "alpha beta"), document("b", "gamma"), document("c", "beta"))
        assert search(store, "beta") == ["c", "a"]
        assert search(store, "delta") == []
        assert search(store, "") == []
        assert search(store, "?! ...") == []

    def test_a_rare_word_says_more(self, store: Store) -> None:
        fill(
            store,
            document("a", "common rare"),
            document("b", "common other"),
            document("c", "common other"),
        )
        assert search(store, "rare common") == ["a", "b", "c"]
        assert search(store, "rare") == ["a"]

    def test_short_chunks_and_repeated_words_count_more(self, store: Store) -> None:
        fill(
            store,
            document("a", "word filler filler filler filler"),
            document("b", "word filler"),
            document("c", "word word word filler filler"),
        )
        assert search(store, "word") == ["c", "b", "a"]

    def test_path_and_title_count_as_text(self, store: Store) -> None:
        fill(
            store,
            document("a", "nothing", path="guides/install.md"),
            document("b", "nothing", title="Install > Linux"),
            document("c", "install"),
        )
        assert sorted(search(store, "installing")) == ["b", "c", "guides/install"]

    def test_words_are_folded_split_and_stemmed(self, store: Store) -> None:
        fill(store, document("a", "parseHTTPRequest in Café; 検索エンジン"))
        for query in ("parsing", "http", "request", "parsehttprequest", "cafe", "CAFÉS", "検索"):
            assert search(store, query) == ["a"], query

    def test_function_words_count_only_alone(self, store: Store) -> None:
        fill(store, document("a", "the the the"), document("b", "word"))
        assert search(store, "the word") == ["b"]
        assert search(store, "the") == ["a"]

    def test_asking_twice_counts_more(self, store: Store) -> None:
        fill(store, document("a", "alpha x"), document("b", "beta x"))
        assert search(store, "alpha beta beta") == ["b", "a"]
        assert search(store, "alpha alpha beta") == ["a", "b"]

    def test_ties_go_by_path_sequence_and_id(self, store: Store) -> None:
        fill(
            store,
            document("2", "word", "word", path="same.md"),
            document("1", "word", path="same.md"),
            document("3", "word", path="Same.md"),
            document("4", "word", path="samé.md"),
        )
        with store.view(OWNER) as view:
            hits = view.lexical("word", 99).hits
            assert len({hit.score for hit in hits}) == 1
            assert [(hit.path, hit.sequence) for hit in hits] == [
                ("Same.md", 0),
                ("same.md", 0),
                ("same.md", 0),
                ("same.md", 1),
                ("samé.md", 0),
            ]
            assert hits[1].id < hits[2].id
            for k in range(1, 6):
                assert view.lexical("word", k).hits == hits[:k]

    def test_k_may_be_as_large_as_one_likes(self, store: Store) -> None:
        fill(store, document("a", "word"), document("b", "word"), embed=True)
        with store.view(OWNER) as view:
            assert len(view.lexical("word", 2**70).hits) == 2
            assert len(view.semantic(bytes(8), 2**70).hits) == 2

    def test_filters_leave_out_and_change_no_score(self, store: Store) -> None:
        fill(
            store,
            document("a", "word one", kind="code", modified=10, path="src/a.md"),
            document("b", "word", kind="text", modified=20, path="docs/b.md"),
            document("c", "word word", kind="note", path="docs/c.md"),
            document("d", "word", kind="text", chunk_kind="code", path="d.md"),
        )
        with store.view(OWNER) as view:
            whole = view.lexical("word one", 99).hits
            for where, paths in (
                (Filter(kinds=("code",)), {"src/a.md", "d.md"}),
                (Filter(kinds=("text", "note")), {"docs/b.md", "docs/c.md"}),
                (Filter(kinds=("absent",)), set()),
                (Filter(paths=("docs/",)), {"docs/b.md", "docs/c.md"}),
                (Filter(paths=("*.md", "!docs/")), {"src/a.md", "d.md"}),
                (Filter(paths=("*", "!docs/", "docs/c*")), {"src/a.md", "d.md", "docs/c.md"}),
                (Filter(since=15), {"docs/b.md"}),
                (Filter(until=15), {"src/a.md"}),
                (Filter(since=10, until=20), {"src/a.md", "docs/b.md"}),
                (Filter(kinds=("code",), since=5), {"src/a.md"}),
                (Filter(kinds=("text",), paths=("src/",)), set()),
            ):
                hits = tuple(hit for hit in whole if hit.path in paths)
                assert view.lexical("word one", 99, where) == Hits(hits)
                assert view.lexical("word one", 1, where) == Hits(hits[:1])

    def test_paths_that_begin_alike_are_told_apart(self, store: Store) -> None:
        paths = ["a/b/c.md", "a/b.md", "a/bé/c.md", "a/B/c.md", "a/b]/c.md", "é/c.md", "b/a/b/c.md"]
        paths.append("a/z/c.md")
        many = [f"a/many/{number}.md" for number in range(40)]
        documents = [document(path, "word", path=path, kind="note") for path in many]
        fill(store, *documents, *(document(path, "word", path=path) for path in paths))
        with store.view(OWNER) as view:
            for glob, kinds, meant in (
                ("a/b/*", (), ["a/b/c.md"]),
                ("/a/b/", (), ["a/b/c.md"]),
                ("a/b*", (), ["a/b.md", "a/b/c.md", "a/b]/c.md", "a/bé/c.md"]),
                ("a/b]/*", (), ["a/b]/c.md"]),
                (
                    "a/*/c.md",
                    ("text",),
                    ["a/B/c.md", "a/b/c.md", "a/b]/c.md", "a/bé/c.md", "a/z/c.md"],
                ),
                ("a/many/1*", ("note",), sorted(path for path in many if "/1" in path)),
                ("a/many/*", ("text",), []),  # more begin so than could be meant
                ("é/*", (), ["é/c.md"]),
                ("a/\ud800*", (), []),
            ):
                hits = view.lexical("word", 99, Filter(kinds=kinds, paths=(glob,))).hits
                assert [hit.path for hit in hits] == meant

    def test_a_very_long_question(self, store: Store) -> None:
        fill(store, *(document(f"d{n}", f"word{n} word{n + 1}") for n in range(20)))
        query = " ".join(f"word{number}" for number in range(3000))
        assert len(search(store, query)) == 20

    def test_a_word_in_every_chunk(self, store: Store) -> None:
        fill(store, *(document(f"d{number}", "word") for number in range(30)))
        assert len(search(store, "word")) == 30


def vector(*numbers: int) -> bytes:
    return bytes(number % 256 for number in numbers)


class TestSemantic:
    @pytest.fixture
    def store(self, store: Store) -> Store:
        texts = {
            "a": vector(10, 0, 0),
            "b": vector(-128, 127, 1),
            "c": vector(0, 5, 5),
            "d": vector(10, 0, 0),
        }
        documents = {
            name: document(name, f"text {name}", kind="code" if name in "ad" else "text")
            for name in texts
        }
        fill(store, *documents.values(), document("e", "no vector"))
        with store.write() as writer:
            writer.put_vectors(
                "m", {documents[name].chunks[0].vector_key: texts[name] for name in texts}
            )
        return store

    def test_scores_are_dot_products(self, store: Store) -> None:
        with store.view(OWNER) as view:
            hits = view.semantic(vector(3, -2, 1), 9)
        assert hits.exact
        assert [(hit.path, hit.score) for hit in hits.hits] == [
            ("a.md", 30),
            ("d.md", 30),
            ("c.md", -5),
            ("b.md", -637),
        ]

    def test_fewer_when_fewer_are_asked_for(self, store: Store) -> None:
        with store.view(OWNER) as view:
            whole = view.semantic(vector(1, 1, 1), 9).hits
            for k in range(1, 5):
                assert view.semantic(vector(1, 1, 1), k).hits == whole[:k]
                assert view.semantic(vector(1, 1, 1), k, exact=True).hits == whole[:k]

    def test_filters(self, store: Store) -> None:
        with store.view(OWNER) as view:
            whole = view.semantic(vector(1, 1, 1), 9).hits
            code = view.semantic(vector(1, 1, 1), 9, Filter(kinds=("code",))).hits
            assert code == tuple(hit for hit in whole if hit.path in ("a.md", "d.md"))
            assert view.semantic(vector(1, 1, 1), 9, Filter(paths=("c*",))).hits == tuple(
                hit for hit in whole if hit.path == "c.md"
            )
            assert view.semantic(vector(1, 1, 1), 9, Filter(since=0)).hits == ()

    def test_a_vector_of_zeros_is_near_to_nothing(self, store: Store) -> None:
        with store.view(OWNER) as view:
            assert {hit.score for hit in view.semantic(bytes(3), 9).hits} == {0}


class TestWording:
    """Words that are used for those of a question count as well, and common words count less."""

    RELATED = Wording(related=50)

    def test_a_related_word_is_found(self, store: Store) -> None:
        fill(store, document("a", "one directory"), document("b", "one folder"), document("c", "x"))
        with store.view(OWNER) as view:
            literal = view.lexical("folder", 9).hits
            both = view.lexical("folder", 9, wording=self.RELATED).hits
        assert [hit.path for hit in literal] == ["b.md"]
        assert [hit.path for hit in both] == ["b.md", "a.md"]
        assert both[0] == literal[0]
        assert both[1].score == pytest.approx(both[0].score / 2, rel=0.01)

    def test_the_word_itself_counts_and_no_other(self, store: Store) -> None:
        fill(store, document("a", "folder directory dir"), document("b", "folder other words"))
        with store.view(OWNER) as view:
            scores = [hit.score for hit in view.lexical("folder", 9, wording=self.RELATED).hits]
        assert scores[0] == scores[1]

    def test_of_several_related_words_the_rarest_counts(self, store: Store) -> None:
        fill(
            store,
            document("a", "directory dir"),
            document("b", "directory one"),
            document("c", "directory two"),
        )
        with store.view(OWNER) as view:
            found = view.lexical("folder", 9, wording=self.RELATED).hits
        assert [hit.path for hit in found] == ["a.md", "b.md", "c.md"]
        assert found[0].score > found[1].score == found[2].score

    def test_common_words_count_less(self, store: Store) -> None:
        fill(store, document("a", "something"), document("b", "heron"), document("c", "heron"))
        question = "something about a heron"
        with store.view(OWNER) as view:
            literal = view.lexical(question, 9).hits
            weighed = view.lexical(question, 9, wording=Wording(common=20)).hits
        assert [hit.path for hit in literal] == ["a.md", "b.md", "c.md"]
        assert [hit.path for hit in weighed] == ["b.md", "c.md", "a.md"]

    def test_neighbours_count_the_word_once(self, store: Store) -> None:
        fill(store, document("a", "folder", "directory"), document("b", "x", "y", "z"))
        with store.view(OWNER) as view:
            alone = view.lexical("folder", 1).hits[0]
            near = view.lexical("folder", 9, reach=1, wording=self.RELATED).hits
        assert near[0] == alone
        assert near[1].score == alone.score * 3 // 4

    def test_a_long_question_is_taken_at_its_word(self, store: Store) -> None:
        fill(store, document("a", "directory"))
        words = " ".join(f"word{number}" for number in range(70))
        with store.view(OWNER) as view:
            assert not view.lexical(f"folder {words}", 9, wording=self.RELATED).hits

    def test_percentages_are_limited(self, store: Store) -> None:
        with store.view(OWNER) as view:
            for wording in (Wording(common=101), Wording(related=-1)):
                with pytest.raises(InputError):
                    view.lexical("heron", 1, wording=wording)


class TestNearby:
    """Words of neighboring chunks count as well, less with each position; not for code."""

    def test_a_neighbour_is_found_by_what_stands_beside_it(self, store: Store) -> None:
        fill(store, document("a", "one", "heron", "two", "three", "four", "five"))
        with store.view(OWNER) as view:
            (own,) = view.lexical("heron", 9).hits
            near = view.lexical("heron", 9, reach=2).hits
        assert [hit.sequence for hit in near] == [1, 0, 2, 3]
        assert [hit.score for hit in near] == [
            own.score,
            own.score * 3 // 4,
            own.score * 3 // 4,
            own.score * 2 // 4,
        ]

    def test_words_of_several_chunks_come_together(self, store: Store) -> None:
        fill(
            store,
            document("a", "heron", "middle", "nest"),
            document("b", "heron"),
            document("c", "nest"),
        )
        with store.view(OWNER) as view:
            best = view.lexical("heron nest", 9, reach=1).hits[0]
        assert (best.path, best.sequence) == ("a.md", 1)

    def test_code_stands_alone(self, store: Store) -> None:
        fill(store, document("a", "one", "heron", "two", kind="code"))
        with store.view(OWNER) as view:
            assert view.lexical("heron", 9, reach=3) == view.lexical("heron", 9)

    def test_records_do_not_touch(self, store: Store) -> None:
        fill(store, document("a", "heron"), document("b", "other"))
        with store.view(OWNER) as view:
            assert [hit.path for hit in view.lexical("heron", 9, reach=3).hits] == ["a.md"]

    def test_filters_hold_for_neighbours(self, store: Store) -> None:
        fill(store, document("a", "one", "heron", path="x/a.md"), document("b", "heron", "two"))
        with store.view(OWNER) as view:
            hits = view.lexical("heron", 9, Filter(paths=("x/",)), reach=1).hits
            assert {hit.path for hit in hits} == {"x/a.md"}
            assert len(hits) == 2
            assert len(view.lexical("heron", 1, reach=1).hits) == 1

    def test_how_far_it_reaches_is_limited(self, store: Store) -> None:
        with store.view(OWNER) as view:
            for reach in (-1, 4):
                with pytest.raises(InputError, match="reach"):
                    view.lexical("heron", 1, reach=reach)


class TestRarities:
    def test_a_word_is_the_rarer_the_fewer_readable_chunks_contain_it(self, store: Store) -> None:
        fill(
            store,
            document("a", "the grey heron"),
            document("b", "a grey day"),
            document("c", "hidden swan, hidden heron", acl=("alice",)),
        )
        with store.view(OWNER) as view:
            rare = view.rarities("The grey herons and a swan on unicorns")
            assert list(rare) == ["grey", "heron", "swan", "unicorn"]
            assert rare["grey"] == rare["heron"] < rare["swan"] == rare["unicorn"]
            assert view.rarities("") == {}
        with store.view(Viewer("bob")) as view:
            rare = view.rarities("grey heron swan unicorn")
            assert rare["grey"] < rare["heron"] == rare["swan"] == rare["unicorn"]


class TestHolding:
    def test_all_words_of_a_name_must_stand_in_a_chunk(self, store: Store) -> None:
        fill(
            store,
            document("a", "the Grey Heron nests"),
            document("b", "a grey day"),
            document("c", "herons, all of them grey", "heron"),
        )
        with store.view(OWNER) as view:
            both, grey, none, empty = view.match_all(["Grey Heron", "grey", "swan", "!?"], 9)
            assert [hit.path for hit in both] == ["a.md", "c.md"]
            assert [hit.path for hit in grey] == ["a.md", "b.md", "c.md"]
            assert (none, empty) == ((), ())
            assert both[0].score > grey[0].score, "the rarer name weighs more"
            assert view.match_all(["grey", "Grey Heron"], 2) == [(), both]
            assert view.match_all(["grey"], 9, Filter(paths=("b*",))) == [grey[1:2]]
            assert view.match_all([], 9) == []
