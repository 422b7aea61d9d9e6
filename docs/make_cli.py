"""Write `cli.md`, the reference of the command line, from the help of every command."""  # noqa: INP001 - a script beside the documents

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import click

from quire.cli.main import main

TARGET = Path(__file__).with_name("cli.md")
WIDTH = 96
HEAD = """\
# The command line

<!-- `make reference` writes this page from the help of the commands; the tests check it. -->

Every command and its options, as `--help` prints them.
"""


def commands(
    command: click.Command,
    name: str,
    above: click.Context | None = None,
    *,
    width: int = WIDTH,
) -> Iterator[tuple[str, click.Command, click.Context]]:
    """Yield a command and all below it, each with its full name and its context."""
    context = command.make_context(
        name,
        [],
        above,
        resilient_parsing=True,
        terminal_width=width,
        max_content_width=width,
    )
    yield context.command_path, command, context
    if isinstance(command, click.Group):
        for part in command.list_commands(context):
            below = command.get_command(context, part)
            if below is not None:
                yield from commands(below, part, context, width=width)


def page() -> str:
    """Return the whole page."""
    parts = [HEAD]
    for name, command, context in commands(main, "quire"):
        parts.append(f"\n## {name}\n\n```text\n{command.get_help(context)}\n```\n")
    return "".join(parts)


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__).parse_args()
    TARGET.write_text(page(), "utf-8")
