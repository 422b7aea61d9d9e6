"""Documents by MCP: put, found with their metadata, replaced and deleted by the official client."""

from __future__ import annotations

import asyncio
import os
from typing import Any

from mcp.client.stdio import StdioServerParameters

from mcp import Client
from tests.conftest import COMMAND, Tree

TICKET = {
    "path": "crm/42",
    "text": "Acme asks for a refund of the harbour fee.",
    "metadata": {"team": "north", "priority": 3, "tags": ["a", "b"]},
}


def test_a_document_is_put_found_and_deleted(tree: Tree) -> None:
    tree.write("quire.toml", '[embed]\nprovider = "none"\n')
    tree.write("docs/harbour.md", "# Harbour\n\nThe fee of the harbour is due at noon.\n")
    tree.index()
    asyncio.run(put_find_and_delete(tree))
    assert "crm/42" not in tree.paths()


async def put_find_and_delete(tree: Tree) -> None:
    server = StdioServerParameters(
        command=COMMAND, args=["mcp"], env=dict(os.environ), cwd=tree.root
    )
    async with Client(server) as client:

        async def call(name: str, **arguments: Any) -> Any:
            result = await client.call_tool(name, arguments)
            assert not result.is_error, result.content
            return result.structured_content

        assert (await call("put_document", **TICKET))["state"] == "added"
        assert (await call("put_document", **TICKET))["state"] == "unchanged"
        found = (await call("search", query="harbour fee"))["results"]
        assert {hit["path"]: hit["metadata"] for hit in found} == {
            "crm/42": TICKET["metadata"],
            "docs/harbour.md": {},
        }
        only = await call("search", query="harbour fee", where='team = "north" and priority >= 3')
        assert [hit["path"] for hit in only["results"]] == ["crm/42"]
        told = await call("search", query="harbour fee", where='priority > "high"')
        assert not told["results"]
        assert any("compares 'priority' with texts" in note for note in told["notes"])
        context = await call(
            "assemble_context", query="harbour fee", recipe="documents", max_tokens=2000
        )
        assert "refund" in context["text"]
        assert {source["path"]: source["metadata"] for source in context["sources"]} == {
            "crm/42": TICKET["metadata"],
            "docs/harbour.md": {},
        }
        assert (await call("verify", receipt=context["receipt"]))["holds"]
        replaced = {**TICKET, "text": "The refund was paid."}
        assert (await call("put_document", **replaced))["state"] == "changed"
        assert (await call("delete_document", path="crm/42"))["deleted"] is True
        assert (await call("delete_document", path="crm/42"))["deleted"] is False
        found = (await call("search", query="refund"))["results"]
        assert "crm/42" not in [hit["path"] for hit in found]
        refused = await client.call_tool("delete_document", {"path": "docs/harbour.md"})
        assert refused.is_error
