"""Proofs that a chunk is in the store."""

from __future__ import annotations

from dataclasses import replace

import pytest

from quire.core import merkle
from quire.core.protocols import Store
from quire.core.types import OWNER, Entity, Outline
from quire.errors import InputError

from .samples import ALICE, VIEWERS, document, fill

DOCUMENTS = [
    document("a", "one", "two", "three", links=[("b", "link")]),
    document("b", "one", acl=("alice",)),
    document("c", "two", acl=("bob", "@ops")),
    document("d", "three", acl=()),
]


class TestProofs:
    def test_each_readable_chunk_is_under_the_viewers_root(self, store: Store) -> None:
        fill(store, *DOCUMENTS, embed=True)
        proved = 0
        for viewer in VIEWERS:
            with store.view(viewer) as view:
                root = view.roots().content
                for record in view.listing():
                    for chunk in view.chunks_of(record.id):
                        proof = view.prove(chunk.id)
                        assert merkle.verify(proof, chunk, root)
                        assert not merkle.verify(proof, replace(chunk, text="!"), root)
                        proved += 1
        assert proved == 6 + 4 + 4 + 4 + 3

    def test_what_a_search_found_is_known_and_proved_as_if_it_were_not(self, store: Store) -> None:
        fill(store, *DOCUMENTS, document("e", "one two", metadata={"n": 1}, origin="put"))
        found = 0
        for viewer in VIEWERS:
            with store.view(viewer) as searched, store.view(viewer) as view:
                hits = searched.lexical("one two three", 99).hits
                chunks = searched.chunks([hit.id for hit in hits])
                assert chunks == view.chunks([hit.id for hit in hits])
                records = [*"edcba", *sorted({chunk.record_id for chunk in chunks})]
                assert searched.records(records) == view.records(records)
                assert searched.records(records) == view.records(records), "a second time"
                for chunk in chunks:
                    assert searched.prove(chunk.id) == view.prove(chunk.id)
                ids = [chunk.id for chunk in reversed(chunks)]
                ids += ids[:2]
                proofs = [view.prove(name) for name in ids]
                assert searched.prove_all(ids) == view.prove_all(ids) == proofs
                found += len(hits)
        assert found > len(VIEWERS)

    def test_what_is_known_of_each_record_is_under_the_root(self, store: Store) -> None:
        stated = document(
            "e",
            "four",
            metadata={"n": 1, "tags": ("x", "y")},
            expires=2_000_000_000,
            origin="put",
            paths=("a.md", "b.md"),
            acl=("alice", "bob"),
            outline=Outline((Entity("module", "m", "", 0, 4, (1, 1)),)),
        )
        fill(store, *DOCUMENTS, stated, embed=True)
        with store.view(OWNER) as view:
            root = view.roots().content
            for record in view.listing():
                proof = view.prove_record(record.id)
                assert proof.record == record
                assert merkle.verify_record(proof, root)
                for other in (
                    replace(record, metadata={"n": 2}),
                    replace(record, expires=1),
                    replace(record, title="!"),
                ):
                    assert not merkle.verify_record(replace(proof, record=other), root)
                for part in ({"readers": ("mallory",)}, {"outline": "00"}, {"outline": "x"}):
                    assert not merkle.verify_record(replace(proof, **part), root)
                assert not merkle.verify_record(proof, view.roots().state)
            with pytest.raises(InputError, match="does not exist"):
                view.prove_record("no such record")
        with store.view(ALICE) as view:
            proof = view.prove_record("b")
            assert merkle.verify_record(proof, view.roots().content)
            assert not merkle.verify_record(proof, root)
            with pytest.raises(InputError, match="may not read it"):
                view.prove_record("c")

    def test_a_proof_is_no_proof_for_another_state(self, store: Store) -> None:
        fill(store, *DOCUMENTS)
        chunk = DOCUMENTS[0].chunks[0]
        with store.view(OWNER) as view:
            proof, root = view.prove(chunk.id), view.roots().content
        fill(store, document("e", "new"))
        with store.view(OWNER) as view:
            later = view.roots().content
            assert merkle.verify(view.prove(chunk.id), chunk, later)
        assert merkle.verify(proof, chunk, root)
        assert not merkle.verify(proof, chunk, later)

    def test_a_proof_does_not_change_with_what_may_not_be_read(self, store: Store) -> None:
        fill(store, DOCUMENTS[0], DOCUMENTS[1])
        chunk = DOCUMENTS[1].chunks[0]
        with store.view(ALICE) as view:
            before = view.prove(chunk.id)
        fill(store, DOCUMENTS[2], DOCUMENTS[3], embed=True)
        with store.view(ALICE) as view:
            assert view.prove(chunk.id) == before
