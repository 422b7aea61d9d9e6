"""The server keeps to the protocol, in every revision, whatever it receives."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema.validators import Draft202012Validator

from quire.mcp.tools import TOOLS
from tests.conftest import COMMAND, TIME_LIMIT, Forest, Tree
from tests.serving import Reply, served

from .conftest import fill
from .wire import HANDSHAKES, MODERN, Wire, call, request, wired


@pytest.fixture(scope="module")
def wire(harbour: Tree) -> Iterator[Wire]:
    """A server for tests that change nothing, and leave no answer behind."""
    with wired([COMMAND, "mcp"], harbour.root) as wire:
        wire.initialize()
        yield wire
        assert wire.end() == (0, "")


NAMES = [
    "assemble_context",
    "get_premortem_context",
    "search",
    "explain",
    "remember",
    "experience",
    "verify",
    "index",
    "put_document",
    "delete_document",
]


@pytest.mark.parametrize("version", HANDSHAKES)
def test_every_revision_with_a_handshake(harbour: Tree, server: list[str], version: str) -> None:
    with wired(server, harbour.root) as wire:
        hello = wire.initialize(version)["result"]
        assert hello["protocolVersion"] == version
        assert set(hello["capabilities"]) == {"tools", "resources", "prompts"}
        tools = wire.answer(request("tools/list", 1))["result"]["tools"]
        assert [tool["name"] for tool in tools] == NAMES
        result = wire.call("search", 2, query="who is the pilot of the harbour")
        assert "Wren" in result["content"][0]["text"]
        assert wire.end() == (0, "")


def test_the_revision_without_a_handshake(harbour: Tree, server: list[str]) -> None:
    meta = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": {"name": "wire", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    with wired(server, harbour.root) as wire:
        data = wire.answer(request("server/discover", 1, _meta=meta))["result"]
        assert data["supportedVersions"] == [MODERN]
        request_ = request("tools/call", 2, name="search", arguments={"query": "pilot"}, _meta=meta)
        result = wire.answer(request_)["result"]
        assert result["structuredContent"]["results"][0]["path"] == "docs/harbour.md"


def test_garbage_does_not_end_it(harbour: Tree, server: list[str]) -> None:
    with wired(server, harbour.root) as wire:
        wire.send(b"\n")
        wire.send(b"not json\n")
        wire.send(b"\xff\xfe\x00 \xc3(\n")
        wire.send(b'{"jsonrpc": "2.0", "id": 5}\n')
        wire.send(b"[1, 2, 3]\n")
        wire.send(b'"a text"\n')
        wire.send(b"[" * 5000 + b"\n")
        wire.initialize()
        wire.send({"jsonrpc": "2.0", "method": "notifications/nobody-knows", "params": {"a": 1}})
        wire.send(b"{" * 100 + b"\n")
        unknown = wire.answer(request("nobody/knows", 6))
        assert unknown["error"]["code"] == -32601
        wire.send({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": 3})
        wrong = wire.answer(request("tools/call", 7, name=3))
        assert wrong["error"]["code"] == -32602
        assert wire.call("search", 8, query="pilot")["isError"] is False
        code, log = wire.end()
        assert code == 0
        assert "Traceback" not in log


def test_the_handshake_needs_no_store_and_a_call_says_so(tree: Tree, server: list[str]) -> None:
    with wired(server, tree.root) as wire:
        wire.initialize()
        assert len(wire.answer(request("tools/list", 1))["result"]["tools"]) == len(NAMES)
        assert wire.answer(request("resources/list", 2))["result"]["resources"] == []
        failed = wire.call("search", 3, query="pilot")
        assert failed["isError"] is True
        assert "quire index" in failed["content"][0]["text"]
        assert not tree.store.exists()
        memory = wire.call("remember", 4, text="The pilot is named Wren.")
        assert memory["structuredContent"]["content"] == "The pilot is named Wren."
        assert tree.store.exists()
        (result,) = wire.call("search", 5, query="pilot")["structuredContent"]["results"]
        assert result["text"] == "The pilot is named Wren."


def test_what_is_listed_says_what_it_does(harbour: Tree, server: list[str]) -> None:
    lists: list[Any] = []
    for _ in range(2):
        with wired(server, harbour.root, {"PYTHONHASHSEED": str(len(lists) + 1)}) as wire:
            hello = wire.initialize("1999-01-01")["result"]
            assert hello["protocolVersion"] == HANDSHAKES[-1], "the newest, as it knows no such one"
            lists.append(
                [
                    wire.answer(request(f"{what}/list", number))["result"]
                    for number, what in enumerate(
                        ("tools", "prompts", "resources", "resources/templates"), start=1
                    )
                ]
            )
    assert lists[0] == lists[1]
    tools, prompts, _, templates = lists[0]
    for tool in tools["tools"]:
        Draft202012Validator.check_schema(tool["inputSchema"])
        Draft202012Validator.check_schema(tool["outputSchema"])
        assert tool["annotations"]["openWorldHint"] is False
    reading = {tool["name"] for tool in tools["tools"] if tool["annotations"]["readOnlyHint"]}
    assert reading == set(NAMES) - {
        "remember",
        "experience",
        "index",
        "put_document",
        "delete_document",
    }
    assert [item["name"] for item in prompts["prompts"]] == [
        "context_for_task",
        "premortem_before_debugging",
    ]
    assert [item["uriTemplate"] for item in templates["resourceTemplates"]] == [
        "quire://context/{hash}",
        "quire://receipt/{hash}",
        "quire://source/{id}",
    ]


def test_sources_say_how_relevant_they_are(harbour: Tree, server: list[str]) -> None:
    with wired(server, harbour.root) as wire:
        wire.initialize()
        asked = {"query": "when is low tide", "recipe": "agent"}
        page = wire.call("assemble_context", 1, **asked)["structuredContent"]
        assert {0 <= (item["relevance"] or 0) <= 1 for item in page["sources"]} == {True}
        assert all({"relevance", "similarity"} <= item.keys() for item in page["sources"])


def test_every_tool_answers_as_its_schema_says(plant: Forest, server: list[str]) -> None:
    tree = fill(plant())
    with wired(server, tree.root) as wire:
        wire.initialize()
        tools = wire.answer(request("tools/list", 1))["result"]["tools"]
        schemas = {tool["name"]: Draft202012Validator(tool["outputSchema"]) for tool in tools}

        def call_tool(tool: str, **arguments: Any) -> Any:
            result = wire.call(tool, 2, **arguments)
            assert result.get("isError", False) is False, result
            schemas[tool].validate(result["structuredContent"])
            return result["structuredContent"]

        page = call_tool("assemble_context", query="harbour bell at low tide")
        assert "The harbour bell rings" in page["text"]
        assert page["tokens"] <= page["available"] == 2000
        code = call_tool("assemble_context", query="harbour", types=["code"], limit=1)["sources"]
        assert [(item["section"], item["path"]) for item in code] == [("code", "src/crane.py")]
        texts = call_tool(
            "assemble_context",
            query="harbour",
            recipe="documents",
            max_tokens=50_000,
            paths=["docs/**"],
            model="gpt-4o",
        )
        assert texts["available"] == 8000
        assert {item["path"] for item in texts["sources"]} == {"docs/harbour.md", "docs/tides.md"}
        assert any("lowered from 50000 to 8000" in note for note in texts["notes"])
        assert "The rope was worn" in call_tool("get_premortem_context", domain="debugging")["text"]
        result = call_tool("search", query="tide", k=1, kinds=["document"])["results"]
        assert [item["path"] for item in result] == ["docs/tides.md"]
        why = call_tool(
            "explain", query="tide", recipe="documents", path="src/crane.py", max_tokens=60
        )
        assert why["pieces"][0]["path"] == "src/crane.py"
        assert {item["verdict"] for item in why["decisions"]} <= {"kept", "cut", "dropped"}
        why = call_tool(
            "explain", query="tide", recipe="documents", path="docs/tides.md", max_tokens=1
        )
        (piece,) = why["pieces"]
        (lets_in,) = piece["lets_in"]
        assert piece["checked"]
        assert lets_in.startswith("max_tokens = "), "as the tool calls it"
        enough = int(lets_in.removeprefix("max_tokens = "))
        more = {"query": "tide", "recipe": "documents"}
        assert "docs/tides.md" in {
            item["path"]
            for item in call_tool("assemble_context", max_tokens=enough, **more)["sources"]
        }
        assert call_tool("assemble_context", **more)["available"] == 4000, "as the recipe says"
        memory = call_tool("remember", text="Gulls steal fish.", importance=0.9, category="fact")
        assert memory["importance"] == 0.9
        (started,) = call_tool(
            "experience", operation="start", goal="Mend the rope", domain="feature"
        )["experiences"]
        name = started["id"]
        (updated,) = call_tool("experience", operation="update", id=name, hypothesis="Tar helps")[
            "experiences"
        ]
        assert updated["hypothesis"] == "Tar helps"
        (ended,) = call_tool(
            "experience", operation="resolve", id=name, outcome="confirmed", result="It held"
        )["experiences"]
        assert (ended["outcome"], ended["tier"]) == ("confirmed", "silver")
        assert len(call_tool("experience", operation="list")["experiences"]) == 2
        assert call_tool("experience", operation="show", id=name)["experiences"] == [ended]
        fresh = call_tool("assemble_context", query="gulls")
        assert call_tool("verify", receipt=fresh["receipt"])["holds"] is True
        assert call_tool("verify", receipt=fresh["receipt"], context="another")["holds"] is False
        (whole, *_) = wire.answer(request("resources/read", 3, uri=fresh["receipt_uri"]))["result"][
            "contents"
        ]
        assert call_tool("verify", receipt=json.loads(whole["text"]), context=fresh["text"])[
            "holds"
        ]
        altered = {**json.loads(whole["text"]), "tokens": 1}
        assert call_tool("verify", receipt=altered)["problems"]


def test_files_are_read_again_by_name_and_when_they_are_quoted(
    plant: Forest, server: list[str]
) -> None:
    tree = fill(plant())
    (schema,) = (tool.output_schema for tool in TOOLS if tool.name == "index")
    with wired(server, tree.root) as wire:
        wire.initialize()
        tree.write("docs/lamps.md", "# Lamps\n\nThe harbour has nine lamps.\n")
        tree.remove("docs/tides.md")
        read = wire.call("index", 1, paths=["docs"])["structuredContent"]
        Draft202012Validator(schema).validate(read)
        assert (read["indexed"], read["removed"]) == (1, 1)
        found = wire.call("search", 2, query="how many lamps", k=1)["structuredContent"]
        assert [item["path"] for item in found["results"]] == ["docs/lamps.md"]
        tree.write("docs/lamps.md", "# Lamps\n\nThe harbour has twelve lamps.\n")
        page = wire.call("assemble_context", 3, query="how many lamps")["structuredContent"]
        assert "twelve lamps" in page["text"]
    with wired([*server, "--viewer", "bob"], tree.root) as wire:
        wire.initialize()
        tree.write("docs/lamps.md", "# Lamps\n\nThe harbour has forty lamps.\n")
        refused = wire.call("index", 1, paths=["docs"])
        assert refused["isError"]
        assert "only the owner may index" in refused["content"][0]["text"]
        page = wire.call("assemble_context", 2, query="how many lamps")["structuredContent"]
        assert "twelve lamps" in page["text"]
        assert "docs/lamps.md, which has changed on disk" in page["text"]


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("search", {}, "'query' is a required property"),
    ("search", {"query": 3}, "query: 3 is not of type 'string'"),
    ("search", {"query": " "}, "the query is empty; say what to look for"),
    ("search", {"query": "a", "hits": 3}, "'hits' was unexpected"),
    ("search", {"query": "a", "since": "soon"}, "since: expected a date"),
    ("assemble_context", {"query": "a", "recipe": "/etc/passwd"}, "is not one of"),
    ("assemble_context", {"query": "a", "types": ["news"]}, "news"),
    ("assemble_context", {"query": "a", "model": "nobody-9"}, "no token counter for the model"),
    ("assemble_context", {"query": "a", "max_tokens": 0}, "less than the minimum of 1"),
    ("get_premortem_context", {"domain": "gardening"}, "unknown domain 'gardening'"),
    (
        "experience",
        {"operation": "start"},
        "operation: start needs goal, domain; it takes goal, domain, strategy",
    ),
    (
        "experience",
        {"operation": "show", "id": "x", "goal": "y"},
        "operation: show does not take goal; it takes id",
    ),
    ("experience", {"operation": "show", "id": "x"}, "x"),
    ("experience", {"operation": "dance"}, "is not one of"),
    ("remember", {"text": "key: AKIAIOSFODNN7QWERTYU"}, "secret"),
    ("verify", {"receipt": "0123"}, "unknown receipt '0123'"),
    ("explain", {"query": "a", "path": "../../etc/passwd"}, "etc/passwd"),
    ("index", {"paths": []}, "[] should be non-empty"),
    ("index", {"paths": ["../../etc/passwd"]}, "is outside of"),
    ("index", {"paths": ["/etc"]}, "is outside of"),
    ("index", {"paths": ["a\0b"]}, "a path cannot contain NUL"),
]


def test_what_is_wrong_is_said_in_a_sentence(wire: Wire) -> None:
    for number, (tool, arguments, expected) in enumerate(WRONG, start=1):
        result = wire.answer(call(tool, number, **arguments))["result"]
        assert result["isError"] is True, (tool, arguments)
        assert expected in result["content"][0]["text"], (tool, arguments)
        assert "Traceback" not in result["content"][0]["text"]
    unknown = wire.answer(call("dance", 90))["error"]
    assert unknown["message"].startswith("unknown tool 'dance'; choose from assemble_context, ")
    for uri in (
        "quire://source/0",
        "quire://letter/0",
        "file:///etc/passwd",
        "quire://context/1",
    ):
        assert wire.answer(request("resources/read", 91, uri=uri))["error"]["code"] == -32602
    for name in ("dance", "context_for_task"):
        request_ = request("prompts/get", 92, name=name, arguments={})
        assert wire.answer(request_)["error"]["code"] == -32602


def test_prompts_hold_what_is_known(wire: Wire) -> None:
    request_ = request(
        "prompts/get", 1, name="context_for_task", arguments={"task": "Ring the bell"}
    )
    (message,) = wire.answer(request_)["result"]["messages"]
    assert message["content"]["text"].startswith("Ring the bell\n\n# Context")
    assert "The harbour bell rings at low tide." in message["content"]["text"]
    request_ = request(
        "prompts/get", 2, name="premortem_before_debugging", arguments={"failure": "It slips."}
    )
    (message,) = wire.answer(request_)["result"]["messages"]
    assert message["content"]["text"].startswith("It slips.")
    assert "The rope was worn" in message["content"]["text"]


def test_a_viewer_sees_only_theirs(harbour: Tree, server: list[str]) -> None:
    with harbour.open() as opened:
        (pay,) = opened.documents.chunks("hr/pay.md")
    answers = {}
    for viewer in ("alice", "carol"):
        with wired([*server, "--viewer", viewer], harbour.root) as wire:
            wire.initialize()
            page = wire.call("assemble_context", 1, query="doubloons", recipe="documents")
            result = wire.call("search", 2, query="doubloons")
            read = [
                wire.answer(request("resources/read", 3, uri=f"quire://source/{name}"))
                for name in (pay.id, pay.record_id)
            ]
            why = wire.call("explain", 5, query="doubloons", path="hr/pay.md")
            answers[viewer] = json.dumps([page, result, read, why])
    assert "ninety doubloons" in answers["alice"]
    assert "ninety" not in answers["carol"]
    assert f"no chunk or record has the id '{pay.id}'" in answers["carol"]


def test_what_a_viewer_writes_is_theirs(plant: Forest, server: list[str]) -> None:
    tree = fill(plant())
    with wired([*server, "--viewer", "carol"], tree.root) as wire:
        wire.initialize()
        assert (
            wire.call("remember", text="Carol likes herring.")["structuredContent"]["author"]
            == "carol"
        )
    assert tree.found("herring", viewer="carol")
    assert not tree.found("herring", viewer="alice")


def test_many_calls_at_once(wire: Wire) -> None:
    queries = ["harbour", "tide", "pilot", "crane", "bell", "rope"] * 4
    alone = [wire.call("search", 1, query=query)["structuredContent"] for query in queries[:6]]
    for number, query in enumerate(queries, start=100):
        wire.send(call("search", number, query=query))
    replies = [wire.receive() for _ in queries]
    assert sorted(item["id"] for item in replies) == list(range(100, 100 + len(queries)))
    for item in replies:
        assert item["result"]["structuredContent"] == alone[(item["id"] - 100) % 6]


def vectors(question: dict[str, Any]) -> Reply:
    rows = [
        {"index": place, "embedding": [float(len(text) % 7 + 1), 1.0, 2.0, 3.0]}
        for place, text in enumerate(question["input"])
    ]
    return Reply({"data": rows})


def test_a_long_call_tells_how_far_it_is_and_can_be_given_up(
    plant: Forest, server: list[str]
) -> None:
    tree = plant()
    with served(vectors) as endpoint:
        tree.write(
            "quire.toml", f'[embed]\nprovider = "http"\nurl = "{endpoint.url}"\nmodel = "m"\n'
        )
        tree.trust()
        tree.write("a.md", "# Anchor\n\nThe anchor holds.\n")
        tree.index(embed=True)
        with wired(server, tree.root) as wire:
            wire.initialize()
            endpoint.usual = Reply(None, held=True)
            request_ = call("search", 7, query="anchor")
            request_["params"]["_meta"] = {"progressToken": "seven"}
            wire.send(request_)
            steps = [wire.receive()["params"] for _ in range(2)]
            assert [item["progressToken"] for item in steps] == ["seven", "seven"]
            assert [item["progress"] for item in steps] == [1, 2]
            assert [item["message"] for item in steps] == ["opening the store", "searching"]
            # The call hangs; others are answered all the same.
            assert wire.answer(request("ping", 8))["result"] == {}
            assert wire.call("experience", 9, operation="list")["isError"] is False
            params = {"requestId": 7, "reason": "no longer wanted"}
            wire.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
            assert wire.answer(request("ping", 10))["result"] == {}
            # It still hangs in its thread, which is not waited for; and it is never answered.
            code, log = wire.end()
            assert (code, log) == (0, "")
            assert not endpoint.over.is_set()
            assert wire.left() == []


def test_what_is_printed_does_not_reach_the_client(harbour: Tree) -> None:
    program = (
        "import sys\n"
        "from quire import engine\n"
        "search = engine.Quire.search\n"
        "def loud(*given, **named):\n"
        "    print('noise'); sys.stdout.flush()\n"
        "    return search(*given, **named)\n"
        "engine.Quire.search = loud\n"
        "from quire.cli.main import main\n"
        "main(['mcp'])\n"
    )
    with wired([sys.executable, "-c", program], harbour.root) as wire:
        wire.initialize()
        assert wire.call("search", query="pilot")["isError"] is False
        code, log = wire.end()
        assert (code, log, wire.left()) == (0, "noise\n", [])


def test_a_defect_is_told_in_a_sentence(harbour: Tree) -> None:
    program = (
        "from quire import engine\n"
        "engine.Quire.search = lambda *given, **named: 1 / 0\n"
        "from quire.cli.main import main\n"
        "main(['mcp'])\n"
    )
    with wired([sys.executable, "-c", program], harbour.root) as wire:
        wire.initialize()
        result = wire.call("search", query="pilot")
        assert result["isError"] is True
        expected = "search failed inside Quire: ZeroDivisionError: division by zero"
        assert result["content"][0]["text"] == expected
        assert wire.end() == (0, "quire mcp: search: ZeroDivisionError: division by zero\n")


def test_without_the_extra_it_says_what_to_install(tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules['mcp'] = None\nfrom quire.cli.main import main\nmain(['mcp'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=TIME_LIMIT,
        check=False,
        env=dict(os.environ),
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("quire: the MCP server needs packages that are not installed")
    assert done.stderr.endswith("pip install 'quire-context[mcp]'\n")


def test_a_name_that_is_no_viewer_is_refused_at_the_start(harbour: Tree) -> None:
    done = harbour.run("mcp", "--viewer", "two words")
    assert (done.returncode, done.stdout) == (2, "")
    assert "'two words' is not a user's name" in done.stderr


def test_the_documents_list_every_tool_in_a_table() -> None:
    rows = [
        name
        for page in sorted((Path(__file__).parents[2] / "docs").rglob("*.md"))
        for table in re.findall(r"(?im)^\| tool \|.*\n\|[-| ]+\n((?:\|.*\n)+)", page.read_text())
        for name in re.findall(r"(?m)^\| `(\w+)` \|", table)
    ]
    assert rows == [tool.name for tool in TOOLS], "a table headed `| tool |` in docs/"
