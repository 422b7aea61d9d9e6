"""Who may: every endpoint, generated from the table, with and without a token, scope and right."""

from __future__ import annotations

import json
import re
import socket
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from quire.cli.options import Common
from quire.config.access_tokens import ADMIN, SCOPES, TokenFile
from quire.server import openapi
from quire.server.endpoint import Endpoint
from quire.server.table import ENDPOINTS
from tests.conftest import LONG_AGO, Tree

from .running import Running, fill, running

MARK = "xylophonist"
"""A word that is in everything of alice's, and in nothing that bob may read."""
ABSENT = {"id": "0" * 32, "path": "no/such.md", "receipt": "f" * 64}


class World:
    """A service in which alice has one of everything, and bob nothing."""

    def __init__(self, service: Running) -> None:
        self.service = service
        ask = self.ask
        self.memory = ask("POST", "/v1/memories", {"content": f"The {MARK} sleeps."})["id"]
        goal = {"goal": f"Wake the {MARK}", "domain": "debugging"}
        self.experience = ask("POST", "/v1/experiences", goal)["id"]
        page = {"blocks": [{"id": "alices", "type": "page", "text": f"The {MARK} page"}]}
        self.block = ask("POST", "/v1/blocks", page)["blocks"][0]["id"]
        context = ask("POST", "/v1/assemble", {"query": MARK, "budget": 3000})
        assert MARK in context["text"]
        self.receipt = context["receipt"]
        self.chunk = context["sources"][0]["chunk_id"]
        given = {"receipt": self.receipt["hash"], "useful": [self.chunk]}
        self.feedback = ask("POST", "/v1/feedback", given)["id"]
        with service.tree.open() as opened:
            paths = {record.path: record.id for record in opened.documents.list(viewer="alice")}
        self.record = paths["hr/list.md"]
        note = {
            "path": "crm/42",
            "content": f"# Note\n\nThe {MARK} called.",
            "metadata": {"who": MARK},
        }
        self.document = ask("POST", "/v1/documents", note)["path"]
        assert self.document == "@alice/crm/42"
        self.job = ask("POST", "/v1/index", {"embed": False}, who="owner")["id"]

    def ask(self, method: str, path: str, body: Any = None, who: str = "alice") -> Any:
        answer = self.service.ask(who, method, path, body)
        assert answer.status_code < 300, answer.text
        return answer.json()

    def id_for(self, path: str) -> str:
        """Return the id of something of alice's for a path."""
        kinds = {
            "memories": self.memory,
            "experiences": self.experience,
            "blocks": self.block,
            "feedback": self.feedback,
            "documents": self.record,
            "receipts": self.receipt["hash"],
            "index": self.job,
        }
        return str(kinds[path.split("/")[2]])

    def body_for(self, endpoint: Endpoint) -> Any:
        """Return a body that asks for what is alice's."""
        if endpoint.body is None:
            return None
        if endpoint.lines:
            items = {
                "put_documents": {"path": self.document, "content": "Bob was here."},
                "import_memories": {"id": self.memory, "content": "Bob was here."},
                "import_blocks": {"id": self.block, "type": "page", "text": "Bob was here"},
            }
            return [items[endpoint.name]]
        known: dict[str, Any] = {
            "query": MARK,
            "path": "crm/42" if endpoint.name == "put_document" else "hr/list.md",
            "metadata": {"who": "bob"},
            "title": "Bob's",
            "receipt": self.receipt["hash"],
            "old": self.receipt["hash"],
            "new": self.receipt["hash"],
            "useful": [self.chunk],
            "supersedes": self.memory,
            "content": "Bob was here.",
            "goal": "Bob's goal",
            "domain": "debugging",
            "outcome": "confirmed",
            "situation": {"tool": "edit", "path": "hr/list.md"},
            "blocks": [{"type": "paragraph", "parent": self.block, "text": "Bob was here"}],
            "parent": None,
            "access": ["bob"],
            "focus": self.block,
            "include": [self.record],
            "text": "Bob was here",
            "hypothesis": "Bob's",
        }
        skipped = {"exclude", "context", "base"}
        names = [name for name in endpoint.body["properties"] if name not in skipped]
        return {name: known[name] for name in names if name in known}

    def target(self, endpoint: Endpoint, name: str | None = None) -> str:
        path = endpoint.path
        if "{id}" in path:
            path = path.replace("{id}", name or self.id_for(path))
        if "path" in endpoint.parameters:
            known = self.document if path == "/v1/document" else "hr/list.md"
            path += "?path=" + (ABSENT["path"] if name else known)
        return path


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Any:
    tree = Tree(tmp_path_factory.mktemp("access") / "harbour")
    tree.write("hr/list.md", f"# List\n\nThe {MARK} earns ninety.\n")
    fill(tree)
    with running(tree) as service:
        yield World(service)


EVERY = pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda endpoint: endpoint.name)


def test_every_path_of_the_document_is_in_a_table(world: World) -> None:
    """A route that is added by hand must be added to the tests below as well."""
    documented = {
        (method.upper(), path)
        for path, methods in openapi.document()["paths"].items()
        for method in methods
    }
    by_hand = {
        ("GET", "/v1/index/{id}/events"),
        ("POST", "/v1/chat/completions"),
        ("GET", "/v1/models"),
        ("GET", "/metrics"),
        ("GET", "/healthz"),
        ("GET", "/readyz"),
    }
    assert documented == {(each.method, each.path) for each in ENDPOINTS} | by_hand
    served = world.service.ask(None, "GET", "/openapi.json").json()
    assert set(served["paths"]) == {path for _, path in documented}


@EVERY
@pytest.mark.parametrize("sent", [None, "Bearer", "Bearer quire_0_0", "Basic YTpi", "Bearer \xe9"])
def test_nothing_is_told_without_a_token(
    world: World, endpoint: Endpoint, sent: str | None
) -> None:
    headers = {} if sent is None else {b"Authorization": sent.encode("latin-1")}
    answer = httpx.request(
        endpoint.method,
        world.service.url + world.target(endpoint),
        json=world.body_for(endpoint),
        headers=headers,
        trust_env=False,
        verify=False,
    )
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")
    assert MARK not in answer.text


@EVERY
def test_a_token_without_the_scope_is_refused(world: World, endpoint: Endpoint) -> None:
    weaker = [scope for scope in SCOPES if SCOPES.index(scope) < SCOPES.index(endpoint.scope)]
    who = {"read": "reader", "write": "alice"}
    callers = [who[scope] for scope in weaker]
    if endpoint.owner:
        callers += ["alice", "operator"]
    for caller in callers:
        answer = world.service.ask(
            caller, endpoint.method, world.target(endpoint), world.body_for(endpoint)
        )
        assert answer.status_code == 403, (caller, answer.text)
        assert MARK not in answer.text


@EVERY
def test_bob_never_reads_what_is_alices(world: World, endpoint: Endpoint) -> None:
    """What exists and may not be read answers as what does not exist, to the byte."""
    service = world.service
    answer = service.ask("bob", endpoint.method, world.target(endpoint), world.body_for(endpoint))
    shown = answer.text
    if endpoint.body and "query" in endpoint.body.get("properties", ()):
        shown = re.sub(rf'"query": ?"{MARK}"', "", shown)  # his own words, in the receipt
    assert MARK not in shown
    assert "ninety" not in shown
    if "{id}" in endpoint.path and not endpoint.owner:
        absent = ABSENT["receipt"] if "receipts" in endpoint.path else ABSENT["id"]
        name = "nosuch" if "blocks" in endpoint.path else absent
        other = service.ask(
            "bob", endpoint.method, world.target(endpoint, name), world.body_for(endpoint)
        )
        assert answer.status_code == other.status_code == 404
        assert _anonymous(answer.text, world.id_for(endpoint.path)) == _anonymous(other.text, name)
        assert "etag" not in answer.headers
    if endpoint.path == "/v1/document":
        absent = service.ask(
            "bob", endpoint.method, world.target(endpoint, "absent"), world.body_for(endpoint)
        )
        assert answer.status_code == absent.status_code == 404
        shown = _anonymous(answer.text, world.document)
        assert shown == _anonymous(absent.text, ABSENT["path"])
        assert "etag" not in answer.headers
    elif endpoint.tagged and "{id}" not in endpoint.path:
        mine = service.ask("alice", endpoint.method, world.target(endpoint))
        assert answer.headers["etag"] != mine.headers["etag"]


def _anonymous(text: str, name: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(text.replace(name, "ID"))
    return {key: value for key, value in data.items() if key != "request_id"}


def test_alices_things_are_untouched_by_bob(world: World) -> None:
    """Runs after bob tried to edit, move, share and delete all of them."""
    memory = world.ask("GET", f"/v1/memories/{world.memory}")
    assert MARK in memory["content"]
    assert memory["superseded_by"] is None
    assert MARK in world.ask("GET", f"/v1/blocks/{world.block}")["text"]
    assert world.ask("GET", f"/v1/experiences/{world.experience}")["outcome"] == "open"
    document = world.ask("GET", f"/v1/document?path={world.document}")
    assert MARK in document["text"]
    assert document["metadata"] == {"who": MARK}
    assert [each["id"] for each in world.ask("GET", "/v1/feedback")["items"]] == [world.feedback]


def test_bob_overwrites_nothing_at_the_path_of_another(world: World) -> None:
    put = {"path": "hr/list.md", "content": "# Bob\n\nBob's own."}
    mine = world.ask("POST", "/v1/documents", put, who="bob")
    assert mine["path"] == "@bob/hr/list.md"
    assert MARK in world.ask("GET", "/v1/document?path=hr/list.md")["text"]
    assert "Bob's own" in world.ask("GET", "/v1/document?path=hr/list.md", who="bob")["text"]
    for path in ("@alice/crm/42", "../x", "/etc/passwd", ".quire/store.db"):
        refused = world.service.ask("bob", "POST", "/v1/documents", {**put, "path": path})
        assert refused.status_code == 400, refused.text
    listed = world.ask("GET", "/v1/documents?put_only=true", who="bob")["items"]
    assert [each["path"] for each in listed] == ["@bob/crm/42", "@bob/hr/list.md"]
    facets = world.ask("GET", "/v1/facets", who="bob")["facets"]
    assert MARK not in json.dumps(facets)
    assert MARK in json.dumps(world.ask("GET", "/v1/facets")["facets"])


def test_a_session_goes_on_with_nothing_that_is_anothers(world: World) -> None:
    """Bob claims to have been shown a chunk of alice's, at paths of his own choice."""
    answers = []
    for name in (world.chunk, "0" * 32):
        part = {"text": "Bob's own words.", "sources": [{"chunk_id": name, "path": "../../etc"}]}
        body = {"query": "Where do ships rest?", "budget": 2000, "number": 3, "parts": [part]}
        answer = world.ask("POST", "/v1/session", body, who="bob")
        assert (answer["kept"], answer["number"]) == (0, 4)
        assert answer["restarted"] == "../../etc changed, or may no longer be read"
        answers.append({key: value for key, value in answer.items() if key != "added"})
        assert MARK not in answer["added"]["text"]
    assert answers[0] == answers[1]


def test_a_receipt_is_gone_with_the_right_to_read(world: World) -> None:
    tree = world.service.tree
    tree.write("quire.toml", '[access]\n"hr/**" = ["carol"]\n')
    try:
        refused = world.service.ask("alice", "GET", f"/v1/receipts/{world.receipt['hash']}")
        assert refused.status_code == 404
        assert "ninety" not in refused.text
    finally:
        tree.write("quire.toml", '[access]\n"hr/**" = ["alice"]\n')
    assert world.service.ask("alice", "GET", f"/v1/receipts/{world.receipt['hash']}").is_success


def test_places_on_the_machine_are_told_to_the_owner_alone(world: World) -> None:
    body = {"query": "x", "recipe": "situation", "base": "../outside"}
    root = str(world.service.tree.root)
    told = world.service.ask("owner", "POST", "/v1/assemble", body)
    assert root in told.text
    hidden = world.service.ask("bob", "POST", "/v1/assemble", body)
    assert (hidden.status_code, root in hidden.text) == (400, False)


# --- tokens --------------------------------------------------------------------------------------


def test_a_token_that_is_revoked_rotated_or_expired_opens_nothing(world: World) -> None:
    tree, service = world.service.tree, world.service

    def status(text: str) -> int:
        headers = {"Authorization": f"Bearer {text}"}
        url = f"{service.url}/v1/status"
        return httpx.get(url, headers=headers, trust_env=False, verify=False).status_code

    made = json.loads(tree.call("token", "create", "--viewer", "dora", "--json").stdout)
    assert status(made["token"]) == 200
    rotated = json.loads(tree.call("token", "rotate", made["id"], "--json").stdout)
    assert (status(made["token"]), status(rotated["token"])) == (401, 200)
    kept = json.loads(tree.call("token", "rotate", made["id"], "--grace", "1h", "--json").stdout)
    assert (status(rotated["token"]), status(kept["token"])) == (200, 200)
    assert tree.call("token", "revoke", made["id"]).returncode == 0
    assert (status(rotated["token"]), status(kept["token"])) == (401, 401)
    assert tree.call("token", "revoke", made["id"]).returncode == 2
    listed = json.loads(tree.call("token", "list", "--json").stdout)["tokens"]
    assert made["id"] not in [each["id"] for each in listed]
    assert not any("token" in each or "sha256" in each for each in listed)


def test_the_file_of_tokens_holds_no_token(tmp_path: Any) -> None:
    file = TokenFile(tmp_path / "private" / "tokens.json")
    token, text = file.create(at=LONG_AGO, viewer="dora", groups=["crew"], expires=LONG_AGO + 10)
    written = file.path.read_text()
    assert text not in written
    assert text.split("_", 2)[2] not in written
    assert file.path.stat().st_mode & 0o077 == 0
    assert file.find(text, LONG_AGO + 9) == token
    assert token.reader.principals == {"public", "user:dora", "group:crew"}
    assert file.find(text, LONG_AGO + 10) is None
    for wrong in ("", "quire", f"quire_{token.id}_", text[:-1], text + "x", "x" * 10_000, "\ud800"):
        assert file.find(wrong, LONG_AGO) is None
    file.path.chmod(0o644)
    with pytest.raises(Exception, match="other users"):
        TokenFile(file.path).find(text, LONG_AGO)


def test_a_short_time_begins_when_the_store_is_open(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Opening a store takes as long as it takes; here a minute of a clock of its own."""
    clock = [LONG_AGO]
    opened = Common.open

    def open_slowly(options: Common) -> Any:
        clock[0] += 60
        return opened(options)

    monkeypatch.setattr("quire.cli.serve.now", lambda: clock[0])
    monkeypatch.setattr(Common, "open", open_slowly)
    tree.write("a.md", "Anchor.\n")
    tree.index()
    done = tree.call("token", "create", "--expires", "1s", "--json")
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)
    assert (made["created"], made["expires"]) == (LONG_AGO + 60, LONG_AGO + 61)


@pytest.mark.parametrize(
    ("text", "hour"),
    [("2099-01-31", 0), ("2099-01-31T12:00", 12), ("2099-01-31T12:00-05:00", 17)],
)
def test_a_token_ends_at_the_moment_that_its_offset_says(tree: Tree, text: str, hour: int) -> None:
    tree.write("a.md", "Anchor.\n")
    tree.index()
    made = json.loads(tree.call("token", "create", "--expires", text, "--json").stdout)
    assert made["expires"] == datetime(2099, 1, 31, hour, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--scope", "root"), "scope"),
        (("--expires", "yesterday"), "not a time"),
        (("--expires", "2001-01-01"), "past"),
        (("--viewer", "owner"), "owner"),
        (("--viewer", "a b"), "name"),
        (("--group", "crew"), "the owner"),
    ],
)
def test_a_wrong_token_is_not_created(world: World, options: tuple[str, ...], problem: str) -> None:
    done = world.service.tree.call("token", "create", *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert problem in done.stderr


# --- names, origins, headers, paths --------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1.evil.example"}, 421),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://localhost:3000"}, 200),
    ],
)
def test_only_pages_of_its_own_names_may_use_it(
    world: World, headers: dict[str, str], status: int
) -> None:
    with world.service.client() as client:
        answer = client.get("/v1/status", headers=headers)
    assert answer.status_code == status
    assert not any(name.startswith("access-control") for name in answer.headers)


def test_headers_cannot_be_injected(world: World) -> None:
    answer = world.service.ask("owner", "GET", "/v1/status", X_Request_Id="abc-1")
    assert answer.headers["x-request-id"] == "abc-1"
    for wrong in ("a b", "a" * 65, "a;b"):
        answer = world.service.ask("owner", "GET", "/v1/status", X_Request_Id=wrong)
        assert answer.headers["x-request-id"] != wrong
    with socket.create_connection(("127.0.0.1", world.service.port), timeout=20) as raw:
        raw.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: a\rb\r\n\r\n")
        assert b"\rb" not in raw.recv(4096)


@pytest.mark.parametrize(
    "path",
    [
        "/../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/..%2f..%2fetc/passwd",
        "/v1/documents/..%2f..%2fetc%2fpasswd",
        "/v1/receipts/%2e%2e",
        "/v1/chunks?path=../../etc/passwd",
        "/v1/chunks?path=/etc/passwd",
        "/index.html/../../server/app.py",
    ],
)
def test_no_path_leads_to_files(world: World, path: str) -> None:
    with socket.create_connection(("127.0.0.1", world.service.port), timeout=20) as raw:
        token = world.service.tokens["owner"]
        head = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n"
        raw.sendall(f"{head}Connection: close\r\n\r\n".encode())
        answer = b""
        while part := raw.recv(65536):
            answer += part
    assert b"root:" not in answer
    assert b"import" not in answer


@pytest.mark.parametrize(
    ("variable", "value", "problem"),
    [
        ("QUIRE_CHAT_URL", "ftp://host/v1", "must begin with http"),
        ("OTEL_TRACES_EXPORTER", "nowhere", "no exporter of spans named 'nowhere'"),
    ],
)
def test_a_wrong_setting_is_told_when_it_starts(
    world: World, variable: str, value: str, problem: str
) -> None:
    refused = world.service.tree.run("serve", "--port", "0", env={variable: value})
    assert (refused.returncode, problem in refused.stderr) == (2, True), refused.stderr


def test_without_a_token_only_on_loopback(tree: Tree) -> None:
    tree.write("a.md", "# A\n\nText.\n")
    tree.index()
    refused = tree.run("serve", "--no-token", "--host", "0.0.0.0", "--port", "0")
    assert refused.returncode == 2
    assert "would be the owner" in refused.stderr
    with running(tree, "--no-token") as service:
        answer = service.ask(None, "GET", "/v1/status")
        assert answer.json()["records"] == 1
        with service.client(None) as client:
            assert client.get("/v1/status", headers={"Origin": "http://a.b"}).status_code == 403
    assert ADMIN in SCOPES
