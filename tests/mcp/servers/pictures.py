"""A server whose tools give pictures, sounds, files, many things at once, nothing, and failures."""

from __future__ import annotations

import base64

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

PIXEL = base64.b64encode(bytes(range(256)) * 40).decode()
NAMES = ("picture", "sound", "file", "many", "nothing", "failing", "refusing", "letters")


async def listed(_: object, __: object) -> types.ListToolsResult:
    schema = {"type": "object"}
    return types.ListToolsResult(
        tools=[types.Tool(name=name, input_schema=schema) for name in NAMES]
    )


async def called(context: object, params: types.CallToolRequestParams) -> types.CallToolResult:
    picture = types.ImageContent(type="image", data=PIXEL, mime_type="image/png")
    sound = types.AudioContent(type="audio", data=PIXEL, mime_type="audio/wav")
    blob = types.BlobResourceContents(uri="file:///a", blob=PIXEL, mime_type="x/y")
    file = types.EmbeddedResource(type="resource", resource=blob)
    letters = types.TextContent(type="text", text='ä"\\ \u2028 \U0001f40b \x00 </script> ] }')
    await context.session.report_progress(1, 2, "half")  # type: ignore[attr-defined]  # it has one
    match params.name:
        case "refusing":
            raise MCPError(code=-32000, message="no", data={"why": [1.0, 2e3, None]})
        case "failing":
            return types.CallToolResult(content=[letters], is_error=True)
        case "nothing":
            return types.CallToolResult(content=[], structured_content={"n": 1.50})
        case "many":
            return types.CallToolResult(content=[letters, picture, sound, file])
    alone: dict[str, types.ContentBlock] = {
        "picture": picture,
        "sound": sound,
        "file": file,
        "letters": letters,
    }
    return types.CallToolResult(content=[alone[params.name]])


async def main() -> None:
    server: Server[object] = Server("pictures", on_list_tools=listed, on_call_tool=called)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
