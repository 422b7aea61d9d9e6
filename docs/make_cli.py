"""Which commands are there? Writes `cli.md` from the help that each command gives."""  # noqa: INP001 - a script beside the documents

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from quire.cli.main import main

TARGET = Path(__file__).with_name("cli.md")
WIDTH = 96
HEAD = """\
# The command line

Written by `python docs/make_cli.py` and checked by the tests: change a command's help, not this.
"""


def commands(
    command: click.Command, name: str, above: click.Context | None = None
) -> Iterator[tuple[str, click.Command, click.Context]]:
    """Go through a command and all below it, each with its whole name."""
    context = command.make_context(
        name,
        [],
        above,
        resilient_parsing=True,
        terminal_width=WIDTH,
        max_content_width=WIDTH,
    )
    yield context.command_path, command, context
    if isinstance(command, click.Group):
        for part in command.list_commands(context):
            below = command.get_command(context, part)
            if below is not None:
                yield from commands(below, part, context)


def page() -> str:
    """Give the whole page."""
    parts = [HEAD]
    for name, command, context in commands(main, "quire"):
        parts.append(f"\n## {name}\n\n```text\n{command.get_help(context)}\n```\n")
    return "".join(parts)


if __name__ == "__main__":
    TARGET.write_text(page(), "utf-8")
