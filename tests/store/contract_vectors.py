"""Vectors belong to the texts that they were made of."""

from __future__ import annotations

import pytest

from quire.core.protocols import Store
from quire.core.types import MAIN, OWNER, Reembedding
from quire.errors import InputError, StoreError

from .answers import root
from .samples import ALICE, MODEL, document, fill, vector_for, vectors_of


def missing(store: Store) -> dict[str, str]:
    listed = [pair for batch in store.missing_vectors() for pair in batch]
    assert len(listed) == len(dict(listed)), "each text once"
    return dict(listed)


def embedded(store: Store) -> int:
    with store.view(OWNER) as view:
        return view.status().vectors


class TestOldVectors:
    def test_vectors_of_texts_that_are_gone_are_kept_until_they_are_pruned(
        self, store: Store
    ) -> None:
        samples = [document(name, name) for name in "abcdef"]
        for sample in samples:
            fill(store, sample, embed=True)
        assert store.old_vectors() == 0
        with store.write() as writer:
            writer.remove("abcde")
        before = root(store)
        assert (store.old_vectors(), embedded(store)) == (5, 1)
        assert store.prune_vectors(5) == 0
        assert store.prune_vectors(2) == 3
        assert (store.old_vectors(), embedded(store)) == (2, 1)
        assert root(store) == before, "no result changes"
        fill(store, *samples[:5])
        assert sorted(missing(store).values()) == ["a", "b", "c"], "the newest were kept"
        assert store.check() == []

    def test_the_last_vector_takes_the_model_with_it(self, store: Store) -> None:
        fill(store, document("a", "alpha"), embed=True)
        with store.write() as writer:
            writer.remove("a")
        assert store.prune_vectors(0) == 1
        assert store.model() is None
        assert store.old_vectors() == 0
        assert store.prune_vectors(0) == 0

    def test_a_vector_that_others_use_is_none_of_them(self, store: Store) -> None:
        fill(store, document("a", "alpha", acl=("alice",)), embed=True)
        fill(store, document("b", "alpha", acl=("bob",)), embed=True)
        with store.write() as writer:
            writer.remove("a")
        assert store.old_vectors() == 0
        assert store.prune_vectors(0) == 0
        assert embedded(store) == 1

    def test_a_space_that_is_not_there_has_none(self, store: Store) -> None:
        assert store.old_vectors("elsewhere") == 0
        assert store.prune_vectors(0, "elsewhere") == 0

    def test_shrinking_changes_no_result(self, store: Store) -> None:
        fill(store, document("a", "alpha"), document("b", "beta"), embed=True)
        with store.write() as writer:
            writer.remove("a")
        before = root(store)
        store.shrink()
        assert root(store) == before
        assert store.check() == []


class TestVectors:
    def test_what_is_missing_is_told_once(self, store: Store) -> None:
        titled = document("a", "same", "other", title="Title")
        fill(store, titled, document("b", "same", "same"))
        texts = missing(store)
        assert sorted(texts.values()) == ["Title\nother", "Title\nsame", "same"]
        assert texts[titled.chunks[0].vector_key] == "Title\nsame"
        with store.write() as writer:
            writer.put_vectors(MODEL, vectors_of([titled]))
        assert list(missing(store).values()) == ["same"]
        assert embedded(store) == 2
        assert store.model() == MODEL
        assert missing(store) != {}
        assert list(store.missing_vectors("elsewhere")) == []

    def test_more_than_a_batch_is_missing(self, store: Store) -> None:
        fill(store, document("a", *(f"text {number}" for number in range(600))))
        assert len(missing(store)) == 600

    def test_vectors_that_no_chunk_wants_are_not_kept(self, store: Store) -> None:
        sample = document("a", "alpha")
        with store.write() as writer:
            writer.put_vectors(MODEL, vectors_of([sample]))
        assert store.model() is None
        fill(store, sample)
        assert embedded(store) == 0

    def test_a_text_embedded_for_others_has_no_vector_yet(self, store: Store) -> None:
        fill(store, document("a", "alpha", acl=("bob",)), embed=True)
        fill(store, document("b", "alpha", acl=("alice",)))
        assert embedded(store) == 1
        assert len(missing(store)) == 1

    def test_a_vector_serves_the_readers_of_what_was_written_alone(self, store: Store) -> None:
        mine, theirs = document("a", "alpha", acl=("alice",)), document("b", "alpha", acl=("bob",))
        fill(store, mine, theirs)
        with store.view(ALICE) as view:
            before = view.roots(), view.coverage()
        with store.write() as writer:
            writer.put_vectors(MODEL, vectors_of([theirs]), [chunk.id for chunk in theirs.chunks])
        with store.view(ALICE) as view:
            assert (view.roots(), view.coverage()) == before
            assert view.vectors([mine.chunks[0].id]) == {}
            assert view.semantic(vector_for("question"), 9).hits == ()
        assert list(missing(store)) == [mine.chunks[0].vector_key]
        fill(store, document("c", "alpha", acl=("bob",)))
        assert embedded(store) == 2, "of bob's two, not of alice's"
        assert store.check() == []

    def test_vectors_for_no_chunk_are_not_kept(self, store: Store) -> None:
        sample = document("a", "alpha")
        fill(store, sample)
        for chunks in ([], ["0" * 32], ["no id"]):
            with store.write() as writer:
                writer.put_vectors(MODEL, vectors_of([sample]), chunks)
        assert (embedded(store), store.model()) == (0, None)

    def test_a_chunk_takes_its_vector_along_to_other_readers(self, store: Store) -> None:
        fill(store, document("a", "alpha", acl=("bob",)), embed=True)
        fill(store, document("a", "alpha", acl=("alice",)))
        assert embedded(store) == 1

    def test_a_vector_that_comes_along_serves_all_chunks_of_its_text(self, store: Store) -> None:
        fill(store, document("a", "alpha", acl=("bob",)), embed=True)
        fill(store, document("b", "alpha", acl=("alice",)), document("c", "alpha"))
        fill(store, document("a", "alpha", acl=("alice",)))
        assert embedded(store) == 2
        assert len(missing(store)) == 1
        with store.write() as writer:
            writer.set_default(("alice",))
        assert embedded(store) == 3
        assert store.check() == []

    def test_equal_texts_share_a_vector(self, store: Store) -> None:
        fill(store, document("a", "alpha"), document("b", "alpha"), embed=True)
        assert embedded(store) == 2
        fill(store, document("c", "alpha"))
        assert embedded(store) == 3

    def test_a_renamed_file_keeps_its_vectors(self, store: Store) -> None:
        fill(store, document("a", "alpha"), embed=True)
        with store.write() as writer:
            writer.remove(["a"])
        fill(store, document("b", "alpha", path="new.md"))
        assert embedded(store) == 1

    def test_the_first_vector_of_a_text_stays(self, store: Store) -> None:
        sample = document("a", "alpha")
        fill(store, sample, embed=True)
        before = root(store)
        with store.write() as writer:
            writer.put_vectors(MODEL, {sample.chunks[0].vector_key: bytes(8)})
        assert root(store) == before

    def test_vectors_are_given_back_as_they_were_kept(self, store: Store) -> None:
        plain, bare = document("a", "alpha", "beta", title="Title"), document("b", "gamma")
        fill(store, plain, embed=True)
        fill(store, bare)
        first, second = plain.chunks
        chunk_ids = [second.id, "00" * 16, first.id, bare.chunks[0].id, "no id", second.id]
        with store.view(OWNER) as view:
            assert view.vectors([]) == {}
            assert view.vectors(chunk_ids) == {
                chunk.id: vector_for(chunk.vector_key) for chunk in (first, second)
            }
            found = view.lexical("alpha beta gamma", 5)
            assert {hit.id for hit in found.hits} >= {first.id, second.id, bare.chunks[0].id}
            assert view.vectors(chunk_ids) == {
                chunk.id: vector_for(chunk.vector_key) for chunk in (first, second)
            }, "what a search found has the same vectors"
        with store.write() as writer:
            writer.drop_vectors()
        with store.view(OWNER) as view:
            view.lexical("alpha beta gamma", 5)
            assert view.vectors(chunk_ids) == {}

    def test_nobody_is_given_the_vectors_of_what_they_may_not_read(self, store: Store) -> None:
        mine, theirs = document("a", "alpha", acl=("alice",)), document("b", "alpha", acl=("bob",))
        fill(store, theirs, embed=True)
        fill(store, mine)
        both = [mine.chunks[0].id, theirs.chunks[0].id]
        with store.view(ALICE) as view:
            assert view.vectors(both) == {}, "that others embedded the same text must not show"
        fill(store, mine, embed=True)
        with store.view(ALICE) as view:
            assert list(view.vectors(both)) == [mine.chunks[0].id]
        with store.view(OWNER) as view:
            assert set(view.vectors(both)) == set(both)

    def test_vectors_are_part_of_the_state_but_not_of_the_content(self, store: Store) -> None:
        sample = document("a", "alpha")
        fill(store, sample)
        with store.view(OWNER) as view:
            bare = view.roots()
        roots_seen = {bare.state}
        key = sample.chunks[0].vector_key
        for model, vector in (("m", b"\1\2"), ("m", b"\1\3"), ("n", b"\1\2")):
            with store.write() as writer:
                writer.drop_vectors()
                writer.put_vectors(model, {key: vector})
            with store.view(OWNER) as view:
                assert view.roots().content == bare.content
                roots_seen.add(view.roots().state)
        assert len(roots_seen) == 4
        with store.write() as writer:
            writer.drop_vectors()
        with store.view(OWNER) as view:
            assert view.roots() == bare

    def test_dropping_forgets_all_and_the_model(self, store: Store) -> None:
        fill(store, document("a", "alpha", "beta"), embed=True)
        with store.write() as writer:
            writer.drop_vectors()
            writer.drop_vectors()
        assert store.model() is None
        assert embedded(store) == 0
        assert len(missing(store)) == 2
        with store.write() as writer:
            writer.put_vectors("other", dict.fromkeys(missing(store), b"\x01"))
        assert store.model() == "other"
        with store.view(OWNER) as view:
            assert len(view.semantic(b"\2", 9).hits) == 2

    def test_dropped_and_put_in_one_transaction(self, store: Store) -> None:
        sample = document("a", "alpha")
        fill(store, sample, embed=True)
        with store.write() as writer:
            writer.drop_vectors()
            writer.put_vectors("new", {sample.chunks[0].vector_key: b"\5"})
        with store.view(OWNER) as view:
            assert [hit.score for hit in view.semantic(b"\2", 9).hits] == [10]

    def test_another_models_vectors_are_refused(self, store: Store) -> None:
        fill(store, document("a", "alpha"), embed=True)
        with pytest.raises(StoreError, match="reembed"), store.write() as writer:
            writer.put_vectors("other model", {"0" * 32: bytes(8)})
        assert store.model() == MODEL

    def test_putting_no_vectors_sets_no_model(self, store: Store) -> None:
        with store.write() as writer:
            writer.put_vectors("m", {})
        assert store.model() is None

    def test_many_vectors_over_many_writes(self, store: Store) -> None:
        sample = [document(f"d{number}", f"text {number}") for number in range(70)]
        for at in range(0, 70, 7):
            fill(store, *sample[at : at + 7], embed=True)
        query = vector_for("question")
        with store.view(OWNER) as view:
            whole = view.semantic(query, 99).hits
        assert len(whole) == 70
        with store.write() as writer:
            writer.remove(f"d{number}" for number in range(0, 70, 2))
        store.merge()
        with store.view(OWNER) as view:
            odd = tuple(hit for hit in whole if int(hit.path[1:-3]) % 2)
            assert view.semantic(query, 99).hits == odd


class TestWaitingVectors:
    """Vectors of another model are made while the old ones answer, and replace them at once."""

    SAMPLES = (
        document("a", "alpha", acl=("alice",)),
        document("b", "beta"),
        document("c", "alpha", acl=("bob",)),
    )

    def waiting(self, store: Store, model: str = "new") -> dict[str, str]:
        return dict(pair for batch in store.missing_vectors(MAIN, model) for pair in batch)

    def put(self, store: Store, *texts: str, model: str = "new") -> None:
        keys = {text: key for key, text in self.waiting(store, "another").items()}
        with store.write() as writer:
            writer.put_waiting_vectors(model, {keys[text]: b"\5\5" for text in texts})

    def switch(self, store: Store, model: str = "new") -> bool:
        with store.write() as writer:
            return writer.switch_vectors(model)

    def test_nothing_changes_before_they_are_complete(self, store: Store) -> None:
        fill(store, *self.SAMPLES, embed=True)
        before = root(store)
        assert store.reembedding() is None
        assert sorted(self.waiting(store).values()) == ["alpha", "beta"]
        self.put(store, "alpha")
        assert store.reembedding() == Reembedding("new", 2, 3)
        assert list(self.waiting(store).values()) == ["beta"]
        assert missing(store) == {}
        assert not self.switch(store)
        assert (root(store), store.model()) == (before, MODEL)
        with store.view(ALICE) as view:
            found = view.semantic(vector_for("question"), 9).hits
        assert len(found) == 2
        assert store.reembedding() == Reembedding("new", 2, 3), "what was made is not lost"

    def test_they_replace_the_others_in_one_transaction(self, store: Store) -> None:
        fill(store, *self.SAMPLES, embed=True)
        self.put(store, "alpha")
        self.put(store, "beta")
        with store.view(OWNER) as before:
            assert self.switch(store)
            assert len(before.semantic(vector_for("question"), 9).hits) == 3
        assert (store.model(), embedded(store), store.reembedding()) == ("new", 3, None)
        assert self.waiting(store) != {}, "they are gone when they are in use"
        for viewer, expected in ((OWNER, 3), (ALICE, 2)):
            with store.view(viewer) as view:
                hits = view.semantic(b"\1\1", 9).hits
            assert [hit.score for hit in hits] == [10] * expected
        assert store.check() == []

    def test_the_result_is_that_of_vectors_that_were_dropped_and_made_anew(
        self, store: Store
    ) -> None:
        fill(store, *self.SAMPLES, embed=True)
        self.put(store, "alpha", "beta")
        assert self.switch(store)
        switched = root(store)
        with store.write() as writer:
            writer.drop_vectors()
        with store.write() as writer:
            writer.put_vectors("new", dict.fromkeys(missing(store), b"\5\5"))
        assert root(store) == switched

    def test_a_text_that_is_written_meanwhile_is_waited_for(self, store: Store) -> None:
        fill(store, *self.SAMPLES, embed=True)
        self.put(store, "alpha", "beta")
        fill(store, document("d", "delta"))
        assert not self.switch(store)
        assert list(self.waiting(store).values()) == ["delta"]
        self.put(store, "delta")
        assert self.switch(store)
        assert embedded(store) == 4

    def test_vectors_of_two_models_never_wait_together(self, store: Store) -> None:
        fill(store, *self.SAMPLES, embed=True)
        self.put(store, "alpha", model="first")
        self.put(store, "beta", model="second")
        assert store.reembedding() == Reembedding("second", 1, 3)
        assert not self.switch(store, "first")
        assert not self.switch(store, "second")
        with store.write() as writer:
            writer.drop_waiting_vectors()
        assert store.reembedding() is None

    def test_what_is_purged_does_not_wait(self, store: Store) -> None:
        fill(store, *self.SAMPLES, embed=True)
        keys = {text: key for key, text in self.waiting(store).items()}
        self.put(store, "beta")
        assert store.purge(["b"]) == 1
        assert store.reembedding() is None
        with store.write() as writer:
            writer.put_waiting_vectors("new", {keys["beta"]: b"\5\5"})
        assert store.reembedding() is None, "a vector that was on its way comes too late"

    def test_vectors_that_do_not_fit_together_are_refused(self, store: Store) -> None:
        fill(store, *self.SAMPLES, embed=True)
        self.put(store, "alpha")
        keys = {text: key for key, text in self.waiting(store, "another").items()}
        with pytest.raises(InputError), store.write() as writer:
            writer.put_waiting_vectors("new", {keys["beta"]: b"\5\5\5"})
        assert store.reembedding() == Reembedding("new", 2, 3)

    def test_an_empty_space_has_nothing_to_wait_for(self, store: Store) -> None:
        assert store.reembedding() is None
        assert list(store.missing_vectors(MAIN, "new")) == []
        assert self.switch(store)
        assert store.model() is None
