"""A long declaration is shortened between its parameters."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from quire.core.signatures import closing_place, ends_with_name, shorten_signature

OPEN = "def open(self, path: str, mode: dict[str, int] = {'a': 1, ')': 2}, *rest: int) -> File"


def test_no_parameter_is_cut() -> None:
    assert shorten_signature(OPEN, 100) == OPEN
    assert shorten_signature(OPEN, 60) == "def open(self, path: str, … 2 more) -> File"
    assert shorten_signature(OPEN, 10) == "def open(self, … 3 more) -> File"
    assert shorten_signature("class Cart(Base) extends Shop", 20) == "class Cart(Base)…"
    assert shorten_signature("def open(self, path: str, mode…", 20) == "def open(self…"


def test_a_bracket_in_quotes_closes_nothing() -> None:
    place = closing_place(OPEN, OPEN.index("(") + 1)
    assert OPEN[place:] == " -> File"
    assert closing_place("(a", 1) == 0


@given(st.text("abc(),[]{}'\" :=…", max_size=40), st.integers(1, 30))
def test_anything_can_be_shortened(text: str, limit: int) -> None:
    short = shorten_signature(text, limit)
    assert short == text or len(text) > limit


def test_a_variable_may_be_called_as_its_class_is() -> None:
    assert ends_with_name("app.Reply.send", "Reply.send")
    assert ends_with_name("reply.send", "Reply.send")
    assert ends_with_name("http_reply.send", "HttpReply.send")
    assert not ends_with_name("reply.Send", "Reply.send")
    assert not ends_with_name("request.send", "Reply.send")
    assert not ends_with_name("send", "Reply.send")
