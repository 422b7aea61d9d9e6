"""The probability that a candidate is relevant, in whole numbers."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire import ranking
from quire.ranking import CERTAIN, Match, relevance

MODEL = "quire-en-2@750c7f59feacc01a/384"
thousandths = st.integers(0, CERTAIN)


@given(st.integers(-20_000, 20_000))
def test_the_logistic_function_is_near_the_true_one(value: int) -> None:
    true = CERTAIN / (1 + math.exp(-value / CERTAIN))
    assert abs(relevance.logistic(value) - true) < 25
    assert relevance.logistic(value) <= relevance.logistic(value + 1)


def test_at_its_points_the_logistic_function_is_exact() -> None:
    for place, stored in enumerate(relevance.LOGISTIC):
        value = (place - relevance.LIMIT) * CERTAIN
        assert stored == relevance.logistic(value)
        assert abs(stored - CERTAIN / (1 + math.exp(-value / CERTAIN))) < 1


@given(thousandths, thousandths, st.integers(0, 5000), st.sampled_from(["code", "memory", "block"]))
def test_what_is_more_similar_is_not_less_relevant(
    words: int, similarity: int, length: int, kind: str
) -> None:
    match = Match(kind, words=words, named=words, similarity=similarity, length=length)
    more = Match(
        kind, words=words, named=words, similarity=min(CERTAIN, similarity + 100), length=length
    )
    one, other = ranking.estimate(match, MODEL), ranking.estimate(more, MODEL)
    assert one is not None
    assert other is not None
    assert 0 <= one <= other <= CERTAIN


@pytest.mark.parametrize(
    ("match", "model"),
    [
        (Match("memory", words=900, named=900), MODEL),
        (Match("memory", words=900, named=900, similarity=900), None),
        (Match("memory", words=900, named=900, similarity=900), "somebody-elses"),
    ],
)
def test_what_is_not_known(match: Match, model: str | None) -> None:
    assert ranking.estimate(match, model) is None


def test_a_rare_word_counts_more() -> None:
    rarities = {"the": 100, "quorum": 900}
    assert ranking.coverage(rarities, {"quorum", "x"}) == 900
    assert ranking.coverage(rarities, {"the"}) == 100
    assert ranking.coverage(rarities, set()) == 0
    assert ranking.coverage({}, {"the"}) == 0


def test_a_kind_without_an_intercept_of_its_own_has_the_common_one() -> None:
    fit = relevance.Fit({"other": -1000, "code": 3000}, {"words": 1000})
    assert fit.probability(Match("poem", words=1000)) == 500
    assert fit.probability(Match("code", words=1000)) == relevance.LOGISTIC[relevance.LIMIT + 4]
