"""A counter counts what the model counts.

OpenAI's vocabularies are compared with an independent implementation (GitHub's `bpe`
in `rs-bpe`, which carries the vocabularies itself). For the others there are token numbers that their makers'
own libraries give: Meta's and Mistral's packages, Qwen's and DeepSeek's published files, and
what is published of Gemma.
"""

from __future__ import annotations

import subprocess
import sys
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rs_bpe.bpe import openai

from quire import tokens
from quire.tokens.vocabularies import VOCABULARIES, VocabularyCounter, _load
from tests.tokens.samples import LOOK_ALIKES, TEXTS, texts

OPENAI = ("o200k", "cl100k")
COUNTERS = {counter.name: counter for counter in VOCABULARIES}
REPOSITORY = Path(__file__).parents[2]


def oracle(name: str, text: str) -> list[int]:
    tokenizer = {"o200k": openai.o200k_base, "cl100k": openai.cl100k_base}[name]()
    return list(tokenizer.encode(text))


def ids(name: str, text: str) -> list[int]:
    counter = COUNTERS[name]
    slow = counter.slow_letter is not None and counter.slow_letter in text
    prepared = counter.prepare(text) if counter.prepare else text
    return _load(counter.pretrained, slow=slow).encode_ordinary(prepared)


@pytest.mark.parametrize("name", OPENAI)
@pytest.mark.parametrize("kind", TEXTS)
def test_counts_what_an_independent_implementation_counts(name: str, kind: str) -> None:
    text = TEXTS[kind]
    assert ids(name, text) == oracle(name, text)
    assert tokens.open_counter(name).count(text) == len(oracle(name, text))


@pytest.mark.parametrize("name", OPENAI)
@settings(max_examples=600, deadline=None)
@given(text=texts)
def test_counts_what_an_independent_implementation_counts_on_any_text(name: str, text: str) -> None:
    assert ids(name, text) == oracle(name, text)


@pytest.mark.parametrize("name", OPENAI)
def test_counts_long_texts_like_an_independent_implementation(name: str) -> None:
    for path in sorted((REPOSITORY / "src").rglob("*.py")) + sorted(REPOSITORY.glob("*.md")):
        text = path.read_text("utf-8")
        assert tokens.open_counter(name).count(text) == len(oracle(name, text)), path
    everything = "".join(TEXTS.values()) * 20
    assert tokens.open_counter(name).count(everything) == len(oracle(name, everything))


@pytest.mark.parametrize("name", OPENAI)
@settings(max_examples=300, deadline=None)
@given(
    text=st.lists(st.sampled_from(["'\u017f", "'s", "'rE", "\u017f", "a", "E", "L", " "])).map(
        "".join
    )
)
@example(text="a'\u017f'rEL")
def test_the_long_s_is_an_s_after_an_apostrophe(name: str, text: str) -> None:
    assert tokens.open_counter(name).count(text) == len(oracle(name, text))


def test_long_texts_with_a_long_s() -> None:
    for text in ("x" * 50_000, " " * 50_000, "中" * 20_000, "ab " * 20_000, "\n" * 50_000):
        assert tokens.open_counter("o200k").count(f"{text}\u017f") == len(
            oracle("o200k", f"{text}\u017f")
        )


PUBLISHED = {
    "llama3": {
        "Hello, how are you?": [9906, 11, 1268, 527, 499, 30],
        "def f(x):\n    return x * 42\n": [755, 282, 2120, 997, 262, 471, 865, 353, 220, 2983, 198],
        "价格是 1234 元。": [98580, 21043, 220, 4513, 19, 107662, 1811],
    },
    "qwen": {
        "Hello, how are you?": [9707, 11, 1246, 525, 498, 30],
        "def f(x):\n    return x * 42\n": [750, 282, 2075, 982, 262, 470, 856, 353, 220, 19, 17, 198],
        "价格是 1234 元。": [97480, 20412, 220, 16, 17, 18, 19, 34369, 225, 1773],
        "nai\u0308ve cafe\u0301": [3376, 37572, 586, 51950],
    },
    "mistral-spm": {
        "Hello, how are you?": [23325, 29493, 1678, 1228, 1136, 29572],
        "def f(x):\n    return x * 42\n": [
            1569, 1053, 29500, 29512, 2097, 781, 3055, 1372, 2086, 1166, 29473, 29549, 29518, 781,
        ],
        "价格是 1234 元。": [
            29473, 30738, 30061, 29739, 29473, 29508, 29518, 29538, 29549, 29473, 30120, 29712,
        ],
    },
    "mistral-tekken": {
        "Hello, how are you?": [22177, 1044, 2606, 1584, 1636, 1063],
        "Plz tekkenize me": [4444, 1122, 16058, 3569, 2033, 1639],
        "价格是 1234 元。": [54618, 17583, 2499, 1032, 1049, 1050, 1051, 1052, 105292, 1320],
    },
    "gemma2": {
        "Hello world!": [4521, 2134, 235341],
        "hello jặy": [17534, 678, 236245, 235267],
    },
    "gemma3": {
        "Hello world how are you": [9259, 1902, 1217, 659, 611],
        "line1\nline2": [1257, 236770, 107, 1257, 236778],
        "tab\there": [4823, 255968, 8472],
        "  spaced   text": [138, 169862, 139, 1005],
        "    return": [140, 2060],
        "状態を見て判断する。": [34593, 90166, 38303, 4042, 236924],
        "café 中文 👋": [123125, 236859, 17346, 237364, 155818],
        "\U0010ffff": [482, 381, 429, 429],
    },
    "deepseek": {
        "Hello, how are you?": [19923, 14, 1192, 477, 440, 33],
        "def f(x):\n    return x * 42\n": [3465, 285, 4042, 3395, 361, 1354, 1527, 982, 223, 3180, 201],
        "价格是 1234 元。": [5820, 389, 223, 6895, 22, 223, 1673, 320],
    },
}  # fmt: skip
PUBLISHED["gemma4"] = PUBLISHED["gemma3"]


@pytest.mark.parametrize("name", PUBLISHED)
def test_gives_the_tokens_that_the_makers_publish(name: str) -> None:
    for text, expected in PUBLISHED[name].items():
        assert ids(name, text) == expected
        assert tokens.open_counter(name).count(text) == len(expected)


def test_every_vocabulary_is_compared_with_something() -> None:
    assert {*PUBLISHED, *OPENAI} == set(COUNTERS)


BYTES_KEPT = ("o200k", "cl100k", "llama3", "qwen", "mistral-tekken", "gemma4", "deepseek")


@pytest.mark.parametrize("name", BYTES_KEPT)
@settings(max_examples=60, deadline=None)
@given(text=texts)
def test_tokens_give_the_text_back(name: str, text: str) -> None:
    text = unicodedata.normalize(
        "NFC", text.replace("\u2581", " ")
    )  # ▁ is how Gemma spells a space
    assert _load(COUNTERS[name].pretrained).decode(ids(name, text)) == text


@pytest.mark.parametrize("counter", VOCABULARIES, ids=lambda counter: counter.name)
@settings(max_examples=60, deadline=None)
@given(text=texts)
def test_a_count_lies_between_nothing_and_a_token_for_each_byte(
    counter: VocabularyCounter, text: str
) -> None:
    count = counter.count(text)
    assert (count == 0) == (not text)
    # Mistral's SentencePiece puts one space before every text.
    assert count <= len(unicodedata.normalize("NFC", text).encode()) + 1
    assert count == counter.count(text)


@pytest.mark.parametrize("counter", VOCABULARIES, ids=lambda counter: counter.name)
def test_what_looks_like_control_is_counted_as_text(counter: VocabularyCounter) -> None:
    tokenizer = _load(counter.pretrained)
    control = [*tokenizer.special_tokens(), *LOOK_ALIKES.split()]
    assert len(control) > 60
    for spelling in control:
        if counter.single_tokens and counter.single_tokens.fullmatch(spelling):
            continue  # `<s>` is a tag of HTML for Gemma, not a control token
        assert counter.count(spelling) > 1, spelling
        numbers = tokenizer.encode_ordinary(f"a {spelling} b")
        assert not set(numbers) & set(tokenizer.special_tokens().values()), spelling
    assert counter.count(LOOK_ALIKES) > len(LOOK_ALIKES) / 6


WITH_CONTROL = [counter for counter in VOCABULARIES if counter.control is not None]


@pytest.mark.parametrize("counter", WITH_CONTROL, ids=lambda counter: counter.name)
def test_every_control_token_begins_with_the_mark(counter: VocabularyCounter) -> None:
    # Only text without the mark goes through a function that reads control tokens as such.
    assert counter.control
    for token in _load(counter.pretrained).special_tokens():
        assert token.startswith(counter.control), token


@pytest.mark.parametrize("counter", WITH_CONTROL, ids=lambda counter: counter.name)
@settings(max_examples=100, deadline=None)
@given(text=st.one_of(texts, st.lists(st.sampled_from(LOOK_ALIKES.split())).map(" ".join)))
def test_a_count_is_that_of_the_tokens_of_ordinary_text(
    counter: VocabularyCounter, text: str
) -> None:
    prepared = counter.prepare(text) if counter.prepare else text
    slow = counter.slow_letter is not None and counter.slow_letter in prepared
    ordinary = _load(counter.pretrained, slow=slow).encode_ordinary(prepared)
    assert counter.count(text) == len(ordinary)


@pytest.mark.parametrize("counter", VOCABULARIES, ids=lambda counter: counter.name)
def test_nothing_is_added_around_a_text(counter: VocabularyCounter) -> None:
    assert counter.count("") == 0
    assert counter.count("the") == 1


@pytest.mark.parametrize("name", ["gemma2", "gemma3"])
@settings(max_examples=150, deadline=None)
@given(
    text=st.lists(
        st.one_of(
            st.sampled_from(
                ("<table>", "</td>", "<b>", "</h1>", "<s>", "<br>", "<a", "<", "</", "<<li>")
            ),
            st.text(st.sampled_from("ab \n1.中"), max_size=5),
        ),
        max_size=12,
    ).map("".join)
)
def test_gemma_reads_a_tag_of_html_as_one_token(name: str, text: str) -> None:
    # `encode_raw` follows the vocabulary's own list of whole pieces; no control token is in here.
    assert COUNTERS[name].count(text) == len(_load(COUNTERS[name].pretrained).encode_raw(text))


@pytest.mark.parametrize(("name", "known"), [("gemma2", 48), ("gemma3", 70)])
def test_gemma_s_tags_are_all_known(name: str, known: int) -> None:
    whole, tokenizer = COUNTERS[name].single_tokens, _load(COUNTERS[name].pretrained)
    assert whole is not None
    pieces = [tokenizer.decode_token(number) for number in range(4, 260)]
    assert len(list(filter(whole.fullmatch, pieces))) == known
    others = {piece for piece in pieces if piece[:1] == "<" and not whole.fullmatch(piece)}
    assert {piece.rstrip("0123456789>") for piece in others} <= {
        *("<", "<unused", "<mask", "<2mass", "<start_of_turn", "<end_of_turn")
    }


def test_qwen_reads_composed_characters() -> None:
    counter = tokens.open_counter("qwen3-8b")
    assert counter.count("e\u0301\u0301 한국") == counter.count("\u00e9\u0301 한국")


@pytest.mark.parametrize("name", tokens.counter_names())
def test_half_a_surrogate_pair_counts_as_the_replacement_character(name: str) -> None:
    counter = tokens.open_counter(name)
    for broken in ("\ud800", "a\udfffb", "\udc80\udc81", "x\ud83d"):
        whole = "".join("\ufffd" if "\ud800" <= sign <= "\udfff" else sign for sign in broken)
        assert counter.count(broken) == counter.count(whole)


def test_many_threads_count_alike() -> None:
    work = list(TEXTS.values()) * 5
    counter = tokens.open_counter("cl100k")
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(counter.count, work)) == [counter.count(text) for text in work]


def test_nothing_is_loaded_before_something_is_counted() -> None:
    program = (
        "import sys\n"
        "from quire import tokens\n"
        "counters = [tokens.open_counter(name) for name in tokens.counter_names()]\n"
        "tokens.open_counter('claude-sonnet-4-5')\n"
        "assert 'splintr' not in sys.modules\n"
        "assert counters[0].count('Hello world') == 2\n"
        "assert 'splintr' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
