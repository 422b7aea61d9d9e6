"""The caller: the client of the running call, which can be asked back.

A server names the caller around each call that it runs; code that works for the call, in the same
thread, finds it here. Without a server there is no caller.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Protocol

from quire.llm.prompt import Prompt


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """The answer of a model, and the name of the model."""

    text: str
    model: str


class Caller(Protocol):
    """The client of a call. It is asked the same thing only once, however often it is needed."""

    @property
    def client(self) -> str:
        """The name and version of the client program."""

    @property
    def viewer(self) -> str:
        """The viewer that it reads as."""

    @property
    def has_model(self) -> bool:
        """Whether its model can be asked."""

    @property
    def has_user(self) -> bool:
        """Whether its user can be asked to fill in a form."""

    def generate(self, prompt: Prompt, seconds: float) -> ModelAnswer:
        """Ask its model; raises UnansweredError if it does not answer."""

    def ask_user(
        self, message: str, fields: Mapping[str, Any], seconds: float
    ) -> Mapping[str, Any]:
        """Ask its user to fill in fields (a JSON schema by name); may raise UnansweredError."""


_CALLER: ContextVar[Caller | None] = ContextVar("caller", default=None)


def current_caller() -> Caller | None:
    """Return the caller of the running call, if there is one."""
    return _CALLER.get()


@contextmanager
def use_caller(caller: Caller) -> Iterator[None]:
    """Make a caller the current one for the duration of a `with` block."""
    token = _CALLER.set(caller)
    try:
        yield
    finally:
        _CALLER.reset(token)
