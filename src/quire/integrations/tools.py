"""How does a tool learn what is known before it runs?

A tool is a function, or a mapping with one under `handler`. It is called as it was before, with one
mapping or with keywords, and finds `_context` among them. It runs even where there is no context:
what went wrong is told in `_meta` of its result.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import wraps
from inspect import Parameter, isawaitable, iscoroutinefunction, signature
from typing import Any

from quire.core.types import Context
from quire.engine import Quire
from quire.errors import InputError
from quire.integrations.tool_context import CAP, ruled_context_for

HANDLER = "handler"
CONTEXT = "_context"
META = "_meta"
USED = "contextUsed"

Handler = Callable[..., Any]
Tool = Handler | Mapping[str, Any]


def context_aware(
    tools: Mapping[str, Tool], engine: Quire, *, intent: str = "", max_tokens: int = CAP
) -> dict[str, Tool]:
    """Give tools, by name, that know the context of each call.

    Each call gets `_context`: the rules that hold for the tool, what it is given and the intent (a
    parameter `intent`, or the one given here), and what was learned in calls like it; None where
    that failed. A result that is a mapping,
    or a model with a field `meta`, names the receipt in `_meta.contextUsed`, or what failed.
    """
    return {name: _aware(name, tool, engine, intent, max_tokens) for name, tool in tools.items()}


def _aware(name: str, tool: Tool, engine: Quire, intent: str, most: int) -> Tool:
    if isinstance(tool, Mapping):
        handler = tool.get(HANDLER)
        if not callable(handler):
            raise InputError(f"tool {name!r} has no {HANDLER!r} that can be called: give it one")
        return {**tool, HANDLER: _wrapped(name, handler, engine, intent, most)}
    if not callable(tool):
        raise InputError(
            f"tool {name!r} is neither a function nor a mapping with a {HANDLER!r}: give one"
        )
    return _wrapped(name, tool, engine, intent, most)


def _wrapped(name: str, handler: Handler, engine: Quire, intent: str, most: int) -> Handler:
    takes = _takes_context(handler)

    def known(given: tuple[Any, ...], named: Mapping[str, Any]) -> tuple[Context | None, Any]:
        params = given[0] if given and isinstance(given[0], Mapping) else named
        meant = params.get("intent") or intent
        try:
            situation = {"tool": name, "params": dict(params), "intent": meant}
            context = ruled_context_for(engine, situation, budget=most)
        except Exception as error:  # noqa: BLE001 - whatever it is, the tool is to run
            return None, {"receipt": None, "failed": f"{error or type(error).__name__}"}
        return context, _used(context)

    def told(given: tuple[Any, ...], named: dict[str, Any], context: Context | None) -> Any:
        if given and isinstance(given[0], Mapping):
            return handler({**given[0], CONTEXT: context}, *given[1:], **named)
        return handler(*given, **named, **({CONTEXT: context} if takes else {}))

    if iscoroutinefunction(handler):

        @wraps(handler)
        async def waiting(*given: Any, **named: Any) -> Any:
            context, used = await asyncio.to_thread(known, given, named)
            return _marked(await told(given, named, context), used)

        return waiting

    @wraps(handler)
    def running(*given: Any, **named: Any) -> Any:
        context, used = known(given, named)
        result = told(given, named, context)
        # A function that is not declared as one may still give something to wait for.
        return _awaited(result, used) if isawaitable(result) else _marked(result, used)

    return running


async def _awaited(result: Awaitable[Any], used: dict[str, Any]) -> Any:
    return _marked(await result, used)


def _takes_context(handler: Handler) -> bool:
    try:
        named = signature(handler).parameters
    except ValueError:  # written in C: it has no parameter of that name
        return False
    return CONTEXT in named or any(one.kind is Parameter.VAR_KEYWORD for one in named.values())


def _used(context: Context) -> dict[str, Any]:
    used: dict[str, Any] = {
        "receipt": context.receipt["hash"],
        "tokens": context.tokens,
        "sources": sorted({source.path for source in context.sources}),
    }
    if context.failed:
        used["failed"] = "; ".join(f"{one.source}: {one.reason}" for one in context.failed)
    return used


def _marked(result: Any, used: dict[str, Any]) -> Any:
    """Say in a result which context was used; a result without a place for that stays as it is."""
    if isinstance(result, Mapping):
        held = result.get(META) or {}
        return {**result, META: {**held, USED: used}} if isinstance(held, Mapping) else result
    if "meta" in getattr(type(result), "model_fields", ()):
        return result.model_copy(update={"meta": {**(result.meta or {}), USED: used}})
    return result
