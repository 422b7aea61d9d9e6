"""Ranked lists match the definition, whichever code path computes them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from quire.core.protocols import Store
from quire.core.types import NO_FILTER, OWNER, Document, Filter
from quire.store import open_store
from quire.store.index import scoring, terms, vectors

from .reference import Limits, ReferenceStore
from .samples import ALICE, KINDS, document, fill

# Few words stand almost everywhere and many almost nowhere, as in any language.
COMMON = ("alpha", "beta", "gamma", "the")
RARE = tuple(f"rare{number}" for number in range(12))
FILTERS = (
    NO_FILTER,
    NO_FILTER,
    Filter(kinds=("code",)),
    Filter(kinds=("code", "note", "absent")),
    Filter(paths=("docs/",)),
    Filter(paths=("*", "!docs/*1*")),
    Filter(since=10),
    Filter(until=20),
    Filter(kinds=("text", "code"), paths=("src/", "docs/"), since=5, until=25),
    Filter(kinds=("absent",)),
)
ROUNDS = settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@dataclass(frozen=True)
class Pair:
    """A store and the reference, with the same documents."""

    store: Store
    reference: ReferenceStore

    def same(self, random: Random, dims: int, rounds: int) -> int:
        """Compare the answers of both; return the number of hits."""
        hits = 0
        for viewer in (OWNER, ALICE):
            with self.store.view(viewer) as view, self.reference.view(viewer) as defined:
                for _ in range(rounds):
                    where = random.choice(FILTERS)
                    k = random.choice((1, 1, 2, 3, 5, 10, 200))
                    query = any_query(random)
                    ranked = view.lexical(query, k, where)
                    assert ranked == defined.lexical(query, k, where), (query, k, where)
                    vector = any_vector(random, dims)
                    near = view.semantic(vector, k, where)
                    assert near == defined.semantic(vector, k, where), (vector, k, where)
                    exact = view.semantic(vector, k, where, exact=True)
                    assert exact == defined.semantic(vector, k, where, exact=True)
                    hits += len(ranked.hits) + len(near.hits)
        return hits


def any_query(random: Random) -> str:
    words = random.choices(COMMON, k=random.randrange(4))
    words += random.choices(RARE, k=random.randrange(5))
    return " ".join(words * random.choice((1, 1, 2)))


def any_vector(random: Random, dims: int) -> bytes:
    spread = random.choice((1, 3, 40 if dims <= 1000 else 5))
    return bytes(random.randint(-spread, spread) % 256 for _ in range(dims))


def any_documents(random: Random, most: int) -> list[Document]:
    documents = []
    for number in range(random.randrange(most // 2, most)):
        words = [
            " ".join(
                random.choices(COMMON, k=random.randrange(8))
                + random.choices(RARE, k=random.choice((0, 0, 1, 3)))
            )
            for _ in range(random.choice((1, 1, 2, 3)))
        ]
        same = random.randrange(4) == 0
        documents.append(
            document(
                f"r{number}",
                *(["alpha rare1"] if same else words),
                path=f"{random.choice(('docs', 'src'))}/{number if not same else 1}.md",
                kind=random.choice(KINDS),
                modified=random.choice((None, 10, 20)),
                acl=random.choice((None, None, ("bob",))),
            )
        )
    return documents


def paired(folder: Path, random: Random, limits: Limits, most: int, dims: int) -> Pair:
    for file in folder.glob("store.db*"):
        file.unlink()
    pair = Pair(open_store(folder / "store.db"), ReferenceStore(limits))
    documents = any_documents(random, most)
    keys = sorted({chunk.vector_key for each in documents for chunk in each.chunks})
    stored_vectors = {key: any_vector(random, dims) for key in keys if random.randrange(5)}
    if len(stored_vectors) > 3:  # vectors that are the same, or opposite
        first = stored_vectors[min(stored_vectors)]
        stored_vectors[max(stored_vectors)] = first
        stored_vectors[sorted(stored_vectors)[1]] = bytes((256 - byte) % 256 for byte in first)
    for each in (pair.store, pair.reference):
        fill(each, *documents)
        with each.write() as writer:
            writer.put_vectors("m", stored_vectors)
    return pair


@pytest.fixture(params=[(1, 1), (1, 1000), (2, 3), (6, 1)], ids=str)
def pruned(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Lower the pruning threshold, and count how often a list is pruned."""
    times: list[int] = []
    restrict: Any = terms.Term.restrict

    def counted(*args: object) -> Any:
        times.append(1)
        return restrict(*args)

    monkeypatch.setattr(scoring, "PRUNE_FROM", request.param[0])
    monkeypatch.setattr(terms, "SEARCH_COST", request.param[1])
    monkeypatch.setattr(terms.Term, "restrict", counted)
    yield times
    assert times, "no list was pruned, so nothing was tested"


@given(st.integers(0, 2**32))
@ROUNDS
def test_pruned_search_by_words(quick_path: Path, pruned: list[int], seed: int) -> None:
    random = Random(seed)
    pair = paired(quick_path, random, Limits(), 60, 8)
    pair.same(random, 8, 12)
    pair.store.close()


@given(st.integers(0, 2**32))
@ROUNDS
def test_both_searches_as_they_are(quick_path: Path, seed: int) -> None:
    random = Random(seed)
    pair = paired(quick_path, random, Limits(), 60, 8)
    pair.same(random, 8, 12)
    pair.store.close()


@pytest.mark.parametrize("dims", [1, 8, 63, 64, 65, 130, 384])
@pytest.mark.parametrize(
    "limits", [Limits(0, 1, 0), Limits(5, 3, 1), Limits(5, 1, 2), Limits(3, 10**6, 1)], ids=str
)
def test_two_passes(
    quick_path: Path, monkeypatch: pytest.MonkeyPatch, dims: int, limits: Limits
) -> None:
    monkeypatch.setattr(vectors, "SCAN_LIMIT", limits.scan)
    monkeypatch.setattr(vectors, "FIRST_PASS", limits.first_pass)
    monkeypatch.setattr(vectors, "FIRST_PASS_PER_HIT", limits.per_hit)
    random = Random(dims)
    pair = paired(quick_path, random, limits, 30, dims)
    assert pair.same(random, dims, 12) > 10
    with pair.store.view(OWNER) as view:
        assert not view.semantic(any_vector(random, dims), 1).exact
        assert view.semantic(any_vector(random, dims), 1, exact=True).exact
    pair.store.close()


def test_nothing_but_ties(quick_path: Path) -> None:
    pair = Pair(open_store(quick_path / "a.db"), ReferenceStore())
    documents = [
        document(f"r{number}", "alpha beta", "alpha beta", path=f"{number % 7}.md")
        for number in range(120)
    ]
    fill(pair.store, *documents[60:], embed=True)
    fill(pair.store, *documents[:60], embed=True)
    fill(pair.reference, *documents, embed=True)
    with pair.store.view(OWNER) as view, pair.reference.view(OWNER) as defined:
        whole = view.lexical("alpha", 1000)
        assert whole == defined.lexical("alpha", 1000)
        assert len({hit.score for hit in whole.hits}) == 1
        near = view.semantic(b"\1" * 8, 1000)
        assert near == defined.semantic(b"\1" * 8, 1000)
        for k in (1, 2, 17, 119, 120, 239, 240, 241):
            assert view.lexical("alpha", k).hits == whole.hits[:k]
            assert view.semantic(b"\1" * 8, k).hits == near.hits[:k]
    pair.store.close()


def test_more_words_than_are_looked_up(quick_path: Path) -> None:
    """Of a very long query only the rarest words count, in a total order."""
    pair = Pair(open_store(quick_path / "a.db"), ReferenceStore())
    words = [f"w{number}" for number in range(1100)]
    documents = [
        document(f"r{number}", " ".join(words[number * 90 : 1100])) for number in range(13)
    ]
    for each in (pair.store, pair.reference):
        fill(each, *documents)
    query = " ".join(words)
    with pair.store.view(OWNER) as view, pair.reference.view(OWNER) as defined:
        assert view.lexical(query, 20) == defined.lexical(query, 20)
    pair.store.close()
