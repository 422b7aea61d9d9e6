"""Spans for OpenTelemetry: what ran inside what, for how long; never what was said.

Nothing is recorded unless this process set up the SDK of OpenTelemetry, by itself or with `export`.
Whoever did has imported its API, so nothing is imported for those who did not. Attributes hold what
events hold: numbers, names of ours, types of errors and hashes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from quire.errors import ConfigError

API = "opentelemetry.trace"
NAME = "quire"
EXPORTER = "OTEL_TRACES_EXPORTER"
"""The variable that says where spans are sent, as for any program that uses OpenTelemetry."""
_SERVICE = "OTEL_SERVICE_NAME"
_GROUP = "opentelemetry_traces_exporter"
_NOWHERE = ("", "none")
_SERVER_ERROR = 500

Attribute = str | int | float | bool | Sequence[str] | None


class Span:
    """A span that is open, or nothing where nobody records spans."""

    __slots__ = ("_span",)

    def __init__(self, span: Any = None) -> None:
        self._span = span

    def add(self, attributes: Mapping[str, Attribute]) -> None:
        """Add attributes; those without a value are left out."""
        if self._span is not None:
            self._span.set_attributes(_known(attributes))

    def rename(self, name: str) -> None:
        """Give the span another name."""
        if self._span is not None:
            self._span.update_name(name)

    def fail(self, kind: str) -> None:
        """Mark the span as failed, with the kind of the error and without its message."""
        if self._span is not None:
            from opentelemetry.trace import StatusCode

            self._span.set_attribute("error.type", kind)
            self._span.set_status(StatusCode.ERROR)


@contextmanager
def span(name: str, /, **attributes: Attribute) -> Iterator[Span]:
    """Record what happens inside as the span `quire.NAME`."""
    tracer = _tracer()
    if tracer is None:
        yield Span()
        return
    with _opened(tracer, f"{NAME}.{name}", attributes) as opened:
        yield opened


@contextmanager
def request(headers: Iterable[tuple[bytes, bytes]]) -> Iterator[Span]:
    """Record a request to a server, as a part of what its client records (`traceparent`)."""
    tracer = _tracer()
    if tracer is None:
        yield Span()
        return
    from opentelemetry.propagate import extract
    from opentelemetry.trace import SpanKind

    carrier = {name.decode("latin-1").lower(): text.decode("latin-1") for name, text in headers}
    with _opened(tracer, NAME, {}, kind=SpanKind.SERVER, context=extract(carrier)) as opened:
        yield opened


def end_request(span: Span, method: str, route: str, status: int, request_id: str) -> None:
    """Say what a request was, and what became of it."""
    span.rename(f"{method} {route}")
    span.add(
        {
            "http.request.method": method,
            "http.route": route,
            "http.response.status_code": status or None,
            "quire.request_id": request_id,
        }
    )
    if status >= _SERVER_ERROR:
        span.fail(str(status))


@contextmanager
def _opened(
    tracer: Any, name: str, attributes: Mapping[str, Attribute], **options: Any
) -> Iterator[Span]:
    with tracer.start_as_current_span(
        name,
        attributes=_known(attributes),
        record_exception=False,  # its message may quote a text
        set_status_on_exception=False,
        **options,
    ) as started:
        opened = Span(started)
        try:
            yield opened
        except BaseException as error:
            opened.fail(type(error).__name__)
            raise


def _known(attributes: Mapping[str, Attribute]) -> dict[str, Any]:
    return {
        name if "." in name else f"{NAME}.{name}": value
        for name, value in attributes.items()
        if value is not None
    }


def _tracer() -> Any:
    """Return what makes spans, or None if nobody records them."""
    api = sys.modules.get(API)
    # Another thread may be importing it just now: then nobody has set it up.
    get_provider = getattr(api, "get_tracer_provider", None)
    nobody = getattr(api, "ProxyTracerProvider", None)
    if get_provider is None or nobody is None:
        return None
    provider = get_provider()
    return None if isinstance(provider, nobody) else provider.get_tracer(NAME)


# --- where spans are sent ------------------------------------------------------------------------


def find_exporter(environment: Mapping[str, str]) -> Any:
    """Return the class of the exporter that the environment names; None if it names none."""
    name = environment.get(EXPORTER, "").strip()
    if name in _NOWHERE:
        return None
    from importlib.metadata import entry_points

    try:
        import opentelemetry.sdk.trace.export  # noqa: F401  # is it there?

        (found,) = entry_points(group=_GROUP, name=name)
        return found.load()
    except (ImportError, AttributeError, ValueError):
        raise ConfigError(
            f"there is no exporter of spans named {name!r}",
            place=EXPORTER,
            value=name,
            hint="pip install opentelemetry-sdk opentelemetry-exporter-otlp-proto-http, and set it "
            "to otlp_proto_http; or unset it",
        ) from None


def export(environment: Mapping[str, str]) -> None:
    """Send the spans of this process where the environment says, unless that is set up already."""
    exporter = find_exporter(environment)
    if exporter is None or _tracer() is not None:
        return
    from opentelemetry import trace
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    name = environment.get(_SERVICE, NAME)
    provider = TracerProvider(resource=Resource.create({"service.name": name}))
    provider.add_span_processor(BatchSpanProcessor(exporter()))
    trace.set_tracer_provider(provider)


def flush() -> None:
    """Send the spans that wait to be sent; those of whoever set up the SDK are their own."""
    if _tracer() is not None:
        from opentelemetry import trace

        send = getattr(trace.get_tracer_provider(), "force_flush", None)
        if send is not None:
            send()
