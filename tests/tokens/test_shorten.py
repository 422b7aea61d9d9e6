"""A shortened text is made of parts of the text, in order, and says where something is left out."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quire import tokens
from quire.store.index.analyzer import content_words
from quire.tokens import Aim, shorten
from quire.tokens.shorten import split_sentences

COUNTER = tokens.open_counter()
PRICES = (
    "The price rose from 3.50 to 4.75 euros. Version 2.1 of example.com is slow. Who knows why?"
)
CODE = '''def lookup(self, key: str) -> str | None:
    """Find a session by its key."""
    if key in self.memory:
        return self.memory[key]

    row = self.database.fetch("select body from session where key = ?", key)
    if row is None:
        self.misses += 1
        return None
    self.memory[key] = row.body
    return row.body
'''


def extract(text: str, limit: int, query: str, *, code: bool = False) -> str:
    short = shorten(COUNTER, text, limit, "extractive", Aim(query, content_words, code))
    assert COUNTER.count(short) <= limit
    return short


def parts_of(short: str) -> list[str]:
    """Split a shortened text where something is left out."""
    return [part.strip() for part in short.replace("\n...", " ... ").split("...") if part.strip()]


def test_numbers_and_names_stay_whole() -> None:
    assert extract(PRICES, 14, "which version") == "... Version 2.1 of example.com is slow. ..."
    assert extract(PRICES, 19, "the price") == "The price rose from 3.50 to 4.75 euros. ..."
    assert shorten(COUNTER, PRICES, 8, "keep_end") == "... Who knows why?"
    assert (
        shorten(COUNTER, PRICES, 20, "keep_end")
        == "... Version 2.1 of example.com is slow. Who knows why?"
    )
    lines = "from starlette.applications import Starlette\nfrom starlette.routing import Route\n"
    assert extract(lines, 11, "routing") == "...\nfrom starlette.routing import Route"


def test_a_rare_word_counts_more_than_common_ones() -> None:
    lots = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"]
    text = " ".join(
        f"The supplier Acme Inc. delivers to the buyer what is in the {lot} lot." for lot in lots
    )
    text += " The penalty for what comes late is 2.5 percent. All of it ends in May."
    question = "what is the penalty that the supplier Acme pays"
    kept = extract(text, 40, question)
    assert "The penalty for what comes late is 2.5 percent." in kept
    assert extract(text, 20, question) == (
        "... The penalty for what comes late is 2.5 percent. ..."
    )


def test_a_sentence_is_not_kept_twice() -> None:
    text = "The supplier Acme Inc. delivers the goods. " * 8 + "The penalty is 2.5 percent."
    kept = extract(text, 40, "what does the supplier deliver, and what is the penalty")
    assert kept.count("The supplier") == 1
    assert kept == "The supplier Acme Inc. delivers the goods. ... The penalty is 2.5 percent."


def test_code_is_cut_between_lines() -> None:
    kept = extract(CODE, 45, "select from the session table", code=True)
    lines = kept.split("\n")
    assert lines[0] == "def lookup(self, key: str) -> str | None:"
    assert '    row = self.database.fetch("select body from session where key = ?", key)' in lines
    assert "..." in lines
    assert all(line == "..." or line in CODE.split("\n") for line in lines)
    assert "...\n..." not in kept
    end = shorten(COUNTER, CODE, 15, "keep_end", Aim(code=True))
    assert end == "...\n    self.memory[key] = row.body\n    return row.body"


def test_items_of_a_list_stay_on_their_lines() -> None:
    text = "Todo:\n- buy valves\n- paint the hull\n- order fuel\n- rest\n"
    assert extract(text, 10, "fuel") == "Todo:\n...\n- order fuel\n- rest"


def test_a_line_that_goes_on_is_one_sentence_with_the_line_before() -> None:
    text = (
        "The hull of the boat in the yard was painted last year\nin two layers of red.\n\n"
        "The mast is bare, and will be varnished in May. It is\nmade of pine.\n"
    )
    assert extract(text, 10, "what is pine used for") == "... It is\nmade of pine."
    names = "alpha\nbeta\ngamma\ndelta\n"
    assert extract(names, 5, "gamma") == "...\ngamma\ndelta"


def test_words_of_a_long_sentence_are_its_last() -> None:
    text = "one  two\tthree " * 40
    kept = shorten(COUNTER, text, 10, "keep_end")
    assert kept.startswith("... ")
    assert text.rstrip().endswith(kept.removeprefix("... "))


WORDS = ["tide", "the", "hull", "Mr. Fox", "3.50", "example.com", "a", "e.g. red", "what"]
prose = st.lists(
    st.tuples(
        st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join),
        st.sampled_from([". ", "! ", "\n", ".\n\n", "? ", "\n- ", "; "]),
    ),
    min_size=1,
    max_size=20,
).map(lambda rows: "".join(f"{words}{end}" for words, end in rows))


@settings(max_examples=300, deadline=None)
@given(prose, st.integers(1, 40), st.sampled_from(["extractive", "keep_end"]), st.booleans())
def test_what_is_kept_stands_in_the_text_in_its_order(
    text: str, limit: int, strategy: str, code: bool
) -> None:
    short = shorten(COUNTER, text, limit, strategy, Aim("tide example.com", content_words, code))
    assert COUNTER.count(short) <= limit
    place = 0
    for part in parts_of(short):
        place = text.index(part, place) + len(part)
    if COUNTER.count(text) > limit and short and short not in text:
        assert "..." in short


@pytest.mark.parametrize("strategy", sorted(tokens.STRATEGIES))
def test_a_text_that_fits_stays(strategy: str) -> None:
    assert shorten(COUNTER, PRICES, 100, strategy, Aim("price")) == PRICES


TABLE = """\
| user | today | from now on |
|---|---|---|
| Python 3.8 | supported. Ends soon. | pip keeps them on 2.2. It reads the metadata. |
| Python 3.10 | supported | nothing changes |
| whoever reads `__version__` | a warning. Since 2.2 | AttributeError. Ask importlib. |
"""


@pytest.mark.parametrize("strategy", ["extractive", "keep_start", "keep_end"])
@pytest.mark.parametrize("before", ["", "Some words come first. And some more of them.\n\n"])
def test_rows_of_a_table_are_kept_whole_with_its_head(strategy: str, before: str) -> None:
    rows = TABLE.splitlines()
    counter = COUNTER
    text = before + TABLE
    assert "".join(split_sentences(text)) == text
    for limit in range(30, counter.count(text)):
        short = shorten(counter, text, limit, strategy, Aim("who reads __version__"))
        shown = [line for line in short.splitlines() if line.lstrip().startswith("|")]
        assert all(row in rows for row in shown), short
        if shown[2:]:
            assert shown[:2] == rows[:2], short
