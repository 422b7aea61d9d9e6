"""The measured whole stays within the budget, and nothing is left that would still fit."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quire import packing
from quire.core.types import Piece
from tests.pipeline.builders import chunk, ids, piece


def costs(pieces: Sequence[Piece], joint: int = 0, marker: int = 3) -> int:
    """Count a whole that costs other than its parts: headings, and something for each join."""
    documents = {p.candidate.chunk.record_id for p in pieces}
    parts = sum(len(p.text) for p in pieces)
    return max(0, parts + marker * len(documents) + joint * max(0, len(pieces) - 1))


def cut(one: Piece, room: int) -> Piece | None:
    text = one.text[: max(0, room)]
    return packing.with_cut_text(one, text, len(text)) if text else None


def refined(
    pieces: Sequence[Piece],
    available: int,
    *,
    overflow: str = "skip",
    hard: bool = True,
    joint: int = 0,
    chosen: Sequence[Piece] | None = None,
) -> tuple[list[Piece], list[Piece]]:
    return packing.refine(
        pieces,
        pieces if chosen is None else chosen,
        available,
        overflow=overflow,
        hard=hard,
        measure=lambda some: costs(some, joint),
        cut=cut,
        heading_cost=lambda _: 0,
    )


def long(size: int, place: int, path: str = "a.md") -> Piece:
    """Return a piece of so many characters, each of them a token."""
    return piece(chunk(chr(97 + place) * size, path, place), 100 - place, size)


def test_the_least_preferred_goes_first() -> None:
    pieces = [long(10, 0), long(10, 1), long(10, 2)]
    kept, left = refined(pieces, 25)
    assert ids(kept) == ids(pieces[:2])
    assert ids(left) == ids(pieces[2:])


def test_what_was_taken_out_or_passed_over_comes_back_if_it_fits() -> None:
    pieces = [long(10, 0), long(50, 1), long(12, 2)]
    kept, left = refined(pieces, 25, chosen=[])
    assert ids(kept) == ids([pieces[0], pieces[2]])
    assert ids(left) == ids([pieces[1]])


def test_what_comes_in_late_stands_in_the_order_of_preference() -> None:
    pieces = [long(10, 0), long(10, 1), long(10, 2)]
    kept, _ = refined(pieces, 100, chosen=[pieces[0], pieces[2]])
    assert ids(kept) == ids(pieces)


def test_one_piece_may_make_room_for_another() -> None:
    """A piece that joins two others may cost less than nothing: the others are tried again."""
    pieces = [long(10, 0), long(14, 1), long(9, 2)]
    kept, left = packing.refine(
        pieces,
        pieces[:1],
        30,
        overflow="skip",
        hard=True,
        measure=lambda some: 20 if len(some) == 3 else costs(some, 4),
        cut=cut,
        heading_cost=lambda _: 0,
    )
    assert ids(kept) == ids(pieces)
    assert not left


def test_stop_takes_a_beginning_and_nothing_after_it() -> None:
    pieces = [long(10, 0), long(50, 1), long(2, 2)]
    kept, left = refined(pieces, 30, overflow="stop")
    assert ids(kept) == ids(pieces[:1])
    assert ids(left) == ids(pieces[1:])


def test_stop_goes_on_where_the_estimate_was_too_careful() -> None:
    pieces = [long(10, 0), long(10, 1), long(10, 2)]
    kept, _ = refined(pieces, 23, overflow="stop", chosen=[])
    assert ids(kept) == ids(pieces[:2])


def test_cut_fills_the_budget_to_the_last_token() -> None:
    pieces = [long(10, 0), long(50, 1), long(2, 2)]
    kept, left = refined(pieces, 30, overflow="cut")
    assert [p.is_full for p in kept] == [True, False]
    assert costs(kept) == 30
    assert pieces[1].text.startswith(kept[1].text)
    assert ids(left) == ids(pieces[2:])


def test_cut_where_nothing_sensible_is_left() -> None:
    pieces = [long(10, 0), long(50, 1, "b.md")]
    kept, left = refined(pieces, 16, overflow="cut")
    assert ids(kept) == ids(pieces[:1])
    assert ids(left) == ids(pieces[1:])


def test_cut_where_the_whole_costs_more_than_its_parts() -> None:
    pieces = [long(10, 0), long(1000, 1)]
    kept, _ = packing.refine(
        pieces,
        [],
        500,
        overflow="cut",
        hard=True,
        measure=lambda some: 3 * costs(some),
        cut=cut,
        heading_cost=lambda _: 0,
    )
    assert 490 <= 3 * costs(kept) <= 500


def test_soft_lets_the_last_piece_pass_and_no_more() -> None:
    pieces = [long(10, 0), long(50, 1), long(2, 2)]
    kept, left = refined(pieces, 30, hard=False, chosen=pieces[:1])
    assert ids(kept) == ids(pieces[:2])
    assert ids(left) == ids(pieces[2:])
    kept, left = refined(pieces, 13, hard=False)
    assert ids(kept) == ids(pieces[:1]), "a budget that is reached is not passed"


@settings(max_examples=500, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(1, 60)), max_size=10),
    st.integers(1, 200),
    st.sampled_from(["skip", "cut", "stop"]),
    st.booleans(),
    st.integers(-3, 5),
    st.lists(st.booleans(), min_size=10, max_size=10),
)
def test_any_choice_is_settled(  # noqa: PLR0917 - drawn by name
    rows: list[tuple[int, int]],
    available: int,
    overflow: str,
    hard: bool,
    joint: int,
    first: list[bool],
) -> None:
    pieces = [long(size, place, f"{document}.md") for place, (document, size) in enumerate(rows)]
    beginning = overflow != "skip" or not hard
    picked = [p for p, taken in zip(pieces, first, strict=False) if taken]
    chosen = pieces[: len(picked)] if beginning else picked
    kept, left = refined(
        pieces, available, overflow=overflow, hard=hard, joint=joint, chosen=chosen
    )
    assert sorted(ids([*kept, *left])) == sorted(ids(pieces))
    assert ids(kept) == [name for name in ids(pieces) if name in ids(kept)]
    assert ids(left) == [name for name in ids(pieces) if name in ids(left)]
    total = costs(kept, joint)
    if not hard:
        assert ids(kept) == ids(pieces)[: len(kept)]
        assert not left or total >= available
        assert not kept or costs(kept[:-1], joint) < available or joint < 0
        return
    assert total <= available or not kept
    if overflow == "skip":
        assert all(p.is_full for p in kept)
        for p in left:
            assert costs([*kept, p], joint) > available
    elif overflow == "stop":
        assert all(p.is_full for p in kept)
        assert ids(kept) == ids(pieces)[: len(kept)]
        if left:
            assert costs([*kept, left[0]], joint) > available
    else:
        assert [p.is_full for p in kept[:-1]] == [True] * (len(kept) - 1)
        assert ids(kept) == ids(pieces)[: len(kept)]
        if kept and not kept[-1].is_full:
            assert available - total <= max(1, available // 100)
        elif left:
            assert costs([*kept, *([part] if (part := cut(left[0], 1)) else [])], joint) > available


@pytest.mark.parametrize("overflow", ["skip", "cut", "stop"])
def test_nothing_to_settle(overflow: str) -> None:
    assert refined([], 10, overflow=overflow) == ([], [])
    assert refined([], 10, overflow=overflow, hard=False) == ([], [])
