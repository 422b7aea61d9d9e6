"""The server over HTTP on real sockets: names, origins, sessions, slow clients, sizes."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection

import pytest

from quire.errors import InputError
from quire.mcp.http import Names
from tests.conftest import COMMAND, TIME_LIMIT, Tree

from .wire import HANDSHAKES, MODERN, call, initialize, request

ACCEPT = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


@dataclass
class Reply:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def error(self) -> str:
        return str(json.loads(self.body)["error"]["message"])

    @property
    def session(self) -> dict[str, str]:
        return {"Mcp-Session-Id": self.headers["mcp-session-id"]}


@dataclass
class Server:
    port: int
    address: str = "127.0.0.1"

    def send(self, message: object, method: str = "POST", **headers: str) -> Reply:
        connection = HTTPConnection(self.address, self.port, timeout=TIME_LIMIT)
        try:
            sent = {**ACCEPT, **{name.replace("_", "-"): value for name, value in headers.items()}}
            connection.putrequest(method, "/mcp", skip_host="Host" in sent)
            body = message if isinstance(message, bytes) else json.dumps(message).encode()
            for name, value in sent.items():
                connection.putheader(name, value)
            connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            answer = connection.getresponse()
            names = {name.lower(): value for name, value in answer.getheaders()}
            return Reply(answer.status, names, answer.read())
        finally:
            connection.close()

    def open(self, **headers: str) -> Reply:
        return self.send(initialize(HANDSHAKES[-1]), **headers)

    def ping(self, session: Mapping[str, str]) -> int:
        return self.send(request("ping", 7), **session).status


@contextmanager
def serving(tree: Tree, address: str, *options: str) -> Iterator[Server]:
    process = subprocess.Popen(
        [COMMAND, "mcp", "--http", address, *options],
        cwd=tree.root,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr
    try:
        line = ""
        while "listening on" not in line:
            line = process.stderr.readline()
            assert line
        match = re.search(r":(\d+)/mcp", line)
        assert match
        reader = threading.Thread(target=process.stderr.read)
        reader.start()
        try:
            yield Server(int(match[1]))
        finally:
            process.terminate()
            reader.join(TIME_LIMIT)
    finally:
        process.kill()
        process.wait(TIME_LIMIT)
        process.stderr.close()


def own_address() -> str:
    """Return an address of this machine that is not the loopback interface's; empty: none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # nothing is sent
        except OSError:
            return ""
        return str(probe.getsockname()[0])


# --- names ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["0", "0.0.0.0:0"])
def server(request: pytest.FixtureRequest, harbour: Tree) -> Iterator[Server]:
    with serving(harbour, request.param, "--allow-host", "quire.example") as started:
        yield started


@pytest.mark.parametrize(
    "host",
    [
        *("localhost", "localhost:{port}", "LOCALHOST.:{port}", "127.0.0.1", "127.0.0.1:{port}"),
        *("[::1]:{port}", "quire.example", "Quire.Example:443"),
    ],
)
def test_it_answers_to_its_names(server: Server, host: str) -> None:
    assert server.open(Host=host.format(port=server.port)).status == 200


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example", "evil.example:{port}", "localhost.evil.example", "127.0.0.1.nip.example"),
        *("evil.example#localhost", "localhost@evil.example", "localhost:80:80", "10.1.2.3"),
        *("sub.quire.example", "[::1", "::1", "", "localhost, evil.example", "localhost:x"),
    ],
)
def test_a_rebound_name_is_refused(server: Server, host: str) -> None:
    named = host.format(port=server.port)
    reply = server.open(Host=named)
    assert (reply.status, "mcp-session-id" in reply.headers) == (421, False)
    assert (
        reply.error
        == (
            f"this server does not answer to {named or 'no name'!r}; whoever runs it can allow a name "
            "with `quire mcp --allow-host NAME`"
        )
        or not named
    )
    modern = server.send(
        call("search", 1, query="harbour"), Host=named, Mcp_Protocol_Version=MODERN
    )
    assert modern.status == 421
    assert b"harbour" not in modern.body


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        *(
            (origin, 200)
            for origin in ("http://localhost:3000", "https://127.0.0.1", "http://[::1]")
        ),
        *((origin, 200) for origin in ("https://quire.example", "http://QUIRE.example:8080")),
        *((origin, 403) for origin in ("http://evil.example", "https://localhost.evil.example")),
        *(
            (origin, 403)
            for origin in ("null", "file://", "http://localhost@evil.example", "http://[")
        ),
        *(
            (origin, 403)
            for origin in ("chrome-extension://localhost", "localhost", "http://10.1.2.3")
        ),
    ],
)
def test_pages_of_other_hosts_are_refused(server: Server, origin: str, status: int) -> None:
    assert server.open(Origin=origin).status == status


def test_every_request_of_a_session_is_checked(server: Server) -> None:
    session = server.open().session
    assert server.ping(session) == 200
    for method in ("POST", "GET", "DELETE"):
        assert server.send(b"", method, Host="evil.example", **session).status == 421
        assert server.send(b"", method, Origin="http://evil.example", **session).status == 403
    assert server.ping(session) == 200


def test_an_address_at_which_it_is_reached_is_a_name(harbour: Tree) -> None:
    address = own_address()
    if not address or address.startswith("127."):
        pytest.skip("this machine has no other address")
    with serving(harbour, "0.0.0.0:0") as started:
        outside = Server(started.port, address)
        assert outside.open().status == 200
        assert outside.open(Host=f"{address}:{started.port}").status == 200
        assert outside.open(Host="evil.example").status == 421
        # What is true of one interface is not true of another.
        assert started.open(Host=address).status == 421


def test_two_host_headers_are_refused(server: Server) -> None:
    with socket.create_connection(("127.0.0.1", server.port), TIME_LIMIT) as raw:
        raw.sendall(b"GET /mcp HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n")
        assert raw.recv(64).split()[1] in {b"400", b"421"}
    with socket.create_connection(("127.0.0.1", server.port), TIME_LIMIT) as raw:
        raw.sendall(b"GET /mcp HTTP/1.0\r\n\r\n")
        assert raw.recv(64).split()[1] in {b"400", b"421"}


def test_names() -> None:
    names = Names("quire.example", ["proxy.example:8443", "[2001:DB8::1]", "10.0.0.7"])
    for host in (
        "quire.example:1",
        "proxy.example:8443",
        "[2001:db8:0::1]:5",
        "10.0.0.7",
        "localhost",
    ):
        assert names.admits(host), host
    for host in ("proxy.example", "proxy.example:80", "2001:db8::1", "[10.0.0.7]", "10.0.0.8"):
        assert not names.admits(host), host
    assert names.admits("[::ffff:10.1.1.1]", "10.1.1.1")
    assert names.admits("10.1.1.1", "::ffff:10.1.1.1")
    assert not Names("0.0.0.0").admits("0.0.0.0")
    for wrong in ("", "a b", "http://x", "x/y", "x:99999", "[::1"):
        with pytest.raises(InputError):
            Names("127.0.0.1", [wrong])


def test_a_wrong_name_is_an_error_at_the_start(harbour: Tree) -> None:
    done = harbour.call("mcp", "--http", "0", "--allow-host", "http://x")
    assert done.returncode == 2
    assert "--allow-host: 'http://x' is not the name of a host" in done.stderr


# --- sessions ------------------------------------------------------------------------------------


def test_the_session_idle_for_longest_ends(harbour: Tree) -> None:
    with serving(harbour, "0", "--max-sessions", "3") as server:
        first, second, third = (server.open().session for _ in range(3))
        assert server.ping(first) == 200  # now the second one is the oldest
        fourth = server.open().session
        assert [server.ping(one) for one in (first, second, third, fourth)] == [200, 404, 200, 200]
        assert server.send(b"", "DELETE", **third).status == 200
        fifth = server.open().session
        assert [server.ping(one) for one in (first, fourth, fifth)] == [200, 200, 200]


def test_a_session_in_use_does_not_end(harbour: Tree) -> None:
    with serving(harbour, "0", "--max-sessions", "1") as server:
        used = server.open().session
        stream = HTTPConnection("127.0.0.1", server.port, timeout=TIME_LIMIT)
        stream.request("GET", "/mcp", headers={**ACCEPT, **used})
        assert stream.getresponse().status == 200
        refused = server.open()
        assert refused.status == 503
        assert server.ping(used) == 200
        stream.close()


def test_requests_without_sessions_end_none(harbour: Tree) -> None:
    with serving(harbour, "0", "--max-sessions", "1") as server:
        session = server.open().session
        modern = server.send(call("search", 1, query="harbour"), Mcp_Protocol_Version=MODERN)
        assert modern.status in {200, 400}
        assert server.send(b"", "GET").status >= 400
        assert server.ping(session) == 200


def test_an_idle_session_ends(harbour: Tree) -> None:
    with serving(harbour, "0", "--session-timeout", "0.2") as server:
        session = server.open().session
        until = time.monotonic() + TIME_LIMIT
        status = 200
        while status == 200 and time.monotonic() < until:
            time.sleep(0.5)
            status = server.ping(session)
        assert status == 404


def test_many_sessions_are_not_kept(harbour: Tree) -> None:
    with serving(harbour, "0", "--max-sessions", "5") as server:
        sessions = [server.open().session for _ in range(60)]
        assert [server.ping(one) for one in sessions[-5:]] == [200] * 5
        assert {server.ping(one) for one in sessions[:-5]} == {404}


# --- slow clients, sizes -------------------------------------------------------------------------

HEAD = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


@pytest.mark.parametrize(
    "half",
    [
        b"",
        b"POST /mcp HT",
        HEAD,
        HEAD + b"Content-Length: 100\r\n\r\n{",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\n{",
        HEAD + b"Content-Length: 99999999\r\n\r\n{",
    ],
)
def test_a_half_sent_request_is_closed(harbour: Tree, half: bytes) -> None:
    with serving(harbour, "0", "--request-timeout", "0.3") as server:
        raws = [socket.create_connection(("127.0.0.1", server.port), TIME_LIMIT) for _ in range(20)]
        for raw in raws:
            raw.sendall(half)
        for raw in raws:
            assert ended(raw)
            raw.close()
        assert server.open().status == 200


def ended(raw: socket.socket) -> bool:
    """Tell whether the other side closes a connection, in the time that a test has."""
    try:
        while raw.recv(4096):
            pass
    except ConnectionResetError:
        return True
    except TimeoutError:
        return False
    return True


def test_bytes_that_trickle_do_not_set_the_clock_back(harbour: Tree) -> None:
    with (
        serving(harbour, "0", "--request-timeout", "0.5") as server,
        socket.create_connection(("127.0.0.1", server.port), TIME_LIMIT) as raw,
    ):
        raw.sendall(HEAD)
        until = time.monotonic() + TIME_LIMIT
        closed = False
        while not closed and time.monotonic() < until:
            time.sleep(0.1)
            try:
                raw.sendall(b"X-A: b\r\n")
            except OSError:
                closed = True
        assert closed


def test_a_long_body_is_refused(server: Server) -> None:
    body = json.dumps(call("search", 1, query="x" * 5_000_000)).encode()
    assert server.send(body).status == 413
    assert server.open().status == 200


def test_a_deep_body_is_refused(server: Server) -> None:
    deep = b'{"jsonrpc":"2.0","id":5,"method":"ping","params":' + b"[" * 9000 + b"]" * 9000 + b"}"
    reply = server.send(deep)
    assert 400 <= reply.status < 500
    assert server.open().status == 200
