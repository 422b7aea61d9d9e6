"""Wrap tools so that each call receives a context.

A tool is a function, or a mapping with one under `handler`. It is called as before, with one
mapping or with keywords, and finds `_context` among them; `current_context` returns the same
anywhere in the call. It runs even if no context could be assembled: `_meta` of its result says what
failed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import wraps
from inspect import Parameter, isawaitable, iscoroutinefunction, signature
from typing import Any

from quire.core.types import Context
from quire.engine import Quire
from quire.errors import InputError
from quire.integrations.tool_context import DEFAULT_BUDGET, rules_context_for

HANDLER = "handler"
CONTEXT = "_context"
META = "_meta"
USED = "contextUsed"

_CURRENT: ContextVar[Context | None] = ContextVar("quire_current_context", default=None)

Handler = Callable[..., Any]
Tool = Handler | Mapping[str, Any]


def current_context() -> Context | None:
    """Return the context of the tool call that is running; None outside of one, or if it failed."""
    return _CURRENT.get()


def context_aware(
    tools: Mapping[str, Tool], engine: Quire, *, intent: str = "", max_tokens: int = DEFAULT_BUDGET
) -> dict[str, Tool]:
    """Return tools, by name, that receive a context with each call.

    `_context` holds the rules that apply to the tool, its parameters and the intent (a parameter
    `intent`, or the one given here), and what was learned in similar calls; it is None if
    assembling failed. `current_context` returns it for functions that cannot have such a parameter:
    the official MCP SDK refuses names that begin with `_`. A result that is a mapping, or a model
    with a field `meta`, names the receipt, or the failure, in `_meta.contextUsed`.
    """
    return {
        name: _wrap_tool(name, tool, engine, intent, max_tokens) for name, tool in tools.items()
    }


def _wrap_tool(name: str, tool: Tool, engine: Quire, intent: str, max_tokens: int) -> Tool:
    if isinstance(tool, Mapping):
        handler = tool.get(HANDLER)
        if not callable(handler):
            raise InputError(
                f"tool {name!r} has no callable {HANDLER!r}", field="tools", value=handler
            )
        return {**tool, HANDLER: _wrap_handler(name, handler, engine, intent, max_tokens)}
    if not callable(tool):
        raise InputError(
            f"tool {name!r} is not callable",
            field="tools",
            value=tool,
            hint=f"pass a function, or a mapping with a {HANDLER!r}",
        )
    return _wrap_handler(name, tool, engine, intent, max_tokens)


def _wrap_handler(
    name: str, handler: Handler, engine: Quire, intent: str, max_tokens: int
) -> Handler:
    takes_context = _takes_context(handler)

    def assemble(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Context | None, Any]:
        params = args[0] if args and isinstance(args[0], Mapping) else _named(handler, args, kwargs)
        try:
            situation = {
                "tool": name,
                "params": dict(params),
                "intent": params.get("intent") or intent,
            }
            context = rules_context_for(engine, situation, budget=max_tokens)
        except Exception as error:  # noqa: BLE001 - the tool runs whatever went wrong here
            return None, {"receipt": None, "failed": f"{error or type(error).__name__}"}
        return context, _usage(context)

    def call(args: tuple[Any, ...], kwargs: dict[str, Any], context: Context | None) -> Any:
        with _current(context):
            if args and isinstance(args[0], Mapping):
                return handler({**args[0], CONTEXT: context}, *args[1:], **kwargs)
            return handler(*args, **kwargs, **({CONTEXT: context} if takes_context else {}))

    if iscoroutinefunction(handler):

        @_wraps(handler)
        async def async_wrapper(*args: Any, **kwargs: Any) -> Any:
            context, usage = await asyncio.to_thread(assemble, args, kwargs)
            return await _mark_awaited(call(args, kwargs, context), context, usage)

        return async_wrapper

    @_wraps(handler)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        context, usage = assemble(args, kwargs)
        result = call(args, kwargs, context)
        # A plain function may still return an awaitable.
        if isawaitable(result):
            return _mark_awaited(result, context, usage)
        return _mark(result, usage)

    return wrapper


def _wraps(handler: Handler) -> Callable[[Handler], Handler]:
    """Return a decorator like `functools.wraps` that hides the parameter `_context`."""

    def decorate(wrapper: Handler) -> Handler:
        wrapped = wraps(handler)(wrapper)
        with suppress(TypeError, ValueError):  # not every callable has a signature
            own = signature(handler)
            visible = [item for item in own.parameters.values() if item.name != CONTEXT]
            wrapped.__signature__ = own.replace(parameters=visible)  # type: ignore[attr-defined]
        return wrapped

    return decorate


@contextmanager
def _current(context: Context | None) -> Iterator[None]:
    token = _CURRENT.set(context)
    try:
        yield
    finally:
        _CURRENT.reset(token)


async def _mark_awaited(
    result: Awaitable[Any], context: Context | None, usage: dict[str, Any]
) -> Any:
    with _current(context):
        return _mark(await result, usage)


def _named(handler: Handler, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the arguments of a call by their names, as far as these are known."""
    try:
        return {**signature(handler).bind_partial(*args).arguments, **kwargs} if args else kwargs
    except (TypeError, ValueError):  # the call itself will fail, or there is no signature
        return kwargs


def _takes_context(handler: Handler) -> bool:
    try:
        parameters = signature(handler).parameters
    except ValueError:  # a builtin without a signature has no parameter of that name
        return False
    return CONTEXT in parameters or any(
        parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters.values()
    )


def _usage(context: Context) -> dict[str, Any]:
    usage: dict[str, Any] = {
        "receipt": context.receipt["hash"],
        "tokens": context.tokens,
        "sources": sorted({source.path for source in context.sources}),
    }
    if context.failed:
        usage["failed"] = "; ".join(f"{item.source}: {item.reason}" for item in context.failed)
    if context.notes:
        usage["notes"] = list(context.notes)
    return usage


def _mark(result: Any, usage: dict[str, Any]) -> Any:
    """Add to a result which context was used; a result without a place for it is unchanged."""
    if isinstance(result, Mapping):
        meta = result.get(META) or {}
        return {**result, META: {**meta, USED: usage}} if isinstance(meta, Mapping) else result
    if "meta" in getattr(type(result), "model_fields", ()):
        return result.model_copy(update={"meta": {**(result.meta or {}), USED: usage}})
    return result
