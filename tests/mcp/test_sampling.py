"""The official client can use the server, over standard streams and over HTTP."""

from __future__ import annotations

import os
from typing import Any

import anyio
import pytest
from mcp.client.stdio import StdioServerParameters
from mcp.shared.exceptions import MCPError

from mcp import Client
from tests.conftest import COMMAND, TIME_LIMIT, Forest, Tree
from tests.serving import Endpoint, Reply, served

from .conftest import fill
from .test_server import NAMES, vectors
from .wire import HANDSHAKES, LOCAL, MODERN, listening


def over_streams(tree: Tree, mode: str) -> Client:
    server = StdioServerParameters(
        command=COMMAND, args=["mcp"], cwd=tree.root, env=dict(os.environ)
    )
    return Client(server, mode=mode)


async def uses(client: Client, version: str) -> None:
    """List, call, read, render a prompt, receive progress."""
    async with client:
        assert client.protocol_version == version
        assert [tool.name for tool in (await client.list_tools()).tools] == NAMES
        reported: list[tuple[float, str | None]] = []

        async def hear(progress: float, total: float | None, message: str | None) -> None:
            reported.append((progress, message))

        # The client itself checks the result against the schema of the tool.
        page = await client.call_tool(
            "assemble_context", {"query": "harbour bell"}, progress_callback=hear
        )
        assert reported == [(1.0, "opening the store"), (2.0, "assembling")]
        data: dict[str, Any] = page.structured_content
        assert "The harbour bell rings at low tide." in data["text"]
        assert page.content[0].text == data["text"]  # type: ignore[union-attr]  # it is a text
        (context,) = (await client.read_resource(data["context_uri"])).contents
        assert context.text == data["text"]  # type: ignore[union-attr]  # likewise
        listed = [str(item.uri) for item in (await client.list_resources()).resources]
        assert listed[:2] == [data["context_uri"], data["receipt_uri"]]
        source = (await client.read_resource(data["sources"][0]["uri"])).contents
        assert "harbour bell" in source[0].text  # type: ignore[union-attr]  # likewise
        checked = await client.call_tool("verify", {"receipt": data["receipt"]})
        assert checked.structured_content["holds"] is True
        failed = await client.call_tool("search", {"query": ""})
        assert failed.is_error
        prompt = await client.get_prompt("context_for_task", {"task": "Ring"})
        assert prompt.messages[0].role == "user"
        with pytest.raises(MCPError, match="unknown prompt 'sing'; choose from context_for_task, "):
            await client.get_prompt("sing")

        results: list[Any] = []

        async def ask(query: str) -> None:
            results.append(await client.call_tool("search", {"query": query, "k": 1}))

        async with anyio.create_task_group() as group:
            for query in ("harbour", "tide", "crane", "bell"):
                group.start_soon(ask, query)
        assert len(results) == 4
        assert not any(item.is_error for item in results)


@pytest.mark.parametrize(("mode", "version"), [("legacy", HANDSHAKES[-1]), ("auto", MODERN)])
def test_over_standard_streams(harbour: Tree, mode: str, version: str) -> None:
    anyio.run(uses, over_streams(harbour, mode), version)


def test_over_http(harbour: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in LOCAL.items():
        monkeypatch.setenv(name, value)
    with listening(harbour) as url:
        anyio.run(uses, Client(url, mode="legacy"), HANDSHAKES[-1])
        anyio.run(uses, Client(url), MODERN)


def test_a_viewer_over_http(harbour: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in LOCAL.items():
        monkeypatch.setenv(name, value)

    async def finds(url: str) -> list[str]:
        async with Client(url) as client:
            result = await client.call_tool("search", {"query": "doubloons and ships"})
            return [item["path"] for item in result.structured_content["results"]]

    with listening(harbour, "--viewer", "carol") as url:
        assert anyio.run(finds, url) == ["docs/harbour.md", "src/crane.py"]


def slow(plant: Forest, endpoint: Endpoint) -> Tree:
    """A project whose questions are never embedded."""
    tree = fill(plant())
    tree.write("quire.toml", f'[embed]\nprovider = "http"\nurl = "{endpoint.url}"\nmodel = "m"\n')
    tree.trust()
    tree.index(embed=True)
    endpoint.usual = Reply(None, held=True)
    return tree


async def gives_up(client: Client) -> None:
    async with client:
        with anyio.move_on_after(1) as waited:
            await client.call_tool("search", {"query": "harbour"})
        assert waited.cancelled_caught
        listed = await client.call_tool("experience", {"operation": "list"})
        assert len(listed.structured_content["experiences"]) == 1


def test_a_call_is_given_up(plant: Forest) -> None:
    with served(vectors) as endpoint:
        anyio.run(gives_up, over_streams(slow(plant, endpoint), "auto"))


def test_a_call_is_given_up_over_http(plant: Forest, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in LOCAL.items():
        monkeypatch.setenv(name, value)
    with served(vectors) as endpoint:
        tree = slow(plant, endpoint)
        with listening(tree) as url:
            anyio.run(gives_up, Client(url))


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("nowhere", "write PORT, or HOST:PORT"),
        ("127.0.0.1:", "write PORT, or HOST:PORT"),
        ("99999", "write PORT, or HOST:PORT"),
        ("256.256.256.256:80", "name another HOST:PORT"),
    ],
)
def test_a_place_that_cannot_be_listened_at(tree: Tree, address: str, message: str) -> None:
    done = tree.call("mcp", "--http", address)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("quire: --http: ")
    assert address in done.stderr
    assert message in done.stderr


def test_another_site_cannot_use_a_browser_to_ask(harbour: Tree) -> None:
    """A page that the user visits must not reach a server on their machine by another name."""
    from urllib.error import HTTPError
    from urllib.request import ProxyHandler, Request, build_opener

    with listening(harbour) as url:
        sent = Request(
            url,
            data=b"{}",
            headers={"Host": "evil.example", "Content-Type": "application/json", "Accept": "*/*"},
        )
        with pytest.raises(HTTPError) as refused:
            build_opener(ProxyHandler({})).open(sent, timeout=TIME_LIMIT)
        assert refused.value.code in {403, 421}
        refused.value.close()
