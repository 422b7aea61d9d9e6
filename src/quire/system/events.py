"""Events for operators: what ran, how long it took, how much it handled; never what was said.

Nobody hears them by default. They reach whoever configured `structlog`, or else the handlers of the
logger `quire` of the standard library; the command line writes them to standard error as JSON with
`--log-json`. An event holds numbers, names of sources, recipes and tools, types of errors and
hashes. Queries, texts, titles, paths, viewers and messages of errors are no part of any event.

Times are taken here, where nothing that is assembled can depend on them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager, suppress
from time import perf_counter
from typing import TYPE_CHECKING, Any

from quire.system import tracing

if TYPE_CHECKING:
    from quire.core.types import Context

LOGGER = "quire"
SLOW_MS = 1000
"""A source that takes longer than this is reported as slow."""
INFO, WARNING, ERROR = "info", "warning", "error"
_LEVELS = {INFO: 20, WARNING: 30, ERROR: 40}
_writers: list[Any] = []
"""The logger that writes to standard error, once `--log-json` asked for it."""

Fact = str | int | float | bool | None | list[str]


def write_json() -> None:
    """Write the events of this process to standard error, one JSON object on a line."""
    import structlog  # late: few processes log

    _writers[:] = [
        structlog.wrap_logger(
            structlog.WriteLogger(sys.stderr),
            processors=[
                structlog.processors.add_log_level,
                structlog.processors.TimeStamper(fmt="iso", utc=True),
                structlog.processors.JSONRenderer(sort_keys=True),
            ],
        )
    ]


def stop_writing() -> None:
    """Write no more events to standard error."""
    _writers.clear()


def is_writing() -> bool:
    """Tell whether events are written to standard error."""
    return bool(_writers)


def emit(event: str, level: str = INFO, /, **facts: Fact) -> None:
    """Tell of an event whoever wants to hear it; a handler that fails disturbs nobody."""
    logger = _listener(level)
    if logger is not None:
        with suppress(Exception):
            getattr(logger, level)(event, **facts)


@contextmanager
def timed(task: str) -> Iterator[dict[str, Fact]]:
    """Emit `TASK_finished` with the facts that the caller adds, or `TASK_failed`.

    The task is a span as well, with the same facts.
    """
    facts: dict[str, Fact] = {}
    started = perf_counter()
    try:
        with tracing.span(task) as span:
            yield facts
            span.add(facts)
    except Exception as error:
        emit(f"{task}_failed", ERROR, error=type(error).__name__, duration_ms=_since(started))
        raise
    emit(f"{task}_finished", **facts, duration_ms=_since(started))


@contextmanager
def source(name: str) -> Iterator[None]:
    """Emit `source_failed` if a source raises, `source_slow` if it takes long; record a span."""
    started = perf_counter()
    try:
        with tracing.span("source", source=name):
            yield
    except Exception as error:
        emit("source_failed", WARNING, source=name, error=type(error).__name__)
        raise
    finally:
        duration = _since(started)
        if duration > SLOW_MS:
            emit("source_slow", WARNING, source=name, duration_ms=duration)


def context_facts(context: Context) -> dict[str, Fact]:
    """Return what an event tells of a context; its receipt tells the rest to whoever has it."""
    receipt: Mapping[str, Any] = context.receipt
    return {
        "recipe": str(receipt["recipe"]["name"]),
        "tokens": context.tokens,
        "available": context.available,
        "pieces": len(context.sources),
        "omitted": context.omitted,
        "truncated": context.truncated,
        "limit_exceeded": context.limit_exceeded,
        "failed": [failure.source for failure in context.failed],
        "receipt": str(receipt["hash"]),
    }


def _since(started: float) -> int:
    return round((perf_counter() - started) * 1000)


def _listener(level: str) -> Any:
    """Return the logger to tell, or None if nobody listens.

    Whoever listens has imported the library that they listen with: nothing is imported for them.
    """
    if _writers:
        return _writers[0]
    # Another thread may be importing it just now: then it has nothing yet, and nobody set it up.
    configured = sys.modules.get("structlog")
    is_configured = getattr(configured, "is_configured", None)
    if configured is not None and is_configured is not None and is_configured():
        return configured.get_logger(LOGGER)
    logging = sys.modules.get("logging")
    if logging is None:
        return None
    logger = logging.getLogger(LOGGER)
    if not logger.hasHandlers() or not logger.isEnabledFor(_LEVELS[level]):
        return None
    import structlog

    return structlog.wrap_logger(
        logger, processors=[_as_record], wrapper_class=structlog.stdlib.BoundLogger
    )


def _as_record(_: Any, __: str, event: MutableMapping[str, Any]) -> tuple[Any, ...]:
    """Return the arguments of a standard logger: a readable line, and the facts as `extra`."""
    name = event.pop("event")
    line = " ".join([name, *(f"{fact}={value}" for fact, value in sorted(event.items()))])
    return (line,), {"extra": {"event": name, **event}}
