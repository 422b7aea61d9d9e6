import json
import string
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quire.embed import model_files
from quire.embed.tokenize import Tokenizer

pytestmark = pytest.mark.model

CLS, SEP, UNK = 101, 102, 100
NO_LIMIT = 10**9


@cache
def tokenizer(limit: int) -> Tokenizer:
    return Tokenizer(model_files.load_shipped().tokenizer, limit)


def tokens_of(text: str) -> list[int]:
    return tokenizer(512).encode(text)


@cache
def vocabulary() -> dict[str, int]:
    """The vocabulary, read without the tokenizer."""
    return dict(json.loads(model_files.load_shipped().tokenizer.data)["model"]["vocab"])


def reference(text: str) -> list[int]:
    """BERT's tokenisation of ASCII, written anew: words, punctuation, longest pieces first."""
    words = [""]
    for char in text:
        if char in " \t\n\r":
            words.append("")
        elif char in string.punctuation:
            words += [char, ""]
        elif char.isprintable():
            words[-1] += char.lower()
    tokens = [CLS]
    for word in filter(None, words):
        tokens += pieces(word)
    return [*tokens, SEP]


def pieces(word: str) -> list[int]:
    if len(word) > 100:
        return [UNK]
    pieces: list[int] = []
    while word:
        start = "##" if pieces else ""
        sizes = (size for size in range(len(word), 0, -1) if start + word[:size] in vocabulary())
        size = next(sizes, 0)
        if not size:
            return [UNK]
        pieces.append(vocabulary()[start + word[:size]])
        word = word[size:]
    return pieces


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("hello world", [7592, 2088]),
        ("Hello, World!", [7592, 1010, 2088, 999]),
        ("", []),
        (" \n\t ", []),
        ("Héllo", [7592]),
        ("He\u0301llo", [7592]),
        ("你好", [UNK, UNK]),
        ("中国", [1746, 1799]),
        ("東京 is big", [1879, 1755, 2003, 2502]),
        ("😀 hi", [UNK, 7632]),
        ("a\x00b", [11113]),
        ("\x00", []),
        ("a\x01b\x7f", [11113]),
        ("\ufeffhey", [4931]),
        ("x\u200by", [1060, 2100]),
        ("a" * 101 + " b", [UNK, 1038]),
        ("##ing", [1001, 1001, 13749]),
    ],
)
def test_known_tokens(text: str, tokens: list[int]) -> None:
    assert tokens_of(text) == [CLS, *tokens, SEP]


def test_a_word_of_a_hundred_letters_is_still_taken_apart() -> None:
    assert tokens_of("a" * 100) == reference("a" * 100)
    assert len(tokens_of("a" * 100)) > 10


@pytest.mark.parametrize("name", ["[SEP]", "[CLS]", "[MASK]", "[UNK]", "[PAD]"])
def test_a_text_cannot_spell_a_control_token(name: str) -> None:
    tokens = tokens_of(f"before {name} after {name}")
    assert tokens == reference(f"before {name} after {name}")
    assert not {CLS, SEP, 103, UNK, 0} & set(tokens[1:-1])


@pytest.mark.parametrize(
    ("broken", "whole"),
    [
        ("a\ud800b", "a\ufffdb"),
        ("\udfff", "\ufffd"),
        ("tail \ud83d", "tail \ufffd"),
        ("\ude00\ud83d swapped", "\ufffd\ufffd swapped"),
        ("\ud83d\ude00 in halves", "😀 in halves"),
    ],
)
def test_lone_surrogates_are_replaced(broken: str, whole: str) -> None:
    assert tokens_of(broken) == tokens_of(whole)


@given(st.text(st.characters(max_codepoint=127), max_size=300))
def test_ascii_is_tokenised_as_by_the_reference(text: str) -> None:
    assert tokens_of(text) == reference(text)


@given(
    st.lists(
        st.sampled_from([*list(vocabulary())[1996:30000:7], "un", "ing", ".", "\n"]), max_size=80
    ),
    st.sampled_from([" ", "", "-"]),
)
def test_words_of_the_vocabulary_are_tokenised_as_by_the_reference(
    words: list[str], joint: str
) -> None:
    text = joint.join(words)
    if text.isascii():
        assert tokens_of(text) == reference(text)


@given(st.text())
def test_any_text_has_tokens(text: str) -> None:
    tokens = tokens_of(text)
    assert (tokens[0], tokens[-1]) == (CLS, SEP)


def truncate(tokens: list[int], limit: int) -> list[int]:
    return tokens if len(tokens) <= limit else [*tokens[: limit - 1], SEP]


def test_a_long_text_is_cut_and_still_closed() -> None:
    assert tokens_of("word " * 509) == [CLS, *[2773] * 509, SEP]
    assert tokens_of("word " * 510) == [CLS, *[2773] * 510, SEP]
    assert tokens_of("word " * 511) == [CLS, *[2773] * 510, SEP]
    assert tokens_of("word " * 100_000) == [CLS, *[2773] * 510, SEP]


awkward = st.lists(
    st.sampled_from(
        [
            "word",
            " ",
            "  ",
            "\n",
            "\t",
            "\u2028",
            "\u00a0",
            "a" * 40,
            "b" * 101,
            "é",
            "e\u0301",
            "\u0301",
            "ΑΣ",
            "Σ",
            "你好",
            "\x00",
            ".",
            "-",
            "[SEP]",
            "##s",
            "\ud800",
            "\ude00",
            "\u200d",
            "ß",
            "İ",
        ]
    ),
    max_size=400,
)


@settings(max_examples=300)
@given(awkward, st.sampled_from([4, 9, 24]))
def test_a_cut_text_has_the_tokens_of_the_whole_text(parts: list[str], limit: int) -> None:
    text = "".join(parts)
    assert tokenizer(limit).encode(text) == truncate(tokenizer(NO_LIMIT).encode(text), limit)


@pytest.mark.parametrize(
    "text",
    [
        "many words " * 100_000,
        "x" * 9000 + " words" * 600,
        " " * 9000 + "words " * 600,
        "\x00" * 20_000 + "words " * 600,
        "b" * 200 + (" " + "c" * 200) * 600,
        "你好" * 50_000,
        "no-space," * 5000,
        "\n".join(["line"] * 5000),
    ],
)
def test_long_texts_of_all_kinds_have_the_tokens_of_the_whole_text(text: str) -> None:
    assert tokens_of(text) == truncate(tokenizer(NO_LIMIT).encode(text), 512)


def test_a_megabyte_is_not_tokenised_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    lengths: list[int] = []
    limited = tokenizer(512)
    encode = limited._encode

    def counting_encode(text: str) -> list[int]:
        lengths.append(len(text))
        return encode(text)

    monkeypatch.setattr(limited, "_encode", counting_encode)
    assert len(limited.encode("a handful of words, " * 50_000)) == 512
    assert sum(lengths) < 20_000
