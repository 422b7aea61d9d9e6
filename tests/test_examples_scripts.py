"""The scripts in examples/ run as they stand, without a network, and print what they promise."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import TIME_LIMIT

EXAMPLES = Path(__file__).parents[1] / "examples"
MAX_LINES = 60


def run(name: str, *arguments: str, **variables: str) -> str:
    """Run an example in a process of its own; return what it prints."""
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / f"{name}.py"), *arguments],
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT,
        check=False,
        env={**os.environ, **variables},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


class Provider(BaseHTTPRequestHandler):
    """A provider that speaks OpenAI's chat completions, and caches by the beginning of a prompt."""

    asked: list[Any] = []  # noqa: RUF012 - of one server at a time

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        body = json.loads(self.rfile.read(length))
        system = body["messages"][0]["content"]
        before = self.asked[-1]["messages"][0]["content"] if self.asked else None
        self.asked.append(body)
        cached = len(before) // 4 if before is not None and system.startswith(before) else 0
        answer = {
            "choices": [{"message": {"role": "assistant", "content": f"I read {len(system)}."}}],
            "usage": {"prompt_tokens_details": {"cached_tokens": cached}},
        }
        data = json.dumps(answer).encode()
        self.send_response(200 if self.path == "/v1/chat/completions" else 404)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def provider() -> Iterator[str]:
    Provider.asked.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()


def test_every_example_is_short_and_tested() -> None:
    names = {file.stem for file in EXAMPLES.glob("*.py")}
    assert names == {
        "agent_memory",
        "code_assistant",
        "evaluation",
        "multi_tenant",
        "rag_loop",
        "workspace",
    }
    for name in names:
        assert len((EXAMPLES / f"{name}.py").read_text("utf-8").splitlines()) < MAX_LINES


def test_rag_loop(tmp_path: Path, provider: str) -> None:
    (tmp_path / "refunds.md").write_text("# Refunds\n\nRefunds are paid within 30 days.\n")
    (tmp_path / "roles.md").write_text("# Roles\n\nA manager approves a refund above 50 euros.\n")
    printed = run("rag_loop", str(tmp_path), OPENAI_BASE_URL=provider)
    assert printed.count("I read") == 2
    first, second = Provider.asked
    assert second["messages"][0]["content"].startswith(first["messages"][0]["content"])
    assert second["messages"][1] == {"role": "user", "content": "Who approves a refund?"}
    assert "from refunds.md" in printed


def test_agent_memory(tmp_path: Path) -> None:
    printed = run("agent_memory", str(tmp_path))
    assert "Tuesdays only" in printed
    assert "called green" in printed
    assert "called blue" not in printed
    assert "No step compares the schema" in printed
    assert "the receipt holds: True" in printed


def test_multi_tenant(tmp_path: Path) -> None:
    lines = run("multi_tenant", str(tmp_path)).splitlines()
    assert [("hr/pay.md" in line) for line in lines] == [True, True, False, True]
    assert all("handbook.md" in line and line.endswith("True") for line in lines)


def test_code_assistant(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(
        'def price(order):\n    """Price an order with its discount."""\n'
        "    return sum(order) - discount(order)\n\n\n"
        'def discount(order):\n    """Take a tenth off large orders."""\n'
        "    return sum(order) // 10 if len(order) > 9 else 0\n"
    )
    printed = run("code_assistant", str(tmp_path), "how are orders priced")
    assert "1 files indexed" in printed
    assert "Price an order with its discount" in printed
    assert "shop.py:1 price" in printed


def test_workspace(tmp_path: Path) -> None:
    printed = run("workspace", str(tmp_path))
    assert "Translate the terms of sale" in printed
    assert "ann reads ['Salaries']" in printed
    assert "bob reads []" in printed


def test_evaluation(tmp_path: Path) -> None:
    printed = run("evaluation", str(tmp_path))
    assert "documents at 500 tokens: 67% of the evidence" in printed
    assert "carriers.md: not indexed" in printed
