"""The tools of the server, in the order in which clients see them.

To add a tool, write its function, its schemas and its row in one of these modules.
"""

from __future__ import annotations

from quire.mcp import context_tools, document_tools, index_tools, memory_tools, receipt_tools
from quire.mcp.tool import Tool

TOOLS: tuple[Tool, ...] = (
    *context_tools.TOOLS,
    *memory_tools.TOOLS,
    *receipt_tools.TOOLS,
    *index_tools.TOOLS,
    *document_tools.TOOLS,
)
BY_NAME = {tool.name: tool for tool in TOOLS}
