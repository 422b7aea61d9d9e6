"""Spans: one for each step, inside one for the task; nothing without an SDK; never any content."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from quire.errors import ConfigError
from quire.pipeline.steps import STEPS
from quire.retrieval import Collected, Task, run_all
from quire.system import tracing
from tests.conftest import Tree

from .test_events import PLANTED, QUERY, SECOND, fill, run_everything

NAMES = [name for name, _ in STEPS]


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """The spans of this process, as the SDK's own exporter keeps them."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)  # it can be set but once
    yield exporter
    provider.shutdown()


def below(exporter: InMemorySpanExporter, parent: ReadableSpan) -> list[str]:
    """Return the names of the spans directly inside one, in the order in which they began."""
    assert parent.context
    inside = [
        span
        for span in exporter.get_finished_spans()
        if span.parent and span.parent.span_id == parent.context.span_id
    ]
    return [span.name for span in sorted(inside, key=lambda span: span.start_time or 0)]


def only(exporter: InMemorySpanExporter, name: str) -> ReadableSpan:
    (found,) = [span for span in exporter.get_finished_spans() if span.name == name]
    return found


def test_each_step_is_a_span_of_its_context(tree: Tree, spans: InMemorySpanExporter) -> None:
    fill(tree)
    with tree.open() as store:
        store.index(embed=False)
        spans.clear()
        context = store.assemble(QUERY, budget=2000, refresh=False)
        whole = only(spans, "quire.assemble")
        assert below(spans, whole) == ["quire.retrieve", *(f"quire.{name}" for name in NAMES)]
        sources = below(spans, only(spans, "quire.retrieve"))
        assert set(sources) == {"quire.source"}
        assert whole.attributes
        assert whole.attributes["quire.tokens"] == context.tokens
        assert whole.attributes["quire.receipt"] == context.receipt["hash"]
        spans.clear()
        store.search(QUERY, refresh=False)
        assert below(spans, only(spans, "quire.search")) == ["quire.retrieve", "quire.rank"]


def test_sources_of_sections_are_inside_their_context(
    tree: Tree, spans: InMemorySpanExporter
) -> None:
    """They are collected in threads of their own."""
    fill(tree)
    with tree.open() as store:
        store.index(embed=False)
        spans.clear()
        store.assemble(QUERY, recipe="agent", budget=2000, allow_empty=True)
    assert len({span.context.trace_id for span in spans.get_finished_spans() if span.context}) == 1
    assert "quire.source" in below(spans, only(spans, "quire.retrieve"))


def test_no_span_holds_content(tree: Tree, spans: InMemorySpanExporter) -> None:
    run_everything(tree)
    finished = spans.get_finished_spans()
    failed = {span.name for span in finished if span.attributes and "error.type" in span.attributes}
    assert {"quire.assemble", "quire.source"} <= failed
    told = json.dumps([json.loads(span.to_json()) for span in finished]).lower()
    words = {*f"{PLANTED} {SECOND}".lower().split(), "xylophone", str(tree.root).lower(), "owner"}
    assert [word for word in sorted(words) if word in told] == []
    assert not any(span.events for span in finished)


def test_without_an_sdk_nothing_is_recorded_or_imported() -> None:
    """The API alone, which other packages bring, records nothing; the core does not need it."""
    script = (
        "import sys; from quire.system import tracing\n"
        "with tracing.span('a') as span, tracing.request([]): span.add({'b': 1}); span.fail('c')\n"
        "assert 'opentelemetry' not in sys.modules\n"
        "import opentelemetry.trace as api\n"
        "with tracing.span('a'), tracing.request([]):\n"
        "    assert not api.get_current_span().get_span_context().is_valid\n"
        "tracing.flush()\n"
        "assert 'opentelemetry.sdk' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize("name", ["nowhere-at-all", "console,console"])
def test_an_exporter_that_is_not_installed_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="no exporter of spans") as refused:
        tracing.find_exporter({tracing.EXPORTER: name})
    assert refused.value.value == name
    assert "opentelemetry-sdk" in refused.value.hint


def test_nothing_is_exported_unless_the_environment_says_so() -> None:
    for text in ("", " ", "none"):
        assert tracing.find_exporter({tracing.EXPORTER: text}) is None
    assert tracing.find_exporter({}) is None


def test_spans_are_sent_where_the_environment_says() -> None:
    script = (
        "import os; from quire.system import tracing\n"
        "tracing.export(os.environ); tracing.export(os.environ)\n"
        "with tracing.span('pack'): pass\n"
        "tracing.flush()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, tracing.EXPORTER: "console", "OTEL_SERVICE_NAME": "shelf"},
        capture_output=True,
        text=True,
        check=True,
    )
    sent = json.loads(done.stdout)
    assert (sent["name"], sent["resource"]["attributes"]["service.name"]) == ("quire.pack", "shelf")


def test_a_request_is_a_part_of_what_its_client_records(spans: InMemorySpanExporter) -> None:
    parent = f"00-{'a' * 32}-{'b' * 16}-01"
    with tracing.request([(b"traceparent", parent.encode())]) as span:
        tracing.end_request(span, "GET", "/v1/status", 503, "abc")
    (sent,) = spans.get_finished_spans()
    assert sent.context
    assert sent.parent
    assert (f"{sent.context.trace_id:x}", f"{sent.parent.span_id:x}") == ("a" * 32, "b" * 16)
    assert (sent.name, sent.kind.name, sent.status.status_code.name) == (
        "GET /v1/status",
        "SERVER",
        "ERROR",
    )
    assert dict(sent.attributes or {}) == {
        "http.request.method": "GET",
        "http.route": "/v1/status",
        "http.response.status_code": 503,
        "quire.request_id": "abc",
        "error.type": "503",
    }


def test_steps_run_the_same_with_something_around_them(tree: Tree) -> None:
    from quire.pipeline import steps

    seen: list[str] = []

    @contextmanager
    def around(name: str) -> Iterator[None]:
        seen.append(name)
        yield

    drafts: list[Any] = []
    fill(tree)
    with tree.open() as store, pytest.MonkeyPatch.context() as patch:
        store.index(embed=False)
        run = steps.run

        def keep(draft: Any, _: object) -> Any:
            drafts.append(draft)
            return run(draft)

        patch.setattr(steps, "run", keep)
        store.assemble(QUERY, budget=2000)
        patch.undo()
        assert steps.run(drafts[0], around) == steps.run(drafts[0])
    assert seen == NAMES


def test_threads_of_sections_have_the_context_of_the_caller(spans: InMemorySpanExporter) -> None:
    seen: list[tuple[int, int]] = []

    def collect() -> Collected:
        seen.append((threading.get_ident(), trace.get_current_span().get_span_context().span_id))
        return Collected({}, ())

    with tracing.span("retrieve"):
        run_all([Task("a", collect)])
    (thread, span) = seen[0]
    context = only(spans, "quire.retrieve").context
    assert thread != threading.get_ident()
    assert context
    assert span == context.span_id
