"""Texts of another retriever are fitted into a budget."""

from __future__ import annotations

import pytest

from quire import Context
from quire.adapters.brought import Found, fit
from quire.errors import BudgetTooSmallError, InputError

ALPHA = "The ferry leaves pier four at noon, every day but Sunday."
BETA = "Cranes lift nine tons at most, whatever the harbour master says."


def test_duplicates_go_and_places_stay() -> None:
    texts = [Found(ALPHA, {"source": "a"}), Found(ALPHA, {"source": "b"}), Found(BETA, {})]
    fitted = fit("ferry", texts, 200)
    assert fitted.kept == ((0, ALPHA), (2, BETA))
    assert "[DOC: a]" in fitted.context.text
    assert fitted.context.tokens <= 200


def test_scores_decide_if_all_have_one() -> None:
    best_last = [Found(ALPHA, {}, 0.1), Found(BETA, {}, 0.9)]
    assert [number for number, _ in fit("ferry", best_last, 25).kept] == [1]
    one_unknown = [Found(ALPHA, {}), Found(BETA, {}, 0.9)]
    assert [number for number, _ in fit("ferry", one_unknown, 25).kept] == [0]


def test_the_budget_counts_and_may_cut() -> None:
    long = Found(" ".join(f"word{number}" for number in range(500)), {})
    with pytest.raises(BudgetTooSmallError):
        fit("word1", [long], 50)
    ((number, text),) = fit("word1", [long], 50, {"overflow": "cut"}).kept
    assert number == 0
    assert text != long.text


def test_a_receipt_is_handed_out() -> None:
    contexts: list[Context] = []
    fitted = fit("ferry", [Found(ALPHA, {})], 100, on_context=contexts.append)
    assert contexts == [fitted.context]
    assert fitted.context.receipt["hash"]


def test_nothing_stays_nothing() -> None:
    assert fit("ferry", [], 100).kept == ()


def test_an_option_that_needs_a_store_is_refused() -> None:
    with pytest.raises(InputError, match="viewer"):
        fit("ferry", [Found(ALPHA, {})], 100, {"viewer": "ada"})


def test_names_of_sources_come_from_what_loaders_write() -> None:
    texts = [Found(ALPHA, {"file_path": "x/a.md"}), Found(BETA, {"source": 7}, id="id-7")]
    text = fit("ferry", texts, 200).context.text
    assert "[DOC: x/a.md]" in text
    assert "[DOC: id-7]" in text
