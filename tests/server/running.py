"""A service in a process of its own, on a real socket, with tokens for three people."""

from __future__ import annotations

import json
import re
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO, Any

import httpx

from tests.conftest import COMMAND, LONG_AGO, TIME_LIMIT, Tree, interruptible

FILES = {
    "docs/harbour.md": "# Harbour\n\nShips rest in the harbour at night. The pilot is named Wren.\n",
    "docs/tides.md": "# Tides\n\nThe tide turns twice a day; the harbour bar is dry at low tide.\n",
    "src/crane.py": 'def lift(load):\n    """Lift a load of a ship in the harbour."""\n    return load\n',
    "hr/pay.md": "# Pay\n\nThe harbour master earns ninety doubloons.\n",
    "quire.toml": '[access]\n"hr/**" = ["alice"]\n',
}
SECRET = "doubloons"
"""A word that alice and the owner may read, and nobody else."""


@dataclass
class Running:
    """A running service, and the tokens for it."""

    tree: Tree
    port: int
    process: subprocess.Popen[str]
    tokens: Mapping[str, str] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def client(self, who: str | None = "owner", **options: Any) -> httpx.Client:
        headers = {"Authorization": f"Bearer {self.tokens[who]}"} if who else {}
        return httpx.Client(
            base_url=self.url,
            headers=headers,
            timeout=TIME_LIMIT,
            trust_env=False,
            verify=False,  # no certificates are read, which takes longer than the request
            **options,
        )

    def ask(self, who: str | None, method: str, path: str, body: Any = None, **headers: str) -> Any:
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        with self.client(who) as client:
            return client.request(method, path, json=body, headers=names)

    def stop(self) -> int:
        self.process.terminate()
        return self.process.wait(TIME_LIMIT)


def fill(tree: Tree) -> Tree:
    """Give a project files, memories and an experience, and index them."""
    tree.fill(FILES)
    tree.index()
    with tree.open() as opened:
        opened.memories.add(
            "The harbour bell rings at low tide.",
            at=LONG_AGO,
            category="decision",
            share=["public"],
        )
        started = opened.experiences.start(
            "Lift the heavy load", at=LONG_AGO, domain="debugging", hypothesis="The crane is weak"
        )
        opened.experiences.resolve(
            started.value.id,
            "falsified",
            at=LONG_AGO + 1,
            result="The rope was worn",
            lesson="Look",
        )
    return tree


def make_token(tree: Tree, *options: str) -> str:
    done = tree.call("token", "create", "--json", *options)
    assert done.returncode == 0, done.stderr
    return str(json.loads(done.stdout)["token"])


@contextmanager
def running(
    tree: Tree,
    *options: str,
    env: Mapping[str, str] | None = None,
    stdout: IO[str] | int = subprocess.DEVNULL,
) -> Iterator[Running]:
    """Run a service while a test runs."""
    tokens = {
        "owner": make_token(tree, "--scope", "admin"),
        "reader": make_token(tree),
        "alice": make_token(tree, "--viewer", "alice", "--scope", "write", "--chat"),
        "bob": make_token(tree, "--viewer", "bob", "--scope", "write", "--chat"),
        "operator": make_token(tree, "--viewer", "operator", "--scope", "admin"),
    }
    process = subprocess.Popen(
        [
            COMMAND,
            "serve",
            "--port",
            "0",
            *(() if "--rate" in options else ("--rate", "0")),
            *options,
        ],
        cwd=tree.root,
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        env={**interruptible(), **(env or {})},
    )
    assert process.stderr
    try:
        port, seen = 0, list[str]()
        while not port:
            line = process.stderr.readline()
            seen.append(line)
            assert line, (seen, process.poll())
            found = re.search(r"listening on http://\S+:(\d+)", line)
            port = int(found[1]) if found else 0
        service = Running(tree, port, process, tokens)
        until = time.monotonic() + TIME_LIMIT
        while time.monotonic() < until:
            try:
                if (
                    httpx.get(f"{service.url}/readyz", trust_env=False, verify=False).status_code
                    == 200
                ):
                    break
            except httpx.TransportError:
                time.sleep(0.05)
        yield service
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(TIME_LIMIT)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        process.stderr.close()
