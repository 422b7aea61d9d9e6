"""Metrics for Prometheus: requests, times, what runs; with several workers, of all of them.

Labels are routes, methods and statuses, never a path, a viewer or a query.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    REGISTRY,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
    multiprocess,
)

FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""The variable that names the folder in which workers keep their numbers."""
METHODS = frozenset({"GET", "POST", "PATCH", "DELETE", "PUT", "HEAD", "OPTIONS"})
_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)

REQUESTS = Counter("quire_requests", "Requests.", ["method", "route", "status"])
SECONDS = Histogram("quire_request_seconds", "Time of requests.", ["route"], buckets=_BUCKETS)
IN_FLIGHT = Gauge("quire_requests_in_flight", "Requests that run.", multiprocess_mode="livesum")
WAITING = Gauge(
    "quire_requests_waiting", "Requests that wait for a thread.", multiprocess_mode="livesum"
)
REFUSED = Counter("quire_requests_refused", "Requests that were refused.", ["reason"])
CONTEXT_TOKENS = Counter("quire_context_tokens", "Tokens of contexts that were assembled.")
JOBS = Counter("quire_index_jobs", "Index jobs that were submitted.")
_REASONS = {401: "token", 403: "scope", 413: "size", 421: "host", 429: "rate", 503: "load"}


@contextmanager
def in_flight() -> Iterator[None]:
    """Count a request while it runs."""
    IN_FLIGHT.inc()
    try:
        yield
    finally:
        IN_FLIGHT.dec()


def method_name(method: str) -> str:
    """Return a method as a label: unknown ones are one."""
    return method if method in METHODS else "OTHER"


def count_request(method: str, route: str, status: int, seconds: float) -> None:
    """Count a request that ended; the status is 0 if its client was gone."""
    REQUESTS.labels(method_name(method), route, str(status)).inc()
    SECONDS.labels(route).observe(seconds)
    if status in _REASONS:
        REFUSED.labels(_REASONS[status]).inc()


def write() -> tuple[bytes, str]:
    """Return the metrics of all workers, and their content type."""
    registry = REGISTRY
    if os.environ.get(FOLDER):
        registry = CollectorRegistry()
        multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]  # of the library
    return generate_latest(registry), CONTENT_TYPE_LATEST
