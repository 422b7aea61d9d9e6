"""How is the same done without blocking the event loop?"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec, TypeVar

Given = ParamSpec("Given")
Result = TypeVar("Result")


def waiting(function: Callable[Given, Result]) -> Callable[Given, Coroutine[Any, Any, Result]]:
    """Give the twin of a function that waits for it in a thread; it takes and gives the same."""

    @wraps(function)
    async def twin(*given: Given.args, **named: Given.kwargs) -> Result:
        import asyncio  # late: most who open a store never wait

        return await asyncio.to_thread(function, *given, **named)

    twin.__name__ = f"{function.__name__}_async"
    twin.__qualname__ = f"{function.__qualname__}_async"
    twin.__doc__ = f"{function.__doc__} Does not block the event loop."
    return twin
