"""Duplicates are dropped, and nothing else."""

from __future__ import annotations

import random
import sys
import time
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quire import packing
from quire.core.types import Candidate
from quire.packing.dedup import _WORD, _split_words
from tests.packing.all_pairs import dedup_all_pairs, overlap
from tests.pipeline.builders import chunk

WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def candidates(*texts: str) -> list[Candidate]:
    """Make candidates, best first, each of a document of its own."""
    return [
        Candidate(chunk(text, f"{place}.md"), 1000 - place, {}) for place, text in enumerate(texts)
    ]


def texts_of(kept: list[Candidate]) -> list[str]:
    return [each.chunk.text for each in kept]


def counted(*numbers: int) -> str:
    """Return a text whose runs of three words are all different."""
    return " ".join(f"word{number}" for number in numbers)


def told(count: int, *asides: int) -> str:
    """Return a sentence of so many words that stand nowhere else, then words in asides."""
    words = [chr(97 + number) * 3 for number in range(count)]
    return " ".join(words) + "".join(f", x{'y' * number}z" for number in asides)


def test_dedup_exact_by_hash() -> None:
    kept, dropped = packing.dedup(
        candidates("the same text", "another one here", "the same text"), 0.8
    )
    assert texts_of(kept) == ["the same text", "another one here"]
    assert [(each.candidate.chunk.path, each.of.chunk.path, each.percent) for each in dropped] == [
        ("2.md", "0.md", 100)
    ]


def test_dedup_exact_holds_at_any_threshold_and_without_words() -> None:
    for threshold in (0.0, 0.5, 1.0):
        kept, _ = packing.dedup(candidates("---", "---", "==="), threshold)
        assert len(kept) == 2


def test_dedup_near_by_overlap_above_the_threshold_of_0_8() -> None:
    eleven = told(11)
    one = told(11, 1)  # nine of its eleven runs stand in the first: a comma is a word
    two = told(11, 1, 2)  # nine of thirteen
    assert overlap(one, eleven) == pytest.approx(9 / 11)
    assert overlap(two, eleven) == pytest.approx(9 / 13)
    kept, dropped = packing.dedup(candidates(eleven, one), 0.8)
    assert texts_of(kept) == [eleven]
    assert dropped[0].percent == 81
    kept, dropped = packing.dedup(candidates(eleven, two), 0.8)
    assert texts_of(kept) == [eleven, two]
    assert not dropped


def test_dedup_at_exactly_the_threshold_whoever_else_holds_the_rest() -> None:
    twelve, eight = counted(*range(12)), counted(*range(10), 98, 99)
    others = [counted(8, 9, 98, 99, *range(100 * k, 100 * k + 9)) for k in (1, 2, 3)]
    kept, dropped = packing.dedup(candidates(twelve, *others, eight), 0.8)
    assert not dropped
    assert len(kept) == 5


def test_the_overlap_is_the_share_of_the_worse_one() -> None:
    part = told(11)
    whole = f"{part}. Other words that say more in a new sentence."
    assert packing.dedup(candidates(whole, part), 0.8)[0] == candidates(whole, part)[:1]
    assert len(packing.dedup(candidates(part, whole), 0.8)[0]) == 2


def test_case_and_white_space_make_no_difference_but_words_do() -> None:
    kept, dropped = packing.dedup(candidates("Same words here now", "same  WORDS\nhere now"), 0.8)
    assert len(kept) == 1
    assert dropped[0].percent == 100
    assert len(packing.dedup(candidates("total = a - b", "total = a + b"), 0.8)[0]) == 2


@pytest.mark.parametrize("text", ["", " ", "\n\n", "a", "a b", "¿?"])
def test_texts_of_hardly_any_words(text: str) -> None:
    kept, dropped = packing.dedup(candidates(text, text, f"{text} and some more words"), 0.8)
    assert len(dropped) == 1
    assert len(kept) == 2
    assert overlap(text, text) in {0.0, 1.0}


def test_at_a_threshold_of_one_only_the_very_same_text_is_a_duplicate() -> None:
    kept, dropped = packing.dedup(candidates("a b c d", "A b c d", "a b c d"), 1.0)
    assert texts_of(kept) == ["a b c d", "A b c d"]
    assert len(dropped) == 1


texts = st.lists(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join), max_size=12)


def summarize(
    kept: list[Candidate], dropped: list[packing.Duplicate]
) -> tuple[list[str], list[Any]]:
    names = [(one.candidate.chunk.id, one.of.chunk.id, one.percent) for one in dropped]
    return [each.chunk.id for each in kept], names


@settings(max_examples=400, deadline=None)
@given(
    texts,
    st.sampled_from([0.0, 0.25, 0.5, 0.8, 0.9, 0.999, 1.0]),
    st.sampled_from([63, 5]),
    st.sampled_from([None, 1, 3]),
)
def test_dedup_equals_comparing_all_pairs(
    found: list[str], threshold: float, number_bits: int, records: int | None
) -> None:
    listed = candidates(*found)
    if records is not None:  # pieces of so few records, of which those of one are not compared
        listed = [
            replace(each, chunk=replace(each.chunk, record_id=f"{place % records}"))
            for place, each in enumerate(listed)
        ]
    within = records is None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules["quire.packing.dedup"], "NUMBER_BITS", number_bits)
        result = packing.dedup(listed, threshold, within=within)
        assert summarize(*result) == summarize(*dedup_all_pairs(listed, threshold, within=within))


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.text(st.sampled_from("aAbßİ_-.\u00a0 \x1c\n"), max_size=8),
        max_size=8,
    ),
    st.sampled_from([0.0, 0.3, 0.8]),
)
def test_dedup_takes_words_as_they_were_taken(found: list[str], threshold: float) -> None:
    listed = candidates(*found)
    for text in found:
        assert [packing.overlap(text, other) for other in found] == [
            overlap(text, other) for other in found
        ]
    assert summarize(*packing.dedup(listed, threshold)) == summarize(
        *dedup_all_pairs(listed, threshold)
    )


@pytest.mark.parametrize("shared", [0, 100])
def test_a_thousand_candidates_are_no_matter_of_pairs(shared: int) -> None:
    """Not even if all of them begin with the same licence."""
    rng = random.Random(7)
    words = [f"word{number}" for number in range(3000)]
    common = rng.choices(words, k=shared)
    many = candidates(
        *(" ".join([*common, *rng.choices(words, k=200 - shared)]) for _ in range(1000))
    )
    began = time.process_time()
    kept, dropped = packing.dedup(many, 0.8)
    assert time.process_time() - began < 3
    assert len(kept) == 1000
    assert not dropped


@given(st.text(st.characters(max_codepoint=127), max_size=80) | st.text(max_size=80))
def test_a_text_is_split_into_the_words_that_the_pattern_finds(text: str) -> None:
    assert _split_words(text) == _WORD.findall(text)
