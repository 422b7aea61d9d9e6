from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.core.graphemes import is_boundary
from quire.core.types import IngestSettings
from quire.ingest import prose_splitter
from quire.ingest.line_splitter import split_lines

from .reading import read_chunks

ANY_TEXT = st.text(
    st.one_of(
        st.sampled_from("ab.!? \n\t,;:-\u0301\u200d\U0001f468\U0001f1e6\uac00\u1100漢。"),
        st.characters(exclude_categories=["Cs"]),
    ),
    max_size=400,
)
SIZES = st.integers(1, 60)

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
FLAG = "\U0001f1e9\U0001f1ea"
GRAPHEMES = {
    "family": FAMILY,
    "flag": FLAG,
    "skin tone": "\U0001f44b\U0001f3fd",
    "keycap": "1\ufe0f\u20e3",
    "combining": "e\u0301\u0323",
    "hangul": "\u1112\u1161\u11ab",
    "hindi": "\u0915\u094d\u0937\u093f",
    "thai": "\u0e01\u0e33",
    "tag flag": "\U0001f3f4\U000e0067\U000e0062\U000e007f",
}


def covers(spans: list[tuple[int, int]], length: int) -> bool:
    edges = [start for start, _ in spans] + [length]
    return edges[0] == 0 and [end for _, end in spans] == edges[1:]


@given(ANY_TEXT, SIZES)
def test_spans_cover_the_text_and_respect_the_sizes(text: str, size: int) -> None:
    if not text:
        return
    for parts in (
        prose_splitter.split(text, 0, len(text), size),
        prose_splitter.split_anywhere(text, 0, len(text), size),
        split_lines(text, 0, len(text), size),
        list(prose_splitter.iter_paragraphs(text, 0, len(text))),
    ):
        assert covers(parts, len(text))
        assert all(start < end for start, end in parts)
    assert all(
        end - start <= 2 * size for start, end in prose_splitter.split(text, 0, len(text), size)
    )


@pytest.mark.parametrize("grapheme", GRAPHEMES.values(), ids=GRAPHEMES.keys())
@pytest.mark.parametrize("size", [7, 8, 9, 10, 11])
def test_graphemes_are_never_split(grapheme: str, size: int) -> None:
    text = grapheme * 30
    edges = {number * len(grapheme) for number in range(31)}
    for start, end in prose_splitter.split(text, 0, len(text), size):
        assert {start, end} <= edges
    for start, end in split_lines(text, 0, len(text), size):
        assert {start, end} <= edges


def test_text_may_be_split_between_graphemes() -> None:
    for text, at in (
        ("ab", 1),
        ("é\n", 1),
        (FLAG * 2, 2),
        (FAMILY + "x", len(FAMILY)),
        ("漢字", 1),
    ):
        assert is_boundary(text, at, 0)


def test_a_paragraph_is_split_after_its_sentences() -> None:
    first = "The engine was built in 1837 by Mr. Babbage, e.g. in London."
    second = 'He asked: "Does it work?" '
    text = f"{first} {second}It did."
    parts = [text[start:end] for start, end in prose_splitter.split(text, 0, len(text), 62)]
    assert parts == [first + " ", second + "It did."]


def test_a_sentence_stays_whole_up_to_twice_the_target() -> None:
    sentence = "Word " + "word " * 29 + "end. "
    text = sentence * 3
    assert [text[slice(*part)] for part in prose_splitter.split(text, 0, len(text), 100)] == [
        sentence
    ] * 3
    long = "word " * 60 + "end."
    parts = [long[slice(*part)] for part in prose_splitter.split(long, 0, len(long), 100)]
    assert len(parts) > 2
    assert all(part.endswith(" ") for part in parts[:-1])


def test_an_overlong_sentence_is_split_after_a_clause() -> None:
    text = (
        "aaaa bbbb cccc dddd eeee ffff gggg, hhhh iiii jjjj kkkk llll mmmm nnnn oooo pppp qqqq rrrr"
    )
    first, *_ = [text[slice(*part)] for part in prose_splitter.split(text, 0, len(text), 44)]
    assert first.endswith("gggg, ")


def test_chinese_sentences_need_no_space_after_them() -> None:
    sentence = "今天天气很好我们去公园散步吧。"
    text = sentence * 40
    parts = [text[slice(*part)] for part in prose_splitter.split(text, 0, len(text), 50)]
    assert set(parts[:-1]) == {sentence * 3}


def test_paragraphs_are_merged_up_to_the_target() -> None:
    text = "".join(f"Paragraph number {number:02} says this.\n\n" for number in range(12))
    texts = [chunk.text for chunk in read_chunks("notes.txt", text)]
    assert texts == [text[at : at + 64] for at in range(0, len(text), 64)]


def test_data_is_split_before_the_least_indented_line() -> None:
    entry = 'key-{}:\n  first: "value"\n  second:\n    - deep\n    - deeper\n'
    text = "".join(entry.format(number) for number in range(8))
    for chunk in read_chunks("data.yaml", text):
        assert chunk.text.startswith("key-")


def test_a_document_of_one_paragraph_stays_whole_for_longer() -> None:
    settings = IngestSettings(whole=100, paragraph=300, target=80, join=80)
    text = "This is one of many sentences. " * 8
    assert len(read_chunks("a.txt", text, settings)) == 1
    assert len(read_chunks("a.txt", text * 2, settings)) > 1  # too long even for one paragraph
    two_paragraphs = text[:124].rstrip() + "\n\n" + text[124:]
    assert len(read_chunks("a.txt", two_paragraphs, settings)) > 1
    heading = "# Sentences\n\n" + text
    assert len(read_chunks("a.md", heading, settings)) > 1


def test_short_paragraphs_are_merged_and_longer_ones_are_not() -> None:
    settings = IngestSettings(whole=50, paragraph=50, target=400, join=60)
    turns = [f"Ann: turn {number} says a little something here." for number in range(6)]
    texts = [chunk.text.strip() for chunk in read_chunks("chat.txt", "\n\n".join(turns), settings)]
    assert texts == turns
    merged = read_chunks("chat.txt", "\n\n".join("Bob: yes, I do." for _ in range(6)), settings)
    assert 1 < len(merged) < 6
    assert all(len(chunk.text.rstrip()) <= 60 for chunk in merged)
