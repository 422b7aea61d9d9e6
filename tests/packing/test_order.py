"""The order of pieces; every text is printed once and unchanged."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quire import packing
from quire.core.types import Passage, Piece
from quire.errors import InputError
from quire.packing import with_cut_text
from tests.pipeline.builders import chunk, document, ids, piece

STRATEGY = "greedy"


def printed(passages: tuple[Passage, ...]) -> list[tuple[str, list[str]]]:
    return [(passage.path, [run.text for run in passage.runs]) for passage in passages]


def order_of(passages: tuple[Passage, ...]) -> list[str]:
    return [
        p.candidate.chunk.id for passage in passages for run in passage.runs for p in run.pieces
    ]


A = document("a.md", "A0. ", "A1. ", "A2. ", "A3. ")
B = document("b.md", "B0. ", "B1. ")
C = document("c.md", "C0. ")
D = document("d.md", "D0. ")
E = document("e.md", "E0. ")


def test_grouped_documents_by_best_piece_each_in_reading_order() -> None:
    pieces = [piece(A[2], 90), piece(B[1], 88), piece(A[0], 85), piece(B[0], 82)]
    passages = packing.arrange(pieces, "grouped", STRATEGY)
    assert printed(passages) == [("a.md", ["A0. ", "A2. "]), ("b.md", ["B0. B1. "])]


def test_packed_in_the_order_of_preference_with_a_block_for_each_change() -> None:
    pieces = [piece(A[2], 90), piece(B[1], 88), piece(A[0], 85), piece(A[1], 84), piece(B[0], 82)]
    passages = packing.arrange(pieces, "packed", STRATEGY)
    assert printed(passages) == [
        ("a.md", ["A2. "]),
        ("b.md", ["B1. "]),
        ("a.md", ["A0. A1. "]),
        ("b.md", ["B0. "]),
    ]
    assert order_of(passages) == ids(pieces)


@pytest.mark.parametrize("count", range(1, 6))
def test_edges_puts_the_best_first_and_last(count: int) -> None:
    documents = [A[0], B[0], C[0], D[0], E[0]][:count]
    pieces = [piece(one, 100 - place) for place, one in enumerate(documents)]
    paths = [passage.path for passage in packing.arrange(pieces, "edges", STRATEGY)]
    assert sorted(paths) == [one.path for one in documents]
    assert paths[0] == "a.md"
    assert paths[-1] == documents[min(1, count - 1)].path
    ranks = [ord(path[0]) for path in paths]
    weakest = ranks.index(max(ranks))
    assert ranks[: weakest + 1] == sorted(ranks[: weakest + 1])
    assert ranks[weakest:] == sorted(ranks[weakest:], reverse=True)


@pytest.mark.parametrize(
    ("way", "order"),
    [
        ("greedy", "grouped"),
        ("optimal", "grouped"),
        ("interleaved", "packed"),
        ("score_weighted", "packed"),
    ],
)
def test_auto_follows_the_way_of_packing(way: str, order: str) -> None:
    pieces = [piece(A[0], 90), piece(B[0], 88), piece(A[2], 85)]
    assert packing.arrange(pieces, "auto", way) == packing.arrange(pieces, order, way)


def test_stable_keeps_what_stood_before_as_a_beginning() -> None:
    pieces = [piece(A[1], 90), piece(B[0], 80), piece(A[3], 70)]
    before = packing.arrange(pieces, "grouped", STRATEGY)
    with_new = [piece(C[0], 95), *pieces, piece(A[0], 60), piece(B[1], 50)]
    after = packing.arrange(with_new, "stable", STRATEGY, order_of(before))
    assert printed(after)[: len(before) - 1] == printed(before)[:-1]
    # The last document of the earlier context goes on where it ended.
    assert printed(after)[len(before) - 1 :] == [
        ("b.md", ["B0. "]),
        ("c.md", ["C0. "]),
        ("a.md", ["A0. "]),
        ("b.md", ["B1. "]),
    ]


def test_stable_again_is_the_same_again() -> None:
    pieces = [piece(A[0], 90), piece(B[0], 80), piece(A[1], 70), piece(B[1], 60), piece(C[0], 50)]
    first = packing.arrange(pieces, "stable", STRATEGY, ids([pieces[4], pieces[2], pieces[0]]))
    assert packing.arrange(pieces[::-1], "stable", STRATEGY, order_of(first)) == first


def test_stable_forgets_what_is_gone_and_knows_no_previous() -> None:
    pieces = [piece(A[0], 90), piece(C[0], 80)]
    previous = ids([piece(B[0]), piece(C[0])])
    assert [passage.path for passage in packing.arrange(pieces, "stable", STRATEGY, previous)] == [
        "c.md",
        "a.md",
    ]
    assert packing.arrange(pieces, "stable", STRATEGY) == packing.arrange(
        pieces, "grouped", STRATEGY
    )


def test_neighbours_are_joined_as_they_were() -> None:
    source = document("n.md", "One\n", "\n  two ", "three\r", "\n四")
    passages = packing.arrange([piece(one) for one in source[::-1]], "grouped", STRATEGY)
    assert printed(passages) == [("n.md", ["One\n\n  two three\r\n四"])]
    assert passages[0].runs[0].lines == (1, source[-1].lines[1])


def test_a_gap_parts_runs() -> None:
    passages = packing.arrange([piece(A[0]), piece(A[2]), piece(A[3])], "grouped", STRATEGY)
    assert printed(passages) == [("a.md", ["A0. ", "A2. A3. "])]


TEXT = "0123456789 äöü 漢字 end"


def window(start: int, end: int, sequence: int) -> Piece:
    """Return a piece of one text, given by its characters."""
    begin = len(TEXT[:start].encode())
    return piece(chunk(TEXT[start:end], "o.md", sequence, start=begin), 100 - sequence)


@pytest.mark.parametrize("order", ["grouped", "packed", "edges", "stable"])
@pytest.mark.parametrize(
    ("windows", "expected"),
    [
        ([(0, 10), (5, 15)], [TEXT[:15]]),
        ([(5, 15), (0, 10)], [TEXT[:15]]),
        ([(0, 21), (3, 6), (10, 12)], [TEXT]),
        ([(3, 6), (0, 21)], [TEXT]),
        ([(0, 12), (2, 4), (8, 19)], [TEXT[:19]]),
        ([(8, 19), (2, 4), (0, 12)], [TEXT[:19]]),
        ([(0, 13), (12, 17)], [TEXT[:17]]),
    ],
)
def test_what_overlaps_is_printed_once(
    order: str, windows: list[tuple[int, int]], expected: list[str]
) -> None:
    pieces = [window(start, end, place) for place, (start, end) in enumerate(windows)]
    passages = packing.arrange(pieces, order, "score_weighted")
    assert printed(passages) == [("o.md", expected)]
    assert sorted(order_of(passages)) == sorted(ids(pieces))


def test_what_overlaps_stands_where_its_best_piece_does() -> None:
    pieces = [window(8, 19, 0), piece(A[0], 50), window(0, 12, 2), piece(B[0], 40)]
    passages = packing.arrange(pieces, "packed", "score_weighted")
    assert printed(passages) == [("o.md", [TEXT[:19]]), ("a.md", ["A0. "]), ("b.md", ["B0. "])]


def test_a_cut_piece_ends_its_run_but_goes_on_with_what_came_before() -> None:
    first, second, third = document("c.md", "First.\n\n", "Second is long.\n", "Third.\n")
    cut = with_cut_text(piece(second), "Second is", 2)
    passages = packing.arrange([piece(first), cut, piece(third)], "grouped", STRATEGY)
    assert printed(passages) == [("c.md", ["First.\n\nSecond is", "Third.\n"])]


def test_the_lines_of_a_cut_piece_are_those_that_are_shown() -> None:
    (whole,) = document("l.md", "one\ntwo\nthree\nfour\n")
    assert whole.lines == (1, 4)
    passages = packing.arrange([with_cut_text(piece(whole), "one\ntwo", 2)], "grouped", STRATEGY)
    assert passages[0].runs[0].lines == (1, 2)


def test_unknown_order_is_refused() -> None:
    with pytest.raises(
        InputError, match=r"unknown order 'groped'; did you mean 'grouped'\? choose from auto"
    ):
        packing.arrange([], "groped", STRATEGY)


def test_nothing_is_no_block() -> None:
    for order in packing.ORDERS:
        assert packing.arrange([], order, STRATEGY) == ()


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, len(TEXT)), st.integers(1, len(TEXT))), min_size=1, max_size=8
    ),
    st.sampled_from(["grouped", "packed", "edges", "stable"]),
    st.lists(st.integers(0, 7), max_size=4),
)
def test_any_windows_print_each_character_that_they_cover_once(
    windows: list[tuple[int, int]], order: str, earlier: list[int]
) -> None:
    spans = {(start, min(len(TEXT), start + size)) for start, size in windows if start < len(TEXT)}
    pieces = [window(start, end, place) for place, (start, end) in enumerate(sorted(spans))]
    pieces = pieces[::2] + pieces[1::2]
    previous = [ids(pieces)[place] for place in earlier if place < len(pieces)]
    passages = packing.arrange(pieces, order, "score_weighted", previous)
    covered = {at for start, end in spans for at in range(start, end)}
    shown = "".join(run.text for passage in passages for run in passage.runs)
    assert len(shown) == len(covered)
    assert sorted(shown) == sorted(TEXT[at] for at in covered)
    assert sorted(order_of(passages)) == sorted(ids(pieces))
    for passage in passages:
        for run in passage.runs:
            assert run.text in TEXT
            for p in run.pieces:
                assert p.text in run.text
