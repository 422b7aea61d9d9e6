"""The command line: the group of all commands, and how it reports errors.

Results go to standard output, everything else to standard error. Exit codes: 0 success, 1 a check
failed or it could not be done, 2 wrong usage, 130 interrupted. Heavy modules are imported late, so
that a command starts fast.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from io import TextIOWrapper
from typing import Any

import click

from quire import __version__
from quire.cli import assemble, index, output, receipts, store
from quire.cli.access import access
from quire.cli.backup import backup, copy, restore
from quire.cli.blocks import block
from quire.cli.codemap import map_
from quire.cli.documents import add, document, sync
from quire.cli.evaluate import evaluation
from quire.cli.experience import experience, values
from quire.cli.feedback import feedback
from quire.cli.imports import import_
from quire.cli.install import install
from quire.cli.mcp import mcp, mcp_proxy
from quire.cli.memory import memory, remember
from quire.cli.model import model
from quire.cli.options import CONTEXT
from quire.cli.pack import pack
from quire.cli.plugins import plugins
from quire.cli.report import report
from quire.cli.rules import rules
from quire.cli.search import search
from quire.cli.serve import serve, token
from quire.cli.start import INTERRUPTED
from quire.cli.trust import trust
from quire.errors import InputError, QuireError
from quire.integrations.hooks.command import hook


class QuireCommand(click.Group):
    """The group of all commands; turns errors into one line and an exit code."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run a command, without a traceback for an error that a user can fix."""
        kwargs["standalone_mode"] = False
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, TextIOWrapper):  # a terminal may lack characters
                stream.reconfigure(errors="backslashreplace")
        try:
            sys.exit(super().main(*args, **kwargs) or 0)
        except QuireError as error:
            flags = _flags(self._command(kwargs.get("args") or (*args, sys.argv[1:])[0]))
            if error.place:  # a value in a file was not typed
                flags.pop(error.field, None)
            output.warn(f"quire: {error.describe(lambda name: flags.get(name, name))}")
            sys.exit(error.exit_code)
        except click.ClickException as error:
            error.show()
            sys.exit(2)
        except (KeyboardInterrupt, click.Abort):
            output.warn(
                "quire: interrupted; finished work is kept, run the command again to continue"
            )
            sys.stdout.flush()
            # At once: after a second Ctrl-C the threads of a model may still run, and a regular
            # exit of the interpreter would abort with a misleading message.
            os._exit(INTERRUPTED)
        except OSError as error:
            place = f"{error.filename}: " if error.filename else ""
            output.warn(f"quire: {place}{error.strerror or error}")
            sys.exit(1)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; refuse a value that is given twice, of which one would be lost."""
        command, rest = self._find(args)
        with suppress(click.UsageError):  # which is told when the command itself is parsed
            # With a parent: a command keeps the flags of its help from the first context.
            context = click.Context(command, parent=ctx, resilient_parsing=True)
            parser = command.make_parser(context)
            _, _, order = parser.parse_args([*rest])
            _refuse_repeated(order)
        return super().resolve_command(ctx, args)

    def _command(self, arguments: Sequence[str]) -> click.Command:
        """Return the command that arguments name."""
        return self._find(arguments)[0]

    def _find(self, arguments: Sequence[str]) -> tuple[click.Command, Sequence[str]]:
        """Return the command that arguments name, and those that it is given."""
        command: click.Command = self
        for place, name in enumerate(arguments):
            if not isinstance(command, click.Group) or name not in command.commands:
                return command, arguments[place:]
            command = command.commands[name]
        return command, ()

    def format_commands(
        self,
        ctx: click.Context,  # noqa: ARG002 - the signature is click's
        formatter: click.HelpFormatter,
    ) -> None:
        """Write the list of commands by topic."""
        widest = max(map(len, self.commands))
        limit = formatter.width - 6 - widest
        for title, commands in TOPICS.items():
            with formatter.section(title):
                formatter.write_dl(
                    [
                        (f"{command.name:<{widest}}", command.get_short_help_str(limit))
                        for command in commands
                    ]
                )

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; a closed pipe on standard output is not an error."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            # Otherwise Python would fail again when it flushes at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0


def _refuse_repeated(given: Sequence[click.Parameter]) -> None:
    """Refuse an option with one value that is given more than once."""
    for option in given:
        is_single = isinstance(option, click.Option) and not (option.multiple or option.is_flag)
        if is_single and given.count(option) > 1:
            flag = max(option.opts, key=len)
            raise InputError(f"{flag} is given twice", hint="leave out all but one")


def _flags(command: click.Command) -> dict[str, str]:
    """Return the flags of a command, by the names of the arguments that they stand for."""
    options = [item for item in command.params if isinstance(item, click.Option)]
    return {option.name: max(option.opts, key=len) for option in options if option.name}


@click.group(cls=QuireCommand, context_settings=CONTEXT)
@click.version_option(__version__, prog_name="quire")
def main() -> None:
    """Index a project and assemble contexts for language models.

    Contexts fit a token budget and contain only what the viewer can read.
    """


TOPICS: Mapping[str, tuple[click.Command, ...]] = {
    "Index and ask": (
        index.index, index.watch, search, assemble.assemble, assemble.explain, assemble.why_not,
        map_, pack, store.status,
    ),
    "Receipts": (receipts.verify, receipts.replay, receipts.diff, report, receipts.key),
    "Memory": (remember, memory, experience, assemble.premortem, values, feedback),
    "Documents and pages": (add, document, sync, import_, block),
    "Assistants and agents": (install, mcp, mcp_proxy, hook, rules),
    "Serve a team": (serve, token, access),
    "Maintain the store": (store.doctor, backup, restore, copy, store.purge),
    "Settings and evaluation": (store.init, model, plugins, trust, evaluation),
}  # fmt: skip
"""All commands, in the order in which the help lists them."""
for topic in TOPICS.values():
    for command in topic:
        main.add_command(command)
