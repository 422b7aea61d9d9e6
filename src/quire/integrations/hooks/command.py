"""How does a hook answer, whatever happens?

A hook stands between a person and their assistant, so it never blocks: whatever goes wrong, it ends
with 0 and an answer that changes nothing, and says why in one line on standard error. A watch in a
thread of its own sees to it that this is so in time. Standard output gets the answer alone.
"""

from __future__ import annotations

import io
import json
import os
import sys
import threading
from collections.abc import Mapping, MutableMapping, Sequence
from contextlib import redirect_stdout
from types import TracebackType
from typing import IO, Any, NoReturn, Self

import click

from quire.integrations.clients import CLIENTS, EVENTS, HOOKED
from quire.integrations.hooks import payloads

TIMEOUT = 2.0
LONGEST = 16 * 1024 * 1024
"""Bytes that a client may say."""


class Answer:
    """One answer, given once and in time: by whoever is first, the hook or the watch."""

    def __init__(self, seconds: float, out: IO[str]) -> None:
        self._seconds = seconds
        self._out = out
        self._given = False
        self._lock = threading.Lock()
        self._watch = threading.Timer(seconds, self._give_up)
        self._watch.daemon = True

    def __enter__(self) -> Self:
        self._watch.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._watch.cancel()

    def give(self, said: Mapping[str, Any], note: str = "") -> None:
        """Say it, unless something has been said."""
        with self._lock:
            if self._given:
                return
            self._given = True
            self._out.write(json.dumps(said) + "\n")
            self._out.flush()
            if note:
                _note(note)

    def _give_up(self) -> NoReturn:
        self.give(payloads.EMPTY, f"nothing within {self._seconds:g} seconds")
        # At once: what is still waited for may never come.
        os._exit(0)


class FailOpen(click.Command):
    """A command that is never in the way: also what was typed wrongly ends with 0."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        """Read the options; a mistake in them is told, and answered with nothing."""
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
    type=click.Choice(HOOKED),
    default=HOOKED[0],
    show_default=True,
    help="Whose hook it is.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(0, 600),
    default=TIMEOUT,
    show_default=True,
    metavar="SECONDS",
    help="Answer with nothing after so many seconds.",
)
@click.option(
    "--embed", is_flag=True, help="Also search by meaning; loading a model takes a second."
)
@click.option("--viewer", metavar="NAME", help="Read as this user (default: the owner).")
@click.option("--space", metavar="NAME", help="The space in the store (default: main).")
@click.option("--store", metavar="FILE", help="The store (default: .quire/store.db).")
def hook(*, event: str, client: str, timeout: float, **asked: Any) -> None:
    """Tell a coding assistant what it should know at an EVENT; `quire install` sets it up.

    Reads what the assistant says (JSON) from standard input, and answers in its own form, with at
    most 10,000 characters of context. session-start: the contexts that hold here and the most
    important memories. prompt: a page for the prompt. post-tool: at the first test or build of a
    session that fails, what went wrong before. Never blocks: on any error it answers with nothing.
    """
    with Answer(timeout, sys.stdout) as answer, redirect_stdout(io.StringIO()):
        try:
            said = _answered(event, client, asked)
        except Exception as error:  # noqa: BLE001  # the assistant goes on, whatever it was
            answer.give(payloads.EMPTY, str(error) or type(error).__name__)
        else:
            answer.give(said)


def run(arguments: Sequence[str]) -> NoReturn:
    """Answer as a process of its own, which ends as soon as the answer is given."""
    code = hook.main([*arguments], prog_name="quire hook", standalone_mode=False)
    sys.stdout.flush()
    sys.stderr.flush()
    # No farewell to threads and modules: the assistant waits for the end of this process.
    os._exit(code or 0)


def _answered(event: str, name: str, asked: MutableMapping[str, Any]) -> Mapping[str, Any]:
    from quire.integrations.hooks import pages

    data = sys.stdin.buffer.read(LONGEST + 1)
    if len(data) > LONGEST:
        return _refused(f"standard input has more than {LONGEST} bytes")
    told = payloads.parse(data)
    client = CLIENTS[name]
    assert client.hooks is not None, "a client with hooks"
    if event not in client.hooks.names:
        return _refused(f"{client.title} takes no context at {event}")
    page = pages.page(client, event, told, pages.Asking(**asked))
    return payloads.answer(client.hooks, event, told, page)


def _refused(reason: str) -> NoReturn:
    from quire.errors import InputError

    raise InputError(reason)


def _note(text: str) -> None:
    """Say one line, whatever stands in it."""
    line = " ".join(text.split())
    click.echo(f"quire hook: {line}", err=True)
