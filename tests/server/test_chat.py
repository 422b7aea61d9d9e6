"""Chats that are passed on with a context, to a real endpoint on a real socket."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from quire.config.access_tokens import TokenFile
from quire.errors import ConfigError
from quire.llm.http import check_address
from quire.server.chat import PREFACE
from quire.server.table import ENDPOINTS
from quire.tokens import open_counter
from tests.conftest import LONG_AGO, Forest, Tree

from .chat_endpoint import KEY, Upstream, chat_settings
from .chat_endpoint import upstream as upstream  # noqa: PLC0414 - the fixture
from .running import SECRET, Running, fill, running


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, upstream: Upstream) -> Iterator[Running]:
    tree = fill(Tree(tmp_path_factory.mktemp("chat") / "harbour"))
    with running(tree, env=chat_settings(upstream)) as started:
        yield started


def chat(content: Any, **more: Any) -> dict[str, Any]:
    system = {"role": "system", "content": "Be brief."}
    return {"model": "m", "messages": [system, {"role": "user", "content": content}], **more}


def test_a_context_is_added_within_the_budget(service: Running, upstream: Upstream) -> None:
    question = "What does the harbour master earn?"
    answer = service.ask("alice", "POST", "/v1/chat/completions", chat(question))
    assert (answer.status_code, answer.json()["model"]) == (200, "m")
    headers, sent = upstream.seen[-1]
    roles = [message["role"] for message in sent["messages"]]
    assert roles == ["system", "system", "user"]
    added = sent["messages"][1]["content"]
    assert added.startswith(PREFACE)
    assert SECRET in added
    assert sent["messages"][2]["content"] == question
    # The token stays here; the endpoint gets its own key.
    assert headers["authorization"] == f"Bearer {KEY}"
    assert service.tokens["alice"] not in json.dumps(upstream.seen)
    name = answer.headers["x-quire-receipt"]
    receipt = service.ask("alice", "GET", f"/v1/receipts/{name}").json()
    assert receipt["text"] == added.removeprefix(PREFACE)
    total = receipt["receipt"]["recipe"]["budget"]["total"]
    assert total == 1500 - open_counter().count(PREFACE), "the preface is in the budget, too"
    assert service.ask("bob", "GET", f"/v1/receipts/{name}").status_code == 404


@pytest.mark.parametrize(
    ("model", "counter"),
    [("gpt-3.5-turbo", "cl100k"), ("gpt-4o", "o200k"), ("unheard-of-7b", "o200k"), (7, "o200k")],
)
def test_it_is_counted_for_the_model_of_the_chat(
    service: Running, upstream: Upstream, model: Any, counter: str
) -> None:
    for budget in (120, 150, 200, 1500):
        body = chat("What does the harbour master earn?", quire={"budget": budget})
        answer = service.ask("alice", "POST", "/v1/chat/completions", {**body, "model": model})
        assert answer.status_code == 200, answer.text
        name = answer.headers["x-quire-receipt"]
        receipt = service.ask("alice", "GET", f"/v1/receipts/{name}").json()["receipt"]
        assert receipt["counter"] == counter
        messages = upstream.seen[-1][1]["messages"]
        if len(messages) == 3:  # there was room for a piece
            assert open_counter(counter).count(messages[1]["content"]) <= budget
    assert len(messages) == 3


def test_models_are_those_of_the_endpoint(service: Running, upstream: Upstream) -> None:
    answer = service.ask("alice", "GET", "/v1/models")
    assert (answer.status_code, answer.json()["data"]) == (200, [{"id": "m"}])
    assert upstream.asked[-1]["authorization"] == f"Bearer {KEY}"
    refused = service.ask("owner", "GET", "/v1/models")
    assert (refused.status_code, refused.json()["field"]) == (403, "chat")
    assert service.ask(None, "GET", "/v1/models").status_code == 401


def test_the_context_is_what_the_viewer_may_read(service: Running, upstream: Upstream) -> None:
    parts = [{"type": "text", "text": "What does the harbour master earn?"}]
    answer = service.ask("bob", "POST", "/v1/chat/completions", chat(parts))
    assert answer.status_code == 200
    assert SECRET not in json.dumps(upstream.seen[-1])


def test_options_are_those_of_a_context(service: Running, upstream: Upstream) -> None:
    body = chat("harbour", quire={"paths": ["docs/tides.md"], "recipe": "documents"})
    assert service.ask("alice", "POST", "/v1/chat/completions", body).status_code == 200
    sent = upstream.seen[-1][1]
    assert "quire" not in sent
    assert "low tide" in sent["messages"][1]["content"]
    assert "Wren" not in sent["messages"][1]["content"]
    wrong = chat("harbour", quire={"recipe": "../x.toml"})
    answer = service.ask("alice", "POST", "/v1/chat/completions", wrong)
    assert (answer.status_code, answer.json()["field"]) == (400, "recipe")
    plain = chat("harbour", quire=False)
    assert service.ask("alice", "POST", "/v1/chat/completions", plain).status_code == 200
    assert len(upstream.seen[-1][1]["messages"]) == 2


def test_a_stream_comes_in_its_parts(service: Running, upstream: Upstream) -> None:
    upstream.go_on.clear()
    body = chat("harbour", stream=True)
    with (
        service.client("alice") as client,
        client.stream("POST", "/v1/chat/completions", json=body) as answer,
    ):
        parts = answer.iter_raw()
        assert next(parts) == b'data: {"n": 1}\n\n'  # the second has not been sent yet
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert answer.headers["x-quire-receipt"]
        upstream.go_on.set()
        assert b"".join(parts) == b"data: [DONE]\n\n"


def test_no_scope_includes_chats(service: Running, upstream: Upstream) -> None:
    """Chats are paid for with the owner's key: only tokens that were made for it may."""
    before = len(upstream.seen)
    for who in ("reader", "operator", "owner"):
        answer = service.ask(who, "POST", "/v1/chat/completions", chat("harbour"))
        assert (answer.status_code, answer.json()["field"]) == (403, "chat")
        assert "--chat" in answer.json()["hint"]
        assert service.ask(who, "GET", "/v1/me").json()["may_chat"] is False
    assert len(upstream.seen) == before
    assert service.ask("alice", "GET", "/v1/me").json()["may_chat"] is True
    listed = json.loads(service.tree.call("token", "list", "--json").stdout)["tokens"]
    assert {each["viewer"] for each in listed if each["chat"]} == {"alice", "bob"}
    (name,) = [each["id"] for each in listed if each["viewer"] == "bob"]
    rotated = json.loads(service.tree.call("token", "rotate", name, "--json").stdout)
    assert rotated["chat"] is True
    service.tokens = {**service.tokens, "bob": rotated["token"]}
    assert service.ask("bob", "POST", "/v1/chat/completions", chat("harbour")).status_code == 200


def test_a_token_of_an_earlier_version_may_not_chat(tmp_path: Path) -> None:
    file = TokenFile(tmp_path / "private" / "tokens.json")
    _, text = file.create(at=LONG_AGO, viewer="dora", chat=True)
    data = json.loads(file.path.read_text())
    for wrong in (None, 1, "yes"):
        data["tokens"][0]["chat"] = wrong
        if wrong is None:
            del data["tokens"][0]["chat"]
        file.path.write_text(json.dumps(data))
        token = TokenFile(file.path).find(text, LONG_AGO)
        assert token is not None
        assert token.chat is False


@pytest.mark.parametrize("status", [302, 401])
def test_no_redirect_is_followed_and_the_key_is_no_business_of_clients(
    service: Running, upstream: Upstream, status: int
) -> None:
    upstream.status = status
    before = len(upstream.seen)
    try:
        answer = service.ask("alice", "POST", "/v1/chat/completions", chat("harbour"))
    finally:
        upstream.status = 200
    assert (answer.status_code, answer.json()["error"]) == (502, "EndpointError")
    assert len(upstream.seen) == before + 1
    assert KEY not in answer.text
    assert upstream.url not in answer.text


@pytest.mark.parametrize(
    "body", [{}, {"messages": []}, {"messages": [1]}, {"messages": [{"content": "x"}]}]
)
def test_what_is_no_chat_is_refused(service: Running, body: Any) -> None:
    assert service.ask("alice", "POST", "/v1/chat/completions", body).status_code == 400


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "gopher://127.0.0.1:70/x",
        "ftp://host/v1",
        "//host/v1",
        "http://",
        "http://name:word@host/v1",
        "http://host:99999/v1",
        "http://host/v1?to=http://other",
        "http://host/v1#x",
        "http://host/v1\r\nX-Other: 1",
    ],
)
def test_only_plain_addresses_of_the_web_are_asked(url: str) -> None:
    with pytest.raises(ConfigError):
        check_address("chat", url)


def test_no_client_names_an_address() -> None:
    """What the service connects to stands in the settings of whoever runs it, nowhere else."""
    names = {
        name
        for endpoint in ENDPOINTS
        for name in (*endpoint.parameters, *(endpoint.body or {}).get("properties", {}))
    }
    assert names >= {"query", "path", "recipe"}
    assert [
        name for name in names if re.search("url|uri|host|address|endpoint|key_env", name)
    ] == []


def test_a_project_that_is_not_trusted_names_no_endpoint(plant: Forest, upstream: Upstream) -> None:
    tree = fill(plant("hostile"))
    tree.write("quire.toml", f'[chat]\nurl = "{upstream.url}"\nkey_env = "HOME"\n')
    before = len(upstream.seen)
    with running(tree) as service:
        answer = service.ask("alice", "POST", "/v1/chat/completions", chat("harbour"))
    assert (answer.status_code, answer.json()["error"]) == (501, "MissingExtraError")
    assert len(upstream.seen) == before
