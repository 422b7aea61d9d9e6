"""The language that a text is detected to be in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.core.languages import (
    SHARED,
    all_codes,
    detect_language,
    function_words,
    language_in,
    language_name,
)
from quire.store.index import analyzer

from .samples import DENSE_SAMPLES, SAMPLES

NOTES = [
    (code, note) for code, sample in {**SAMPLES, **DENSE_SAMPLES}.items() for note in sample.notes
]
NOT_FOREIGN = (
    "",
    "   \n",
    "42, 17; 3.5",
    "The invoices are sent at the end of each month, and whoever has not paid gets a reminder.",
    "Add a test for the parser",
    "for name in names: print(name)",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "El Paso, Los Angeles and Las Vegas are cities in the west of the country.",
    "Müller, Łukasz and Žižek met François at the Café de la Paix to talk about the new release.",
    '{"version": "1.5", "name": "la", "type": "a", "i": 0, "e": 1}',
    "NGỌC",  # a name is too little to tell
)


@pytest.mark.parametrize(("code", "note"), NOTES, ids=lambda value: ascii(value)[:30])
def test_a_note_is_in_its_language(code: str, note: str) -> None:
    assert detect_language(note) == code


@pytest.mark.parametrize("text", NOT_FOREIGN, ids=lambda text: ascii(text)[:30])
def test_english_and_what_says_too_little_have_no_language(text: str) -> None:
    assert detect_language(text) == ""


def test_at_least_fifteen_languages_are_stemmed_and_have_samples() -> None:
    assert set(SAMPLES) == set(analyzer.STEMMERS)
    assert len(SAMPLES) >= 15


def test_accents_may_be_signs_of_their_own() -> None:
    assert (
        detect_language("Les élèves ont été très étonnés, mais ils sont restés à l'école.") == "fr"
    )


def test_every_language_has_a_name() -> None:
    assert all(language_name(code)[0].isupper() for code in (*all_codes(), "en"))
    assert language_name("de") == "German"
    assert language_name("ja") == "Japanese"
    assert language_name("??") == "??"


def test_languages_that_share_a_script_have_function_words() -> None:
    assert all(function_words(code) for codes in SHARED.values() for code in codes)


def test_an_attribute_that_names_no_language_is_none() -> None:
    assert language_in({"text_language": "de"}) == "de"
    assert language_in({"text_language": "klingon"}) == ""
    assert language_in({"text_language": 7}) == ""
    assert language_in({"text_language": "en"}) == ""
    assert language_in({}) == ""


@given(st.text())
def test_any_text_has_a_language_or_none(text: str) -> None:
    code = detect_language(text)
    assert code == "" or code in all_codes()
    assert detect_language(text) == code


@given(st.text(), st.sampled_from(sorted(analyzer.STEMMERS)))
def test_any_text_has_words_in_any_language(text: str, code: str) -> None:
    words = analyzer.tokenize(text, code)
    assert all(word.strip() and word != analyzer.mark_of(code) for word in words)
    terms = analyzer.query_terms(text, [code])
    assert all(term.count > 0 and term.forms for term in terms.values())
    everything = {form for term in analyzer.all_terms(text, [code]).values() for form in term.forms}
    assert set(words) <= everything


WORDS = sorted(word for code in SHARED["latin"] for word in function_words(code) if word.isascii())


@given(st.lists(st.sampled_from((*WORDS, "Haus", "maison", "42", "x_y", "\n")), max_size=40))
def test_a_text_without_accents_is_decided_as_any_other(words: list[str]) -> None:
    text = " ".join(words)
    assert detect_language(text) == detect_language(f"{text} \u2019")
