"""Contexts as messages: nothing is lost, no block is blank, marks stand where a prefix ends."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quire.core.types import Message
from quire.core.types.messages import make_messages
from quire.errors import InputError


def blocks(messages: list[Message]) -> list[Any]:
    (message,) = messages
    assert message["role"] == "user"
    assert isinstance(message["content"], list)
    return message["content"]


@given(
    text=st.text(alphabet="ab \n", max_size=30),
    segments=st.lists(st.integers(0, 12), max_size=6),
    question=st.sampled_from(["", "why?"]),
)
def test_anthropics_blocks_are_the_text(text: str, segments: list[int], question: str) -> None:
    if not text.strip() and not question:
        with pytest.raises(InputError):
            make_messages(text, question, style="anthropic", segments=segments)
        return
    given = blocks(make_messages(text, question, style="anthropic", segments=segments))
    parts = given[:-1] if question else given
    assert all(block["text"].strip() for block in given)
    if text.strip():
        assert "".join(block["text"] for block in parts) == text
    marked = [block for block in parts if "cache_control" in block]
    assert marked == (parts[-2:] if segments else [])
    assert "cache_control" not in given[-1] or not question


@given(first=st.text("ab \n", min_size=1, max_size=9), more=st.text("cd \n", max_size=9))
def test_what_was_sent_before_is_sent_again_in_the_same_blocks(first: str, more: str) -> None:
    if not first.strip() or not more.strip():
        return
    before = blocks(make_messages(first, "", style="anthropic", segments=[len(first)]))
    sizes = [len(first), len(more)]
    after = blocks(make_messages(first + more, "", style="anthropic", segments=sizes))
    assert after[0] == before[0]
    assert [block["text"] for block in after] == [first, more]


def test_openai_has_a_system_message_unless_it_is_empty() -> None:
    assert make_messages("text", "why?") == [
        {"role": "system", "content": "text"},
        {"role": "user", "content": "why?"},
    ]
    assert make_messages("", "why?") == [{"role": "user", "content": "why?"}]
    assert make_messages("text", "why?", role="user") == [
        {"role": "user", "content": "text\n\nwhy?"}
    ]


@pytest.mark.parametrize(
    ("wrong", "field"),
    [({"style": "gemini"}, "style"), ({"role": "tool"}, "role")],
)
def test_what_does_not_exist_is_refused(wrong: dict[str, str], field: str) -> None:
    with pytest.raises(InputError) as raised:
        make_messages("text", "why?", **wrong)  # type: ignore[arg-type]
    assert raised.value.field == field
    assert raised.value.allowed
    with pytest.raises(InputError, match="parameter `system`"):
        make_messages("text", "why?", style="anthropic", role="system")
