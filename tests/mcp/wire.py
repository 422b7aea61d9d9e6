"""A client that sends and receives lines, to the byte."""

from __future__ import annotations

import json
import os
import queue
import re
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.conftest import COMMAND, TIME_LIMIT, Tree

PATIENCE = 60
"""Seconds to wait for a line, however busy the machine is."""
HANDSHAKES = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN = "2026-07-28"
LOCAL = {"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}


class Wire:
    """A server in a process of its own, and the lines between it and the test."""

    def __init__(
        self, command: Sequence[str], cwd: Path, env: Mapping[str, str] | None = None
    ) -> None:
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env={**os.environ, **(env or {})},
        )
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._said: list[bytes] = []
        assert self.process.stdout
        assert self.process.stderr
        self._readers = [
            threading.Thread(target=self._read, args=(self.process.stdout, self._lines.put)),
            threading.Thread(target=self._read, args=(self.process.stderr, self._said.append)),
        ]
        for reader in self._readers:
            reader.start()

    @staticmethod
    def _read(stream: Any, put: Any) -> None:
        for line in stream:
            put(line)

    def send(self, message: bytes | dict[str, Any] | list[Any]) -> None:
        """Send a line: as it is, or a message."""
        assert self.process.stdin
        line = message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n"
        self.process.stdin.write(line)
        self.process.stdin.flush()

    def line(self) -> bytes:
        """Wait for the next line."""
        return self._lines.get(timeout=PATIENCE)

    def receive(self) -> Any:
        """Wait for the next message."""
        return json.loads(self.line())

    def answer(self, message: dict[str, Any]) -> Any:
        """Send a request and wait for its answer; other messages are skipped."""
        self.send(message)
        while True:
            reply = self.receive()
            if reply.get("id") == message["id"] and "method" not in reply:
                return reply

    def initialize(self, version: str = HANDSHAKES[-1]) -> Any:
        """Perform the handshake."""
        reply = self.answer(initialize(version))
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return reply

    def call(self, tool: str, number: int = 1, **arguments: Any) -> Any:
        """Call a tool and wait for its result."""
        return self.answer(call(tool, number, **arguments))["result"]

    def end(self) -> tuple[int, str]:
        """Close standard input; return the exit code of the server and its standard error."""
        assert self.process.stdin
        self.process.stdin.close()
        code = self.process.wait(PATIENCE)
        for reader in self._readers:
            reader.join(PATIENCE)
        return code, b"".join(self._said).decode()

    def left(self) -> list[bytes]:
        """Return the lines that were not read."""
        lines = []
        while not self._lines.empty():
            lines.append(self._lines.get())
        return lines

    def close(self) -> None:
        """Kill the server if it still runs, and close all streams."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for reader in self._readers:
            reader.join(PATIENCE)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert stream
            with suppress(BrokenPipeError):
                stream.close()


@contextmanager
def wired(
    command: Sequence[str], cwd: Path, env: Mapping[str, str] | None = None
) -> Iterator[Wire]:
    """Start a server, and stop it at the end."""
    wire = Wire(command, cwd, env)
    try:
        yield wire
    finally:
        wire.close()


@contextmanager
def listening(tree: Tree, *options: str) -> Iterator[str]:
    """Start a server over HTTP; the value is its URL."""
    process = subprocess.Popen(
        [COMMAND, "mcp", "--http", "0", *options],
        cwd=tree.root,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr
    try:
        line = process.stderr.readline()
        match = re.fullmatch(r"listening on (http://127\.0\.0\.1:\d+/mcp)\n", line)
        assert match, line
        yield match[1]
    finally:
        process.terminate()
        process.wait(TIME_LIMIT)
        process.stderr.close()


def initialize(version: str, number: int = 0) -> dict[str, Any]:
    """Return the first message of a client of a revision."""
    return {
        "jsonrpc": "2.0",
        "id": number,
        "method": "initialize",
        "params": {
            "protocolVersion": version,
            "capabilities": {},
            "clientInfo": {"name": "wire", "version": "1"},
        },
    }


def request(method: str, number: int, **params: Any) -> dict[str, Any]:
    """Return a request."""
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def call(tool: str, number: int = 1, **arguments: Any) -> dict[str, Any]:
    """Return a call of a tool."""
    return request("tools/call", number, name=tool, arguments=arguments)
