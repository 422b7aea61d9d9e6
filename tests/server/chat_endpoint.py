"""A chat endpoint on a real socket, which remembers what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

KEY = "sk-upstream/0123456789"


class Upstream(ThreadingHTTPServer):
    """A chat endpoint that answers in parts: the second one when the test says so."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.seen: list[tuple[dict[str, str], dict[str, Any]]] = []
        self.asked: list[dict[str, str]] = []
        self.go_on = threading.Event()
        self.status = 200

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class Handler(BaseHTTPRequestHandler):
    server: Upstream
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.server.asked.append({name.lower(): text for name, text in self.headers.items()})
        known = self.path == "/v1/models"
        answer = json.dumps({"object": "list", "data": [{"id": "m"}]} if known else {}).encode()
        self.send_response(200 if known else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        names = {name.lower(): value for name, value in self.headers.items()}
        self.server.seen.append((names, body))
        self.send_response(self.server.status)
        if self.server.status == 302:
            self.send_header("Location", f"{self.server.url}/elsewhere")
        if body.get("stream"):
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self._part(b'data: {"n": 1}\n\n')
            self.server.go_on.wait(20)
            self._part(b"data: [DONE]\n\n")
            self._part(b"")
            return
        answer = json.dumps({"choices": [], "model": body.get("model")}).encode()
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def _part(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the parent's name
        pass


@pytest.fixture(scope="module")
def upstream() -> Iterator[Upstream]:
    server = Upstream()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.go_on.set()
    server.shutdown()
    thread.join()
    server.server_close()


def chat_settings(upstream: Upstream) -> dict[str, str]:
    """Return the environment of a service that passes chats on to the endpoint."""
    return {
        "QUIRE_CHAT_URL": upstream.url,
        "QUIRE_CHAT_KEY": KEY,
        "QUIRE_CHAT_BUDGET": "1500",
        "NO_PROXY": "127.0.0.1",
    }
