"""The commands that serve agents: the MCP server and the MCP proxy."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import Any

import click

from quire.cli.options import log_option, store_options, viewer_option
from quire.errors import MissingExtraError
from quire.integrations.tool_context import DEFAULT_BUDGET

TIMEOUT = 1000
SESSION_TIMEOUT = 1800.0
REQUEST_TIMEOUT = 30.0
MAX_SESSIONS = 100
PACKAGES = ("anyio", "jsonschema", "mcp", "uvicorn")
"""What the extra `mcp` installs."""
all_viewers_option = click.option(
    "--all-viewers",
    is_flag=True,
    help="As the owner, include what other users wrote for themselves.",
)


def require_server() -> None:
    """Refuse if the MCP server could not start for lack of a package."""
    for package in PACKAGES:
        if find_spec(package) is None:
            raise _missing(f"No module named {package!r}")


def _missing(reason: str) -> MissingExtraError:
    return MissingExtraError(
        f"the MCP server needs packages that are not installed ({reason})",
        hint="pip install 'quire-context[mcp]'",
    )


@click.command("mcp")
@click.option(
    "--http",
    metavar="[HOST:]PORT",
    help="Serve streamable HTTP at this address (default host: 127.0.0.1; port 0: any free one).",
)
@click.option(
    "--allow-host",
    "allow_hosts",
    multiple=True,
    metavar="NAME[:PORT]",
    help="Also answer HTTP requests for this host; repeatable.",
)
@click.option(
    "--session-timeout",
    type=click.FloatRange(0, min_open=True),
    default=SESSION_TIMEOUT,
    show_default=True,
    metavar="SECONDS",
    help="End an HTTP session that is idle for this long.",
)
@click.option(
    "--request-timeout",
    type=click.FloatRange(0, min_open=True),
    default=REQUEST_TIMEOUT,
    show_default=True,
    metavar="SECONDS",
    help="Close an HTTP connection whose request takes longer to arrive.",
)
@click.option(
    "--max-sessions",
    type=click.IntRange(1),
    default=MAX_SESSIONS,
    show_default=True,
    help="Keep this many HTTP sessions; then the one idle for longest ends.",
)
@all_viewers_option
@viewer_option
@store_options
@log_option
def mcp(
    *,
    http: str | None,
    all_viewers: bool,
    viewer: str | None,
    store: str | None,
    space: str | None,
    **options: Any,
) -> None:
    """Serve the store over the Model Context Protocol.

    Uses standard input and output, or HTTP. All clients read as one viewer: over HTTP, everyone
    who reaches the port reads as that viewer. HTTP requests must name the server as localhost, by
    the address at which they reach it, or by a name that you allow.
    """
    from quire.mcp.session import Session

    try:
        from quire.mcp import http as http_server
        from quire.mcp import server
    except ImportError as error:
        raise _missing(str(error)) from error
    if viewer is not None:  # checked at the start: a client could not fix it
        from quire.indexing.project import viewer_name

        viewer_name(viewer)
    session = Session(store, space, viewer, all_viewers=all_viewers)
    if http is None:
        server.serve_stdio(session)
    else:
        server.serve_http(session, http_server.HttpOptions(http, **options))


@click.command("mcp-proxy", context_settings={"ignore_unknown_options": True})
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option(
    "--cap",
    type=click.IntRange(1),
    default=DEFAULT_BUDGET,
    show_default=True,
    help="Maximum number of tokens to add.",
)
@click.option(
    "--place",
    type=click.Choice(["end", "start"]),
    default="end",
    show_default=True,
    help="Add the context after the tool's result, or before it.",
)
@click.option("--intent", default="", metavar="TEXT", help="Purpose of all calls.")
@click.option(
    "--timeout",
    type=click.IntRange(0),
    default=TIMEOUT,
    show_default=True,
    help="Milliseconds after which a context is left out.",
)
@all_viewers_option
@viewer_option
@store_options
@log_option
def mcp_proxy(
    *,
    command: tuple[str, ...],
    cap: int,
    place: str,
    intent: str,
    timeout: int,
    all_viewers: bool,
    viewer: str | None,
    store: str | None,
    space: str | None,
) -> None:
    """Add contexts to the tool results of another MCP server.

    COMMAND starts that server; put `--` before it. Everything else passes unchanged, to the byte.
    If there is no context, the result passes unchanged, and standard error says why. The exit code
    is that of COMMAND.
    """
    from quire.mcp.proxy import run
    from quire.mcp.proxy_lookup import ContextLookup
    from quire.mcp.session import Session

    session = Session(store, space, viewer, all_viewers=all_viewers)
    lookup = ContextLookup(session, cap=cap, intent=intent, seconds=timeout / 1000)
    sys.exit(run(command, lookup, first=place == "start"))
