"""The list of tools is sent to a model with each request: it stays small."""

from __future__ import annotations

import json

from quire.mcp.tools import TOOLS

MAX_CHARACTERS = 20_000


def test_the_schemas_of_all_tools_are_short() -> None:
    listed = [
        {
            "name": tool.name,
            "title": tool.title,
            "description": tool.description,
            "inputSchema": tool.input_schema(),
            "outputSchema": tool.output_schema,
        }
        for tool in TOOLS
    ]
    assert len(json.dumps(listed)) <= MAX_CHARACTERS


def test_every_argument_is_described_where_it_is_first_listed() -> None:
    described: set[str] = set()
    for tool in TOOLS:
        for name, schema in tool.input_schema()["properties"].items():
            assert "description" in schema or name in described, (tool.name, name)
            described.add(name)
