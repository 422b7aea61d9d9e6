"""Who called, and can be asked back?

A server says so around each call that it runs; whoever works for that call, in the same thread,
finds it here. Where nothing is served, nobody called.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Protocol

from quire.llm.prompt import Prompt


@dataclass(frozen=True, slots=True)
class Said:
    """What a model said."""

    text: str
    model: str


class Caller(Protocol):
    """The client of a call. It is asked at most once for the same, however often it is wanted."""

    @property
    def client(self) -> str:
        """Which program it is, and in which version."""

    @property
    def viewer(self) -> str:
        """As whom it reads."""

    @property
    def has_model(self) -> bool:
        """Whether it lets its model answer."""

    @property
    def has_user(self) -> bool:
        """Whether it lets its user fill in a form."""

    def generate(self, prompt: Prompt, seconds: float) -> Said:
        """Let its model answer; raises UnansweredError where it does not."""

    def fill_in(self, message: str, fields: Mapping[str, Any], seconds: float) -> Mapping[str, Any]:
        """Let its user fill in fields (each a JSON schema, by name); raises UnansweredError."""


_CALLER: ContextVar[Caller | None] = ContextVar("caller", default=None)


def current() -> Caller | None:
    """Give whoever called, if anybody can be asked."""
    return _CALLER.get()


@contextmanager
def called_by(caller: Caller) -> Iterator[None]:
    """Say who called, for as long as this lasts."""
    token = _CALLER.set(caller)
    try:
        yield
    finally:
        _CALLER.reset(token)
