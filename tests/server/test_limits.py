"""Limits: sizes, rates, times, slow clients; and processes that are killed."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

import quire
from quire.errors import StoreError
from quire.server import service as serving
from quire.server.limits import RateLimiter
from quire.server.service import Service, Settings
from tests.conftest import TIME_LIMIT, Forest, Tree, interruptible

from .running import Running, fill, running


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Any:
    tree = fill(Tree(tmp_path_factory.mktemp("limits") / "harbour"))
    options = ("--max-body", "20000", "--client-timeout", "1", "--time-limit", "20")
    with running(tree, *options) as service:
        yield service


def raw(service: Running) -> socket.socket:
    return socket.create_connection(("127.0.0.1", service.port), timeout=TIME_LIMIT)


def head(service: Running, length: int) -> bytes:
    lines = [
        "POST /v1/search HTTP/1.1",
        "Host: localhost",
        f"Authorization: Bearer {service.tokens['owner']}",
        "Content-Type: application/json",
        f"Content-Length: {length}",
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def test_a_large_body_is_refused_before_it_is_read(strict: Running) -> None:
    with raw(strict) as connection:
        connection.sendall(head(strict, 10**12))
        answer = connection.recv(65536)
    assert b" 413 " in answer.splitlines()[0]
    big = {"query": "x" * 30_000}
    assert strict.ask("owner", "POST", "/v1/search", big).status_code == 413


def test_a_large_body_without_a_length_is_refused(strict: Running) -> None:
    def parts() -> Any:
        for _ in range(100):
            yield b" " * 1000

    with strict.client() as client, contextlib.suppress(httpx.WriteError):
        headers = {"Content-Type": "application/json"}
        answer = client.post("/v1/search", content=parts(), headers=headers)
        assert answer.status_code == 413


def test_a_client_that_sends_slowly_is_cut_off(strict: Running) -> None:
    with raw(strict) as connection:
        connection.sendall(head(strict, 1000) + b"{")
        started = time.monotonic()
        with contextlib.suppress(ConnectionResetError):
            assert connection.recv(100) == b""
        assert time.monotonic() - started < 15
    assert strict.ask("owner", "GET", "/v1/status").status_code == 200


def test_a_client_that_reads_slowly_holds_nothing(strict: Running) -> None:
    """A hundred clients that never read their answers delay no other."""
    connections = [raw(strict) for _ in range(40)]
    try:
        body = json.dumps({"query": "harbour", "k": 100}).encode()
        for connection in connections:
            connection.sendall((head(strict, len(body)) + body) * 5)
        started = time.monotonic()
        assert strict.ask("owner", "GET", "/v1/status").status_code == 200
        assert time.monotonic() - started < 30
    finally:
        for connection in connections:
            connection.close()


def test_rates_are_limited_for_each_token(plant: Forest) -> None:
    tree = fill(plant("rates"))
    with running(tree, "--rate", "1") as service:
        statuses = [service.ask("bob", "GET", "/v1/status").status_code for _ in range(8)]
        assert 429 in statuses
        assert service.ask("alice", "GET", "/v1/status").status_code == 200
        refused = next(
            answer
            for answer in (service.ask("bob", "GET", "/v1/status") for _ in range(20))
            if answer.status_code == 429
        )
        assert int(refused.headers["retry-after"]) >= 1
        with quire.Client(service.url, service.tokens["bob"], retries=5) as client:
            assert client.status().records  # it waits for as long as it is told


def test_a_bucket_fills_with_time() -> None:
    limiter = RateLimiter(2)
    assert [limiter.wait("a", 0.0) == 0 for _ in range(5)] == [True] * 4 + [False]
    assert limiter.wait("a", 0.0) == pytest.approx(0.5)
    assert limiter.wait("b", 0.0) == 0
    assert limiter.wait("a", 0.5) == 0
    assert limiter.wait("a", 0.5) > 0
    assert RateLimiter(0).wait("a", 0.0) == 0


def test_an_answer_that_takes_too_long_is_given_up(plant: Forest) -> None:
    tree = fill(plant("late"))
    with running(tree, "--time-limit", "0.0001") as service:
        answer = service.ask("owner", "POST", "/v1/assemble", {"query": "harbour"})
        assert (answer.status_code, answer.json()["error"]) == (504, "LateError")


def test_many_who_ask_whether_it_is_ready_take_one_thread(
    plant: Forest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No token is needed to ask, so that it must not cost what a request costs."""
    tree = fill(plant("ready"))
    monkeypatch.setattr(serving, "READY_SECONDS", 1000)  # however slow this machine is
    asked: list[int] = []

    async def ask() -> list[bool]:
        service = Service(Settings(), tree.open())
        roots = service.quire.roots

        def count() -> object:
            asked.append(1)
            time.sleep(0.05)
            return roots()

        service.quire.roots = count  # type: ignore[method-assign,assignment]  # counted
        try:
            answers = await asyncio.gather(*(service.is_ready() for _ in range(500)))
            answers += [await service.is_ready() for _ in range(50)]
            assert service._waiting == 0

            def fail() -> object:
                raise StoreError("gone")

            service.quire.roots = fail  # type: ignore[method-assign,assignment]  # as it may
            service._probed -= 1000
            return [*answers, await service.is_ready()]
        finally:
            service.close()

    answers = asyncio.run(ask())
    assert (len(asked), answers) == (1, [True] * 550 + [False])


def test_workers_end_with_the_process_that_started_them(plant: Forest) -> None:
    with running(fill(plant("orphans")), "--workers", "2") as service:
        workers = psutil.Process(service.process.pid).children(recursive=True)
        service.process.kill()
        service.process.wait(TIME_LIMIT)
        _, alive = psutil.wait_procs(workers, timeout=TIME_LIMIT)
        assert alive == []


def test_a_worker_ends_that_starts_after_the_end_of_its_parent(tmp_path: Path) -> None:
    """A parent that is killed while its workers still import: nobody is left to stop them."""
    script = tmp_path / "parent.py"
    script.write_text(
        "import multiprocessing, os, time\n"
        "from quire.server.worker import _end_with_parent\n"
        "def work(parent):\n"
        "    while os.getppid() == parent: time.sleep(0.01)\n"
        "    _end_with_parent()\n"
        "    time.sleep(600)\n"
        "if __name__ == '__main__':\n"
        "    worker = multiprocessing.get_context('spawn').Process(target=work, args=(os.getpid(),))\n"
        "    worker.start()\n"
        "    print(worker.pid, flush=True)\n"
        "    os._exit(0)\n"
    )
    command = [sys.executable, str(script)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=interruptible()) as parent:
        assert parent.stdout
        worker = psutil.Process(int(parent.stdout.readline()))
        _, alive = psutil.wait_procs([worker], timeout=TIME_LIMIT)
    for process in alive:
        process.kill()
    assert alive == []


def test_a_flood_of_connections_keeps_nobody_out(plant: Forest) -> None:
    """Without a token: silent ones, and ones that never end their headers or their bodies."""
    begun = [
        b"",
        b"GET /heal",
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: ",
        b"POST /v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{",
        b"no http at all\r\n\r\n",
    ]
    with running(fill(plant("flood")), "--log-json") as service, contextlib.ExitStack() as stack:
        for number in range(800):
            connection = stack.enter_context(raw(service))
            with contextlib.suppress(OSError):  # ended already
                connection.sendall(begun[number % len(begun)])
        started = time.monotonic()
        for who, path in ((None, "/healthz"), ("owner", "/v1/status")):
            assert service.ask(who, "GET", path).status_code == 200
        assert time.monotonic() - started < 5, "long before the flood's own time is over"
        service.process.terminate()
        service.process.wait(TIME_LIMIT)
        assert service.process.stderr
        lines = [json.loads(line) for line in service.process.stderr.read().splitlines()]
    told = {line["event"] for line in lines}
    assert {"connections_dropped", "server_logged", "request_finished"} <= told
    assert "no http" not in json.dumps(lines)


@pytest.mark.parametrize(
    ("number", "workers"),
    [
        (signal.SIGKILL, "1"),
        (signal.SIGKILL, "2"),
        (signal.SIGTERM, "1"),
        (signal.SIGTERM, "2"),
    ],
)
def test_no_signal_loses_an_acknowledged_write(
    plant: Forest, number: signal.Signals, workers: str
) -> None:
    """Writers get their answers, the process is stopped, and all that was answered is there."""
    tree = fill(plant(f"{number.name}-{workers}"))
    acknowledged: list[str] = []
    unclear: list[tuple[str, str]] = []
    with running(tree, "--workers", workers) as service:

        def write(writer: int) -> None:
            with service.client("alice") as client:
                for count in range(1000):
                    content, key = f"Memory {writer} {count}.", f"{writer}-{count}"
                    try:
                        answer = client.post(
                            "/v1/memories",
                            json={"content": content},
                            headers={"Idempotency-Key": key},
                        )
                    except httpx.TransportError:
                        unclear.append((content, key))
                        return
                    assert answer.status_code == 201, answer.text
                    acknowledged.append(content)

        threads = [threading.Thread(target=write, args=(writer,)) for writer in range(4)]
        for thread in threads:
            thread.start()
        while len(acknowledged) < 25 and any(thread.is_alive() for thread in threads):
            time.sleep(0.01)
        workers_ = psutil.Process(service.process.pid).children(recursive=True)
        service.process.send_signal(number)
        if number == signal.SIGKILL:  # all at once, as when memory or power is gone
            for worker in workers_:
                with contextlib.suppress(psutil.NoSuchProcess):
                    worker.kill()
        for thread in threads:
            thread.join(TIME_LIMIT)
        assert service.process.wait(TIME_LIMIT) == (0 if number == signal.SIGTERM else -number)
        tokens = service.tokens
    assert len(acknowledged) >= 25
    assert len(unclear) == len(threads)
    with tree.open(viewer="alice") as opened:
        kept = [memory.content for memory in opened.memories.list()]
    assert set(acknowledged) <= set(kept)
    assert len(kept) == len(set(kept))
    # Whoever did not get an answer sends the same again: it is there once.
    with running(tree) as service:
        service.tokens = tokens
        for content, key in unclear:
            answer = service.ask(
                "alice", "POST", "/v1/memories", {"content": content}, Idempotency_Key=key
            )
            assert answer.status_code == 201, answer.text
            assert answer.json()["count"] == 1
