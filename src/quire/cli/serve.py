"""The commands of the HTTP service: serve it, and give out tokens for it."""

from __future__ import annotations

import os
import re
import sys
from datetime import UTC, datetime
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import click

from quire.cli import output
from quire.cli.options import Common, common, log_option, store_options
from quire.config.access_tokens import READ, SCOPES
from quire.core.dates import parse_date
from quire.errors import InputError, MissingExtraError
from quire.system.clock import DAY, now

if TYPE_CHECKING:
    from quire.config.access_tokens import AccessToken, TokenFile

PORT = 8642
PACKAGES = ("httpx", "jsonschema", "mcp", "prometheus_client", "starlette", "uvicorn")
"""What the extra `server` installs."""
_DURATION = re.compile(r"([0-9]{1,6})([smhdw])")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": DAY, "w": 7 * DAY}


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=PORT,
    show_default=True,
    help="Port to listen on; 0: any free one.",
)
@click.option(
    "--workers",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    help="Number of processes.",
)
@click.option(
    "--no-token",
    is_flag=True,
    help="Let everyone on this machine read and write as the owner; on loopback only.",
)
@click.option(
    "--allow-host",
    "allow_hosts",
    multiple=True,
    metavar="NAME[:PORT]",
    help="Also answer requests for this host; repeatable.",
)
@click.option(
    "--max-body",
    type=click.IntRange(1024),
    default=4 * 1024 * 1024,
    show_default=True,
    metavar="BYTES",
    help="Refuse larger requests.",
)
@click.option(
    "--rate",
    type=click.FloatRange(0),
    default=50.0,
    show_default=True,
    help="Requests a second of one token, in each process; 0: any number.",
)
@click.option(
    "--time-limit",
    type=click.FloatRange(0, min_open=True),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="Give up on an answer after this time.",
)
@click.option(
    "--client-timeout",
    type=click.FloatRange(0, min_open=True),
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="Close a connection whose client sends or reads too slowly.",
)
@click.option(
    "--threads",
    type=click.IntRange(1, 256),
    help="Requests that are worked on at the same time, in each process (default: by cores).",
)
@click.option(
    "--max-waiting",
    type=click.IntRange(0),
    default=256,
    show_default=True,
    help="Requests that wait for a thread before further ones are refused.",
)
@click.option(
    "--grace",
    type=click.FloatRange(0),
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="Time to finish what runs when it is stopped.",
)
@store_options
@log_option
def serve(
    *,
    host: str,
    port: int,
    workers: int,
    no_token: bool,
    allow_hosts: tuple[str, ...],
    max_body: int,
    rate: float,
    time_limit: float,
    client_timeout: float,
    threads: int | None,
    max_waiting: int,
    grace: float,
    store: str | None,
    space: str | None,
) -> None:
    """Serve the store over HTTP: contexts, memories, blocks, MCP.

    Each request needs a token (`quire token create`), which says who reads. Use a proxy for TLS.
    SIGTERM finishes what runs. The reference is docs/http.md.
    """
    from quire.config.access_tokens import TokenFile, default_file
    from quire.system import events, tracing

    _require_server()
    from quire.llm.http import check_address, read_key
    from quire.mcp.http import LOOPBACK
    from quire.server.journal import Journal, journal_file
    from quire.server.limits import Limits
    from quire.server.serve import listen
    from quire.server.serve import serve as run
    from quire.server.service import Settings

    with Common(store, space, as_json=False).open() as quire:
        config = quire.config
        chosen = str(config.location), config.space
    tokens = TokenFile(default_file(config.store, config.space, os.environ))
    if not no_token and not tokens.list():
        output.note("there is no token yet: create one with `quire token create`")
    limits = Limits(
        body=max_body,
        rate=rate,
        seconds=time_limit,
        send_seconds=client_timeout,
        running=threads or min(32, 2 * (os.cpu_count() or 1) + 2),
        waiting=max_waiting,
        grace=grace,
    )
    settings = Settings(
        store=chosen[0],
        space=chosen[1],
        host=host,
        port=port,
        workers=workers,
        no_token=no_token,
        allow_hosts=allow_hosts,
        log_json=events.is_writing(),
        limits=limits,
    )
    if no_token and host not in LOOPBACK:
        raise InputError(
            f"everyone who reaches {host} would be the owner",
            field="no_token",
            hint="listen on 127.0.0.1, or create tokens with `quire token create`",
        )
    # What is wrong is told here, and not by each worker, or to each client.
    tracing.find_exporter(os.environ)
    Journal(journal_file(config, os.environ)).close()
    if config.chat.url:
        check_address("chat", config.chat.url)
        read_key(config.chat.key_env)
    with listen(host, port) as listener:
        shown = f"[{host}]" if ":" in host else host
        output.note(f"listening on http://{shown}:{listener.getsockname()[1]}")
        sys.stderr.flush()
        run(settings, listener)


def _require_server() -> None:
    for package in PACKAGES:
        if find_spec(package) is None:
            raise MissingExtraError(
                f"the HTTP service needs packages that are not installed (No module named "
                f"{package!r})",
                hint="pip install 'quire-context[server]'",
            )


# --- tokens --------------------------------------------------------------------------------------


@click.group()
def token() -> None:
    """Create, list, rotate and revoke tokens of the HTTP service."""


@token.command("create")
@click.option("--viewer", metavar="NAME", help="Who reads with it (default: the owner).")
@click.option("--group", "groups", multiple=True, metavar="NAME", help="Their group; repeatable.")
@click.option(
    "--scope",
    type=click.Choice(SCOPES),
    default=READ,
    show_default=True,
    help="What it allows; each includes those before it.",
)
@click.option(
    "--chat",
    is_flag=True,
    help="Chats may be passed on with it (/v1/chat/completions), with the key of [chat].",
)
@click.option("--expires", metavar="TIME", help="When it ends: 90d, 12h, or 2027-01-31.")
@click.option("--label", default="", help="What it is for.")
@common
def create_token(
    options: Common,
    *,
    viewer: str | None,
    groups: tuple[str, ...],
    scope: str,
    chat: bool,
    expires: str | None,
    label: str,
) -> None:
    """Create a token and print it.

    It is shown once: only a hash is kept, in your own configuration folder.
    """
    from quire.indexing.project import viewer_name

    if viewer is not None:
        viewer_name(viewer)
    for group in groups:
        viewer_name(group)
    tokens = _tokens(options)  # which opens the store: a short time begins when that is done
    at = now()
    until = None if expires is None else _parse_time(expires, at)
    created, text = tokens.create(
        at=at, viewer=viewer, groups=groups, scope=scope, expires=until, label=label, chat=chat
    )
    _print_secret(created, text, options)


@token.command("list")
@common
def list_tokens(options: Common) -> None:
    """List the tokens, without their secrets."""
    listed = _tokens(options).list()
    if options.as_json:
        output.print_json({"tokens": [_plain(each) for each in listed]})
        return
    for each in listed:
        output.say("  ".join(_words(each)))
    if not listed:
        output.note("there is no token")


@token.command("rotate")
@click.argument("name", metavar="ID")
@click.option("--grace", default="0s", metavar="TIME", help="Keep the old secret for 1h, 7d, ...")
@common
def rotate_token(options: Common, *, name: str, grace: str) -> None:
    """Replace the secret of a token, and print the new one."""
    rotated, text = _tokens(options).rotate(name, at=now(), grace=_parse_duration("grace", grace))
    _print_secret(rotated, text, options)


@token.command("revoke")
@click.argument("name", metavar="ID")
@common
def revoke_token(options: Common, *, name: str) -> None:
    """Revoke a token, at once."""
    revoked = _tokens(options).revoke(name)
    if options.as_json:
        output.print_json(_plain(revoked))
    else:
        output.note(f"token {name} is revoked")


def _tokens(options: Common) -> TokenFile:
    from quire.config.access_tokens import TokenFile, default_file

    with options.open() as quire:
        config = quire.config
    return TokenFile(default_file(config.store, config.space, os.environ))


def _print_secret(created: AccessToken, text: str, options: Common) -> None:
    if options.as_json:
        output.print_json({**_plain(created), "token": text})
        return
    output.say(text)
    output.note(f"token {'  '.join(_words(created))}; it is not shown again")


def _plain(each: AccessToken) -> dict[str, Any]:
    return {
        "id": each.id,
        "viewer": each.viewer,
        "groups": list(each.groups),
        "scope": each.scope,
        "chat": each.chat,
        "created": each.created,
        "expires": each.expires,
        "label": each.label,
    }


def _words(each: AccessToken) -> list[str]:
    who = each.viewer or "the owner"
    groups = [f"@{group}" for group in each.groups]
    until = [f"until {_day(each.expires)}"] if each.expires is not None else []
    allowed = f"{each.scope}+chat" if each.chat else each.scope
    return [each.id, allowed, ",".join([who, *groups]), *until, *filter(None, [each.label])]


def _day(at: int) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="minutes")


def _parse_time(text: str, at: int) -> int:
    if _DURATION.fullmatch(text):
        return at + _parse_duration("expires", text)
    try:
        return parse_date("expires", text)
    except InputError:
        raise InputError(
            f"{text!r} is not a time",
            field="expires",
            value=text,
            hint="write 90d, 12h or 2027-01-31",
        ) from None


def _parse_duration(field: str, text: str) -> int:
    match = _DURATION.fullmatch(text)
    if match is None:
        raise InputError(
            f"{text!r} is not a duration", field=field, value=text, hint="write 30s, 12h or 90d"
        )
    return int(match[1]) * _SECONDS[match[2]]
