"""Views and writers of the reference that end with their block."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from types import FunctionType
from typing import Any

from quire.errors import InputError


class Closable:
    """Refuses every call of a public method, and every step of an iterator, once it is closed."""

    closed = False

    def __init_subclass__(cls) -> None:
        for name, method in list(vars(cls).items()):
            if isinstance(method, FunctionType) and not name.startswith("_"):
                setattr(cls, name, _checked(method))

    def close(self) -> None:
        self.closed = True

    def _refuse_if_closed(self) -> None:
        if self.closed:
            raise InputError(f"the {type(self).__name__} is closed")


def _checked(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def checked(self: Closable, *args: Any, **options: Any) -> Any:
        self._refuse_if_closed()
        result = method(self, *args, **options)
        return _each_checked(self, result) if isinstance(result, Iterator) else result

    return checked


def _each_checked(owner: Closable, items: Iterator[Any]) -> Iterator[Any]:
    for item in items:
        owner._refuse_if_closed()
        yield item
    owner._refuse_if_closed()
