"""The service over real sockets: what each endpoint answers."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from quire.core.serialize import to_plain
from quire.server import answer as answering
from quire.server.app import MCP_SESSIONS
from quire.server.table import ENDPOINTS
from tests.conftest import Tree
from tests.mcp import wire

from .running import SECRET, Running, fill, running


def test_a_context_is_the_one_of_the_open_store(service: Running) -> None:
    query = "Who is the pilot of the harbour?"
    answer = service.ask("owner", "POST", "/v1/assemble", {"query": query, "budget": 1000})
    assert answer.status_code == 200
    with service.tree.open() as opened:
        context = opened.assemble(query, budget=1000)
    assert answer.json()["text"] == context.text
    assert answer.json()["receipt"]["hash"] == context.receipt["hash"]
    assert answer.json()["sources"] == to_plain(context)["sources"]
    by_name = {"query": query, "recipe": "workspace", "focus": "Harbour"}
    page = service.ask("owner", "POST", "/v1/assemble", by_name).json()
    assert not any("there is no record" in note for note in page["notes"])


def test_a_receipt_is_kept_for_its_viewer_alone(service: Running) -> None:
    body = {"query": "What does the harbour master earn?"}
    made = service.ask("alice", "POST", "/v1/assemble", body).json()
    assert SECRET in made["text"]
    name = made["receipt"]["hash"]
    kept = service.ask("alice", "GET", f"/v1/receipts/{name}").json()
    assert kept == {"receipt": made["receipt"], "text": made["text"]}
    assert service.ask("alice", "POST", "/v1/verify", {"receipt": name}).json()["holds"]
    assert service.ask("alice", "POST", "/v1/replay", {"receipt": name}).json()["differences"] == []
    listed = service.ask("alice", "GET", "/v1/receipts").json()["items"]
    assert name in [each["id"] for each in listed]
    for who in ("bob", "owner"):
        refused = service.ask(who, "GET", f"/v1/receipts/{name}")
        assert refused.status_code == 404
        assert SECRET not in refused.text
        listed = service.ask(who, "GET", "/v1/receipts").json()["items"]
        assert name not in [each["id"] for each in listed]


def test_errors_carry_their_facts(service: Running) -> None:
    answer = service.ask("owner", "POST", "/v1/assemble", {"query": "x", "format": "csv"})
    assert answer.status_code == 400
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert (problem["error"], problem["field"], problem["value"]) == ("InputError", "format", "csv")
    assert "markdown" in problem["allowed"]
    assert problem["request_id"] == answer.headers["x-request-id"]
    unknown = service.ask("owner", "POST", "/v1/assemble", {"query": "x", "bugdet": 3}).json()
    assert "did you mean 'budget'?" in unknown["detail"]
    small = service.ask("owner", "POST", "/v1/assemble", {"query": "harbour", "budget": 1})
    assert (small.status_code, small.json()["error"]) == (400, "BudgetError")


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "/v1/nothing", None, 404),
        ("PUT", "/v1/status", None, 405),
        ("GET", "/v1/memories/0000", None, 404),
        ("GET", "/v1/documents/0000", None, 404),
        ("GET", "/v1/blocks/0000", None, 404),
        ("GET", "/v1/index/0000", None, 404),
        ("GET", "/v1/memories?limit=0", None, 400),
        ("GET", "/v1/memories?cursor=zz", None, 400),
        ("GET", "/v1/memories?no=1", None, 400),
        ("POST", "/v1/search", {"query": "x", "k": 101}, 400),
        ("POST", "/v1/search", [], 400),
        ("POST", "/v1/index", {"paths": ["../other"]}, 400),
        ("POST", "/v1/index", {"paths": ["/etc"]}, 400),
        ("GET", "/v1/rules?path=../..", None, 404),
    ],
)
def test_a_wrong_request_is_a_problem(
    service: Running, method: str, path: str, body: Any, status: int
) -> None:
    answer = service.ask("owner", method, path, body)
    assert (answer.status_code, answer.headers["content-type"]) == (
        status,
        "application/problem+json",
    ), answer.text


def test_a_wrong_path_or_method_says_what_there_is(service: Running) -> None:
    missing = service.ask("owner", "GET", "/v1/nothing").json()
    assert (missing["value"], missing["hint"]) == ("/v1/nothing", "see /openapi.json")
    wrong = service.ask("owner", "PUT", "/v1/memories")
    assert (wrong.status_code, wrong.json()["allowed"]) == (405, ["GET", "HEAD", "POST"])
    assert wrong.headers["allow"]
    for method in ("GET", "HEAD"):  # which the inspector's files take, at any path
        wrong = service.ask("owner", method, "/v1/assemble")
        assert (wrong.status_code, wrong.headers["allow"]) == (405, "POST")
    assert service.ask("owner", "GET", "/v1/assemble/").status_code == 404
    assert service.ask(None, "PUT", "/main.js").headers["allow"] == "GET, HEAD"


def test_a_body_must_be_json(service: Running) -> None:
    with service.client() as client:
        for content, status in [(b"{", 400), (b'{"query": NaN}', 400), (b'"\\ud800"', 400)]:
            answer = client.post(
                "/v1/search", content=content, headers={"Content-Type": "application/json"}
            )
            assert answer.status_code == status
        assert client.post("/v1/search", content=b"{}").status_code == 415
        deep = b'{"query": "x", "situation": ' + b'{"a":' * 9000 + b"1" + b"}" * 9001
        answer = client.post(
            "/v1/assemble", content=deep, headers={"Content-Type": "application/json"}
        )
        assert answer.status_code == 400


def test_memories_are_written_once_for_each_key(service: Running) -> None:
    body = {"content": "The lighthouse keeper likes tea."}
    key = {"Idempotency_Key": "tea-1"}
    first = service.ask("alice", "POST", "/v1/memories", body, **key)
    assert first.status_code == 201
    again = service.ask("alice", "POST", "/v1/memories", body, **key)
    assert again.content == first.content
    assert again.headers["idempotency-replayed"] == "true"
    other = service.ask("alice", "POST", "/v1/memories", {"content": "Other."}, **key)
    assert (other.status_code, other.json()["field"]) == (400, "Idempotency-Key")
    # Two lines of a header are one, as HTTP says: neither key is dropped in silence.
    with service.client("alice") as client:
        keys = [("Idempotency-Key", "tea-1"), ("Idempotency-Key", "tea-2")]
        for replayed in (None, "true"):
            answer = client.post("/v1/memories", json={"content": "At four."}, headers=keys)
            assert (answer.status_code, answer.headers.get("idempotency-replayed")) == (
                201,
                replayed,
            )
    # The key is of one token: another's write of the same key is a write of its own.
    bobs = service.ask("bob", "POST", "/v1/memories", body, **key)
    assert bobs.json()["author"] == "bob"
    name = first.json()["id"]
    edited = service.ask("alice", "PATCH", f"/v1/memories/{name}", {"importance": 1})
    assert edited.json()["importance"] == 1
    assert service.ask("bob", "GET", f"/v1/memories/{name}").status_code == 404
    assert service.ask("alice", "DELETE", f"/v1/memories/{name}").status_code == 200
    assert service.ask("alice", "GET", f"/v1/memories/{name}").status_code == 404


def test_documents_are_put_as_a_list_or_in_lines_once_for_each_key(service: Running) -> None:
    lines = [
        {"path": "crm/1", "content": "# One", "metadata": {"team": "north"}},
        {"path": "crm/2", "content_base64": base64.b64encode(b"<h1>Two</h1>").decode()},
        {"path": "crm/3"},
    ]
    sent = "\n\n".join(map(json.dumps, lines)) + "\nno json\n"
    target = "/v1/documents/batch?skip_errors=true"
    headers = {"Content-Type": "application/x-ndjson", "Idempotency-Key": "crm"}
    with service.client("alice") as client:
        first = client.post(target, content=sent, headers=headers)
        assert first.status_code == 200, first.text
        assert (first.json()["added"], len(first.json()["skipped"])) == (2, 2)
        again = client.post(target, content=sent, headers=headers)
        assert (again.content, again.headers["idempotency-replayed"]) == (first.content, "true")
        other = client.post("/v1/documents/batch", json=lines[:2])
        assert other.json()["unchanged"] == 2
        for wrong, status in ((b"{}", 400), (b"[1]", 400), (b"[", 400)):
            kind = {"Content-Type": "application/json"}
            answer = client.post("/v1/documents/batch", content=wrong, headers=kind)
            assert answer.status_code == status, answer.text
        media = client.post("/v1/documents/batch", content=b"[]", headers={"Content-Type": "a/b"})
        assert media.status_code == 415
    for path in ("crm/1", "crm/2"):
        gone = service.ask("alice", "DELETE", f"/v1/document?path={path}")
        assert gone.json() == {"deleted": True}
    assert service.ask("alice", "DELETE", "/v1/document?path=crm/1").status_code == 404


def test_a_list_of_documents_has_no_memories(service: Running) -> None:
    def kinds(target: str) -> set[str]:
        items = service.ask("owner", "GET", target).json()["items"]
        return {each["kind"] for each in items}

    assert kinds("/v1/documents?limit=1000") <= {"document", "code", "conversation", "commit"}
    assert {"memory", "experience", "document"} <= kinds("/v1/documents?limit=1000&all=true")
    assert kinds("/v1/documents?kinds=memory") == {"memory"}


def test_a_list_comes_in_pages_and_in_lines(service: Running) -> None:
    found: list[str] = []
    cursor = ""
    while True:
        page = service.ask("owner", "GET", f"/v1/documents?limit=2{cursor}").json()
        assert len(page["items"]) <= 2
        found += [each["path"] for each in page["items"]]
        if page["next"] is None:
            break
        cursor = f"&cursor={page['next']}"
    lines = service.ask("owner", "GET", "/v1/documents", Accept="application/x-ndjson")
    assert [json.loads(line)["path"] for line in lines.text.splitlines()] == found
    assert {"docs/harbour.md", "hr/pay.md"} <= set(found)
    first = service.ask("owner", "GET", "/v1/documents?limit=1").json()["next"]
    target = f"/v1/documents?limit=2&cursor={first}"
    lines = service.ask("owner", "GET", target, Accept="application/x-ndjson")
    assert [json.loads(line)["path"] for line in lines.text.splitlines()] == found[1:3]
    target = "/v1/documents?cursor=zz"
    assert service.ask("owner", "GET", target, Accept="application/x-ndjson").status_code == 400


def test_a_tag_changes_with_what_the_viewer_may_read(service: Running) -> None:
    def tag(who: str) -> str:
        return str(service.ask(who, "GET", "/v1/memories").headers["etag"])

    bobs, alices = tag("bob"), tag("alice")
    assert bobs != alices
    same = service.ask("bob", "GET", "/v1/memories", If_None_Match=bobs)
    assert (same.status_code, same.content) == (304, b"")
    made = service.ask("alice", "POST", "/v1/memories", {"content": "Tides are early today."})
    assert tag("alice") != alices
    assert tag("bob") == bobs
    service.ask("alice", "DELETE", f"/v1/memories/{made.json()['id']}")


def test_status_and_receipts_have_a_tag_of_their_content(service: Running) -> None:
    made = service.ask("bob", "POST", "/v1/assemble", {"query": "Where do ships rest?"}).json()
    for path in ("/v1/status", "/v1/receipts", f"/v1/receipts/{made['receipt']['hash']}"):
        first = service.ask("bob", "GET", path)
        tag = first.headers["etag"]
        same = service.ask("bob", "GET", path, If_None_Match=tag)
        assert (same.status_code, same.content, same.headers["etag"]) == (304, b"", tag), path
        others = service.ask("alice", "GET", path, If_None_Match=tag)
        assert others.status_code in (200, 404), path
        assert others.headers.get("etag") != tag
    before = service.ask("bob", "GET", "/v1/receipts").headers["etag"]
    service.ask("bob", "POST", "/v1/assemble", {"query": "When does the tide turn?"})
    assert service.ask("bob", "GET", "/v1/receipts", If_None_Match=before).status_code == 200


def test_lines_are_sent_as_they_are_written(service: Running) -> None:
    with (
        service.client("owner") as client,
        client.stream("GET", "/v1/chunks", headers={"Accept": "application/x-ndjson"}) as answer,
    ):
        assert answer.headers["transfer-encoding"] == "chunked"
        assert "content-length" not in answer.headers
        paths = [json.loads(line)["path"] for line in answer.iter_lines()]
    assert {"docs/harbour.md", "hr/pay.md"} <= set(paths)


def test_a_long_list_is_sent_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answering, "PART", 20)
    written: list[int] = []

    def items() -> Iterator[dict[str, int]]:
        for number in range(8):
            written.append(number)
            yield {"id": number}

    parts = answering._lines(items())  # type: ignore[arg-type]  # any iterable will do
    assert next(parts) == b'{"id":0}\n{"id":1}\n{"id":2}\n'
    assert written == [0, 1, 2], "the rest is written when it is sent"
    assert b"".join(parts).count(b"\n") == 5


def test_a_tag_changes_with_who_may_read_and_where_a_block_is(service: Running) -> None:
    made = service.ask(
        "alice",
        "POST",
        "/v1/blocks",
        {"blocks": [{"id": "log", "type": "page", "text": "Log"}, {"id": "b", "type": "page"}]},
    )
    assert made.status_code == 201, made.text
    seen = set()
    for path, body in [
        ("/v1/blocks/log/share", {"access": ["bob"]}),
        ("/v1/blocks/log/move", {"parent": "b"}),
        ("/v1/blocks/log/move", {"parent": None, "position": 3}),
    ]:
        before = service.ask("alice", "GET", "/v1/blocks")
        answer = service.ask("alice", "POST", path, body)
        assert answer.status_code == 200, answer.text
        after = service.ask("alice", "GET", "/v1/blocks")
        assert (before.headers["etag"] == after.headers["etag"]) == (
            before.content == after.content
        )
        seen.add(after.content)
    assert len(seen) > 1
    for name in ("log", "b"):
        assert service.ask("alice", "DELETE", f"/v1/blocks/{name}").status_code == 200


def test_an_index_job_reports_its_progress(service: Running) -> None:
    job = service.ask("owner", "POST", "/v1/index", {"embed": False})
    assert job.status_code == 202, job.text
    with (
        service.client() as client,
        client.stream("GET", f"/v1/index/{job.json()['id']}/events") as stream,
    ):
        lines = [line for line in stream.iter_lines() if line]
    assert lines[-2] == "event: finished"
    assert json.loads(lines[-1].removeprefix("data: "))["result"]["removed"] == 0
    for who in ("alice", "operator", "reader"):
        assert service.ask(who, "POST", "/v1/index", {}).status_code == 403
        assert service.ask(who, "GET", f"/v1/index/{job.json()['id']}/events").status_code == 403


def test_an_index_job_is_cancelled(plant: Any) -> None:
    """It stops at its next commit, its followers hear of it, and another can begin."""
    tree: Tree = fill(plant("cancelled"))
    tree.fill({f"many/{number}.md": f"# {number}\n\nTide {number}.\n" for number in range(3000)})
    with running(tree) as service:
        job = service.ask("owner", "POST", "/v1/index", {"embed": False}).json()
        busy = service.ask("owner", "POST", "/v1/index", {"embed": False})
        assert (busy.status_code, job["id"] in busy.json()["detail"]) == (409, True)
        path = f"/v1/index/{job['id']}"
        assert service.ask("alice", "DELETE", path).status_code == 403
        asked = service.ask("owner", "DELETE", path).json()
        assert asked["cancelling"] or asked["state"] == "cancelled"
        with service.client() as client, client.stream("GET", f"{path}/events") as stream:
            lines = [line for line in stream.iter_lines() if line]
        assert lines[-2] == "event: cancelled"
        ended = json.loads(lines[-1].removeprefix("data: "))
        assert (ended["state"], ended["cancelling"], ended["result"]) == ("cancelled", False, None)
        assert service.ask("owner", "DELETE", path).json() == ended
        again = service.ask("owner", "POST", "/v1/index", {"paths": ["docs"], "embed": False})
        assert again.status_code == 202


def test_only_an_owner_with_admin_reads_as_another(service: Running) -> None:
    body = {"query": "harbour", "viewer": "bob"}
    assert SECRET not in service.ask("owner", "POST", "/v1/search", body).text
    assert SECRET in service.ask("owner", "POST", "/v1/search", {"query": "harbour"}).text
    for who in ("reader", "alice", "operator"):
        assert service.ask(who, "POST", "/v1/search", body).status_code == 403
        assert service.ask(who, "GET", "/v1/status?viewer=bob").status_code == 403


def test_metrics_need_the_scope_admin(service: Running) -> None:
    service.ask("owner", "GET", "/v1/status")
    text = service.ask("operator", "GET", "/metrics").text
    assert 'quire_requests_total{method="GET",route="/v1/status",status="200"}' in text
    assert SECRET not in text
    for who in ("alice", "reader"):
        assert service.ask(who, "GET", "/metrics").status_code == 403
    assert service.ask(None, "GET", "/metrics").status_code == 401


def test_every_example_of_the_document_works(service: Running) -> None:
    for endpoint in ENDPOINTS:
        if endpoint.example is not None and "{" not in endpoint.path:
            body = endpoint.example
            if endpoint.name in ("why_not", "situate"):
                body = {**body, **({"path": "docs/tides.md"} if "path" in body else {})}
            target = endpoint.path
            if "path" in endpoint.required:
                target += "?path=crm/42"  # which an example before it puts
            answer = service.ask("owner", endpoint.method, target, body)
            assert answer.status_code == endpoint.status, (endpoint.path, answer.text)


def test_mcp_has_the_viewer_and_the_scope_of_the_token(service: Running) -> None:
    def call(who: str, tool: str, arguments: dict[str, Any]) -> Any:
        message = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": tool, "arguments": arguments},
        }
        accept = "application/json, text/event-stream"
        opened = {
            "jsonrpc": "2.0",
            "id": 0,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            },
        }
        with service.client(who) as client:
            first = client.post("/mcp", json=opened, headers={"Accept": accept})
            assert first.status_code == 200, first.text
            session = {"Mcp-Session-Id": first.headers["mcp-session-id"], "Accept": accept}
            stolen = service.ask(
                "bob" if who != "bob" else "alice",
                "POST",
                "/mcp",
                message,
                **{name.replace("-", "_"): value for name, value in session.items()},
            )
            assert stolen.status_code == 404
            client.post(
                "/mcp",
                json={"jsonrpc": "2.0", "method": "notifications/initialized"},
                headers=session,
            )
            return client.post("/mcp", json=message, headers=session).text

    assert SECRET in call("alice", "search", {"query": "What does the harbour master earn?"})
    assert SECRET not in call("bob", "search", {"query": "What does the harbour master earn?"})
    assert "may only read" in call("reader", "remember", {"text": "No."})
    assert service.ask(None, "POST", "/mcp", {}).status_code == 401


def test_made_up_sessions_of_mcp_close_no_session(service: Running) -> None:
    """Sessions are limited in number: names that nobody was given must not take their places."""
    accept = {"Accept": "application/json, text/event-stream"}
    listing = wire.request("tools/list", 1)
    with service.client("alice") as client:
        first = client.post("/mcp", json=wire.initialize("2025-06-18"), headers=accept)
        session = {"Mcp-Session-Id": first.headers["mcp-session-id"], **accept}
        with service.client("bob") as other:
            for number in range(MCP_SESSIONS + 20):
                named = {"Mcp-Session-Id": f"{number:032x}"}
                # Some are refused for another reason, before anybody looks for the session.
                named |= accept if number % 8 == 0 else {"Mcp-Protocol-Version": wire.MODERN}
                answer = other.post("/mcp", json=listing, headers=named)
                assert answer.status_code == (404 if number % 8 == 0 else 400)
                assert "mcp-session-id" not in answer.headers
            opened = other.post("/mcp", json=wire.initialize("2025-06-18"), headers=accept)
            assert opened.status_code == 200
            taken = {"Mcp-Session-Id": first.headers["mcp-session-id"], **accept}
            assert other.post("/mcp", json=listing, headers=taken).status_code == 404
            assert other.delete("/mcp", headers=taken).status_code == 404
        client.post(
            "/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=session
        )
        answer = client.post("/mcp", json=listing, headers=session)
        assert (answer.status_code, "assemble_context" in answer.text) == (200, True)
        assert client.delete("/mcp", headers=session).is_success
        assert client.post("/mcp", json=listing, headers=session).status_code == 404


def test_to_ask_models_again_needs_the_scope_write(service: Running) -> None:
    """A judge or a writer may cost money: whoever may only read replays what they answered."""
    made = service.ask("reader", "POST", "/v1/assemble", {"query": "Who is the pilot?"}).json()
    body = {"receipt": made["receipt"], "ask_models": True}
    refused = service.ask("reader", "POST", "/v1/replay", body)
    assert (refused.status_code, refused.json()["field"]) == (403, "ask_models")
    for who, sent in (("reader", {**body, "ask_models": False}), ("owner", body)):
        replayed = service.ask(who, "POST", "/v1/replay", sent)
        assert (replayed.status_code, replayed.json()["differences"]) == (200, [])


def test_sigterm_finishes_what_runs(plant: Any) -> None:
    tree: Tree = fill(plant("stopped"))
    with running(tree, "--workers", "2") as service:
        for _ in range(4):
            assert service.ask("bob", "GET", "/v1/status").status_code == 200
        assert "quire_requests_total" in service.ask("operator", "GET", "/metrics").text
        started = time.monotonic()
        service.stop()
        assert time.monotonic() - started < 20
