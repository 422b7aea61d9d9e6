"""The command `quire hook`, which always answers in time.

A hook stands between a person and their assistant, so it never blocks: whatever goes wrong, it
exits with 0 and an answer that changes nothing, and writes one line to standard error. The answer
is computed in a child process, so that nothing holds off the deadline. Standard output carries the
answer alone.
"""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from contextlib import redirect_stdout
from typing import IO, Any, NoReturn

import click

from quire.integrations.clients import CLIENTS, EVENTS, HOOK_CLIENTS
from quire.integrations.hooks import deadline, payloads, warm
from quire.system import clock, events

TIMEOUT = warm.TIMEOUT
MAX_INPUT_BYTES = warm.MAX_INPUT_BYTES
OWN_PROCESS = "own process"
"""Given to a command that is all that its process does, so that the process may be copied."""
_EMPTY = json.dumps(payloads.EMPTY)


class FailOpen(click.Command):
    """A command that exits with 0 even if it was typed wrongly."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        """Parse the options; a mistake is reported, and answered with nothing."""
        try:
            return super().make_context(info_name, args, parent, **extra)
        except click.UsageError as error:
            click.echo(json.dumps(payloads.EMPTY))
            _note(error.format_message())
            raise click.exceptions.Exit(0) from error


@click.command(cls=FailOpen)
@click.argument("event", type=click.Choice(EVENTS))
@click.option(
    "--client",
    type=click.Choice(HOOK_CLIENTS),
    default=HOOK_CLIENTS[0],
    show_default=True,
    help="The assistant that runs the hook.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(0, warm.MAX_TIMEOUT),
    default=TIMEOUT,
    show_default=True,
    metavar="SECONDS",
    help="Answer with nothing after this many seconds.",
)
@click.option(
    "--embed", is_flag=True, help="Also search by meaning; loading the model takes a second."
)
@click.option(
    "--all-viewers",
    is_flag=True,
    help="As the owner, include what other users wrote for themselves.",
)
@click.option("--viewer", metavar="NAME", help="Read as this user (default: the owner).")
@click.option("--space", metavar="NAME", help="Space in the store (default: main).")
@click.option(
    "--store",
    metavar="FILE",
    help="Store: a file, NAME.N.shards or a URL (default: .quire/store.db).",
)
def hook(*, event: str, client: str, timeout: float, **options: Any) -> None:
    """Give a coding assistant context at an EVENT.

    `quire install` sets it up. Reads the assistant's JSON from standard input and answers in its
    format, with at most 10,000 characters of context. session-start: the context files that apply
    and the most important memories. prompt: a context for the prompt. post-tool: after the first
    failing test or build of a session, what went wrong before; files that the assistant wrote are
    read again. Never blocks: on any error the answer is empty.
    """
    out = sys.stdout  # while the answer is computed, what is printed goes nowhere

    def work() -> str:
        answer, note = answer_event(event, client, options, _read_input)
        if note:
            click.echo(note, err=True)
        return answer

    def give_up(reason: str = f"no answer within {timeout:g} seconds") -> None:
        events.emit("hook_timeout", events.WARNING, timeout_ms=round(timeout * 1000))
        _send(out, _EMPTY)
        _note(reason)

    if click.get_current_context().obj != OWN_PROCESS or not deadline.CAN_FORK:
        _send(out, deadline.run_with_timer(work, timeout, give_up))
        return
    began = clock.seconds_passed()
    try:
        answer = deadline.run_in_child(work, timeout)
    except TimeoutError:
        give_up()
    else:
        if answer is None:
            give_up("it ended without an answer")
        else:
            _send(out, answer)
    if clock.seconds_passed() - began > warm.SLOW:  # and more of its kind will follow
        warm.start_server()


def answer_event(
    event: str, client: str, options: MutableMapping[str, Any], read: Callable[[], bytes]
) -> tuple[str, str]:
    """Return the answer to an event as JSON, and a note for the user or nothing.

    Nothing that is printed while it is made reaches the assistant.
    """
    with redirect_stdout(io.StringIO()):
        try:
            content, notes = _answer(event, client, options, read())
        except Exception as error:  # noqa: BLE001  # no error may stop the assistant
            events.emit("hook_failed", events.ERROR, error=type(error).__name__)
            content, notes = payloads.EMPTY, (str(error) or type(error).__name__,)
    return json.dumps(content), _note_line("; ".join(notes)) if notes else ""


def run(arguments: Sequence[str]) -> NoReturn:
    """Run the hook as a process of its own, which exits as soon as it has answered."""
    code = hook.main([*arguments], prog_name="quire hook", standalone_mode=False, obj=OWN_PROCESS)
    sys.stdout.flush()
    sys.stderr.flush()
    # Without the interpreter's cleanup: the assistant waits for the end of this process.
    os._exit(code or 0)


def _read_input() -> bytes:
    return sys.stdin.buffer.read(MAX_INPUT_BYTES + 1)


def _answer(
    event: str, name: str, options: MutableMapping[str, Any], data: bytes
) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    from quire.errors import InputError
    from quire.integrations.hooks import pages

    if len(data) > MAX_INPUT_BYTES:
        raise InputError(f"standard input has more than {MAX_INPUT_BYTES} bytes")
    payload = payloads.parse(data)
    client = CLIENTS[name]
    assert client.hooks is not None, "a client with hooks"
    if event not in client.hooks.names:
        raise InputError(f"{client.title} takes no context at {event}")
    page = pages.build(client, event, payload, pages.HookOptions(**options))
    return payloads.format_answer(client.hooks, event, payload, page.text), page.notes


def _send(out: IO[str], answer: str) -> None:
    out.write(answer + "\n")
    out.flush()


def _note(text: str) -> None:
    """Write a note to standard error."""
    click.echo(_note_line(text), err=True)


def _note_line(text: str) -> str:
    """Return a note as one line, which cannot steer a terminal."""
    from quire.core.serialize import printable

    return printable(f"quire hook: {' '.join(text.split())}")
