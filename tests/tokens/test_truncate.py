"""A truncated text fits, ends well and tears no grapheme."""

from __future__ import annotations

import pytest
import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st

from quire import tokens
from quire.core.protocols import Counter
from quire.tokens import truncate
from tests.tokens.samples import TEXTS, texts

NAMES = ("o200k", "cl100k", "llama3", "qwen", "mistral-spm", "mistral-tekken", "gemma3", "deepseek")
ALL = (*NAMES, "claude", "approx", "approx-chars", "approx-floor")
SIGNS = (
    *("a", "b", ".", " ", "\n", "\r\n", "é", "e\u0301", "z\u0335\u0336\u0337", "中", "の"),
    *("👩‍👩‍👧‍👦", "🇩🇪", "👍🏽", "1️⃣", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "각", "\u1112\u1161\u11ab"),
    *("क्ष्म", "नी", "กำ", "\u0600\u0661"),
)


class Tally:
    """Counts by another counter, and how much it was given to count."""

    def __init__(self, counter: Counter) -> None:
        self.counter = counter
        self.name, self.exact, self.note = counter.name, counter.exact, counter.note
        self.characters = 0

    def count(self, text: str) -> int:
        self.characters += len(text)
        return self.counter.count(text)


def whole_signs(text: str) -> list[int]:
    """Tell where signs end, by an implementation of Unicode's own rules."""
    return [0, *(match.end() for match in regex.finditer(r"\X", text))]


def holds(counter: Counter, text: str, limit: int) -> str:
    prefix = tokens.truncate_text(counter, text, limit)
    assert counter.count(prefix) <= max(limit, 0)
    assert text.startswith(prefix)
    assert len(prefix) in whole_signs(text)
    assert tokens.truncate_text(counter, prefix, limit) == prefix
    assert tokens.truncate_text(counter, text, limit) == prefix
    if limit > 0 and counter.count(text) <= limit:
        assert prefix == text
    else:
        assert prefix == prefix.rstrip()
    return prefix


@pytest.mark.parametrize("name", ALL)
@settings(max_examples=60, deadline=None)
@given(text=texts, limit=st.integers(-1, 40))
@example(text="\u0600 a b c d", limit=1)
@example(text="a\r\nb", limit=1)
@example(text="e" + "\u0301" * 50, limit=3)
def test_a_cut_fits_and_holds_whole_signs(name: str, text: str, limit: int) -> None:
    holds(tokens.open_counter(name), text, limit)


@settings(max_examples=300, deadline=None)
@given(text=st.lists(st.sampled_from(SIGNS), max_size=40).map("".join), limit=st.integers(0, 60))
def test_no_sign_is_torn(text: str, limit: int) -> None:
    holds(tokens.open_counter("o200k"), text, limit)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("limit", [1, 5, 17, 60])
def test_samples_are_cut(name: str, limit: int) -> None:
    for text in TEXTS.values():
        holds(tokens.open_counter(name), text, limit)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=30, deadline=None)
@given(words=st.lists(st.text("abcdefghijklmnop", min_size=1, max_size=9), min_size=1, max_size=60))
def test_words_are_kept_whole_and_little_room_is_left(name: str, words: list[str]) -> None:
    counter, text = tokens.open_counter(name), " ".join(words)
    for limit in (5, 20, 50):
        prefix = holds(counter, text, limit)
        if prefix != text and len(prefix) > 20:
            assert text[len(prefix)] == " "
            longer = text[: (text + " ").index(" ", len(prefix) + 1)]
            assert counter.count(longer) > limit


class Moody:
    """Counts characters, and some more for a text that ends in the middle of something."""

    name, exact, note = "moody", False, "for tests"

    def __init__(self, whole: str, more: int, size: int = 8) -> None:
        self.whole, self.more, self.size = whole, more, size

    def count(self, text: str) -> int:
        return len(text) // self.size + (self.more if text and text[-1] not in self.whole else 0)


@settings(max_examples=300, deadline=None)
@given(
    text=st.text(st.sampled_from("ab c.\n\u0301"), max_size=200),
    limit=st.integers(1, 15),
    more=st.integers(0, 5),
    whole=st.sampled_from(["", "a", "b ", "ab", ".\n"]),
)
def test_what_is_kept_was_counted_however_counts_go(
    text: str, limit: int, more: int, whole: str
) -> None:
    holds(Moody(whole, more), text, limit)


def test_an_end_that_makes_a_text_count_more_is_not_taken() -> None:
    counter, text = Moody(" ", 5), "aaaa bb. " * 20
    for limit in range(1, 20):
        holds(counter, text, limit)


def test_a_text_that_fits_comes_back_though_a_part_of_it_counts_more() -> None:
    counter, text, limit = Moody(".", 20, size=40), "x" * 700 + ".", 18
    assert counter.count(text) <= limit
    assert all(counter.count(text[:size]) > limit for size in range(1, 700))
    assert tokens.truncate_text(counter, text, limit) == text


def test_a_sign_that_white_space_belongs_to_is_not_torn() -> None:
    assert (
        tokens.truncate_text(tokens.open_counter("approx-chars"), "xxxxxx\u0600 yyyyyyyyyyyy", 2)
        == "xxxxxx"
    )


def test_no_room_and_no_text() -> None:
    counter = tokens.open_counter()
    assert [tokens.truncate_text(counter, "Hello world", limit) for limit in (-5, 0)] == ["", ""]
    assert tokens.truncate_text(counter, "", 5) == ""
    assert tokens.truncate_text(counter, "  \n ", 1) in ("", "  \n ")


def test_a_text_that_fits_comes_back_as_it_is() -> None:
    counter = tokens.open_counter()
    text = "  Hello world \n\n"
    assert tokens.truncate_text(counter, text, counter.count(text)) == text
    assert tokens.truncate_text(counter, text, 10**9) == text


FILLING = "one two three four five six seven eight nine ten eleven twelve "


@pytest.mark.parametrize(
    ("text", "end"),
    [
        (FILLING * 2 + "end\n\nnext line\nand words. More " + FILLING, "end"),
        (FILLING * 2 + "end\nand words. More " + FILLING, "end"),
        (FILLING * 2 + 'she said "end." More ' + FILLING, 'end."'),
        (FILLING * 2 + "is it? More " + FILLING, "is it?"),
        (FILLING * 2 + "see e.g" + " alpha" * 30, "alpha"),
        (FILLING * 2 + "\r\n\r\nnext " + FILLING, "twelve"),
        ("汉字" * 12 + "句。" + "漢字" * 15, "句。"),
        (FILLING + "twelve " + "0x" * 60, "twelve"),
        ("x" * 300, "x"),
    ],
)
def test_it_ends_with_a_paragraph_a_line_a_sentence_or_a_word(text: str, end: str) -> None:
    prefix = tokens.truncate_text(tokens.open_counter(), text, 30)
    assert prefix.endswith(end)
    assert tokens.open_counter().count(prefix) > 12


def test_an_end_that_lies_far_back_is_not_taken() -> None:
    counter = tokens.open_counter()
    for far in ("Short.\n\n", FILLING + "Short.\n\n"):
        assert counter.count(tokens.truncate_text(counter, far + FILLING * 5, 24)) == 24
    assert tokens.truncate_text(tokens.open_counter(), "word " + "x" * 500, 20).endswith("x")


@pytest.mark.parametrize(
    "text",
    [
        FILLING * 16_000,
        "x" * 1_000_000,
        "中文" * 500_000,
        "a\n" * 500_000,
        " " * 1_000_000,
        "🇩🇪" * 250_000,
        "e" + "\u0301" * 1_000_000,
    ],
    ids=lambda text: ascii(text[:3]),
)
def test_a_megabyte_is_not_counted_to_keep_a_little(text: str) -> None:
    counter = Tally(tokens.open_counter())
    prefix = tokens.truncate_text(counter, text, 100)
    assert counter.counter.count(prefix) <= 100
    assert counter.characters < 300_000


def test_the_first_and_the_last_of_a_file_are_cut_alike() -> None:
    text = "\n\n".join(TEXTS.values())
    counter = tokens.open_counter("claude")
    prefixes = [tokens.truncate_text(counter, text, limit) for limit in range(0, 900, 30)]
    assert all(counter.count(part) <= 30 * n for n, part in enumerate(prefixes))
    assert [len(part) for part in prefixes] == sorted(len(part) for part in prefixes)


@settings(max_examples=300, deadline=None)
@given(st.text("ab \n\u3000\x1c", max_size=300), st.integers(0, 300), st.integers(0, 300))
@example("a " + "b" * 200, 0, 150)
def test_the_last_word_is_found_wherever_it_ends(text: str, after: int, limit: int) -> None:
    limit = min(limit, len(text) - 1)
    ends = [
        at
        for at in range(after + 1, limit + 1)
        if at and text[at].isspace() and not text[at - 1].isspace()
    ]
    assert truncate._find_last_word(text, after, limit) == max(ends, default=0)
