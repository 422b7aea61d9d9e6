"""Roots and proofs cover all content, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from quire.core import hashing, merkle
from quire.core.protocols import Store, View
from quire.core.types import OWNER, Chunk, Proof, Viewer
from quire.store import open_store

from .definitions import Tree
from .reference import ReferenceStore
from .samples import ALICE, BOB, VIEWERS, document, fill
from .worlds import NAMES, any_document, any_event

DOCUMENTS = [
    document(
        f"d{number}",
        *(f"text {number} {part}" for part in range(number % 4)),
        acl=[None, ("alice",), ("bob",), ()][number % 4],
        links=[(f"d{number + 1}", "link")],
    )
    for number in range(40)
]


ALIKE = ("text 0", "text 7060", "text 285740", "text 334546")


@pytest.fixture
def store(quick_path: Path) -> Iterator[Store]:
    opened = open_store(quick_path / "store.db")
    yield opened
    opened.close()


def proofs(view: View) -> Iterator[tuple[Chunk, Proof]]:
    for record in list(view.listing()):
        for chunk in view.chunks_of(record.id):
            yield chunk, view.prove(chunk.id)


# --- roots ---------------------------------------------------------------------------------------


@given(st.dictionaries(st.binary(min_size=16, max_size=16), st.binary(min_size=32, max_size=32)))
def test_a_tree_from_scratch_is_the_same_by_both_definitions(leaves: dict[bytes, bytes]) -> None:
    buckets: dict[int, list[tuple[bytes, bytes]]] = {}
    for key, value in sorted(leaves.items()):
        buckets.setdefault(merkle.bucket_of(key), []).append((key, value))
    nodes: dict[int, dict[int, bytes]] = {}
    for place, children in buckets.items():
        nodes.setdefault(place // 256, {})[place % 256] = merkle.bucket_hash(children)
    root = merkle.node_hash(
        {place: merkle.node_hash(children) for place, children in nodes.items()}
    )
    assert root == Tree(leaves).root


@given(st.integers(0, 2**32))
@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_step_by_step_is_from_scratch(quick_path: Path, seed: int) -> None:
    random = Random(seed)
    for file in quick_path.glob("store.db*"):
        file.unlink()
    store, reference = open_store(quick_path / "store.db"), ReferenceStore()
    for _ in range(3):
        batch = [any_document(random) for _ in range(random.randrange(1, 5))]
        events = [any_event(random) for _ in range(2)]
        removed = random.sample(NAMES, random.randrange(3))
        for each in (store, reference):
            fill(each, *batch, embed=True)
            with each.write() as writer:
                writer.put_events(events)
                writer.remove(removed)
        same_roots(store, reference)
    store.close()


def test_more_leaves_than_are_read_at_once(store: Store) -> None:
    reference = ReferenceStore()
    large = document("large", *(f"text {number}" for number in range(1500)))
    small = document("large", *(f"text {number}" for number in range(10)))
    for version in (large, small, large):
        for each in (store, reference):
            fill(each, version, embed=True)
        same_roots(store, reference)


def same_roots(store: Store, reference: ReferenceStore) -> None:
    for viewer in VIEWERS:
        with store.view(viewer) as view, reference.view(viewer) as defined:
            assert view.roots() == defined.roots()


def test_a_bucket_of_many_leaves(store: Store) -> None:
    """Leaves whose keys begin alike share a bucket: these texts were searched for."""
    made = document("d", "text 0")
    alike = [
        replace(made.chunks[0], id=hashing.chunk_id("d", 0, text), text=text) for text in ALIKE
    ]
    assert len({chunk.id[:4] for chunk in alike}) == 1
    for count in (4, 3, 1, 2):
        with store.write() as writer:
            writer.put(made.record, alike[:count])
        reference = ReferenceStore()
        with reference.write() as writer:
            writer.put(made.record, alike[:count])
        same_roots(store, reference)
        with store.view(OWNER) as view:
            for chunk, proof in proofs(view):
                assert len(proof.bucket) == count
                assert merkle.verify(proof, chunk, view.roots().content)


# --- proofs --------------------------------------------------------------------------------------


@pytest.mark.parametrize("viewer", VIEWERS, ids=lambda viewer: viewer.name or "nobody")
def test_every_readable_chunk_has_a_proof(store: Store, viewer: Viewer) -> None:
    fill(store, *DOCUMENTS, embed=True)
    reference = ReferenceStore()
    fill(reference, *DOCUMENTS, embed=True)
    with store.view(viewer) as view, reference.view(viewer) as defined:
        root = view.roots().content
        for chunk, proof in proofs(view):
            assert merkle.verify(proof, chunk, root)
            assert proof == defined.prove(chunk.id)


def test_a_chunk_that_was_altered_has_no_proof(store: Store) -> None:
    fill(store, *DOCUMENTS)
    other = DOCUMENTS[2].chunks[1]
    with store.view(OWNER) as view:
        root = view.roots().content
        for chunk, proof in list(proofs(view))[:10]:
            for altered in (
                replace(chunk, id=other.id),
                replace(chunk, record_id="x"),
                replace(chunk, kind="x"),
                replace(chunk, path="x"),
                replace(chunk, title="x"),
                replace(chunk, sequence=9),
                replace(chunk, start=9999),
                replace(chunk, end=9999),
                replace(chunk, lines=(9, 9)),
                replace(chunk, text=chunk.text + " "),
                other,
            ):
                assert not merkle.verify(proof, altered, root)


Pairs = tuple[tuple[int, str], ...]


def altered_pairs(children: Pairs, wrong: str) -> Iterator[Pairs]:
    free = next(place for place in range(256) if place not in dict(children))
    yield (*children, (free, wrong))
    yield (*children, (-1, wrong))
    yield (*children, (256, wrong))
    yield (*children, (free, "no hash"))
    if children:
        (place, value), rest = children[-1], children[:-1]
        yield rest
        yield (*rest, (place, wrong))
        yield (*rest, (place, value[:-2]))
        yield (*rest, (free, value))
        yield (*rest, (place - 256, value))
    if len(children) > 1:  # one hash a byte too short, the next one a byte too long
        (left, first), (right, second) = children[:2]
        yield ((left, first[:-2]), (right, first[-2:] + second), *children[2:])


def altered(proof: Proof, random: Random) -> Iterator[Proof]:
    """Yield the proof with each of its fields altered in some way."""
    wrong = random.randbytes(32).hex()
    yield replace(proof, chunk_id=wrong[:32])
    yield replace(proof, leaf=wrong)
    yield replace(proof, bucket=())
    yield replace(proof, bucket=((proof.chunk_id, wrong),))
    yield replace(proof, bucket=(*proof.bucket, ("f" * 32, wrong)))
    yield replace(proof, bucket=proof.bucket * 2)
    yield from (replace(proof, nodes=nodes) for nodes in altered_pairs(proof.nodes, wrong))
    yield from (replace(proof, top=top) for top in altered_pairs(proof.top, wrong))
    yield replace(proof, classes=())
    yield replace(proof, classes=(wrong,))
    yield replace(proof, classes=(*proof.classes, wrong))
    yield replace(proof, classes=(*proof.classes, "zz"))
    yield replace(proof, classes=(*proof.classes, ""))
    for at in range(len(proof.classes)):
        yield replace(proof, classes=proof.classes[:at] + proof.classes[at + 1 :])


def test_a_proof_that_was_altered_proves_nothing(store: Store) -> None:
    fill(store, *DOCUMENTS)
    random = Random(1)
    tried = 0
    with store.view(OWNER) as view:
        root = view.roots().content
        for chunk, proof in proofs(view):
            assert merkle.verify(proof, chunk, root)
            for wrong in altered(proof, random):
                assert not merkle.verify(wrong, chunk, root), wrong
                tried += 1
            for other_root in ("", "00", "zz", root[:-2], root.replace(root[0], "f", 1) + "00"):
                assert not merkle.verify(proof, chunk, other_root)
    assert tried > 1000


def test_a_proof_of_one_viewer_is_none_for_another(store: Store) -> None:
    fill(store, *DOCUMENTS)
    chunk = DOCUMENTS[2].chunks[0]  # which Bob may read
    roots = {}
    for viewer in (OWNER, BOB):
        with store.view(viewer) as view:
            roots[viewer.name] = (view.prove(chunk.id), view.roots().content)
    (for_owner, owners), (for_bob, bobs) = roots[""], roots["bob"]
    assert merkle.verify(for_owner, chunk, owners)
    assert merkle.verify(for_bob, chunk, bobs)
    assert not merkle.verify(for_owner, chunk, bobs)
    assert not merkle.verify(for_bob, chunk, owners)


def test_a_proof_holds_no_hash_of_what_may_not_be_read(store: Store) -> None:
    readable = [each for each in DOCUMENTS if each.record.acl in (None, ("alice",))]
    fill(store, *DOCUMENTS, embed=True)
    fill(store, *readable, space="alone", embed=True)
    with store.view(ALICE) as view, store.view(ALICE, "alone") as alone:
        children = list(proofs(view))
        assert children == list(proofs(alone))
    with store.view(OWNER) as everything:
        secret = set()
        for chunk, proof in proofs(everything):
            if chunk.record_id not in {each.record.id for each in readable}:
                secret |= {chunk.id, proof.leaf}
    shown = str([proof for _, proof in children])
    assert secret
    assert not any(name in shown for name in secret)
