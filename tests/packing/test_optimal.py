"""`optimal` reaches the highest total score, and its reported gap is true."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quire import packing
from quire.core.types import Piece
from quire.packing import optimal as solver
from quire.packing.pack import Packed
from tests.pipeline.builders import chunk, piece

MARKERS = {"0.md": 10, "1.md": 3, "2.md": 25, "3.md": 0}


def packed(pieces: list[Piece], available: int, strategy: str) -> Packed:
    return packing.pack(
        pieces,
        available,
        strategy=strategy,
        overflow="skip",
        heading_cost=lambda piece: MARKERS[piece.candidate.chunk.path],
    )


def score(pieces: tuple[Piece, ...]) -> int:
    return sum(p.candidate.score for p in pieces)


def spent(pieces: tuple[Piece, ...]) -> int:
    paths = {p.candidate.chunk.path for p in pieces}
    return sum(p.tokens for p in pieces) + sum(MARKERS[path] for path in paths)


def best(pieces: list[Piece], available: int) -> int:
    """Try every choice."""
    return max(
        score(some)
        for size in range(len(pieces) + 1)
        for some in combinations(pieces, size)
        if spent(some) <= available or not some
    )


instances = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 40), st.integers(0, 30)), max_size=9
).map(
    lambda rows: [
        piece(chunk(f"text {place}", f"{document}.md", place), points, cost)
        for place, (document, cost, points) in enumerate(rows)
    ]
)


@settings(max_examples=300, deadline=None)
@given(instances, st.integers(0, 160))
def test_optimal_equals_trying_every_choice(pieces: list[Piece], available: int) -> None:
    result = packed(pieces, available, "optimal")
    assert spent(result.chosen) <= available or not result.chosen
    assert score(result.chosen) == best(pieces, available)
    assert result.gap == 0


@settings(max_examples=300, deadline=None)
@given(instances, st.integers(0, 160))
def test_optimal_is_never_worse_than_greedy(pieces: list[Piece], available: int) -> None:
    reached = score(packed(pieces, available, "optimal").chosen)
    for strategy in ("greedy", "interleaved", "score_weighted"):
        assert reached >= score(packed(pieces, available, strategy).chosen)


@pytest.mark.parametrize("largest", [3, 20, 100])
def test_the_gap_is_true_when_the_table_is_scaled(
    monkeypatch: pytest.MonkeyPatch, largest: int
) -> None:
    monkeypatch.setattr(solver, "MAX_CELLS", largest)
    gaps: list[int] = []

    @settings(max_examples=150, deadline=None)
    @given(instances, st.integers(0, 160))
    def holds(pieces: list[Piece], available: int) -> None:
        result = packed(pieces, available, "optimal")
        assert spent(result.chosen) <= available or not result.chosen
        assert best(pieces, available) - score(result.chosen) <= result.gap
        gaps.append(result.gap)

    holds()
    assert any(gaps), "no instance was large enough to be scaled"


def test_a_huge_budget_needs_no_huge_table() -> None:
    many = [piece(chunk(f"text {at}", f"{at % 4}.md", at), at + 1, 400) for at in range(1000)]
    result = packed(many, 100_000_000, "optimal")
    assert len(result.chosen) == 1000
    assert result.gap == 0


def test_equal_scores_are_chosen_alike_whatever_order_they_come_in() -> None:
    alike = [piece(chunk(f"text {at}", f"{at % 4}.md", at), 5, 10) for at in range(12)]
    assert packed(alike, 60, "optimal") == packed(alike[::-1], 60, "optimal")
