"""Retrievers, tools and conversations take a client of the service."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra `server` is not installed")

import quire
from quire import Client, Viewer
from quire.adapters.conversations import Conversation
from quire.adapters.retrieval import Retrieval
from quire.errors import InputError, QuireError
from tests.conftest import Tree
from tests.server.running import SECRET, Running, fill, running

from .conftest import ANY_WAY

QUERY = "What does the harbour master earn?"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    tree = fill(Tree(tmp_path_factory.mktemp("adapters") / "harbour"))
    with running(tree) as started:
        yield started


def client(place: Running, who: str) -> Client:
    return quire.Client(place.url, place.tokens[who])


@pytest.mark.parametrize("how", ANY_WAY)
def test_passages_are_the_same(place: Running, how: dict[str, Any]) -> None:
    with place.tree.open() as opened, client(place, "owner") as remote:
        found = Retrieval(remote, **how).passages(QUERY)
        assert found == Retrieval(opened, **how).passages(QUERY)
        assert any(SECRET in passage.text for passage in found)


@pytest.mark.parametrize("how", ANY_WAY)
def test_a_token_reads_what_its_viewer_may_read(place: Running, how: dict[str, Any]) -> None:
    for who, reads in (("alice", True), ("bob", False)):
        with client(place, who) as remote:
            found = Retrieval(remote, **how).passages(QUERY)
        assert any(SECRET in passage.text for passage in found) is reads


def test_a_conversation_is_that_of_the_token(place: Running) -> None:
    said = [
        {"role": "user", "content": "The boat is called Grace."},
        {"role": "ai", "content": "Ok"},
    ]
    with client(place, "alice") as alice, client(place, "bob") as bob:
        conversation = Conversation(alice, "one")
        assert conversation.items() == []
        conversation.append(said)
        assert Conversation(alice, "one").items() == said
        assert Conversation(bob, "one").items() == []
        assert "Grace" in alice.search("Grace").results[0].text
        assert not any("Grace" in each.text for each in bob.search("Grace").results)
        with pytest.raises(QuireError):
            Conversation(bob, "one", viewer="alice").items()
    with place.tree.open() as opened:
        same = Conversation(opened, "one", viewer="alice")
        assert same.page_id == conversation.page_id
        assert same.items() == said
        assert Conversation(opened, "one").items() == []
    with client(place, "owner") as owner:
        assert owner.me().owner
        assert Conversation(owner, "one", viewer="alice").items() == said
        Conversation(owner, "one").append(said[:1])
        assert Conversation(owner, "one").items() == said[:1]
    with client(place, "alice") as alice:
        assert alice.me() == Viewer("alice")
        assert conversation.page_id == Conversation(alice, "one").page_id
        assert Conversation(alice, "one").pop() == said[1]
        Conversation(alice, "one").clear()
        assert Conversation(alice, "one").items() == []


def test_an_async_client_is_refused(place: Running) -> None:
    remote = quire.AsyncClient(place.url, place.tokens["alice"])
    for make in (lambda: Conversation(remote, "one"), lambda: Retrieval(remote)):  # type: ignore[arg-type]
        with pytest.raises(InputError, match="not AsyncClient"):
            make()
