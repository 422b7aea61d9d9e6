"""Which pieces are chosen, taken for what they cost one by one?"""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quire import packing
from quire.core.types import Piece
from quire.errors import InputError
from quire.packing.pack import PREFERENCES, Packed, groups
from tests.pipeline.making import chunk, ids, piece

OVERHEAD = 10


def packed(pieces: list[Piece], available: int, way: str, overflow: str = "skip") -> Packed:
    return packing.pack(pieces, available, way=way, overflow=overflow, opening=lambda _: OVERHEAD)


def named(pieces: tuple[Piece, ...]) -> str:
    return "".join(each.text for each in pieces)


def lettered(*rows: tuple[str, int, int]) -> list[Piece]:
    """Make a piece in a document of its own for each letter, with its tokens and its score."""
    return [piece(chunk(name, f"{name}.md"), score, cost) for name, cost, score in rows]


VECTOR = lettered(("A", 50, 900), ("B", 100, 850), ("C", 30, 800), ("D", 80, 750))


@pytest.mark.parametrize("way", ["greedy", "interleaved", "score_weighted"])
def test_vector_packing(way: str) -> None:
    made = packed(VECTOR, 150, way)
    assert named(made.chosen) == "AC"
    assert sum(each.tokens for each in made.chosen) == 80
    assert named(made.left) == "BD"


def test_vector_packing_optimal_would_choose_better() -> None:
    made = packed(VECTOR, 150, "optimal")
    assert named(made.chosen) == "AC"  # A and D would cost exactly 150, and have less score
    assert made.gap == 0


@pytest.mark.parametrize("overflow", ["stop", "cut"])
def test_vector_packing_ends_at_the_first_that_does_not_fit(overflow: str) -> None:
    made = packed(VECTOR, 150, "greedy", overflow)
    assert named(made.chosen) == "A"
    assert named(made.left) == "BCD"


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
    ("way", "order"),
    [
        ("greedy", ["a1", "a2", "a3", "b1", "b2"]),
        ("interleaved", ["a1", "b1", "a2", "b2", "a3"]),
        ("score_weighted", ["a1", "b1", "a2", "b2", "a3"]),
    ],
)
def test_each_way_prefers_in_its_own_order(way: str, order: list[str]) -> None:
    assert [each.text for each in packing.preferred(TWO, way)] == order


def test_interleaved_takes_turns_where_scores_would_not() -> None:
    one_strong = [
        piece(chunk("a1", "a.md", 1), 90),
        piece(chunk("a2", "a.md", 2), 89),
        piece(chunk("b1", "b.md", 1), 10),
    ]
    assert [each.text for each in packing.preferred(one_strong, "interleaved")] == [
        "a1",
        "b1",
        "a2",
    ]
    assert [each.text for each in packing.preferred(one_strong, "score_weighted")] == [
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
            key=lambda each: each.candidate.chunk.id,
        ),
        piece(chunk("worst", "a.md", 0), 1),
    ]
    shuffled = list(expected)
    for seed in range(20):
        random.Random(seed).shuffle(shuffled)
        assert ids(packing.preferred(shuffled, "score_weighted")) == ids(expected)


def test_groups_are_ordered_by_their_best_piece() -> None:
    found = groups(TWO)
    assert [[each.text for each in group] for group in found] == [["a1", "a2", "a3"], ["b1", "b2"]]


def test_limited_keeps_the_best_of_each_document() -> None:
    kept, rest = packing.limited(TWO, 2)
    assert {each.text for each in kept} == {"a1", "a2", "b1", "b2"}
    assert [each.text for each in rest] == ["a3"]
    assert packing.limited(TWO, 0) == (TWO, [])


def test_unknown_names_are_refused() -> None:
    with pytest.raises(InputError, match="'gredy' is no way of packing; there are greedy, inter"):
        packed(TWO, 10, "gredy")
    with pytest.raises(InputError, match="'skp' is no overflow; there are skip, cut, stop"):
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
    documents = {each.candidate.chunk.record_id for each in pieces}
    return sum(each.tokens for each in pieces) + OVERHEAD * len(documents)


@settings(max_examples=300, deadline=None)
@given(
    pieces_of_documents,
    st.integers(0, 250),
    st.sampled_from(sorted(PREFERENCES)),
    st.sampled_from(["skip", "cut", "stop"]),
)
def test_packing_parts_the_pieces_and_keeps_the_budget(
    pieces: list[Piece], available: int, way: str, overflow: str
) -> None:
    made = packed(pieces, available, way, overflow)
    assert sorted(ids([*made.chosen, *made.left])) == sorted(ids(pieces))
    assert spent(made.chosen) <= available or not made.chosen
    order = ids(packing.preferred(pieces, way))
    for part in (made.chosen, made.left):
        assert ids(part) == [name for name in order if name in ids(part)]
    if way == "optimal":
        return
    if overflow == "skip":
        for each in made.left:
            assert spent((*made.chosen, each)) > available
    else:
        assert ids(made.chosen) == order[: len(made.chosen)]
        if made.left:
            assert spent((*made.chosen, made.left[0])) > available


@settings(max_examples=100, deadline=None)
@given(pieces_of_documents, st.randoms(use_true_random=False))
def test_the_order_in_which_pieces_come_changes_nothing(
    pieces: list[Piece], shuffle: random.Random
) -> None:
    other = list(pieces)
    shuffle.shuffle(other)
    for way in PREFERENCES:
        assert packed(pieces, 100, way) == packed(other, 100, way)
