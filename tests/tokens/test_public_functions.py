"""`quire.count_tokens` and `quire.truncate_to_tokens`."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import quire
from quire import tokens
from quire.errors import InputError
from tests.tokens.samples import TEXTS, texts

MODELS = ("o200k", "gpt-4", "claude-sonnet-4-5", "gemini-2.5-pro", "o200k+20%", "approx-floor")


def test_they_are_the_functions_of_the_package() -> None:
    assert quire.count_tokens is tokens.count_tokens
    assert quire.truncate_to_tokens is tokens.truncate_to_tokens


def test_a_count_is_that_of_the_model_s_counter() -> None:
    assert quire.count_tokens("Hello world") == 2
    assert quire.count_tokens("") == 0
    for model in MODELS:
        for text in TEXTS.values():
            assert quire.count_tokens(text, model=model) == tokens.open_counter(model).count(text)


@pytest.mark.parametrize("model", MODELS)
@settings(max_examples=60, deadline=None)
@given(text=texts, limit=st.integers(0, 40))
def test_the_result_is_a_prefix_within_the_limit(model: str, text: str, limit: int) -> None:
    result = quire.truncate_to_tokens(text, limit, model=model)
    assert text.startswith(result)
    assert quire.count_tokens(result, model=model) <= limit
    if limit and quire.count_tokens(text, model=model) <= limit:
        assert result == text


def test_a_truncated_text_ends_well() -> None:
    text = "One sentence here. Another one there. And a third that is left out."
    assert quire.truncate_to_tokens(text, 10) == "One sentence here. Another one there."
    assert quire.truncate_to_tokens(text, 0) == ""
    assert quire.truncate_to_tokens(text, 1000) == text


@pytest.mark.parametrize("limit", [-1, 1.5, "10", True, None])
def test_a_limit_that_is_none_is_refused_by_name(limit: Any) -> None:
    with pytest.raises(InputError, match="max_tokens: must be a whole number") as caught:
        quire.truncate_to_tokens("text", limit)
    assert (caught.value.field, caught.value.value) == ("max_tokens", limit)


@pytest.mark.parametrize("value", [b"text", None, 7])
def test_what_is_no_string_is_refused_by_name(value: Any) -> None:
    calls = (
        ("text", lambda: quire.count_tokens(value)),
        ("text", lambda: quire.truncate_to_tokens(value, 5)),
        ("model", lambda: quire.count_tokens("text", model=value)),
        ("model", lambda: quire.truncate_to_tokens("text", 5, model=value)),
    )
    for field, call in calls:
        with pytest.raises(InputError, match=f"{field}: expected a string") as caught:
            call()
        assert caught.value.field == field


@pytest.mark.parametrize("model", ["", "gpt-6", "o200k+1000%"])
def test_an_unknown_model_is_refused_by_name(model: str) -> None:
    for call in (quire.count_tokens, lambda *_, **named: quire.truncate_to_tokens("a", 1, **named)):
        with pytest.raises(InputError, match="no token counter") as caught:
            call("text", model=model)
        assert (caught.value.field, caught.value.value) == ("model", model)
        assert "o200k" in caught.value.allowed
