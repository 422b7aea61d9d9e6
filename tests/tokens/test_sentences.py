"""Sentences are parts of a text that together are the text: nothing of it is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.tokens.shorten import split_sentences


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("It costs 3.5 million. Done.", ["It costs 3.5 million. ", "Done."]),
        ('See a.b, "c." Then d!\nNext', ['See a.b, "c." ', "Then d!\n", "Next"]),
        ("one\n\n two", ["one\n\n ", "two"]),
        ("....x", ["....x"]),
        ("", []),
    ],
)
def test_a_stop_within_a_word_ends_no_sentence(text: str, sentences: list[str]) -> None:
    assert split_sentences(text) == sentences


@given(st.text("a1.!?\n \"')", max_size=40))
def test_sentences_are_the_whole_text(text: str) -> None:
    assert "".join(split_sentences(text)) == text
