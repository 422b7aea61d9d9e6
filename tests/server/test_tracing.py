"""Spans of a running service: of each request, with the steps inside it, and without content."""

from __future__ import annotations

import json
from typing import Any

import pytest

from quire.pipeline.steps import STEPS
from quire.system.tracing import EXPORTER
from tests.conftest import Forest

from .running import FILES, SECRET, Running, fill, running

QUESTION = "What does the quartermaster earn?"


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_request_is_a_span_with_its_steps_inside(
    plant: Forest, tmp_path: Any, workers: str
) -> None:
    """Spans go where the environment says; those of the last requests, before the process ends."""
    tree = fill(plant(f"traced-{workers}"))
    written = tmp_path / "spans"
    with (
        written.open("w") as stdout,
        running(tree, "--workers", workers, env={EXPORTER: "console"}, stdout=stdout) as service,
    ):
        body = {"query": QUESTION, "budget": 1000}
        parent = f"00-{'a' * 32}-{'b' * 16}-01"
        answer = service.ask("alice", "POST", "/v1/assemble", body, traceparent=parent)
        assert answer.status_code == 200, answer.text
        assert service.ask("alice", "GET", "/v1/memories/quartermaster").status_code == 404
        assert service.ask(None, "GET", "/v1/status").status_code == 401
        name = answer.headers["x-request-id"]
        for method, params in (
            ("tools/call", {"name": "search", "arguments": {"query": QUESTION}}),
            ("tools/call", {"name": "quartermaster", "arguments": {}}),
            ("resources/read", {"uri": "quire://source/quartermaster.md"}),
        ):
            _call_mcp(service, method, params)
        assert service.stop() == 0
    spans = _read(written.read_text())
    by_id = {span["context"]["span_id"]: span for span in spans}
    (request,) = [s for s in spans if s["attributes"].get("quire.request_id") == name]
    assert (request["name"], request["parent_id"]) == ("POST /v1/assemble", f"0x{'b' * 16}")
    assert request["attributes"]["http.response.status_code"] == 200
    inside = [span for span in spans if span["context"]["trace_id"] == f"0x{'a' * 32}"]
    assemble = next(span for span in inside if span["name"] == "quire.assemble")
    assert by_id[assemble["parent_id"]] is request
    assert {f"quire.{step}" for step, _ in STEPS} <= {
        span["name"] for span in inside if span["parent_id"] == assemble["context"]["span_id"]
    }
    names = {span["name"] for span in spans}
    assert {"GET /v1/memories/{id}", "GET other", "POST /mcp", "quire.tool"} <= names
    text = written.read_text()
    planted = (
        SECRET,
        "quartermaster",
        "alice",
        "hr/pay.md",
        str(tree.root),
        *service.tokens.values(),
    )
    assert [word for word in planted if word in text] == []
    assert [path for path in FILES if path in text] == []


def _call_mcp(service: Running, method: str, params: dict[str, Any]) -> None:
    """Ask MCP in the revision that has no sessions, which any worker answers."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
    answer = service.ask(
        "alice",
        "POST",
        "/mcp",
        message,
        Accept="application/json, text/event-stream",
        MCP_Protocol_Version="2026-07-28",
        Mcp_Method=method,
        Mcp_Name=str(params.get("name", params.get("uri", ""))),
    )
    assert "jsonrpc" in answer.text, answer.text


def _read(text: str) -> list[dict[str, Any]]:
    """Read JSON objects that stand one after the other."""
    decoder, found, at = json.JSONDecoder(), list[dict[str, Any]](), 0
    while at < len(text):
        value, at = decoder.raw_decode(text, at)
        found.append(value)
        while at < len(text) and text[at].isspace():
            at += 1
    return found
