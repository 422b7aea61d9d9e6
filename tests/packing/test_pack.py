"""Packing chooses pieces by what each of them costs alone."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quire import packing
from quire.core.types import Piece, Section
from quire.errors import InputError
from quire.packing.pack import STRATEGIES, Packed, group_by_heading
from tests.pipeline.builders import chunk, ids, piece

OVERHEAD = 10


def packed(pieces: list[Piece], available: int, strategy: str, overflow: str = "skip") -> Packed:
    return packing.pack(
        pieces, available, strategy=strategy, overflow=overflow, heading_cost=lambda _: OVERHEAD
    )


def named(pieces: tuple[Piece, ...]) -> str:
    return "".join(p.text for p in pieces)


def lettered(*rows: tuple[str, int, int]) -> list[Piece]:
    """Make a piece in a document of its own for each letter, with its tokens and its score."""
    return [piece(chunk(name, f"{name}.md"), score, cost) for name, cost, score in rows]


VECTOR = lettered(("A", 50, 900), ("B", 100, 850), ("C", 30, 800), ("D", 80, 750))


@pytest.mark.parametrize("strategy", ["greedy", "interleaved", "score_weighted"])
def test_vector_packing(strategy: str) -> None:
    result = packed(VECTOR, 150, strategy)
    assert named(result.chosen) == "AC"
    assert sum(p.tokens for p in result.chosen) == 80
    assert named(result.rest) == "BD"


def test_vector_packing_optimal_would_choose_better() -> None:
    result = packed(VECTOR, 150, "optimal")
    assert named(result.chosen) == "AC"  # A and D would cost exactly 150, and have less score
    assert result.gap == 0


@pytest.mark.parametrize("overflow", ["stop", "cut"])
def test_vector_packing_ends_at_the_first_that_does_not_fit(overflow: str) -> None:
    result = packed(VECTOR, 150, "greedy", overflow)
    assert named(result.chosen) == "A"
    assert named(result.rest) == "BCD"


def test_a_document_pays_for_its_marker_once() -> None:
    two = [piece(chunk("x", "a.md", 0), 9, 20), piece(chunk("y", "a.md", 1), 8, 20)]
    assert len(packed(two, 50, "greedy").chosen) == 2
    assert len(packed(two, 49, "greedy").chosen) == 1
    apart = [piece(chunk("x", "a.md"), 9, 20), piece(chunk("y", "b.md"), 8, 20)]
    assert len(packed(apart, 59, "greedy").chosen) == 1
    assert len(packed(apart, 60, "greedy").chosen) == 2


def test_what_fits_exactly_is_in() -> None:
    assert len(packed([piece(chunk("x"), 1, 90)], 100, "greedy").chosen) == 1
    assert len(packed([piece(chunk("x"), 1, 91)], 100, "greedy").chosen) == 0


TWO = [
    piece(chunk("a1", "a.md", 1), 90, 1),
    piece(chunk("b1", "b.md", 1), 88, 1),
    piece(chunk("a2", "a.md", 2), 85, 1),
    piece(chunk("b2", "b.md", 2), 82, 1),
    piece(chunk("a3", "a.md", 3), 80, 1),
]


@pytest.mark.parametrize(
    ("strategy", "order"),
    [
        ("greedy", ["a1", "a2", "a3", "b1", "b2"]),
        ("interleaved", ["a1", "b1", "a2", "b2", "a3"]),
        ("score_weighted", ["a1", "b1", "a2", "b2", "a3"]),
    ],
)
def test_each_way_prefers_in_its_own_order(strategy: str, order: list[str]) -> None:
    assert [p.text for p in packing.sort_by_preference(TWO, strategy)] == order


def test_interleaved_takes_turns_where_scores_would_not() -> None:
    one_strong = [
        piece(chunk("a1", "a.md", 1), 90),
        piece(chunk("a2", "a.md", 2), 89),
        piece(chunk("b1", "b.md", 1), 10),
    ]
    assert [p.text for p in packing.sort_by_preference(one_strong, "interleaved")] == [
        "a1",
        "b1",
        "a2",
    ]
    assert [p.text for p in packing.sort_by_preference(one_strong, "score_weighted")] == [
        "a1",
        "a2",
        "b1",
    ]


def test_sort_order_is_score_path_sequence_offset_id() -> None:
    expected = [
        piece(chunk("best", "z.md", 9), 7),
        piece(chunk("path", "a.md", 5), 5),
        piece(chunk("sequence", "b.md", 1, start=50), 5),
        piece(chunk("offset", "b.md", 2, start=10), 5),
        *sorted(
            (piece(chunk(text, "b.md", 2, start=20), 5) for text in ("id one", "id two")),
            key=lambda p: p.candidate.chunk.id,
        ),
        piece(chunk("worst", "a.md", 0), 1),
    ]
    shuffled = list(expected)
    for seed in range(20):
        random.Random(seed).shuffle(shuffled)
        assert ids(packing.sort_by_preference(shuffled, "score_weighted")) == ids(expected)


def test_groups_are_ordered_by_their_best_piece() -> None:
    found = group_by_heading(TWO)
    assert [[p.text for p in group] for group in found] == [["a1", "a2", "a3"], ["b1", "b2"]]


def test_limited_keeps_the_best_of_each_document() -> None:
    kept, rest = packing.limit_per_document(TWO, 2)
    assert {p.text for p in kept} == {"a1", "a2", "b1", "b2"}
    assert [p.text for p in rest] == ["a3"]
    assert packing.limit_per_document(TWO, 0) == (TWO, [])


def test_unknown_names_are_refused() -> None:
    with pytest.raises(
        InputError, match=r"unknown packing strategy 'gredy'; did you mean 'greedy'\?"
    ):
        packed(TWO, 10, "gredy")
    with pytest.raises(InputError, match=r"unknown overflow 'skp'; .*choose from skip, cut, stop"):
        packed(TWO, 10, "greedy", "skp")


pieces_of_documents = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 60), st.integers(1, 30)), max_size=14
).map(
    lambda rows: [
        piece(chunk(f"text {place}", f"{document}.md", place), score, cost)
        for place, (document, cost, score) in enumerate(rows)
    ]
)


def spent(pieces: tuple[Piece, ...]) -> int:
    documents = {p.candidate.chunk.record_id for p in pieces}
    return sum(p.tokens for p in pieces) + OVERHEAD * len(documents)


@settings(max_examples=300, deadline=None)
@given(
    pieces_of_documents,
    st.integers(0, 250),
    st.sampled_from(sorted(STRATEGIES)),
    st.sampled_from(["skip", "cut", "stop"]),
)
def test_packing_parts_the_pieces_and_keeps_the_budget(
    pieces: list[Piece], available: int, strategy: str, overflow: str
) -> None:
    result = packed(pieces, available, strategy, overflow)
    assert sorted(ids([*result.chosen, *result.rest])) == sorted(ids(pieces))
    assert spent(result.chosen) <= available or not result.chosen
    order = ids(packing.sort_by_preference(pieces, strategy))
    for part in (result.chosen, result.rest):
        assert ids(part) == [name for name in order if name in ids(part)]
    if strategy == "optimal":
        return
    if overflow == "skip":
        for p in result.rest:
            assert spent((*result.chosen, p)) > available
    else:
        assert ids(result.chosen) == order[: len(result.chosen)]
        if result.rest:
            assert spent((*result.chosen, result.rest[0])) > available


@settings(max_examples=100, deadline=None)
@given(pieces_of_documents, st.randoms(use_true_random=False))
def test_the_order_in_which_pieces_come_changes_nothing(
    pieces: list[Piece], shuffle: random.Random
) -> None:
    other = list(pieces)
    shuffle.shuffle(other)
    for strategy in STRATEGIES:
        assert packed(pieces, 100, strategy) == packed(other, 100, strategy)


def test_a_share_is_not_filled_with_what_is_far_behind() -> None:
    def found(name: str, place: int, score: int, cost: int) -> Piece:
        one = piece(chunk(f"{name} {place}", f"{name}.md", place), score, cost)
        return replace(one, candidate=replace(one.candidate, section=Section(name)))

    best, stopgap, near = found("a", 0, 100, 60), found("a", 1, 40, 30), found("a", 2, 60, 30)
    other = found("b", 0, 80, 30)
    share = partial(
        packing.pack_shares,
        available=100,
        shares={"a": 1, "b": 1},
        strategy="score_weighted",
        overflow="skip",
        heading_cost=lambda _: 0,
    )
    result, order = share([best, stopgap, other])
    assert ids(result.chosen) == ids([other])
    assert ids(order) == ids([other, best, stopgap]), "the best of the rest is tried first"
    assert ids(share([best, near, other])[0].chosen) == ids([near, other])
