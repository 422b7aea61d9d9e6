"""How does a client of the protocol reach the store?

The only file that knows the SDK, but for `client`. It answers the handshake and the lists from
tables; whatever needs the store runs in a thread, so that a long call holds up no other, and can be
given up.
"""

from __future__ import annotations

import os
import socket
import sys
import threading
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import anyio
import anyio.from_thread
import anyio.to_thread
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

from quire import __version__
from quire.errors import InputError, QuireError
from quire.llm import callback
from quire.mcp import log, prompts, resources, schemas
from quire.mcp.limits import within, written
from quire.mcp.resources import Readable, Text
from quire.mcp.sampling import AnswerNeededError, Client, Request
from quire.mcp.session import Answer, CancelledError, Session, Step
from quire.mcp.tools import BY_NAME, TOOLS, Tool

Given = TypeVar("Given")

PATH = "/mcp"
LAST_PORT = 65535
LOOPBACK = ("127.0.0.1", "localhost", "::1")
GRACE = 2
"""Seconds that open HTTP connections have when the server is told to end."""
INSTRUCTIONS = (
    "Quire knows this project's documents, code, git history, memories and experiences. Call "
    "assemble_context before you begin with a task, get_premortem_context when something fails for "
    "the first time, search for single passages. Keep what will matter later: remember for facts "
    "and decisions, experience for what was tried and how it ended."
)


class Served:
    """Answers the requests of clients, all as one viewer."""

    def __init__(self, asker: Session) -> None:
        self._asker = asker
        self._running: set[threading.Event] = set()
        self.server: Server[dict[str, Any]] = Server(
            "quire",
            version=__version__,
            title="Quire",
            instructions=INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
        )

    def end(self) -> None:
        """Close the store; a call that was given up and still runs is not waited for."""
        if self._running:
            sys.stderr.flush()
            os._exit(0)
        self._asker.close()

    # --- tools ---------------------------------------------------------------------------------

    async def _list_tools(self, _: Request, __: object) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_tool(tool) for tool in TOOLS])

    async def _call_tool(
        self, request: Request, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        tool = BY_NAME.get(params.name)
        if tool is None:
            raise _refused(f"there is no tool {params.name!r}: there are {', '.join(BY_NAME)}")
        given = dict(params.arguments or {})

        def run(step: Step) -> types.CallToolResult:
            schemas.check(tool.takes(), given)
            return _result(tool.run(self._asker, given, step))

        client = Client(request, params.input_responses, lambda: self._asker.viewer)
        try:
            with callback.use_caller(client):
                return await self._work(request, run)
        except AnswerNeededError as needed:
            return needed.result
        except QuireError as error:
            return _failed(error.describe(schemas.argument_name))
        except OSError as error:
            return _failed(f"{error.filename or 'the store'}: {error.strerror or error}")
        except Exception as error:  # noqa: BLE001 - a client is told in a sentence, whatever it is
            log.note(f"quire mcp: {tool.name}: {type(error).__name__}: {error}")
            return _failed(f"{tool.name} failed inside Quire: {type(error).__name__}: {error}")

    # --- resources and prompts -----------------------------------------------------------------

    async def _list_resources(self, _: Request, __: object) -> types.ListResourcesResult:
        found = resources.listed(self._asker)
        return types.ListResourcesResult(resources=[_resource(one) for one in found])

    async def _list_templates(self, _: Request, __: object) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(
            resource_templates=[_template(one) for one in resources.FAMILIES]
        )

    async def _read_resource(
        self, request: Request, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        read = partial(resources.read, self._asker, str(params.uri))
        found = await self._told(request, lambda _: read())
        return types.ReadResourceResult(contents=[_content(one) for one in found])

    async def _list_prompts(self, _: Request, __: object) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[_prompt(one) for one in prompts.PROMPTS])

    async def _get_prompt(
        self, request: Request, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        say = partial(prompts.said, self._asker, params.name, params.arguments or {})
        prompt, text = await self._told(request, lambda _: say())
        content = types.TextContent(type="text", text=text)
        message = types.PromptMessage(role="user", content=content)
        return types.GetPromptResult(description=prompt.about, messages=[message])

    # --- work ----------------------------------------------------------------------------------

    async def _told(self, request: Request, job: Callable[[Step], Given]) -> Given:
        try:
            return await self._work(request, job)
        except (QuireError, OSError) as error:
            raise _refused(str(error)) from error

    async def _work(self, request: Request, job: Callable[[Step], Given]) -> Given:
        """Run a job in a thread; where its client gives up, it is left at its next step."""
        gone = threading.Event()
        steps = 0

        def step(what: str) -> None:
            nonlocal steps
            if gone.is_set():
                raise CancelledError
            steps += 1
            anyio.from_thread.run(request.session.report_progress, steps, None, what)

        def run() -> Given:
            try:
                return job(step)
            finally:
                self._running.discard(gone)

        self._running.add(gone)
        try:
            return await anyio.to_thread.run_sync(run, abandon_on_cancel=True)
        except anyio.get_cancelled_exc_class():
            gone.set()
            raise


def serve_stdio(asker: Session) -> None:
    """Serve one client over standard input and output, until it closes them."""
    served = Served(asker)

    async def run() -> None:
        # Standard output is the client's alone: what anyone else prints goes to standard error.
        async with stdio_server() as (read, write):
            options = served.server.create_initialization_options()
            await served.server.run(read, write, options)

    anyio.run(run)
    served.end()


def serve_http(asker: Session, address: str) -> None:
    """Serve clients over streamable HTTP, until interrupted."""
    import uvicorn

    host, port = _place(address)
    served = Served(asker)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family)
    except OSError as error:
        raise InputError(f"--http {address}: {error}; name another HOST:PORT") from error
    app = served.server.streamable_http_app(streamable_http_path=PATH, host=host)
    settings = uvicorn.Config(
        app, log_level="warning", access_log=False, timeout_graceful_shutdown=GRACE
    )
    if host not in LOOPBACK:
        log.note(f"note: whoever reaches {host} reads, and writes, as the viewer of this server")
    shown = f"[{host}]" if ":" in host else host
    log.note(f"listening on http://{shown}:{listening.getsockname()[1]}{PATH}")
    try:
        uvicorn.Server(settings).run(sockets=[listening])
    finally:
        listening.close()
        served.end()


def _place(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    if not port.isascii() or not port.isdigit() or len(port) > 5 or int(port) > LAST_PORT:
        raise InputError(f"--http {address!r}: write PORT, or HOST:PORT as in 127.0.0.1:8000")
    return host.strip("[]") or LOOPBACK[0], int(port)


# --- as the protocol says it -------------------------------------------------------------------


def _tool(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.about,
        input_schema=tool.takes(),
        output_schema=tool.gives,
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=tool.reads_only,
            destructive_hint=False,  # what was said before stays: as history, or as an iteration
            idempotent_hint=tool.again,
            open_world_hint=False,
        ),
    )


def _result(answer: Answer) -> types.CallToolResult:
    told = within(answer.told, answer.growing, answer.shown)
    texts = [told[answer.shown] if answer.shown else written(told)]
    if answer.beside:
        texts.append(answer.beside)
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text) for text in texts],
        structured_content=told,
    )


def _failed(sentence: str) -> types.CallToolResult:
    content = types.TextContent(type="text", text=sentence)
    return types.CallToolResult(content=[content], is_error=True)


def _refused(sentence: str) -> MCPError:
    return MCPError(code=types.INVALID_PARAMS, message=sentence)


def _resource(one: Readable) -> types.Resource:
    return types.Resource(uri=one.uri, name=one.name, description=one.about, mime_type=one.kind)


def _template(one: Readable) -> types.ResourceTemplate:
    return types.ResourceTemplate(
        uri_template=one.uri, name=one.name, description=one.about, mime_type=one.kind
    )


def _content(one: Text) -> types.TextResourceContents:
    return types.TextResourceContents(uri=one.uri, mime_type=one.kind, text=one.text)


def _prompt(one: prompts.Prompt) -> types.Prompt:
    return types.Prompt(
        name=one.name,
        description=one.about,
        arguments=[
            types.PromptArgument(name=name, description=about, required=needed)
            for name, about, needed in one.arguments
        ],
    )
