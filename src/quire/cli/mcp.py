"""The commands that serve agents: the MCP server and the MCP proxy."""

from __future__ import annotations

import sys

import click

from quire.cli.options import stored, viewed
from quire.errors import MissingExtraError
from quire.integrations.tool_context import DEFAULT_BUDGET

TIMEOUT = 1000


@click.command("mcp")
@click.option(
    "--http",
    metavar="[HOST:]PORT",
    help="Serve streamable HTTP there (default host: 127.0.0.1) instead of standard input and "
    "output; port 0: any that is free.",
)
@viewed
@stored
def mcp(*, http: str | None, viewer: str | None, store: str | None, space: str | None) -> None:
    """Serve the store to agents over the Model Context Protocol.

    Tools, resources and prompts, all as one viewer: over HTTP, whoever reaches the port reads as
    that viewer.
    """
    from quire.mcp.session import Session

    try:
        from quire.mcp import server
    except ImportError as error:
        raise MissingExtraError(
            f"the protocol needs what is not installed ({error}): pip install 'quire[mcp]'"
        ) from error
    if viewer is not None:  # else every call would be told so, and nobody who can mend it
        from quire.indexing.project import viewer_name

        viewer_name(viewer)
    session = Session(store, space, viewer)
    if http is None:
        server.serve_stdio(session)
    else:
        server.serve_http(session, http)


@click.command("mcp-proxy", context_settings={"ignore_unknown_options": True})
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option(
    "--cap",
    type=click.IntRange(1),
    default=DEFAULT_BUDGET,
    show_default=True,
    help="At most so many tokens are added.",
)
@click.option(
    "--place",
    type=click.Choice(["end", "start"]),
    default="end",
    show_default=True,
    help="Where the context stands: after what the tool says, or before it.",
)
@click.option("--intent", default="", metavar="TEXT", help="What all calls are for.")
@click.option(
    "--timeout",
    type=click.IntRange(0),
    default=TIMEOUT,
    show_default=True,
    help="Milliseconds from a call on; a context that takes longer is left out.",
)
@viewed
@stored
def mcp_proxy(
    *,
    command: tuple[str, ...],
    cap: int,
    place: str,
    intent: str,
    timeout: int,
    viewer: str | None,
    store: str | None,
    space: str | None,
) -> None:
    """Stand before another MCP server and add what is known to its tools' results.

    COMMAND is that server; put `--` before it. All else passes unchanged, to the byte. Where there
    is no context, for whatever reason, the result passes as it is, and standard error says why.
    Ends as COMMAND ends.
    """
    from quire.mcp.proxy import run
    from quire.mcp.proxy_lookup import ContextLookup
    from quire.mcp.session import Session

    lookup = ContextLookup(
        Session(store, space, viewer), cap=cap, intent=intent, seconds=timeout / 1000
    )
    sys.exit(run(command, lookup, first=place == "start"))
