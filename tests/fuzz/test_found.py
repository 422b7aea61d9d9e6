"""Inputs that were once answered by something else than a result or an error of ours."""

from __future__ import annotations

from contextlib import suppress

import pytest

from quire.errors import InputError
from quire.mcp import schemas
from quire.mcp.tool import Tool
from quire.mcp.tools import TOOLS

from .mutate import nested


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
@pytest.mark.parametrize("table", [False, True])
def test_arguments_of_a_tool_may_be_nested_deep(tool: Tool, table: bool) -> None:
    schema = tool.input_schema()
    for name in schema["properties"]:
        with suppress(InputError):  # a receipt is a table, and looked at later
            schemas.check(schema, {name: nested(3000, table=table)})
