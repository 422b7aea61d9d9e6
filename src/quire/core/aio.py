"""Async twins of blocking functions."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec, TypeVar

Params = ParamSpec("Params")
Result = TypeVar("Result")


def make_async(function: Callable[Params, Result]) -> Callable[Params, Coroutine[Any, Any, Result]]:
    """Return a coroutine function that runs a function in a thread, with the same signature."""

    @wraps(function)
    async def twin(*args: Params.args, **kwargs: Params.kwargs) -> Result:
        import asyncio  # late: most programs that open a store never need it

        return await asyncio.to_thread(function, *args, **kwargs)

    twin.__name__ = f"{function.__name__}_async"
    twin.__qualname__ = f"{function.__qualname__}_async"
    twin.__doc__ = f"{function.__doc__} Does not block the event loop."
    return twin
