"""An endpoint on a real socket that answers as a test tells it, well and badly."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

KEY = "sk-very/secret+0123456789"
VARIABLE = "QUIRE_TEST_KEY"


@dataclass
class Reply:
    body: Any
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    held: bool = False
    """Sent only when the test is over: for the client, never."""


def said(protocol: str, name: str, entries: Any) -> Reply:
    """Give a language model's answer in a form, as the protocol has it."""
    content = {name: entries}
    if protocol == "openai":
        message = {"role": "assistant", "content": json.dumps(content)}
        return Reply({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})
    thinking = {"type": "text", "text": "Let me see."}
    used = {"type": "tool_use", "id": "t1", "name": name, "input": content}
    return Reply({"type": "message", "role": "assistant", "content": [thinking, used]})


Step = Reply | Callable[[dict[str, Any]], Reply]


class Endpoint(ThreadingHTTPServer):
    """Answers by the steps that it is given, and then as usual."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, usual: Step) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.usual = usual
        self.steps: list[Step] = []
        self.questions: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.over = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class Handler(BaseHTTPRequestHandler):
    server: Endpoint
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.questions.append(question)
        self.server.keys.append(self.headers["Authorization"])
        self.server.headers.append({name.lower(): value for name, value in self.headers.items()})
        self.server.paths.append(self.path)
        step = self.server.steps.pop(0) if self.server.steps else self.server.usual
        reply = step if isinstance(step, Reply) else step(question)
        if reply.held:
            self.server.over.wait(20)
            self.close_connection = True
            return
        body = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        self.send_response_only(reply.status)
        for name, value in ({"Content-Length": str(len(body))} | reply.headers).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the parent's name
        pass


@contextmanager
def served(usual: Step) -> Iterator[Endpoint]:
    """Serve while a test runs; `usual` answers whatever no step is given for."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            patch.delenv(name, raising=False)
            patch.delenv(name.lower(), raising=False)
        patch.setenv(VARIABLE, KEY)
        server = Endpoint(usual)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.over.set()
        server.shutdown()
        thread.join()
        server.server_close()
