"""The counter that a name opens, and what it says about its accuracy."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire import tokens
from quire.errors import InputError
from quire.tokens.models import MODELS
from tests.tokens.samples import TEXTS, texts

TEXT = "\n".join(TEXTS.values())

EXACT = {
    "o200k": "o200k o200k_base gpt-4o gpt-4o-mini-2024-07-18 GPT-4.1 gpt-4.5-preview gpt-5 gpt-5-nano "
    "gpt-5.2-codex o1 o1-mini o3 o4-mini chatgpt-4o-latest gpt-oss-120b openai/gpt-4o "
    "azure/gpt-5 ft:gpt-4o-mini:org::id",
    "cl100k": "cl100k cl100k_base gpt-4 gpt-4-turbo gpt-4-1106-preview gpt-3.5-turbo gpt-35-turbo "
    "text-embedding-3-large text-embedding-ada-002",
    "llama3": "llama3 llama-3.3-70b-versatile meta-llama/Llama-3.1-8B meta-llama/Meta-Llama-3-8B "
    "ollama/llama3.1:8b meta.llama3-1-70b-instruct-v1:0 accounts/x/models/llama-v3p1-8b-instruct",
    "qwen": "qwen qwen3 qwen3-8b Qwen/Qwen2.5-Coder-32B-Instruct Qwen/Qwen3-Next-80B qwen1.5-7b QwQ-32B",
    "mistral-spm": "mistralai/Mistral-7B-Instruct-v0.3 mixtral-8x7b open-mixtral-8x22b-2404 "
    "codestral-2405 mistral-large-2411 mistralai/Codestral-22B-v0.1",
    "mistral-tekken": "mistral-nemo open-mistral-nemo-2407 ministral-8b-2410 pixtral-12b-2409 "
    "mistralai/Mistral-Small-3.1-24B-Instruct-2503 mistralai/Mistral-Small-24B-Instruct-2501",
    "gemma2": "gemma2 google/gemma-2-9b-it gemma-2b gemma-7b-it",
    "gemma3": "gemma3 google/gemma-3-27b-it gemma-3n-e4b-it gemma3:27b",
    "gemma4": "gemma4 google/gemma-4-E4B-it",
    "deepseek": "deepseek deepseek-v3 deepseek-ai/DeepSeek-V3.1 deepseek/deepseek-r1",
}
ESTIMATED = {
    "o200k+30%": "claude-3-5-sonnet-latest claude-3.7-sonnet claude-sonnet-4-5 claude-opus-4-20250514 "
    "claude-opus-4-6 claude-haiku-4-5 claude-2.1 anthropic/claude-sonnet-4 "
    "us.anthropic.claude-sonnet-4-5-v1:0",
    "o200k+70%": "claude claude-opus-4-7 anthropic/claude-opus-4.7 claude-opus-4-8 claude-opus-5 "
    "claude-sonnet-5",
    "gemma2+0%": "gemini-1.5-pro",
    "gemma3+0%": "gemini-2.5-pro gemini-2.0-flash-001 gemini-3-pro-preview",
    "gemma4+0%": "gemini gemini-3.5-flash gemini-3.1-pro-preview google/gemini-flash-latest gemma",
    "llama3+10%": "llama-4-scout meta-llama/Llama-4-Maverick-17B",
    "qwen+20%": "qwen3.5-27b qwen3.6-35b-a3b qwen-max",
    "mistral-tekken+0%": "mistral mistral-large-latest mistral-medium-2508 codestral-2508 ministral-3b",
    "mistral-spm+0%": "mistral-small-2409",
    "deepseek+0%": "deepseek-chat deepseek-v4-flash",
    "llama3+0%": "deepseek-r1-distill-llama-70b",
}


@pytest.mark.parametrize("expected", EXACT)
def test_a_known_model_has_an_exact_counter(expected: str) -> None:
    for model in EXACT[expected].split():
        counter = tokens.open_counter(model)
        assert (counter.name, counter.exact, counter.note) == (expected, True, None), model


@pytest.mark.parametrize("expected", ESTIMATED)
def test_a_model_without_a_vocabulary_is_estimated_and_says_so(expected: str) -> None:
    for model in ESTIMATED[expected].split():
        counter = tokens.open_counter(model)
        assert (counter.name, counter.exact) == (expected, False), model
        assert counter.note
        assert counter.note.startswith("an estimate: ")


@pytest.mark.parametrize("model", ["claude-sonnet-4-5", "claude-opus-4-7"])
def test_claude_s_note_says_that_nothing_is_published(model: str) -> None:
    note = tokens.open_counter(model).note or ""
    assert "Anthropic publishes no tokenizer" in note
    assert "not measured here" in note


@given(name=st.sampled_from(" ".join(EXACT.values()).split()), upper=st.booleans())
def test_case_and_white_space_do_not_matter(name: str, upper: bool) -> None:
    spelling = f" {name.upper() if upper else name.title()}\n"
    assert tokens.open_counter(spelling).name == tokens.open_counter(name).name


@pytest.mark.parametrize(
    "name",
    [
        *("", " ", "gpt", "gpt-6", "o1234", "o2", "llama-2-7b", "gpt-4x", "xgpt-4", "None", "\x00"),
        *(
            "o200k+",
            "o200k+9",
            "o200k+1000%",
            "o200k+-5%",
            "o200k+\u0663\u0660%",
            "foo+10%",
            "+30%",
        ),
        *("gemini/", "\u2167"),
    ],
)
def test_an_unknown_name_is_refused_with_all_that_is_known(name: str) -> None:
    with pytest.raises(InputError) as caught:
        tokens.open_counter(name)
    message = str(caught.value)
    assert repr(name) in message
    assert all(counter in message for counter in tokens.counter_names())
    assert "gpt-5" in message
    assert "o200k+20%" in message


def test_every_model_that_the_message_names_is_known() -> None:
    with pytest.raises(InputError) as caught:
        tokens.open_counter("nothing")
    listed = re.search(r"\((gpt-5.*?)\)", str(caught.value))
    assert listed
    for model in listed[1].split(", "):
        tokens.open_counter(model)


def test_names_of_counters_open_themselves() -> None:
    assert tokens.counter_names()[0] == tokens.open_counter().name == "o200k"
    for name in tokens.counter_names():
        assert tokens.open_counter(name).name == name
        assert tokens.open_counter(name).exact == (not name.startswith("approx"))


def test_a_receipt_s_name_opens_a_counter_that_counts_the_same() -> None:
    for row in MODELS:
        counter = tokens.open_counter(row.prefixes.split()[0])
        again = tokens.open_counter(counter.name)
        assert (again.name, again.exact) == (counter.name, counter.exact)
        assert again.count(TEXT) == counter.count(TEXT)


def test_the_table_holds_no_prefix_twice_and_only_known_vocabularies() -> None:
    prefixes = [prefix for row in MODELS for prefix in row.prefixes.split()]
    assert len(prefixes) == len(set(prefixes))
    assert all(prefix == prefix.lower() for prefix in prefixes)
    assert {row.vocabulary for row in MODELS} <= set(tokens.counter_names())
    assert all((row.margin is None) == (row.note is None) for row in MODELS)


@given(text=texts, percent=st.integers(0, 999))
def test_a_margin_is_added_and_rounded_up(text: str, percent: int) -> None:
    count = tokens.open_counter("o200k").count(text)
    estimate = tokens.open_counter(f"o200k+{percent}%").count(text)
    assert estimate - 1 < count * (100 + percent) / 100 <= estimate


def test_claude_gets_three_tenths_more() -> None:
    counter = tokens.open_counter("claude-sonnet-4-5")
    assert [counter.count(" the" * n) for n in (0, 1, 2, 3, 10)] == [0, 2, 3, 4, 13]


def test_approximations_are_those_of_the_specifications() -> None:
    approx, chars, floor = (
        tokens.open_counter(name) for name in ("approx", "approx-chars", "approx-floor")
    )
    assert [approx.count(text) for text in ("", "a", "abcd", "abcde", "é", "ééé", "👍👍")] == [
        0, 1, 1, 2, 1, 2, 2,
    ]  # fmt: skip
    assert [chars.count(text) for text in ("", "a", "abcd", "abcde", "éééé", "👍👍")] == [
        0,
        1,
        1,
        2,
        1,
        1,
    ]
    assert [floor.count(text) for text in ("", "abc", "abcd", "abcdefg", "éééé")] == [0, 0, 1, 1, 1]


def test_only_these_names_are_public() -> None:
    assert tokens.__all__ == [
        "DEFAULT_MODEL",
        "END",
        "EXTRACTIVE",
        "KEEP_START",
        "STRATEGIES",
        "SUMMARIZE",
        "Aim",
        "Excerpt",
        "Terms",
        "Tokenizer",
        "adding_up",
        "count_by_parts",
        "count_tokens",
        "counter_names",
        "matching_part",
        "open_counter",
        "shorten",
        "truncate_text",
        "truncate_to_tokens",
    ]
