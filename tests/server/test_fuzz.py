"""Requests made from the OpenAPI document by schemathesis, right and wrong ones.

A few for each operation; `make soak` sets QUIRE_REQUESTS to many.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from quire.server import openapi
from tests.conftest import Tree

from .chat_endpoint import Upstream, chat_settings
from .chat_endpoint import upstream as upstream  # noqa: PLC0414 - the fixture
from .running import Running, fill, make_token, running

EXAMPLES = int(os.environ.get("QUIRE_REQUESTS", "10"))
CHECKS = [
    schemathesis.checks.not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]

DOCUMENT = openapi.document()
SCHEMA = schemathesis.openapi.from_dict(DOCUMENT)
OPERATIONS = [
    pytest.param(method.upper(), path, id=f"{method} {path}")
    for path, methods in DOCUMENT["paths"].items()
    for method in methods
]


@schemathesis.serializer("application/x-ndjson")  # type: ignore[untyped-decorator]  # of the library
def write_lines(_: Any, value: Any) -> bytes:
    """Write a body of lines: a text as it is, also one that is no JSON."""
    return (value if isinstance(value, str) else json.dumps(value)).encode("utf-8", "replace")


@pytest.fixture(scope="module")
def service(
    tmp_path_factory: pytest.TempPathFactory, upstream: Upstream
) -> Iterator[tuple[Running, str]]:
    tree = fill(Tree(tmp_path_factory.mktemp("fuzz") / "harbour"))
    token = make_token(tree, "--scope", "admin", "--chat")
    with running(tree, env=chat_settings(upstream)) as started:
        yield started, token


@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_no_request_breaks_the_service(
    service: tuple[Running, str], method: str, path: str
) -> None:
    started, text = service
    token = {"Authorization": f"Bearer {text}"}
    operation = SCHEMA[path][method]
    modes = [schemathesis.GenerationMode.POSITIVE]
    if method != "GET" or "{" in path:
        modes.append(schemathesis.GenerationMode.NEGATIVE)
    for mode in modes:

        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            database=None,
            derandomize=True,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy(generation_mode=mode))
        def check(case: Any) -> None:
            case.call_and_validate(base_url=started.url, headers=token, checks=CHECKS, timeout=60)

        check()
