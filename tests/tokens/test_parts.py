"""Counts of paragraphs add up, where a counter says that they do."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quire import tokens
from quire.tokens import parts
from tests.tokens.samples import TEXTS

ADDS_UP = ("o200k", "cl100k", "llama3", "qwen", "mistral-tekken", "deepseek")
ENDS = ("\n\n", "\n \n", "\n\n\n", "\r\n\r\n", "\n\n\t", ".\n\n/", ".\n\n", "'\n\ns", " \n\n")
pieces = st.one_of(
    st.sampled_from(ENDS),
    st.sampled_from(tuple(TEXTS.values())),
    st.sampled_from(
        ("### `a`\n", "## B", "---", "- c", "<|endoftext|>", "[INST]", "\u017f", "\u0301")
    ),
    st.text(max_size=20),
)
texts = st.lists(pieces, max_size=12).map("".join)


@pytest.mark.parametrize("name", tokens.counter_names())
@settings(max_examples=60, deadline=None)
@given(texts=st.lists(texts, min_size=1, max_size=3))
def test_a_text_counts_as_much_by_its_parts(name: str, texts: list[str]) -> None:
    counter = tokens.open_counter(name)
    known: dict[str, int] = {}
    for text in (*texts, "".join(texts), *texts):
        long = text * (1 + parts.SHORT // max(1, len(text)))
        assert tokens.count_by_parts(counter, long, known) == counter.count(long)


def test_a_margin_is_added_to_the_sum() -> None:
    counter = tokens.open_counter("o200k+20%")
    text = "\n\n".join(f"### part {number}\nof a page" for number in range(60))
    known: dict[str, int] = {}
    assert tokens.count_by_parts(counter, text, known) == counter.count(text)
    assert len(known) == 59


def test_which_counters_add_up() -> None:
    adding = [name for name in tokens.counter_names() if parts.adding_up(tokens.open_counter(name))]
    assert adding == list(ADDS_UP)


def test_known_paragraphs_are_not_counted_again() -> None:
    counter = tokens.open_counter("o200k")
    page = "\n\n".join(f"## {number}\n{'word ' * 40}" for number in range(10))
    known: dict[str, int] = {}
    before = tokens.count_by_parts(counter, page, known)
    known = dict.fromkeys(known, 0)
    assert tokens.count_by_parts(counter, page, known) < before // 9
