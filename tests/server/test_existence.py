"""What a viewer may not read costs what does not exist costs: no timing can tell them apart.

Times vary, so none is compared. What is compared is what takes the time: the statements that each
request sends to the store and to the service's journal, in their order.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import apsw
import pytest

from quire import Viewer
from quire.config.access_tokens import WRITE
from quire.server.answer import Answer, RawRequest, answer
from quire.server.endpoint import Caller, Endpoint
from quire.server.service import Service, Settings
from quire.server.table import ENDPOINTS
from tests.conftest import Tree

from .running import fill

MARK = "xylophonist"
ALICE = Caller("a", Viewer("alice"), WRITE)
BOB = Caller("b", Viewer("bob"), WRITE)
BY_NAME = {endpoint.name: endpoint for endpoint in ENDPOINTS}
NAMED = [each for each in ENDPOINTS if "{id}" in each.path and not each.owner]
BODIES: dict[str, Any] = {
    "content": "Bob was here.",
    "outcome": "confirmed",
    "result": "Bob's",
    "text": "Bob was here",
    "parent": None,
    "access": ["bob"],
    "goal": "Bob's goal",
}


class World:
    """A store in which alice has one of everything, and what it is asked."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.statements: list[str] = []
        service.journal._db.set_trace_callback(self.statements.append)
        made = {
            "memories": self.ask(ALICE, "add_memory", {"content": f"The {MARK} sleeps."}),
            "experiences": self.ask(
                ALICE, "start_experience", {"goal": f"Wake the {MARK}", "domain": "debugging"}
            ),
        }
        self.ids = {name: str(json.loads(each.body)["id"]) for name, each in made.items()}
        page = {"blocks": [{"id": "alices", "type": "page", "text": f"The {MARK} page"}]}
        self.ask(ALICE, "put_blocks", page)
        context = json.loads(self.ask(ALICE, "assemble", {"query": MARK, "budget": 3000}).body)
        receipt = context["receipt"]["hash"]
        given = {"receipt": receipt, "useful": [context["sources"][0]["chunk_id"]]}
        self.ids["feedback"] = json.loads(self.ask(ALICE, "add_feedback", given).body)["id"]
        records = service.quire.documents.list(viewer="alice")
        paths = {record.path: record.id for record in records}
        note = {"path": "crm/42", "content": f"The {MARK} called."}
        self.document = json.loads(self.ask(ALICE, "put_document", note).body)["path"]
        self.ids |= {"blocks": "alices", "receipts": receipt, "documents": paths["hr/list.md"]}

    def ask(
        self, caller: Caller, name: str, body: Any = None, item: str = "", **query: str
    ) -> Answer:
        endpoint = BY_NAME[name]
        sent = json.dumps(body).encode() if body is not None else b""
        asked = RawRequest(
            path={"id": item} if item else {},
            query=tuple(query.items()),
            target=endpoint.path.replace("{id}", item),
            media_type="application/json" if sent else "",
            accept="",
            body=sent,
            key=None,
            if_none_match="",
            request_id="r",
        )
        given = answer(self.service, endpoint, caller, asked)
        assert item or caller is BOB or given.status < 300, given.body
        return given

    def asked_of_the_store(self, endpoint: Endpoint, name: str) -> list[str]:
        """Return the statements that bob's request sends for a name."""
        body = None
        if endpoint.body is not None:
            names = endpoint.body["properties"]
            body = {key: value for key, value in BODIES.items() if key in names}
        self.statements.clear()
        refused = self.ask(BOB, endpoint.name, body, name)
        assert refused.status == 404, (endpoint.name, refused.body)
        return [each.replace(name, "ID") for each in self.statements]


@contextmanager
def traced(statements: list[str]) -> Iterator[None]:
    """Write down the statements of all connections that are opened."""

    def hear(event: dict[str, Any]) -> None:
        statements.append(event["sql"])

    def hook(connection: apsw.Connection) -> None:
        connection.trace_v2(apsw.SQLITE_TRACE_STMT, hear)

    apsw.connection_hooks.append(hook)
    try:
        yield
    finally:
        apsw.connection_hooks.remove(hook)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    tree = Tree(tmp_path_factory.mktemp("existence") / "harbour")
    tree.write("hr/list.md", f"# List\n\nThe {MARK} earns ninety.\n")
    fill(tree)
    statements: list[str] = []
    with traced(statements):
        service = Service(Settings(), tree.open())
        try:
            made = World(service)
            made.statements = statements
            service.journal._db.set_trace_callback(statements.append)
            yield made
        finally:
            service.close()


@pytest.mark.parametrize("endpoint", NAMED, ids=lambda endpoint: endpoint.name)
def test_what_is_hidden_costs_what_is_absent_costs(world: World, endpoint: Endpoint) -> None:
    hidden = world.ids[endpoint.path.split("/")[2]]
    absent = "nosuch" if hidden == "alices" else hidden[::-1]
    assert absent != hidden
    world.asked_of_the_store(endpoint, absent)  # whatever is kept after the first time
    asked = world.asked_of_the_store(endpoint, absent)
    assert world.asked_of_the_store(endpoint, hidden) == asked
    assert asked


BY_PATH = [each.name for each in ENDPOINTS if "path" in each.required]
"""Endpoints whose query string names a path."""


@pytest.mark.parametrize("name", ["list_chunks", "why_not", *BY_PATH])
def test_so_it_is_for_paths(world: World, name: str) -> None:
    def ask(path: str) -> tuple[int, list[str]]:
        world.statements.clear()
        if name == "update_document":
            given = world.ask(BOB, name, {"title": "Bob's"}, "", path=path)
        elif name == "why_not":
            given = world.ask(BOB, name, {"query": MARK, "path": path})
        else:
            given = world.ask(BOB, name, None, "", path=path)
        return given.status, [each.replace(path, "PATH") for each in world.statements]

    ask("hr/none.md")
    asked = ask("hr/none.md")
    assert ask("hr/list.md") == asked
    if name in BY_PATH:
        ask("@alice/cr/24")
        assert ask(world.document) == ask("@alice/cr/24")
    assert asked[1]


def test_there_are_endpoints_by_path() -> None:
    assert BY_PATH == ["get_document", "update_document", "delete_document"]


def test_what_may_be_read_costs_more(world: World) -> None:
    """If the statements of any two requests were the same, the tests above would show nothing."""
    endpoint, name = BY_NAME["get_memory"], world.ids["memories"]
    absent = world.asked_of_the_store(endpoint, name[::-1])
    world.statements.clear()
    assert world.ask(ALICE, endpoint.name, None, name).status == 200
    assert [each.replace(name, "ID") for each in world.statements] != absent
