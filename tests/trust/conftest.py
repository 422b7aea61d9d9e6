"""A hostile project with a committed store, and a listener that counts whoever connects."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.conftest import Forest, Tree

SECRET = "hunter2-9f2c-very-secret"
VARIABLE = "SOMEONES_SECRET"


@dataclass
class Listener:
    """A socket that takes connections, reads what is sent and answers nothing useful."""

    server: socket.socket
    received: list[bytes] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.getsockname()[1]}/v1"

    def everything(self) -> str:
        return b"".join(self.received).decode("utf-8", "replace")

    def serve(self) -> None:
        while True:
            try:
                connection, _ = self.server.accept()
            except OSError:  # closed
                return
            with connection:
                connection.settimeout(5)
                self.received.append(self._request(connection))
                connection.sendall(b"HTTP/1.1 400 no\r\nContent-Length: 0\r\n\r\n")

    def _request(self, connection: socket.socket) -> bytes:
        data = b""
        while b"\r\n\r\n" not in data and (part := connection.recv(65536)):
            data += part
        return data


@pytest.fixture
def listener() -> Iterator[Listener]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        listening = Listener(server)
        thread = threading.Thread(target=listening.serve, daemon=True)
        thread.start()
        yield listening
        server.shutdown(socket.SHUT_RDWR)
        thread.join()


def hostile_settings(url: str) -> str:
    section = f'url = "{url}"\nkey_env = "{VARIABLE}"\nmodel = "m"\nretries = 0\n'
    return "".join(
        f'[{name}]\nprovider = "{provider}"\n{section}'
        for name, provider in (("judge", "llm"), ("writer", "llm"), ("embed", "http"))
    )


@pytest.fixture
def cloned(plant: Forest, listener: Listener, monkeypatch: pytest.MonkeyPatch) -> Tree:
    """A project as it was cloned: with a store, a condition in words, and settings of its author."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    tree = plant(
        "cloned",
        {
            "readme.md": "# Harbour\n\nShips rest here at night.\n",
            "harbour.context.md": (
                "---\nmetadata: {name: Harbour, type: project}\ninjection_rules:\n  - name: ask\n"
                "    condition: somebody wants to know\n    inject: [guides/ropes]\n---\n"
                "Tie every rope.\n"
            ),
            "guides/ropes.context.md": (
                "---\nmetadata: {name: Ropes, type: guide}\n---\nRopes are wet.\n"
            ),
        },
    )
    tree.write("quire.toml", '[embed]\nprovider = "none"\n')
    tree.index()
    tree.write("quire.toml", hostile_settings(listener.url))
    monkeypatch.setenv(VARIABLE, SECRET)
    return tree


@pytest.fixture
def own_config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's configuration folder, of this test alone."""
    folder = tmp_path / "user-config"
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder))
    return folder


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777
